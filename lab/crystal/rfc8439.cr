# The shard rfc8439's benchmark, for every class found in CRYSTAL_PATH under its names. Compiled
# with this package and with the shard, it compares them. run.sh does both.
require "rfc8439"
require "./best"

KEY   = Bytes.new(32, 0xfe)
NONCE = Bytes.new(12, 0xfe)
SIZE  = 1 << 20

plaintext, encrypted = apart(SIZE, 64), apart(SIZE, 576)
best = Best.new
{% for name in %w(Native OpenSSL) %}
  {% if Crypto::ChaCha20.has_constant?(name) %}
    best.add("ChaCha20 #{Crypto::ChaCha20::{{ name.id }}.name.split("::").last}", 300) do |calls|
      calls.times { Crypto::ChaCha20::{{ name.id }}.new(KEY, NONCE, 0_u32).encrypt(plaintext, encrypted) }
    end
  {% end %}
{% end %}
{% for name in %w(Native Fast OpenSSL) %}
  {% if Crypto::Poly1305.has_constant?(name) %}
    best.add("Poly1305 #{Crypto::Poly1305::{{ name.id }}.name.split("::").last}", 300) do |calls|
      calls.times do
        mac = Crypto::Poly1305::{{ name.id }}.chacha20(KEY, NONCE)
        mac.update(plaintext)
        mac.final
      end
    end
  {% end %}
{% end %}
best.add("AEAD to an IO::Memory", 700) do |calls|
  calls.times do
    aead = Crypto::AeadChacha20Poly1305.new(KEY, NONCE, IO::Memory.new)
    aead.update(plaintext)
    aead.final
  end
end
puts "| 1 MiB | #{ARGV[0]? || "GB/s"} |", "|---|---|"
best.run.each { |name, spent| puts "| #{name} | #{(SIZE / spent).round(2)} GB/s |" }
