defmodule ReadmeTest do
  # Evaluates code in another folder, and the folder is global.
  use ExUnit.Case, async: false

  @folder Path.expand("..", __DIR__)
  @readme File.read!(Path.join(@folder, "README.md"))

  defp blocks(text, language),
    do: Regex.scan(~r/^```#{language}\n(.*?)^```/ms, text, capture: :all_but_first) |> List.flatten()

  test "each example runs" do
    blocks = blocks(@readme, "elixir")
    assert length(blocks) == 5
    File.cd!(Support.folder(), fn -> for block <- blocks, do: Code.eval_string(block) end)
  end

  test "the examples of SpeckEx are those of its README" do
    copy = File.read!(Path.join(__DIR__, "speckex_readme.md"))
    assert blocks(copy, "elixir") -- blocks(@readme, "elixir") == []
  end

  test "exactly two commands lead from a clone to an example, which runs" do
    assert [commands] = blocks(@readme, "sh")
    assert ["cd bindings/elixir", "mix run " <> example] = String.split(commands, "\n", trim: true)
    assert run(example) =~ "AES-256-GCM"
  end

  test "the other examples run" do
    for example <- Path.wildcard(Path.join(@folder, "examples/*.exs")), do: assert(run(example) =~ "bytes")
  end

  defp run(example) do
    ExUnit.CaptureIO.capture_io(fn -> Code.eval_file(Path.expand(example, @folder)) end)
  end
end
