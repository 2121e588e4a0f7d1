defmodule Mix.Tasks.Compile.Native do
  @moduledoc """
  Copies the library of native functions to `priv`: from the folder `precompiled` of a package, or
  built with cargo.
  """
  use Mix.Task.Compiler

  @impl true
  def run(_args) do
    precompiled = Path.expand("precompiled/#{system()}.so", __DIR__)
    if File.regular?(precompiled), do: copy(precompiled), else: build()
    {:ok, []}
  end

  # The vendor in the middle differs: "x86_64-pc-linux-gnu" is "x86_64-linux-gnu" here.
  defp system do
    parts = :erlang.system_info(:system_architecture) |> to_string() |> String.split("-")
    Enum.join([hd(parts) | Enum.take(tl(parts), -2)], "-")
  end

  defp build do
    unless System.find_executable("cargo") do
      Mix.raise(
        "expected a library for #{system()} or cargo, which builds it, found neither; https://rustup.rs installs cargo"
      )
    end

    # A package holds the sources of the whole library, in the folders of the repository.
    packed = Path.expand("rust", __DIR__)
    root = if File.dir?(packed), do: packed, else: Path.expand("../..", __DIR__)
    target = System.get_env("CARGO_TARGET_DIR") || Path.join(root, "target")
    {profile, options} = profile(Mix.env())
    manifest = Path.join(root, "bindings/elixir/native/Cargo.toml")
    arguments = ["build", "--locked", "--manifest-path", manifest] ++ options

    case System.cmd("cargo", arguments, into: IO.stream(), stderr_to_stdout: true) do
      {_output, 0} ->
        copy(Path.join([target, profile, library()]))

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
      package: [
        licenses: ["MIT", "Apache-2.0"],
        links: %{},
        files: ~w(lib mix.exs README.md LICENSE-APACHE LICENSE-MIT precompiled rust)
      ],
      test_paths: ["test"],
      deps: []
    ]
  end

  def application, do: [extra_applications: [:crypto]]
end
