defmodule FilesTest do
  use ExUnit.Case, async: true

  alias Sealane.{Error, Reader}

  # Around the boundaries of chunks, jobs and batches.
  @lengths [0, 1, 16_384, 16_385, 65_537, 5_000_001]

  defp sources do
    key = Sealane.Key.generate("age")
    other = Sealane.Key.generate("age")
    quantum = Sealane.Key.generate("age-pq")
    symmetric = Sealane.Key.generate("aes-256")
    recipients = [Sealane.Key.public(key), Sealane.Key.public(other)]

    [
      {[key: symmetric, context: "ctx"], [key: symmetric, context: "ctx"]},
      {[key: <<1::128>>], [key: <<1::128>>]},
      {[key: <<2::256>>, format: "tink-4kb"], [key: <<2::256>>, format: "tink-4kb"]},
      {[recipients: recipients], [identities: [key]]},
      {[recipients: [Sealane.Key.public(quantum)]], [identities: [key, quantum]]},
      {[recipients: Enum.join(recipients, "\n"), armor: true], [identities: [Sealane.Key.to_text(other)]]},
      {[passphrase: "correct horse", work_factor: 4], [passphrase: "correct horse"]}
    ]
  end

  test "round trips by path, in memory, as streams and by range" do
    folder = Support.folder()
    [from, to, back] = Enum.map(["from", "to", "back"], &Path.join(folder, &1))

    for {encrypt, decrypt} <- sources(), len <- @lengths do
      data = Support.bytes(len)
      File.write!(from, data)
      assert Sealane.encrypt_file(from, to, encrypt) == :ok
      assert Sealane.File.verify_file(to, decrypt) == :ok
      assert Sealane.decrypt_file(to, back, decrypt ++ [threads: 2]) == :ok
      assert File.read!(back) == data
      assert {:ok, file} = Sealane.File.encrypt(data, encrypt)
      assert Sealane.File.decrypt(file, decrypt) == {:ok, data}

      # File to encrypted file, and back.
      stream = Sealane.File.stream!(to, encrypt)
      File.stream!(from, [], 10_000) |> Enum.into(stream)
      lazy = Sealane.File.stream!(to, decrypt ++ [bytes: 30_000])
      assert lazy |> Stream.into(File.stream!(back)) |> Stream.run() == :ok
      assert File.read!(back) == data
      pieces = File.stream!(from, [], 7_777) |> Sealane.Stream.encrypt(encrypt)
      assert pieces |> Sealane.Stream.decrypt(decrypt) |> Enum.join() == data

      reader = Reader.open!(to, decrypt)
      assert reader.size == len

      for offset <- [0, div(len, 2), len, len + 1, 0xFFFF_FFFF_FFFF_FFFF],
          count <- [0, 1, 100_000, 0xFFFF_FFFF_FFFF_FFFF] do
        expected = binary_part(data, min(offset, len), min(count, max(len - offset, 0)))
        assert Reader.read_at(reader, offset, count) == {:ok, expected}
      end
    end
  end

  @tag :program
  test "the program sealane decrypts what this package writes, and the other way around" do
    folder = Support.folder()
    [from, to, back, identity] = Enum.map(["from", "to", "back", "identity"], &Path.join(folder, &1))
    data = Support.bytes(3_000_000)
    File.write!(from, data)
    key = Sealane.Key.generate("age")
    assert Sealane.Key.save(key, identity) == :ok
    assert Bitwise.band(File.stat!(identity).mode, 0o777) == 0o600

    File.stream!(from, [], 65_536)
    |> Enum.into(Sealane.File.stream!(to, recipients: [Sealane.Key.public(key)]))

    run!(["decrypt", "-i", identity, "-o", back, to])
    assert File.read!(back) == data

    File.rm!(to)
    run!(["encrypt", "-r", Sealane.Key.public(key), "-o", to, from])
    assert Sealane.File.stream!(to, identities: [Sealane.Key.load!(identity)]) |> Enum.join() == data

    jwk = Path.join(folder, "key.jwk")
    run!(["keygen", "-o", jwk])
    symmetric = Sealane.Key.load!(jwk)
    File.rm!(to)
    run!(["encrypt", "-k", jwk, "-o", to, from])
    assert Sealane.decrypt_file(to, back, key: symmetric) == :ok
    assert File.read!(back) == data
    assert Sealane.encrypt_file(from, to, key: symmetric, synced: true) == :ok
    File.rm!(back)
    run!(["decrypt", "-k", jwk, "-o", back, to])
    assert File.read!(back) == data
  end

  @tag :program
  test "single files do not go into a folder that describes itself" do
    folder = Support.folder()
    [from, to, vault] = Enum.map(["from", "to", "vault"], &Path.join(folder, &1))
    File.write!(from, "data")
    run!(["init", "-r", Sealane.Key.public(Sealane.Key.generate("age")), vault])
    assert Sealane.encrypt_file(from, to, key: <<1::256>>) == :ok
    inside = Path.join(vault, "new")

    for call <- [
          fn -> Sealane.encrypt_file(from, inside, key: <<1::256>>) end,
          fn -> Sealane.decrypt_file(to, inside, key: <<1::256>>) end,
          fn -> Enum.into(["data"], Sealane.File.stream!(inside, key: <<1::256>>)) end
        ] do
      assert_raise ArgumentError, ~r/describes itself/, call
      assert File.ls!(vault) == [".sealane"]
    end
  end

  defp run!(arguments) do
    {output, status} = System.cmd(Support.program(), arguments, stderr_to_stdout: true)
    assert status == 0, output
  end

  test "errors have reasons" do
    folder = Support.folder()
    [from, to, back] = Enum.map(["from", "to", "back"], &Path.join(folder, &1))
    data = Support.bytes(100_000)
    File.write!(from, data)
    key = Sealane.Key.generate("age")
    :ok = Sealane.encrypt_file(from, to, key: <<1::256>>)
    {:ok, age} = Sealane.File.encrypt("x", recipients: [Sealane.Key.public(key)])
    {:ok, pass} = Sealane.File.encrypt("x", passphrase: "right", work_factor: 4)

    for {reason, posix, call} <- [
          {:io, :enoent, fn -> Sealane.encrypt_file(Path.join(folder, "none"), back, key: <<1::256>>) end},
          {:io, :enoent,
           fn -> Sealane.decrypt_file(to, Path.join([folder, "none", "x"]), key: <<1::256>>) end},
          {:io, :enoent, fn -> Reader.open(Path.join(folder, "none"), key: <<1::256>>) end},
          {:io, :enoent, fn -> Sealane.Key.load(Path.join(folder, "none")) end},
          {:authentication_failed, nil, fn -> Sealane.decrypt_file(to, back, key: <<2::256>>) end},
          {:authentication_failed, nil,
           fn -> Sealane.decrypt_file(to, back, key: <<1::256>>, context: "x") end},
          {:format, nil,
           fn -> Sealane.File.decrypt("no age file, but long enough for a header", identities: [key]) end},
          {:truncated, nil, fn -> Sealane.File.decrypt(binary_part(age, 0, 20), identities: [key]) end},
          {:no_matching_key, nil,
           fn -> Sealane.File.decrypt(age, identities: [Sealane.Key.generate("age")]) end},
          {:no_matching_key, nil, fn -> Sealane.File.decrypt(age, passphrase: "right") end},
          {:no_matching_key, nil, fn -> Sealane.File.decrypt(pass, passphrase: "wrong") end},
          {:no_matching_key, nil, fn -> Sealane.File.decrypt(pass, identities: [key]) end},
          {:limit_exceeded, nil,
           fn -> Sealane.File.decrypt(pass, passphrase: "right", max_work_factor: 3) end},
          {:format, nil, fn -> Sealane.Key.from_text("no key") end},
          {:truncated, nil, fn -> Sealane.Hybrid.open(Sealane.Key.generate("x25519"), "short") end}
        ] do
      assert {:error, %Error{reason: ^reason, posix: ^posix, message: message}} = call.()
      assert String.length(message) > 8
    end

    refute File.exists?(back)

    assert_raise Error, ~r/none/, fn ->
      Sealane.encrypt_file!(Path.join(folder, "none"), back, key: <<1::256>>)
    end
  end

  test "options that do not fit together raise ArgumentError" do
    key = Sealane.Key.generate("age")

    for {pattern, opts} <- [
          {~r/exactly one of .*found none/, []},
          {~r/exactly one of .*found key, passphrase/, [key: <<1::256>>, passphrase: "x"]},
          {~r/exactly one of .*found identities/, [identities: [key]]},
          {~r/work_factor is for a passphrase/, [key: <<1::256>>, work_factor: 10]},
          {~r/work_factor must be at most 30/, [passphrase: "x", work_factor: 31]},
          {~r/format/, [key: <<1::256>>, format: "zip"]},
          {~r/unknown options \[:nonce\]/, [key: <<1::256>>, nonce: 1]},
          {~r/key/, [key: "short"]},
          {~r/key must be a binary or a Sealane.Key/, [key: 5]},
          {~r/./, [key: key]},
          {~r/recipients must be strings/, [recipients: [key]]},
          {~r/./, [recipients: []]},
          {~r/./, [recipients: ["age1none"]]},
          {~r/./, [key: <<1::256>>, armor: true]},
          {~r/./, [passphrase: "x", context: "y"]}
        ] do
      error = assert_raise_any([ArgumentError, Error], fn -> Sealane.File.encrypt("x", opts) end)
      assert Exception.message(error) =~ pattern
    end

    for opts <- [
          [recipients: ["x"]],
          [identities: []],
          [identities: [Sealane.Key.from_binary(<<0::256>>)]],
          [key: <<1::256>>, max_work_factor: 3]
        ],
        do: assert_raise(ArgumentError, fn -> Sealane.File.decrypt("x", opts) end)

    assert_raise ArgumentError, fn -> Sealane.File.stream!("x", bytes: 0, key: "") end
  end

  defp assert_raise_any(kinds, call) do
    call.()
    flunk("expected one of #{inspect(kinds)}")
  rescue
    error -> if error.__struct__ in kinds, do: error, else: reraise(error, __STACKTRACE__)
  end

  test "a changed byte or a cut anywhere is an error, by path, range and stream" do
    folder = Support.folder()
    path = Path.join(folder, "file")
    {:ok, file} = Sealane.File.encrypt(Support.bytes(40_000), key: <<1::256>>)

    for at <- [0, 5, 40, 60, 16_500, byte_size(file) - 1] do
      <<before::binary-size(at), byte, rest::binary>> = file
      File.write!(path, <<before::binary, Bitwise.bxor(byte, 1), rest::binary>>)
      assert {:error, %Error{}} = Sealane.File.verify_file(path, key: <<1::256>>)
      assert {:error, %Error{}} = Sealane.decrypt_file(path, path <> ".out", key: <<1::256>>)
      refute File.exists?(path <> ".out")
      assert_raise Error, fn -> Sealane.File.stream!(path, key: <<1::256>>) |> Enum.join() end
    end

    for len <- [0, 10, 100, 16_448, 30_000, byte_size(file) - 1] do
      cut = binary_part(file, 0, len)
      File.write!(path, cut)
      assert {:error, %Error{}} = Reader.open(path, key: <<1::256>>)
      assert_raise Error, fn -> [cut] |> Sealane.Stream.decrypt(key: <<1::256>>) |> Stream.run() end
    end
  end

  test "a closed reader refuses, and so do finished writers and filters" do
    folder = Support.folder()
    path = Path.join(folder, "file")
    ["data"] |> Enum.into(Sealane.File.stream!(path, key: <<1::256>>))
    reader = Reader.open!(path, key: <<1::256>>)
    assert Reader.close(reader) == :ok
    assert Reader.close(reader) == :ok
    assert_raise ArgumentError, ~r/./, fn -> Reader.read_at(reader, 0, 1) end
    assert_raise FunctionClauseError, fn -> Reader.read_at(reader, -1, 1) end

    alias Sealane.{FileKeys, Native}
    with_key = FileKeys.encrypt_with(key: <<1::256>>)
    {:ok, writer} = Native.writer_create(Path.join(folder, "other"), with_key)
    assert Native.writer_push(writer, "x") == :ok
    assert Native.writer_finish(writer, false) == :ok
    assert_raise ArgumentError, fn -> Native.writer_push(writer, "x") end
    assert_raise ArgumentError, fn -> Native.writer_finish(writer, false) end
    assert Native.writer_abort(writer) == :ok
    {:ok, filter} = Native.encryptor_new(with_key)
    assert {:ok, _} = Native.filter_finish(filter)
    assert_raise ArgumentError, fn -> Native.filter_push(filter, "x") end
    assert_raise ArgumentError, fn -> Native.filter_finish(filter) end

    # Each function with another one's handle.
    for foreign <- [reader.handle, writer, filter, with_key, make_ref()],
        call <- [
          &Native.reader_read_at(&1, 0, 1),
          &Native.writer_push(&1, "x"),
          &Native.filter_push(&1, "x"),
          &Native.decrypt_bytes("x", &1),
          &Native.key_bytes(&1),
          &Native.seal(&1, "x", "")
        ],
        # Those that fit were closed or finished above.
        do: assert_raise(ArgumentError, fn -> call.(foreign) end)
  end

  test "keys: text, files, passphrases, derivation, hybrid messages" do
    folder = Support.folder()

    for kind <- ["aes-128", "aes-256", "age", "age-pq", "x25519", "p-256", "secp256k1", "x-wing"] do
      key = Sealane.Key.generate(kind)
      assert key.kind == kind
      path = Path.join(folder, kind)
      assert Sealane.Key.save(key, path) == :ok
      assert {:error, %Error{reason: :io, posix: :eexist}} = Sealane.Key.save(key, path)
      assert Sealane.Key.public(Sealane.Key.load!(path)) == Sealane.Key.public(key)

      if kind in ["x25519", "p-256", "secp256k1", "x-wing"] do
        {:ok, message} = Sealane.Hybrid.seal(Sealane.Key.public(key), "hello", "aad")
        assert Sealane.Hybrid.open(key, message, "aad") == {:ok, "hello"}
        assert {:error, %Error{reason: :authentication_failed}} = Sealane.Hybrid.open(key, message, "other")
      end
    end

    # A derivation from a passphrase takes a second.
    key = Sealane.Key.generate("x25519")
    path = Path.join(folder, "x25519")
    assert Sealane.Key.save(key, path, passphrase: "correct horse", replace: true) == :ok
    {:ok, loaded} = Sealane.Key.load(path, passphrase: "correct horse")
    assert Sealane.Key.to_text(loaded) == Sealane.Key.to_text(key)
    assert {:error, %Error{reason: :no_matching_key}} = Sealane.Key.load(path, passphrase: "wrong")
    assert_raise ArgumentError, ~r/expected aes-128/, fn -> Sealane.Key.generate("des") end
    assert_raise ArgumentError, fn -> Sealane.Key.to_binary(Sealane.Key.generate("age")) end
    assert_raise ArgumentError, ~r/salt/, fn -> Sealane.Key.derive("x", "short") end
  end

  test "progress is reported, and the last report is complete" do
    folder = Support.folder()
    from = Path.join(folder, "from")
    File.write!(from, Support.bytes(3_000_000))
    assert Sealane.encrypt_file(from, from <> ".sealed", key: <<1::256>>, progress: self(), threads: 1) == :ok
    me = self()
    assert_received {:sealane_progress, ^me, 3_000_000, 3_000_000}
  end
end
