defmodule VectorsTest do
  # All published vectors (vectors/lines.txt). The fields of a line are described in
  # vectors/src/lines.rs.
  use ExUnit.Case, async: true

  alias Sealane.Hazmat

  @lines Path.expand("../../../vectors/lines.txt", __DIR__)

  test "all published vectors" do
    counts =
      for line <- File.stream!(@lines), [kind | fields] = String.split(line), kind != "#", reduce: %{} do
        counts ->
          check(kind, fields)
          Map.update(counts, kind, 1, &(&1 + 1))
      end

    assert counts |> Map.keys() |> Enum.sort() == ["aead", "block", "file", "poly1305", "stream"]
    total = counts |> Map.values() |> Enum.sum()
    assert total > 1_200
    IO.puts("vectors: #{total}, of which #{Enum.map_join(counts, ", ", fn {kind, n} -> "#{n} #{kind}" end)}")
  end

  test "a kind that this test does not know is refused" do
    assert_raise FunctionClauseError, fn -> check("mac", ["hmac-sha256", "00", "00"]) end
    assert_raise FunctionClauseError, fn -> check("block", ["speck32-64", "00"]) end
  end

  defp bytes("-"), do: ""
  defp bytes(hex), do: Base.decode16!(hex, case: :lower)

  defp variant(name) do
    name = name |> String.replace("-poly1305", "") |> String.replace("-", "_")
    Enum.find(Map.keys(SpeckEx.variants()), &(Atom.to_string(&1) == name))
  end

  # aead NAME KEY NONCE AAD PLAINTEXT CIPHERTEXT||TAG RESULT
  defp check("aead", ["speck" <> _ = name, key, nonce, aad, plain, sealed, "valid"]) do
    [key, nonce, aad, plain, sealed] = Enum.map([key, nonce, aad, plain, sealed], &bytes/1)
    variant = variant(name)
    {ciphertext, tag} = SpeckEx.AEAD.encrypt(plain, key, nonce, aad, variant)
    assert ciphertext <> tag == sealed
    assert SpeckEx.AEAD.decrypt(ciphertext, tag, key, nonce, aad, variant) == {:ok, plain}
    kind = if byte_size(nonce) == 16, do: :block, else: :small_block
    both_ways(Hazmat.speck_poly1305(name, key, nonce: kind), nonce, aad, plain, sealed)

    with <<short::binary-size(12), 0::32>> <- nonce do
      both_ways(Hazmat.speck_poly1305(name, key), short, aad, plain, sealed)

      assert SpeckEx.aead_encrypt(plain, key, nonce: short, aad: aad, variant: variant) ==
               {short, ciphertext, tag}

      assert SpeckEx.aead_decrypt(ciphertext, tag, key, short, aad: aad, variant: variant) == {:ok, plain}
    end
  end

  defp check("aead", [name, key, nonce, aad, plain, sealed, result])
       when result in ["valid", "invalid", "nonce-length"] do
    [key, nonce, aad, plain, sealed] = Enum.map([key, nonce, aad, plain, sealed], &bytes/1)
    aead = Sealane.aead(name, key)

    case result do
      "valid" ->
        both_ways(aead, nonce, aad, plain, sealed)
        assert Sealane.open(aead, nonce <> sealed, aad) == {:ok, plain}

      "invalid" ->
        assert Sealane.decrypt(aead, nonce, sealed, aad) == {:error, :authentication_failed}
        assert Sealane.open(aead, nonce <> sealed, aad) == {:error, :authentication_failed}

      "nonce-length" ->
        assert_raise ArgumentError, ~r/nonce/, fn -> Sealane.decrypt(aead, nonce, sealed, aad) end
        assert_raise ArgumentError, ~r/nonce/, fn -> Sealane.encrypt(aead, nonce, plain, aad) end
    end
  end

  # stream NAME ORDER KEY IV COUNTER PLAINTEXT CIPHERTEXT
  defp check("stream", [name, order, key, iv, counter, plain, ciphertext]) do
    [key, iv, plain, ciphertext] = Enum.map([key, iv, plain, ciphertext], &bytes/1)
    order = if order != "-", do: [byte_order: order], else: []
    stream = Hazmat.keystream(name, key, iv, [counter: String.to_integer(counter)] ++ order)
    len = byte_size(plain)

    for at <- 0..len do
      assert Hazmat.xor_at(stream, at, binary_part(plain, at, len - at)) ==
               binary_part(ciphertext, at, len - at)
    end

    assert Hazmat.xor_at(stream, 0, ciphertext) == plain

    if String.starts_with?(name, "speck") and order == [byte_order: "big"],
      do: assert(SpeckEx.CTR.crypt(plain, key, iv, variant(name)) == ciphertext)
  end

  # poly1305 KEY MESSAGE TAG
  defp check("poly1305", [key, message, tag]) do
    [key, message, tag] = Enum.map([key, message, tag], &bytes/1)
    assert Hazmat.poly1305(key, message) == tag
    assert Hazmat.poly1305_valid?(key, message, tag)
    <<first, rest::binary>> = tag
    refute Hazmat.poly1305_valid?(key, message, <<Bitwise.bxor(first, 1), rest::binary>>)
  end

  # block NAME ORDER KEY PLAINTEXT CIPHERTEXT
  defp check("block", [name, order, key, plain, ciphertext]) do
    [key, plain, ciphertext] = Enum.map([key, plain, ciphertext], &bytes/1)
    speck = Hazmat.speck(name, key, byte_order: order)
    assert Hazmat.encrypt_blocks(speck, plain) == ciphertext
    assert Hazmat.decrypt_blocks(speck, ciphertext) == plain

    if order == "big" do
      variant = variant(name)
      cipher = SpeckEx.Block.init(key, variant)
      {block, _key} = SpeckEx.variants()[variant]

      for <<one::binary-size(div(block, 8)) <- plain>>, reduce: 0 do
        at ->
          expected = binary_part(ciphertext, at, div(block, 8))
          assert SpeckEx.Block.encrypt(one, cipher, variant) == expected
          assert SpeckEx.Block.decrypt(expected, cipher, variant) == one
          at + div(block, 8)
      end
    end
  end

  # file NAME KEY CONTEXT FILE RESULT LENGTH
  defp check("file", [format, key, context, file, result, len]) do
    [key, context, file] = Enum.map([key, context, file], &bytes/1)
    opened = fn -> Sealane.File.decrypt(file, key: key, format: format, context: context) end

    if result == "valid" do
      assert {:ok, plain} = opened.()
      assert byte_size(plain) == String.to_integer(len)
    else
      # A key of another length is a mistake in the call.
      failed =
        try do
          opened.()
        rescue
          error in ArgumentError -> {:error, error}
        end

      assert {:error, error} = failed
      refute match?(%Sealane.Error{reason: :internal}, error)
    end
  end

  defp both_ways(aead, nonce, aad, plain, sealed) do
    assert Sealane.encrypt(aead, nonce, plain, aad) == sealed
    assert Sealane.decrypt(aead, nonce, sealed, aad) == {:ok, plain}
  end
end
