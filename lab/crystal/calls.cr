# Prints the time of calls beside the OpenSSL of Crystal's standard library: run.sh does this
require "../../bindings/crystal/src/rfc8439"
require "../../bindings/crystal/spec/openssl_reference"
require "./best"

KEY   = Bytes.new(32, 7)
NONCE = Bytes.new(12, 9)
SIZES = {64 => "64 B", 1024 => "1 KiB", 16_384 => "16 KiB", 1_048_576 => "1 MiB"}

def time(nanoseconds : Float64) : String
  nanoseconds < 1000 ? "#{nanoseconds.round(1)} ns" : "#{(nanoseconds / 1000).round(2)} us"
end

def row(name : String, size : String, found : Hash(String, Float64)) : Nil
  peer = found["openssl"]
  cells = {"into", "new"}.map { |way| "#{time(found[way])} | #{(peer / found[way]).round(2)}" }
  puts "| #{name} | #{size} | #{time(peer)} | #{cells.join(" | ")} |"
end

empty = Best.new
sum = 0_u64
empty.add("abi", 0.001) { |calls| calls.times { sum &+= LibSealane.abi } }
# The class checks the handle, and the library the arguments.
aead = Sealane::Aead.new("aes-256-gcm", KEY)
keystream = Sealane::Hazmat::Keystream.new("aes-ctr", KEY, Bytes.new(16))
empty.add("xor_into of no bytes", 0.01) do |calls|
  calls.times { sum &+= keystream.xor_into(0, Bytes.empty, Bytes.empty).size }
end
puts "| call | time |", "|---|---|"
empty.run.each { |name, spent| puts "| #{name} | #{time(spent)} |" }
puts

puts "| encryption | size | OpenSSL | to memory of the caller | ratio | to new bytes | ratio |"
puts "|---|---|---|---|---|---|---|"
{"aes-256-gcm", "chacha20-poly1305"}.each do |name|
  aead = Sealane::Aead.new(name, KEY)
  SIZES.each do |size, label|
    data, output = apart(size, 64), apart(size + 16, 576)
    best = Best.new
    cipher = OpenSSL::Cipher.new(name)
    cipher.encrypt
    cipher.key = KEY
    best.add("openssl", 1 + size / 5000) do |calls|
      calls.times do
        cipher.iv = NONCE
        cipher.update(data)
        cipher.final
        cipher.tag
      end
    end
    best.add("into", 0.05 + size / 10_000) { |calls| calls.times { aead.encrypt_into(NONCE, data, output) } }
    best.add("new", 0.1 + size / 10_000) { |calls| calls.times { aead.encrypt(NONCE, data) } }
    row(name, label, best.run)
  end
end

{"aes-256-ctr", "chacha20"}.each do |name|
  iv = Bytes.new(name == "chacha20" ? 12 : 16, 3)
  keystream = Sealane::Hazmat::Keystream.new(name.sub("-256", ""), KEY, iv)
  SIZES.each do |size, label|
    data, output = apart(size, 64), apart(size, 576)
    best = Best.new
    cipher = OpenSSL::Cipher.new(name)
    cipher.encrypt
    cipher.key = KEY
    cipher.iv = Bytes.new(16, 3)
    best.add("openssl", 0.3 + size / 5000) { |calls| calls.times { cipher.update(data) } }
    best.add("into", 0.05 + size / 15_000) { |calls| calls.times { keystream.xor_into(0, data, output) } }
    best.add("new", 0.1 + size / 15_000) { |calls| calls.times { keystream.xor_at(0, data) } }
    row(name, label, best.run)
  end
end
abort "" if sum == 1
