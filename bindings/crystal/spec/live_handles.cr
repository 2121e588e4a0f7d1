# Uses every class, closes everything, and expects no C library handle to be left. test.sh runs it
# as a program, and under valgrind without a garbage collector, which valgrind cannot follow.
require "../src/rfc8439"
require "file_utils"

def expect(what : String, condition : Bool) : Nil
  abort "failed: #{what}" unless condition
end

def handles(expected : Int, what : String) : Nil
  expect("#{what}: #{Sealane.live_handles} handles, expected #{expected}", Sealane.live_handles == expected)
end

def use_everything(folder : Path) : Nil
  key = Sealane.random_bytes(32)
  nonce = Bytes.new(12, 1)
  data = Bytes.new(100_000) { |i| (i % 253).to_u8 }

  secret = Sealane::Secret.new(key)
  aead = Sealane::Aead.new("aes-256-gcm", key)
  other = Sealane::Aead.new("aes-256-gcm", secret)
  expect("open", other.open(aead.seal(data)) == data)
  begin
    aead.open(data)
    expect("no forgery", false)
  rescue Sealane::AuthenticationError
  end
  keystream = Sealane::Hazmat::Keystream.new("aes-ctr", key, Bytes.new(16))
  expect("keystream", keystream.xor_in_place(5, keystream.xor_at(5, data)) == data)
  speck = Sealane::Hazmat::Speck.new("speck128-256", key)
  expect("blocks", speck.decrypt_blocks(speck.encrypt_blocks(key)) == key)
  speck_aead = Sealane::Hazmat::SpeckAead.new("speck128-256-poly1305", key)
  mac = Sealane::Hazmat::Poly1305.new(key).update(data)
  mac.final
  encryptor = Sealane::Hazmat::AeadEncryptor.new("aes-256-gcm", key, nonce)
  decryptor = Sealane::Hazmat::AeadDecryptor.new("aes-256-gcm", key, nonce)
  expect("pieces", decryptor.update(encryptor.update(data)) == data)
  decryptor.verify(encryptor.final)
  [secret, aead, other, keystream, speck, speck_aead, mac, encryptor, decryptor].each(&.close)
  handles 0, "messages"

  identity = Sealane::Secret.generate("x25519")
  message = Sealane::Hybrid.seal(identity.public_key.not_nil!, data)
  expect("hybrid", Sealane::Hybrid.open(identity, message) == data)
  identity.save(folder / "key")
  loaded = Sealane::Secret.load(folder / "key")
  [identity, loaded].each(&.close)
  handles 0, "keys"

  encrypt, decrypt = Sealane::EncryptWith.key(key), Sealane::DecryptWith.key(key)
  Sealane::Writer.open(folder / "sealed", encrypt, &.write(data))
  Sealane::Writer.new(folder / "given up", encrypt).tap(&.write(data)).abort
  Sealane.decrypt_file(folder / "sealed", folder / "plain", decrypt) { }
  Sealane::Reader.open(folder / "sealed", decrypt) { |reader| expect("reader", reader.getb_to_end == data) }
  stream = IO::Memory.new
  Sealane::Encryptor.open(stream, encrypt, &.write(data))
  Sealane::Decryptor.open(stream.rewind, decrypt) { |io| expect("filter", io.getb_to_end == data) }
  Sealane::Reader.open(stream, decrypt) { |reader| expect("source", reader.getb_to_end == data) }
  [encrypt, decrypt].each(&.close)
  handles 0, "files"

  blob = IO::Memory.new
  aead = Crypto::AeadChacha20Poly1305.new(key, nonce, blob)
  aead.update(data)
  tag = aead.final
  plaintext = IO::Memory.new
  Crypto::AeadChacha20Poly1305.new(key, nonce, plaintext).decrypt(blob.to_slice, tag)
  expect("rfc8439", plaintext.to_slice == data)
  Crypto::Poly1305.auth(key, data)
  Crypto::Poly1305.chacha20(key, nonce).final
  cipher = Crypto::ChaCha20::Default.new(key, nonce)
  cipher.encrypt(data)
  cipher.close
  handles 0, "rfc8439"
end

# Only its finalizer closes garbage.
def make_garbage(key : Bytes) : Nil
  encrypt = Sealane::EncryptWith.key(key)
  1000.times do
    Sealane::Aead.new("aes-256-gcm", key).seal(key)
    Sealane::Encryptor.new(IO::Memory.new, encrypt).write(key)
  end
end

folder = Path[File.tempname("sealane-crystal")]
Dir.mkdir(folder)
begin
  # A finalizer would close what the code above forgets.
  GC.disable
  use_everything(folder)
  GC.enable
  expect("the writer that was given up leaves nothing", Dir.children(folder).sort == ["key", "plain", "sealed"])
ensure
  FileUtils.rm_rf(folder.to_s)
end

{% unless flag?(:gc_none) %}
  make_garbage(Bytes.new(32))
  made = Sealane.live_handles
  # The collector is conservative: a number on the stack that looks like an address keeps an object.
  10.times { GC.collect }
  expect("#{Sealane.live_handles} of #{made} handles after the collector ran", Sealane.live_handles < 20)
{% end %}
puts "live_handles: all were given back"
