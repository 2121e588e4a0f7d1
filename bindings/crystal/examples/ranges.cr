# A range from the middle of an encrypted file in another IO, here in memory.
require "../src/sealane"

text = String.build { |io| 100_000.times { io << "0123456789" } }
key = Sealane.random_bytes(32)
stored = Sealane.encrypt(text.to_slice, Sealane::EncryptWith.key(key, context: "example".to_slice))

keys = Sealane::DecryptWith.key(key, context: "example".to_slice)
Sealane::Reader.open(IO::Memory.new(stored), keys) do |file|
  puts "#{file.size} bytes"
  puts String.new(file.read_at(777_770, count: 10))
end
