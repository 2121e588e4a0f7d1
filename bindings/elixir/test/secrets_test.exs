defmodule SecretsTest do
  # Changes the working folder of the whole machine, because some calls save keys.
  use ExUnit.Case, async: false

  # Secrets that must not appear in any error or stack trace.
  @marker "SECRET MARKER"

  @modules [
    Sealane,
    Sealane.File,
    Sealane.Hazmat,
    Sealane.Hybrid,
    Sealane.Key,
    Sealane.Reader,
    Sealane.Signing,
    Sealane.Stream,
    SpeckEx,
    SpeckEx.AEAD,
    SpeckEx.Block,
    SpeckEx.CTR
  ]

  # Arguments that match no function, or only some.
  defp values do
    aead = Sealane.aead("aes-256-gcm", <<0::256>>)

    [
      @marker,
      {@marker, @marker},
      [key: @marker],
      [key: @marker, unknown: 1],
      %{key: @marker},
      aead,
      %{aead | handle: make_ref()},
      Sealane.Key.generate("age"),
      "aes-256-gcm",
      "aes-ctr",
      5,
      nil
    ]
  end

  test "no public function shows its arguments when it fails" do
    folder = Support.folder()
    assert File.cd!(folder, &failures/0) > 1_000
  end

  defp failures do
    for module <- @modules,
        {name, arity} <- module.__info__(:functions),
        name not in [:__struct__],
        arguments <- arguments(arity),
        reduce: 0 do
      failures ->
        try do
          apply(module, name, arguments)
          failures
        rescue
          error ->
            trace = Enum.take_while(__STACKTRACE__, fn {module, _, _, _} -> module != __MODULE__ end)
            printed = Exception.format(:error, error, trace) <> inspect(error, limit: :infinity)
            assert_clean(printed, "#{inspect(module)}.#{name}/#{arity}")
            failures + 1
        end
    end
  end

  # All combinations for short lists; for longer ones, each value in each place beside the first
  # values.
  defp arguments(0), do: [[]]

  defp arguments(arity) when arity <= 2,
    do: for(value <- values(), rest <- arguments(arity - 1), do: [value | rest])

  defp arguments(arity) do
    for place <- 0..(arity - 1), value <- values(), others <- [@marker, "aes-256-gcm", hd(tl(values()))] do
      others |> List.duplicate(arity) |> List.replace_at(place, value)
    end
  end

  # Paths are not secret: operating-system errors begin with them.
  defp assert_clean(printed, call),
    do: refute(String.replace(printed, @marker <> ": ", "") =~ @marker, "#{call}: #{printed}")

  test "an error of a native function has no arguments in its stack trace" do
    for call <- [
          fn -> Sealane.aead("aes-256-gcm", @marker) end,
          fn -> Sealane.encrypt(%Sealane.Aead{algorithm: "x", handle: make_ref()}, @marker, @marker) end,
          fn -> Sealane.Native.panics() end,
          fn -> Sealane.Key.from_text(@marker, passphrase: <<255>>) end
        ] do
      trace = try(do: call.(), rescue: (_ -> __STACKTRACE__))
      assert [{_, _, arity, _} | _] = trace
      assert is_integer(arity)
    end
  end
end
