# Raw parts: keystreams at any offset, Poly1305, a message in pieces. They are dangerous: see their
# documentation.
require "../src/sealane"

key = Bytes.new(32, &.to_u8)
keystream = Sealane::Hazmat::Keystream.new("aes-ctr", key, Bytes.new(16))
data = ("text " * 200_000).to_slice
encrypted = keystream.xor_at(0, data)
puts String.new(keystream.xor_at(500_000, encrypted[500_000, 4]))

# The same as an IO.
io = Sealane::Hazmat::KeystreamIO.new(keystream, IO::Memory.new(encrypted))
io.seek(500_000)
puts io.gets(4)

mac = Sealane::Hazmat::Poly1305.new(key).update(data)
Sealane::Hazmat::Poly1305.new(key).update(data).verify(mac.final) # constant time, unlike ==

nonce = Bytes.new(12)
encryptor = Sealane::Hazmat::AeadEncryptor.new("chacha20-poly1305", key, nonce)
pieces = [encryptor.update("Hello ".to_slice), encryptor.update("World!".to_slice)]
whole = Sealane::Aead.new("chacha20-poly1305", key).encrypt(nonce, "Hello World!".to_slice)
puts pieces.sum(&.size), encryptor.final == whole + 12
