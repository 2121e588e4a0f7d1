defmodule GoldenTest do
  # Files that other implementations wrote (tests/golden). Byte i of the plaintext is i mod 251.
  use ExUnit.Case, async: true

  @root Path.expand("../../../tests/golden", __DIR__)

  test "all golden files open: whole, by path, by range, as a stream, in pieces" do
    files = Path.wildcard(Path.join(@root, "**/*.{sealed,age,asc,tink}"))
    assert length(files) > 40
    folder = Support.folder()
    for file <- files, do: opens(file, length_of(file), keys(file), Path.join(folder, "out"))
    IO.puts("golden files: #{length(files)}")
  end

  # The length is in the name, for example `x25519-1000-age1.1.1.age` and
  # `AES128_GCM_HKDF_4KB-0.tink`.
  defp length_of(file) do
    [[_, len]] = Regex.scan(~r/-(\d+)(?:-(?:age|pyrage)[\d.]+)?\.\w+$/, Path.basename(file))
    String.to_integer(len)
  end

  defp keys(file) do
    folder = Path.dirname(file)

    case Path.extname(file) do
      ".sealed" ->
        [_, bits] = Regex.run(~r/chunked-(\d+)-/, file)
        key = for i <- 0..(div(String.to_integer(bits), 8) - 1), into: "", do: <<i>>
        [key: key, context: "golden"]

      ".tink" ->
        [template | _] = file |> Path.basename() |> String.split("-")
        [keyset: File.read!(Path.join(folder, template <> ".json")), context: "golden"]

      _age ->
        [kind] = Regex.run(~r/^(?:ssh-)?[a-z0-9]+/, Path.basename(file))

        if kind == "passphrase",
          do: [passphrase: "golden"],
          else: [identities: File.read!(Path.join(folder, kind <> ".key"))]
    end
  end

  defp opens(file, len, keys, out) do
    bytes = File.read!(file)
    plain = for i <- 0..(len - 1)//1, into: "", do: <<rem(i, 251)>>
    assert Sealane.File.decrypt(bytes, keys) == {:ok, plain}
    # Each call with a passphrase takes a second.
    unless keys[:passphrase], do: opens_in_other_ways(file, len, keys, out, bytes, plain)
  end

  defp opens_in_other_ways(file, len, keys, out, bytes, plain) do
    assert Sealane.File.verify_file(file, keys) == :ok
    assert Sealane.decrypt_file(file, out, keys) == :ok
    assert File.read!(out) == plain
    reader = Sealane.Reader.open!(file, keys)
    assert reader.size == len
    half = div(len, 2)
    assert Sealane.Reader.read_at!(reader, half, len) == binary_part(plain, half, len - half)
    assert Enum.join(Sealane.File.stream!(file, keys ++ [bytes: 1000])) == plain
    pieces = for <<piece::binary-size(777) <- bytes>>, do: piece
    rest = binary_part(bytes, length(pieces) * 777, rem(byte_size(bytes), 777))
    assert (pieces ++ [rest]) |> Sealane.Stream.decrypt(keys) |> Enum.join() == plain
  end
end
