module Sealane
  # An algorithm of `Aead`, with lengths in bytes.
  record Algorithm, name : String, key_size : Int32, nonce_size : Int32, tag_size : Int32,
    max_plaintext_size : UInt64, max_aad_size : UInt64

  # An implementation of an algorithm. `reason` says why it is unavailable.
  record Provider, algorithm : String, name : String, variant : String, available : Bool, chosen : Bool,
    reason : String

  # Returns the C library's version, such as "0.1.0".
  def self.version : String
    String.new(LibSealane.version)
  end

  # Returns the number of the C library's handles and results not freed, for leak tests.
  def self.live_handles : Int64
    LibSealane.live_handles
  end

  # Lists the algorithms of `Aead`.
  def self.algorithms : Array(Algorithm)
    text { |buffer, size, error| LibSealane.algorithms(buffer, size, error) }.lines.map do |line|
      name, key, nonce, tag, plaintext, aad = line.split('\t')
      Algorithm.new(name, key.to_i, nonce.to_i, tag.to_i, plaintext.to_u64, aad.to_u64)
    end
  end

  # Lists the implementations of all algorithms, available or not.
  def self.providers : Array(Provider)
    text { |buffer, size, error| LibSealane.providers(buffer, size, error) }.lines.map do |line|
      algorithm, name, variant, available, chosen, reason = line.split('\t')
      Provider.new(algorithm, name, variant, available == "1", chosen == "1", reason)
    end
  end

  # Sets this process's provider (nil for none) for calls that name none. It can be set once.
  def self.default_provider=(name : String?) : String?
    check { |error| LibSealane.set_default_provider(c_text(name), error) }
    name
  end

  # Returns random bytes from the operating system, fit for keys.
  def self.random_bytes(size : Int32) : Bytes
    bytes = Bytes.new(size)
    check { |error| LibSealane.random(bytes, bytes.size, error) }
    bytes
  end

  # Overwrites bytes with zeros. The compiler cannot remove the writes.
  def self.wipe(bytes : Bytes) : Nil
    writable(bytes)
    LibSealane.wipe(bytes, bytes.size)
  end

  # Derives a key of *size* bytes from a passphrase with Argon2id (RFC 9106).
  #
  # The salt needs at least 8 bytes, better 16 random ones. The RFC recommends 65536 KiB, 3 passes
  # and 4 lanes where 2 GiB are too much.
  def self.derive(passphrase : Bytes | String, salt : Bytes, size : Int32 = 32, memory_kib : UInt32 = 65536_u32,
                  passes : UInt32 = 3_u32, lanes : UInt32 = 4_u32) : Bytes
    phrase = passphrase.to_slice
    key = Bytes.new(size)
    check do |error|
      LibSealane.derive(phrase, phrase.size, salt, salt.size, memory_kib, passes, lanes, key, key.size, error)
    end
    key
  end
end
