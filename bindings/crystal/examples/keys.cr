# Keys: generate, save, load and derive; messages for the holder of a private key.
require "../src/sealane"

path = File.tempname("sealane-example", ".pem")
private_key = Sealane::Secret.generate("x25519")
private_key.save(path, "correct horse") # readable by the owner only
loaded = Sealane::Secret.load(path, "correct horse")
puts loaded.public_key

message = Sealane::Hybrid.seal(loaded.public_key.not_nil!, "attack at dawn".to_slice)
puts String.new(Sealane::Hybrid.open(private_key, message))
File.delete(path)

salt = Sealane.random_bytes(16)
key = Sealane.derive("correct horse", salt, memory_kib: 8192_u32)
puts Sealane::Aead.new("xchacha20-poly1305", key).seal("text".to_slice).size
