defmodule MessagesTest do
  use ExUnit.Case, async: true

  @lengths [0, 1, 15, 16, 17, 63, 64, 65, 255, 1024, 16_383, 65_520, 65_535, 65_536, 65_537, 200_000]

  test "AES-GCM and ChaCha20-Poly1305 equal :crypto for all lengths around the borders" do
    for {name, cipher, key_len} <- [
          {"aes-128-gcm", :aes_128_gcm, 16},
          {"aes-192-gcm", :aes_192_gcm, 24},
          {"aes-256-gcm", :aes_256_gcm, 32},
          {"chacha20-poly1305", :chacha20_poly1305, 32}
        ],
        len <- @lengths,
        aad <- ["", "header", Support.bytes(70_000)] do
      {key, nonce, data} = {Support.bytes(key_len), :crypto.strong_rand_bytes(12), Support.bytes(len)}
      aead = Sealane.aead(name, key)
      {ciphertext, tag} = :crypto.crypto_one_time_aead(cipher, key, nonce, data, aad, true)
      assert Sealane.encrypt(aead, nonce, data, aad) == ciphertext <> tag
      assert Sealane.decrypt(aead, nonce, ciphertext <> tag, aad) == {:ok, data}
      <<nonce::binary-size(12), sealed::binary>> = Sealane.seal(aead, data, aad)
      {ciphertext, tag} = split(sealed)
      assert :crypto.crypto_one_time_aead(cipher, key, nonce, ciphertext, aad, tag, false) == data
      assert Sealane.open(aead, nonce <> sealed, aad) == {:ok, data}
    end
  end

  test "keystreams and Poly1305 equal :crypto" do
    for len <- @lengths do
      {key, iv, data} = {Support.bytes(32), :crypto.strong_rand_bytes(16), Support.bytes(len)}
      expected = :crypto.crypto_one_time(:aes_256_ctr, key, iv, data, true)
      stream = Sealane.Hazmat.keystream("aes-ctr", key, iv)
      assert Sealane.Hazmat.xor_at(stream, 0, data) == expected
      at = div(len, 3)

      assert Sealane.Hazmat.xor_at(stream, at, binary_part(data, at, len - at)) ==
               binary_part(expected, at, len - at)

      # OpenSSL's IV of ChaCha20 begins with the counter.
      nonce = binary_part(iv, 0, 12)
      expected = :crypto.crypto_one_time(:chacha20, key, <<7::little-32, nonce::binary>>, data, true)
      stream = Sealane.Hazmat.keystream("chacha20", key, nonce, counter: 7)
      assert Sealane.Hazmat.xor_at(stream, 0, data) == expected

      tag = :crypto.mac(:poly1305, key, data)
      assert Sealane.Hazmat.poly1305(key, data) == tag
      assert Sealane.Hazmat.poly1305_valid?(key, data, tag)
      refute Sealane.Hazmat.poly1305_valid?(key, data, binary_part(tag, 0, 15))
    end
  end

  test "each algorithm of the list seals and opens, with a key of its own" do
    algorithms = Sealane.algorithms()
    assert length(algorithms) > 10

    for about <- algorithms do
      key = Sealane.generate_key(about.algorithm)
      assert byte_size(key) == about.key_len
      aead = Sealane.aead(about.algorithm, key)
      sealed = Sealane.seal(aead, "hello", "header")
      assert byte_size(sealed) == 5 + about.nonce_len + about.tag_len
      assert Sealane.open(aead, sealed, "header") == {:ok, "hello"}
      assert sealed != Sealane.seal(aead, "hello", "header")
      same = Sealane.aead(about.algorithm, Sealane.Key.from_binary(key))
      assert Sealane.open(same, sealed, "header") == {:ok, "hello"}
      described = Sealane.describe(aead)
      assert {described.nonce_len, described.max_plaintext_len} == {about.nonce_len, about.max_plaintext_len}
    end
  end

  test "no changed bit is accepted" do
    aead = Sealane.aead("aes-256-gcm", <<0::256>>)
    sealed = Sealane.seal(aead, "hello", "header")
    failed = {:error, :authentication_failed}

    for bit <- 0..(bit_size(sealed) - 1) do
      <<before::size(bit), one::1, rest::bitstring>> = sealed
      assert Sealane.open(aead, <<before::size(bit), 1 - one::1, rest::bitstring>>, "header") == failed
    end

    for len <- 0..(byte_size(sealed) - 1),
        do: assert(Sealane.open(aead, binary_part(sealed, 0, len), "header") == failed)

    assert Sealane.open(aead, sealed <> <<0>>, "header") == failed
    assert Sealane.decrypt(aead, <<0::96>>, "") == failed
    # A long message, on a dirty scheduler.
    <<first, rest::binary>> = Sealane.seal(aead, Support.bytes(100_000))
    assert Sealane.open(aead, <<Bitwise.bxor(first, 1), rest::binary>>) == failed
  end

  test "a mistake in a call raises, and says what is wrong" do
    aead = Sealane.aead("aes-256-gcm", <<0::256>>)

    for {pattern, call} <- [
          {~r/unknown algorithm: expected one of .*aes-256-gcm/, fn -> Sealane.aead("des", <<0::256>>) end},
          {~r/unknown algorithm/, fn -> Sealane.generate_key("des") end},
          {~r/key/, fn -> Sealane.aead("aes-256-gcm", "short") end},
          {~r/key/, fn -> Sealane.aead("aes-256-gcm", Sealane.Key.generate("age")) end},
          {~r/unknown provider/, fn -> Sealane.aead("aes-256-gcm", <<0::256>>, provider: "none") end},
          {~r/unknown options \[:variant\]/, fn -> Sealane.aead("aes-256-gcm", <<0::256>>, variant: "x") end},
          {~r/nonce/, fn -> Sealane.encrypt(aead, "short", "data") end},
          {~r/nonce/, fn -> Sealane.decrypt(aead, <<0::128>>, "data") end},
          {~r/unknown cipher/, fn -> Sealane.Hazmat.keystream("des", <<0::256>>, <<0::128>>) end},
          {~r/counter must be at most 0, found 1/,
           fn -> Sealane.Hazmat.keystream("aes-ctr", <<0::256>>, <<0::128>>, counter: 1) end},
          {~r/counter must be at most/,
           fn -> Sealane.Hazmat.keystream("chacha20", <<0::256>>, <<0::96>>, counter: 1_099_511_627_776) end},
          {~r/byte_order is for Speck/,
           fn -> Sealane.Hazmat.keystream("aes-ctr", <<0::256>>, <<0::128>>, byte_order: :big) end},
          {~r/unknown byte_order/,
           fn -> Sealane.Hazmat.speck("speck32-64", <<0::64>>, byte_order: :middle) end},
          {~r/key/, fn -> Sealane.Hazmat.poly1305("short", "data") end},
          {~r/block/,
           fn -> Sealane.Hazmat.encrypt_blocks(Sealane.Hazmat.speck("speck32-64", <<0::64>>), "12345") end},
          {~r/nonce must be/,
           fn -> Sealane.Hazmat.speck_poly1305("speck128-256-poly1305", <<0::256>>, nonce: 12) end},
          {~r/./, fn -> Sealane.Hazmat.speck_poly1305("speck32-64-poly1305", <<0::64>>) end}
        ] do
      error = assert_raise ArgumentError, call
      assert error.message =~ pattern
    end

    for call <- [
          fn -> Sealane.aead(:aes, <<0::256>>) end,
          fn -> Sealane.aead("aes-256-gcm", nil) end,
          fn -> Sealane.seal("aead", "data") end,
          fn -> Sealane.seal(aead, ["data"]) end,
          fn -> Sealane.seal(aead, "data", nil) end,
          fn -> Sealane.open(aead, nil) end,
          fn -> Sealane.encrypt(aead, nil, "data") end,
          fn ->
            Sealane.Hazmat.xor_at(Sealane.Hazmat.keystream("aes-ctr", <<0::256>>, <<0::128>>), -1, "x")
          end,
          fn -> Sealane.Hazmat.poly1305(<<0::256>>, nil) end
        ],
        do: assert_raise(FunctionClauseError, call)
  end

  test "a foreign handle is refused" do
    speck = Sealane.Hazmat.speck("speck32-64", <<0::64>>)

    for handle <- [make_ref(), speck.handle, nil, 5] do
      assert_raise ArgumentError, fn -> Sealane.seal(%Sealane.Aead{algorithm: "x", handle: handle}, "x") end
    end
  end

  test "a keystream ends with an error" do
    stream = Sealane.Hazmat.keystream("chacha20", <<0::256>>, <<0::96>>, counter: 0xFFFFFFFF)
    assert byte_size(Sealane.Hazmat.xor_at(stream, 0, <<0::512>>)) == 64
    error = assert_raise Sealane.Error, fn -> Sealane.Hazmat.xor_at(stream, 0, <<0::520>>) end
    assert error.reason == :limit_exceeded
  end

  test "providers are listed, and one can be chosen" do
    rows = Enum.filter(Sealane.providers(), &(&1.algorithm == "aes-256-gcm"))
    assert Enum.any?(rows, & &1.chosen)

    sealed = Sealane.seal(Sealane.aead("aes-256-gcm", <<0::256>>), "hello")

    for provider <- rows |> Enum.filter(& &1.available) |> Enum.map(& &1.provider) |> Enum.uniq() do
      aead = Sealane.aead("aes-256-gcm", <<0::256>>, provider: provider)
      assert Sealane.describe(aead).provider == provider
      assert Sealane.open(aead, sealed) == {:ok, "hello"}
    end
  end

  test "inspect shows no secret" do
    key = Sealane.Key.generate("aes-256")
    secret = Sealane.Key.to_binary(key)
    stream = Sealane.File.stream!("path", key: secret, context: "ctx")

    values = [
      key,
      Sealane.aead("aes-256-gcm", key),
      Sealane.Hazmat.keystream("aes-ctr", secret, <<0::128>>),
      Sealane.Hazmat.speck("speck128-256", secret),
      stream
    ]

    for value <- values do
      text = inspect(value, limit: :infinity)
      assert text =~ ~r/^#Sealane/
      refute text =~ inspect(secret, limit: :infinity)
      refute text =~ "handle"
      refute text =~ "keys"
    end

    # Nor do the arguments of an error.
    error = assert_raise ArgumentError, fn -> Sealane.aead("aes-256-gcm", "a secret key") end
    refute Exception.message(error) =~ "secret"
  end

  test "a panic is an error, and the machine continues" do
    for _ <- 1..3 do
      error = assert_raise ErlangError, fn -> Sealane.Native.panics() end
      assert error.original == :nif_panicked
    end

    assert Sealane.open(Sealane.aead("aes-256-gcm", <<0::256>>), "x") == {:error, :authentication_failed}
  end

  defp split(sealed) do
    len = byte_size(sealed) - 16
    <<ciphertext::binary-size(len), tag::binary>> = sealed
    {ciphertext, tag}
  end
end
