# Messages: seal, open, associated data, a forgery.
require "../src/sealane"

key = Sealane.random_bytes(32)
aead = Sealane::Aead.new("aes-256-gcm", key)

sealed = aead.seal("attack at dawn".to_slice, aad: "to: alice".to_slice)
puts "#{sealed.size} bytes: nonce, ciphertext, tag"
puts String.new(aead.open(sealed, aad: "to: alice".to_slice))

begin
  aead.open(sealed, aad: "to: bob".to_slice)
rescue error : Sealane::AuthenticationError
  puts "refused: #{error.message}"
end

# Into the caller's memory, in place.
buffer = Bytes.new(aead.nonce_size + 5 + aead.tag_size)
"hello".to_slice.copy_to(buffer + aead.nonce_size)
aead.seal_into(buffer[aead.nonce_size, 5], buffer)
puts String.new(aead.open_into(buffer, buffer + aead.nonce_size))

aead.close # wipes the key; the garbage collector does it some time
