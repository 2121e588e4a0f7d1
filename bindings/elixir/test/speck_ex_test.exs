defmodule SpeckExTest do
  use ExUnit.Case, async: true

  @readme File.read!(Path.join(__DIR__, "speckex_readme.md"))
  @blocks Regex.scan(~r/^```elixir\n(.*?)^```/ms, @readme, capture: :all_but_first)

  test "the README of SpeckEx has three examples" do
    assert length(@blocks) == 3
  end

  for {[block], number} <- Enum.with_index(@blocks, 1) do
    test "example #{number} of the README of SpeckEx runs as printed" do
      {result, names} = Code.eval_string(unquote(block))
      assert is_tuple(result)
      names = Map.new(names)

      case names do
        %{decrypted: decrypted} -> assert decrypted == "Hello, World! This is a secret message."
        %{tag: tag} -> assert {byte_size(tag), names.plaintext} == {16, "Secret message"}
        %{ciphertext: ciphertext} -> assert byte_size(ciphertext) == 11
      end
    end
  end

  defp key(variant), do: variant |> lengths() |> elem(1) |> :crypto.strong_rand_bytes()
  defp block(variant), do: variant |> lengths() |> elem(0) |> :crypto.strong_rand_bytes()

  defp lengths(variant) do
    {block, key} = SpeckEx.variants()[variant]
    {div(block, 8), div(key, 8)}
  end

  test "all ten variants in all three modes" do
    for variant <- Map.keys(SpeckEx.variants()) do
      {key, block} = {key(variant), block(variant)}
      cipher = SpeckEx.Block.init(key, variant)
      assert is_reference(cipher)
      encrypted = SpeckEx.Block.encrypt(block, cipher, variant)
      assert encrypted != block
      assert SpeckEx.Block.decrypt(encrypted, cipher, variant) == block
      # The keystream is the encrypted counter.
      assert SpeckEx.CTR.crypt(<<0::size(bit_size(block))>>, key, block, variant) == encrypted
      {ciphertext, tag} = SpeckEx.AEAD.encrypt("message", key, block, "aad", variant)
      assert SpeckEx.AEAD.decrypt(ciphertext, tag, key, block, "aad", variant) == {:ok, "message"}
    end

    assert map_size(SpeckEx.variants()) == 10
  end

  test "wrong lengths and variants are FunctionClauseError" do
    key = key(:speck128_256)
    cipher = SpeckEx.Block.init(key)

    for call <- [
          fn -> SpeckEx.crypt("x", "short") end,
          fn -> SpeckEx.crypt("x", key, nonce: "short") end,
          fn -> SpeckEx.crypt("x", key, nonce: <<0::128>>) end,
          fn -> SpeckEx.crypt("x", key, variant: :speck64_128) end,
          fn -> SpeckEx.crypt("x", key, variant: :speck128_192) end,
          fn -> SpeckEx.crypt("x", key, variant: :aes) end,
          fn -> SpeckEx.crypt(:x, key) end,
          fn -> SpeckEx.crypt(<<1::1>>, key) end,
          fn -> SpeckEx.aead_encrypt("x", key, nonce: <<0::88>>) end,
          fn -> SpeckEx.aead_encrypt("x", key, variant: :speck32_64) end,
          fn -> SpeckEx.aead_encrypt("x", key, aad: :x) end,
          fn -> SpeckEx.aead_encrypt(nil, key) end,
          fn -> SpeckEx.aead_decrypt("x", <<0::128>>, "short", <<0::96>>) end,
          fn -> SpeckEx.aead_decrypt("x", <<0::128>>, key, <<0::128>>) end,
          fn -> SpeckEx.aead_decrypt("x", <<0::128>>, key, <<0::96>>, variant: :speck96_144) end,
          fn -> SpeckEx.CTR.crypt("x", key, <<0::96>>) end,
          fn -> SpeckEx.CTR.crypt("x", <<0::128>>, <<0::128>>) end,
          fn -> SpeckEx.CTR.crypt("x", key, <<0::128>>, :none) end,
          fn -> SpeckEx.AEAD.encrypt("x", key, <<0::96>>, "") end,
          fn -> SpeckEx.AEAD.decrypt("x", <<0::128>>, key, <<0::96>>, "") end,
          fn -> SpeckEx.AEAD.decrypt("x", nil, key, <<0::128>>, "") end,
          fn -> SpeckEx.Block.init("short") end,
          fn -> SpeckEx.Block.init(key, :speck128_128) end,
          fn -> SpeckEx.Block.encrypt("short", cipher) end,
          fn -> SpeckEx.Block.encrypt(<<0::256>>, cipher) end,
          fn -> SpeckEx.Block.decrypt("", cipher) end
        ],
        do: assert_raise(FunctionClauseError, call)
  end

  test "a key of another variant, or another reference, is ArgumentError" do
    cipher = SpeckEx.Block.init(<<0::128>>, :speck128_128)

    for wrong <- [cipher, make_ref(), Sealane.aead("aes-128-gcm", <<0::128>>).handle, "key", nil] do
      assert_raise ArgumentError, fn -> SpeckEx.Block.encrypt(<<0::128>>, wrong, :speck128_256) end
      assert_raise ArgumentError, fn -> SpeckEx.Block.decrypt(<<0::128>>, wrong, :speck128_256) end
    end

    assert_raise ArgumentError, ~r/another variant/, fn -> SpeckEx.Block.encrypt(<<0::128>>, cipher) end
  end

  test "no changed bit, and no tag of another length, is accepted" do
    key = key(:speck128_256)
    {nonce, ciphertext, tag} = SpeckEx.aead_encrypt("Secret", key, aad: "aad")
    failed = {:error, :authentication_failed}
    assert SpeckEx.aead_decrypt(ciphertext, tag, key, nonce, aad: "aad") == {:ok, "Secret"}
    assert SpeckEx.aead_decrypt(ciphertext, tag, key, nonce) == failed

    for bit <- 0..127 do
      assert SpeckEx.aead_decrypt(ciphertext, flip(tag, bit), key, nonce, aad: "aad") == failed
      assert SpeckEx.aead_decrypt(ciphertext, tag, flip(key, bit), nonce, aad: "aad") == failed
    end

    for bit <- 0..47,
        do: assert(SpeckEx.aead_decrypt(flip(ciphertext, bit), tag, key, nonce, aad: "aad") == failed)

    for bit <- 0..95,
        do: assert(SpeckEx.aead_decrypt(ciphertext, tag, key, flip(nonce, bit), aad: "aad") == failed)

    for tag <- ["", "short", tag <> <<0>>, binary_part(tag, 0, 15)],
        do: assert(SpeckEx.aead_decrypt(ciphertext, tag, key, nonce, aad: "aad") == failed)
  end

  test "counters that would start again are refused" do
    # 2^32 blocks of 4 bytes would take too long. A counter block near the end shows the wrap:
    # nothing is refused before the first counter repeats.
    assert byte_size(SpeckEx.CTR.crypt(<<0::64>>, <<0::64>>, <<0xFFFFFFFF::32>>, :speck32_64)) == 8
    # Speck-Poly1305 with blocks of 32 bits is limited far earlier.
    error =
      assert_raise Sealane.Error, fn ->
        SpeckEx.AEAD.encrypt(<<0::size(20_000_000)>>, <<0::64>>, <<0::32>>, "", :speck32_64)
      end

    assert error.reason == :limit_exceeded
  end

  test "nonces are random and returned" do
    key = key(:speck128_256)
    nonces = for _ <- 1..1000, do: elem(SpeckEx.crypt("", key), 0)
    assert nonces |> Enum.uniq() |> length() == 1000
    assert Enum.all?(nonces, &(byte_size(&1) == 12))
  end

  defp flip(binary, bit) do
    <<before::size(bit), one::1, rest::bitstring>> = binary
    <<before::size(bit), 1 - one::1, rest::bitstring>>
  end
end
