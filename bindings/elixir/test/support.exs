defmodule Support do
  @moduledoc "Functions that tests share."
  import ExUnit.Callbacks, only: [on_exit: 1]

  @doc "Returns a new folder that is removed after the test."
  def folder do
    name = "sealane-elixir-#{System.pid()}-#{System.unique_integer([:positive])}"
    folder = Path.join(System.tmp_dir!(), name)
    File.mkdir_p!(folder)
    on_exit(fn -> File.rm_rf!(folder) end)
    folder
  end

  @doc "Returns the path of the program `sealane`, which `make -C bindings elixir` builds."
  def program do
    target = System.get_env("CARGO_TARGET_DIR") || Path.expand("../../../target", __DIR__)
    System.get_env("SEALANE_PROGRAM") || Path.join(target, "debug/sealane")
  end

  @doc "Returns bytes without a pattern, the same in each run."
  def bytes(len) do
    :binary.part(
      Sealane.Hazmat.xor_at(
        Sealane.Hazmat.keystream("aes-ctr", <<1::128>>, <<0::128>>),
        0,
        <<0::size(len)-unit(8)>>
      ),
      0,
      len
    )
  end
end
