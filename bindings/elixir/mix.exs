defmodule Mix.Tasks.Compile.Native do
  @moduledoc "Builds the native functions with cargo and copies the library to `priv`."
  use Mix.Task.Compiler

  @impl true
  def run(_args) do
    target = System.get_env("CARGO_TARGET_DIR") || Path.expand("../../target", __DIR__)
    {profile, options} = profile(Mix.env())
    arguments = ["build", "--locked", "--manifest-path", Path.expand("native/Cargo.toml", __DIR__)] ++ options

    case System.cmd("cargo", arguments, into: IO.stream(), stderr_to_stdout: true) do
      {_output, 0} ->
        copy(Path.join([target, profile, library()]))
        {:ok, []}

      {_output, status} ->
        Mix.raise("cargo build failed with status #{status}; its messages are above")
    end
  end

  # The tests share `make develop`'s build and have a function that panics.
  defp profile(:test) do
    {"debug", ~w(--quiet --workspace --tests --lib --bins --features sealane-elixir/panics)}
  end

  defp profile(_env), do: {"release", ["--release"]}

  defp copy(built) do
    placed = Path.join([Mix.Project.app_path(), "priv", "sealane_elixir.so"])
    File.mkdir_p!(Path.dirname(placed))
    # A running machine has mapped the old file, so it must not change: remove it rather than
    # overwrite it.
    File.rm(placed)
    File.cp!(built, placed)
  end

  defp library do
    case :os.type() do
      {:unix, :darwin} -> "libsealane_elixir.dylib"
      {:win32, _} -> "sealane_elixir.dll"
      _ -> "libsealane_elixir.so"
    end
  end
end

defmodule Sealane.MixProject do
  use Mix.Project

  def project do
    [
      app: :sealane,
      version: "0.1.0",
      elixir: "~> 1.14",
      description: "Encryption of messages, files and streams; and the API of SpeckEx",
      compilers: [:native] ++ Mix.compilers(),
      test_paths: ["test"],
      deps: []
    ]
  end

  def application, do: [extra_applications: [:crypto]]
end
