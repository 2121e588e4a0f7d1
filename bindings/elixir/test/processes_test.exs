defmodule ProcessesTest do
  # Processes that end in the middle of their work, and processes that wait for others. Not async,
  # because it measures pauses.
  use ExUnit.Case, async: false

  test "an exception in the middle of a stream commits no file" do
    folder = Support.folder()
    path = Path.join(folder, "file")

    assert_raise RuntimeError, "on purpose", fn ->
      1..100
      |> Stream.map(fn n -> if n == 60, do: raise("on purpose"), else: Support.bytes(100_000) end)
      |> Enum.into(Sealane.File.stream!(path, key: <<1::256>>))
    end

    assert File.ls!(folder) == []
  end

  test "a file that exists stays as it is when a stream fails" do
    folder = Support.folder()
    path = Path.join(folder, "file")
    ["old"] |> Enum.into(Sealane.File.stream!(path, key: <<1::256>>))
    old = File.read!(path)
    pieces = Stream.map(1..3, fn n -> if n == 3, do: throw(:stop), else: "new" end)
    catch_throw(Enum.into(pieces, Sealane.File.stream!(path, key: <<1::256>>)))
    assert File.read!(path) == old
    assert File.ls!(folder) == ["file"]
  end

  test "a process that is killed while it writes a stream leaves no file" do
    folder = Support.folder()
    parent = self()

    for n <- 1..5 do
      {pid, monitor} =
        spawn_monitor(fn ->
          Stream.repeatedly(fn ->
            send(parent, {:piece, n})
            Support.bytes(300_000)
          end)
          |> Enum.into(Sealane.File.stream!(Path.join(folder, "file-#{n}"), key: <<1::256>>))
        end)

      for _ <- 1..(5 * n), do: assert_receive({:piece, ^n}, 60_000)
      Process.exit(pid, :kill)
      assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 60_000
    end

    assert eventually(fn -> File.ls!(folder) == [] and open_files(folder) == 0 end)
  end

  # claim: runtime-elixir
  test "a process that is killed while it holds a writer leaves no file, and closes it" do
    folder = Support.folder()
    parent = self()

    {pid, monitor} =
      spawn_monitor(fn ->
        with_key = Sealane.FileKeys.encrypt_with(key: <<1::256>>)
        {:ok, writer} = Sealane.Native.writer_create(Path.join(folder, "file"), with_key)
        :ok = Sealane.Native.writer_push(writer, Support.bytes(2_000_000))
        send(parent, :written)
        Process.sleep(:infinity)
        Sealane.Native.writer_abort(writer)
      end)

    assert_receive :written, 60_000
    assert open_files(folder) == 1
    Process.exit(pid, :kill)
    assert_receive {:DOWN, ^monitor, :process, ^pid, :killed}, 60_000
    assert eventually(fn -> File.ls!(folder) == [] and open_files(folder) == 0 end)
  end

  test "a process that is killed during encrypt_file cancels it" do
    folder = Support.folder()
    [from, to] = Enum.map(["from", "to"], &Path.join(folder, &1))
    # A sparse file; encrypting it takes seconds.
    {:ok, file} = File.open(from, [:write])
    :file.position(file, 8 * 1024 * 1024 * 1024)
    IO.binwrite(file, "x")
    File.close(file)
    parent = self()
    task = Task.async(fn -> Sealane.encrypt_file(from, to, key: <<1::256>>, progress: parent, threads: 1) end)
    caller = task.pid
    assert_receive {:sealane_progress, ^caller, _, _}, 60_000
    Task.shutdown(task, :brutal_kill)
    assert eventually(fn -> open_files(folder) == 0 end)
    assert File.ls!(folder) == ["from"]
  end

  test "a writer is used by one process at a time" do
    folder = Support.folder()
    with_key = Sealane.FileKeys.encrypt_with(key: <<1::256>>)
    {:ok, writer} = Sealane.Native.writer_create(Path.join(folder, "file"), with_key)
    data = Support.bytes(5_000_000)

    push = fn ->
      try do
        Sealane.Native.writer_push(writer, data)
      rescue
        error in ArgumentError -> error.message
      end
    end

    results = 1..20 |> Enum.map(fn _ -> Task.async(push) end) |> Task.await_many(60_000)
    refused = Enum.reject(results, &(&1 == :ok))
    assert Enum.all?(refused, &(&1 =~ "another process"))
    assert :ok in results
    assert Sealane.Native.writer_finish(writer, false) == :ok

    assert Sealane.Reader.open!(Path.join(folder, "file"), key: <<1::256>>).size ==
             5_000_000 * Enum.count(results, &(&1 == :ok))
  end

  test "many processes share keys and readers" do
    folder = Support.folder()
    path = Path.join(folder, "file")
    data = Support.bytes(1_000_000)
    [data] |> Enum.into(Sealane.File.stream!(path, key: <<1::256>>))
    reader = Sealane.Reader.open!(path, key: <<1::256>>)
    aead = Sealane.aead("aes-256-gcm", <<0::256>>)

    1..50
    |> Task.async_stream(fn n ->
      at = rem(n * 19_997, 900_000)
      assert Sealane.Reader.read_at!(reader, at, 50_000) == binary_part(data, at, 50_000)

      assert Sealane.open(aead, Sealane.seal(aead, binary_part(data, 0, n * 3_000))) ==
               {:ok, binary_part(data, 0, n * 3_000)}
    end)
    |> Stream.run()
  end

  # claim: lifetimes, runtime-elixir
  test "closing or ending an object during a call waits or is refused" do
    folder = Support.folder()
    path = Path.join(folder, "file")
    data = Support.bytes(3_000_000)
    [data] |> Enum.into(Sealane.File.stream!(path, key: <<1::256>>))

    result = fn work ->
      try do
        work.()
      rescue
        error in ArgumentError -> {:refused, error.message}
      end
    end

    for round <- 1..20 do
      reader = Sealane.Reader.open!(path, key: <<1::256>>)
      with_key = Sealane.FileKeys.encrypt_with(key: <<1::256>>)
      {:ok, writer} = Sealane.Native.writer_create(Path.join(folder, "new"), with_key)
      {:ok, filter} = Sealane.Native.encryptor_new(with_key)

      tasks =
        for work <- [
              fn -> Sealane.Reader.read_at(reader, round, 2_000_000) end,
              fn -> Sealane.Native.writer_push(writer, data) end,
              fn -> Sealane.Native.filter_push(filter, data) end
            ],
            _ <- 1..3,
            do: Task.async(fn -> result.(work) end)

      Process.sleep(rem(round, 4))

      ends =
        for work <- [
              fn -> Sealane.Reader.close(reader) end,
              fn -> Sealane.Native.writer_abort(writer) end,
              fn -> Sealane.Native.filter_finish(filter) end
            ],
            do: result.(work)

      :erlang.garbage_collect()
      for {:refused, message} <- ends, do: assert(message =~ "another process")

      for found <- Task.await_many(tasks, 60_000) do
        case found do
          :ok -> :ok
          {:ok, bytes} when byte_size(bytes) == 2_000_000 -> assert bytes == binary_part(data, round, 2_000_000)
          {:ok, _encrypted} -> :ok
          {:refused, message} -> assert message =~ ~r/another process|already|closed|finish/
        end
      end
    end

    assert eventually(fn -> File.ls!(folder) == ["file"] and open_files(folder) == 0 end)
  end

  # Calls with long arguments: each function and each variable-length argument.
  defp long_calls do
    {key, long} = {Support.bytes(32), Support.bytes(64_000_000)}
    aead = Sealane.aead("aes-256-gcm", key)
    stream = Sealane.Hazmat.keystream("aes-ctr", key, <<0::128>>)
    sealed = Sealane.seal(aead, long)
    {ciphertext, tag} = SpeckEx.AEAD.encrypt(long, key, <<0::128>>, "")
    speck = Sealane.Hazmat.speck("speck128-256", key)

    [
      {"SpeckEx.crypt", fn -> SpeckEx.crypt(long, key) end},
      {"SpeckEx.AEAD.encrypt", fn -> SpeckEx.AEAD.encrypt(long, key, <<0::128>>, "") end},
      {"SpeckEx.AEAD.encrypt, aad", fn -> SpeckEx.AEAD.encrypt("", key, <<0::128>>, long) end},
      {"SpeckEx.AEAD.decrypt", fn -> SpeckEx.AEAD.decrypt(ciphertext, tag, key, <<0::128>>, "") end},
      {"SpeckEx.AEAD.decrypt, aad", fn -> SpeckEx.AEAD.decrypt("", tag, key, <<0::128>>, long) end},
      {"Sealane.seal", fn -> Sealane.seal(aead, long) end},
      {"Sealane.seal, aad", fn -> Sealane.seal(aead, "", long) end},
      {"Sealane.open", fn -> Sealane.open(aead, sealed) end},
      {"Sealane.open, aad", fn -> Sealane.open(aead, <<0::224>>, long) end},
      {"Sealane.encrypt", fn -> Sealane.encrypt(aead, <<0::96>>, long) end},
      {"Sealane.encrypt, aad", fn -> Sealane.encrypt(aead, <<0::96>>, "", long) end},
      {"Sealane.decrypt", fn -> Sealane.decrypt(aead, <<0::96>>, long) end},
      {"Sealane.decrypt, aad", fn -> Sealane.decrypt(aead, <<0::96>>, <<0::128>>, long) end},
      {"Hazmat.xor_at", fn -> Sealane.Hazmat.xor_at(stream, 0, long) end},
      {"Hazmat.poly1305", fn -> Sealane.Hazmat.poly1305(key, long) end},
      {"Hazmat.poly1305_valid?", fn -> Sealane.Hazmat.poly1305_valid?(key, long, <<0::128>>) end},
      {"Hazmat.encrypt_blocks", fn -> Sealane.Hazmat.encrypt_blocks(speck, long) end},
      {"Hazmat.decrypt_blocks", fn -> Sealane.Hazmat.decrypt_blocks(speck, long) end},
      {"File.encrypt", fn -> Sealane.File.encrypt(long, key: key) end}
    ]
  end

  # Calls that take long with any arguments, or with long ones that are not encrypted.
  defp costly_calls do
    identities =
      for _ <- 1..300, into: "", do: Sealane.Key.to_text(Sealane.Key.generate("age-pq"))

    recipients = List.duplicate(Sealane.Key.public(Sealane.Key.generate("age-pq")), 300)
    secret = Sealane.Key.generate("age-pq")
    long = Support.bytes(32_000_000)

    [
      {"Stream.encrypt, passphrase",
       fn -> Enum.to_list(Sealane.Stream.encrypt(["x"], passphrase: "correct", work_factor: 15)) end},
      {"Stream.encrypt, recipients",
       fn -> Enum.to_list(Sealane.Stream.encrypt(["x"], recipients: recipients)) end},
      {"identities", fn -> Sealane.FileKeys.decrypt_with(identities: identities) end},
      {"random", fn -> Sealane.Native.random(32_000_000) end},
      {"Key.public", fn -> for _ <- 1..300, do: Sealane.Key.public(secret) end},
      {"a long key", fn -> Sealane.Native.key_from_bytes(long) end},
      {"a long wrong key", fn -> catch_error(Sealane.aead("aes-256-gcm", long)) end}
    ]
  end

  # claim: runtime-elixir
  test "functions on normal schedulers are listed, each with a reason" do
    quick = %{
      version: "a constant",
      nothing: "measures a call",
      panics: "for these tests only",
      algorithms: "a constant list",
      aead_describe: "copies six fields of a handle",
      key_kind: "reads one field of a handle"
    }

    sources = Path.wildcard(Path.expand("../native/src/*.rs", __DIR__))

    found =
      for path <- sources,
          [_, name] <-
            Regex.scan(~r/#\[rustler::nif\]\n(?:#\[.*\]\n)*\s*(?:pub )?fn ([$\w]+)/, File.read!(path)),
          do: name

    # The macro of `schedule.rs` makes the functions that `Sealane.Native` chooses by length.
    assert Enum.sort(found) == Enum.sort(["$normal" | Enum.map(Map.keys(quick), &Atom.to_string/1)])
  end

  # A share rather than a time, so that a busy machine does not matter. It is 0 if a long call runs
  # on a normal scheduler, and not near 1 if it does not, because a scheduler that waits for work is
  # active for a moment.
  test "long calls use the dirty schedulers, and short ones do not" do
    :erlang.system_flag(:scheduler_wall_time, true)

    for {name, work} <- long_calls() ++ costly_calls() do
      share = dirty_share(fn -> for _ <- 1..3, do: work.() end)
      assert share > 0.02, "#{name}: the dirty schedulers did #{share} of the work"
    end

    aead = Sealane.aead("aes-256-gcm", <<0::256>>)
    data = Support.bytes(60_000)
    assert dirty_share(fn -> for _ <- 1..2_000, do: Sealane.seal(aead, data) end) < 0.02
  end

  # The dirty schedulers' share of all schedulers' active time.
  defp dirty_share(work) do
    schedulers = System.schedulers()
    before = Enum.sort(:erlang.statistics(:scheduler_wall_time_all))
    work.()
    later = Enum.sort(:erlang.statistics(:scheduler_wall_time_all))

    {normal, dirty} =
      for {{id, from, _}, {id, to, _}} <- Enum.zip(before, later), reduce: {0, 0} do
        {normal, dirty} when id <= schedulers -> {normal + to - from, dirty}
        {normal, dirty} -> {normal, dirty + to - from}
      end

    dirty / (normal + dirty)
  end

  test "short calls count against the time of their process" do
    data = Support.bytes(65_000)
    {:reductions, before} = Process.info(self(), :reductions)
    for _ <- 1..100, do: SpeckEx.CTR.crypt(data, <<0::256>>, <<0::128>>)
    {:reductions, later} = Process.info(self(), :reductions)
    # 15 % of 4,000 reductions each.
    assert later - before > 100 * 500
  end

  # A call that stops the others does so every time. A busy machine does it occasionally, so one
  # good try of many is enough.
  # claim: runtime-elixir
  test "no call stops other processes" do
    for {name, work} <- Enum.take_every(long_calls(), 3) ++ Enum.take(costly_calls(), 4) do
      {us, _} = :timer.tc(work)

      # The limit is far above an idle machine's values; `make -C bindings bench` measures them.
      good =
        Stream.repeatedly(fn -> {pause(work), max(50_000, 5 * pause(fn -> Process.sleep(100) end))} end)
        |> Stream.take(30)
        |> Enum.find(fn {longest, limit} -> longest < limit end)

      assert good, "#{name}: in each of 30 tries, another process waited longer than the limit"
      IO.puts("#{name}: #{div(us, 1000)} ms, longest pause #{elem(good, 0)} us")
    end
  end

  # Returns the longest time in microseconds that a process waited for its turn. There are more
  # processes than schedulers.
  defp pause(work) do
    parent = self()
    now = fn -> System.monotonic_time(:microsecond) end

    tickers =
      for _ <- 1..(2 * System.schedulers_online()), do: spawn_link(fn -> tick(parent, now, now.(), 0) end)

    Process.sleep(20)
    work.()
    Process.sleep(20)
    for ticker <- tickers, do: send(ticker, :stop)
    Enum.max(for _ <- tickers, do: receive(do: ({:longest, longest} -> longest)))
  end

  defp tick(parent, now, before, longest) do
    receive do
      :stop -> send(parent, {:longest, longest})
    after
      1 ->
        time = now.()
        tick(parent, now, time, max(longest, time - before))
    end
  end

  # This machine's open files in a folder, including unnamed ones.
  defp open_files(folder) do
    for fd <- File.ls!("/proc/self/fd"),
        {:ok, path} <- [File.read_link("/proc/self/fd/#{fd}")],
        String.starts_with?(path, folder <> "/"),
        reduce: 0,
        do: (count -> count + 1)
  end

  defp eventually(condition, tries \\ 300) do
    cond do
      condition.() -> true
      tries == 0 -> false
      true -> Process.sleep(20) && eventually(condition, tries - 1)
    end
  end
end
