# Prints the time of calls beside `:crypto`, and for how long calls stop other processes:
# MIX_ENV=prod mix run ../../lab/elixir/calls.exs
Code.require_file("best.exs", __DIR__)

key = :crypto.strong_rand_bytes(32)
nonce = :crypto.strong_rand_bytes(12)
iv = :crypto.strong_rand_bytes(16)
aead = Sealane.aead("aes-256-gcm", key)
chacha = Sealane.aead("chacha20-poly1305", key)
stream = Sealane.Hazmat.keystream("aes-ctr", key, iv)
functions = Sealane.Native.Functions

IO.puts("Elixir #{System.version()}, OTP #{System.otp_release()}, #{System.schedulers_online()} schedulers\n")
IO.puts("an empty call: #{Best.ns(Best.time(&functions.nothing/0))}")
IO.puts("an empty call on a dirty scheduler: #{Best.ns(Best.time(&functions.nothing_dirty/0))}")
IO.puts("a new AES-256-GCM key: #{Best.ns(Best.time(fn -> Sealane.aead("aes-256-gcm", key) end))}\n")

Best.row(["what", "length", "sealane", ":crypto", "ratio"])
Best.row(["---", "---", "---", "---", "---"])

for {name, ours, theirs} <- [
      {"AES-256-GCM encrypt", &Sealane.encrypt(aead, nonce, &1),
       &:crypto.crypto_one_time_aead(:aes_256_gcm, key, nonce, &1, "", true)},
      {"AES-256-GCM seal, random nonce", &Sealane.seal(aead, &1),
       &:crypto.crypto_one_time_aead(:aes_256_gcm, key, :crypto.strong_rand_bytes(12), &1, "", true)},
      {"ChaCha20-Poly1305 encrypt", &Sealane.encrypt(chacha, nonce, &1),
       &:crypto.crypto_one_time_aead(:chacha20_poly1305, key, nonce, &1, "", true)},
      {"AES-256-CTR", &Sealane.Hazmat.xor_at(stream, 0, &1),
       &:crypto.crypto_one_time(:aes_256_ctr, key, iv, &1, true)},
      {"Poly1305", &Sealane.Hazmat.poly1305(key, &1), &:crypto.mac(:poly1305, key, &1)}
    ],
    {size, len} <- [{"64 B", 64}, {"1 KiB", 1024}, {"16 KiB", 16_384}, {"1 MiB", 1_048_576}] do
  data = :crypto.strong_rand_bytes(len)
  {ours, theirs} = {Best.time(fn -> ours.(data) end), Best.time(fn -> theirs.(data) end)}
  Best.row([name, size, Best.ns(ours), Best.ns(theirs), Float.round(theirs / ours, 2)])
end

defmodule Pause do
  # The longest time a process waited for its turn. There are twice as many processes as schedulers.
  def longest(work) do
    parent = self()

    tickers = for _ <- 1..(2 * System.schedulers_online()), do: spawn_link(fn -> tick(parent, now(), 0) end)

    Process.sleep(20)
    work.()
    Process.sleep(20)
    for ticker <- tickers, do: send(ticker, :stop)

    Enum.max(
      for _ <- tickers do
        receive do
          {:longest, longest} -> longest
        end
      end
    )
  end

  defp now, do: System.monotonic_time(:microsecond)

  defp tick(parent, before, longest) do
    receive do
      :stop -> send(parent, {:longest, longest})
    after
      1 -> tick(parent, now(), max(longest, now() - before))
    end
  end
end

IO.puts("\nThe longest pause of another process, best of five runs:\n")
Best.row(["work", "time", "pause"])
Best.row(["---", "---", "---"])
long = :binary.copy("0123456789abcdef", 8_000_000)
short = binary_part(long, 0, 65_535)

for {name, work} <- [
      {"nothing, 200 ms", fn -> Process.sleep(200) end},
      {"128 MB, SpeckEx.CTR", fn -> SpeckEx.CTR.crypt(long, key, iv) end},
      {"128 MB, SpeckEx.CTR on a normal scheduler",
       fn -> functions.speck_ctr("speck128-256", key, iv, long) end},
      {"128 MB, Sealane.seal", fn -> Sealane.seal(aead, long) end},
      {"4,000 times 65,535 bytes, SpeckEx.CTR",
       fn -> for _ <- 1..4_000, do: SpeckEx.CTR.crypt(short, key, iv) end}
    ] do
  {us, _} = :timer.tc(work)
  pause = Enum.min(for _ <- 1..5, do: Pause.longest(work))
  Best.row([name, "#{div(us, 1000)} ms", "#{Float.round(pause / 1000, 1)} ms"])
end
