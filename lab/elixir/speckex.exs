# The table of SpeckEx's README in operations per second, for the loaded SpeckEx: this package's
# with `mix run ../../lab/elixir/speckex.exs`, SpeckEx's own with `seed.sh`.
Code.require_file("best.exs", __DIR__)

key = :crypto.strong_rand_bytes(32)
key128 = :crypto.strong_rand_bytes(16)
[block, block96, block64] = Enum.map([16, 12, 8], &:crypto.strong_rand_bytes/1)
speck = SpeckEx.Block.init(key)
speck96 = SpeckEx.Block.init(:crypto.strong_rand_bytes(18), :speck96_144)
speck64 = SpeckEx.Block.init(key128, :speck64_128)
plaintext = :crypto.strong_rand_bytes(16_000)
aes = :crypto.crypto_init(:aes_256_ecb, key, true)

for {name, work} <- [
      {"Speck 64/128 block enc", fn -> SpeckEx.Block.encrypt(block64, speck64, :speck64_128) end},
      {"Speck 96/144 block enc", fn -> SpeckEx.Block.encrypt(block96, speck96, :speck96_144) end},
      {"Speck 128/256 block enc", fn -> SpeckEx.Block.encrypt(block, speck, :speck128_256) end},
      {"Speck 64/128 block dec", fn -> SpeckEx.Block.decrypt(block64, speck64, :speck64_128) end},
      {"Speck 96/144 block dec", fn -> SpeckEx.Block.decrypt(block96, speck96, :speck96_144) end},
      {"Speck 128/256 block dec", fn -> SpeckEx.Block.decrypt(block, speck, :speck128_256) end},
      {"Speck 128/256 init + block enc",
       fn -> SpeckEx.Block.encrypt(block, SpeckEx.Block.init(key), :speck128_256) end},
      {"Speck 128/256 CTR 1K blocks enc", fn -> SpeckEx.CTR.crypt(plaintext, key, block) end},
      {"Speck 128/256 AEAD 1K blocks enc", fn -> SpeckEx.AEAD.encrypt(plaintext, key, block, "") end},
      {"AES 128/256 block enc, :crypto", fn -> :crypto.crypto_update(aes, block) end},
      {"AES 128/256 CTR 1K blocks enc, :crypto",
       fn -> :crypto.crypto_one_time(:aes_256_ctr, key, block, plaintext, true) end}
    ] do
  IO.puts(
    "#{String.pad_trailing(name <> ":", 42)} #{String.pad_leading("#{round(1.0e9 / Best.time(work))}", 10)} ops/s"
  )
end
