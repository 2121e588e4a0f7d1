module Sealane::Hazmat
  # The block cipher Speck with a key, such as "speck128-256". Equal blocks give equal results, so
  # do not encrypt data with it. Fibers and threads may share it.
  class Speck
    Sealane.owns_closable_handle(Speck)

    # Expands a key. *byte_order* is "big" for the paper's order (the default), or "little" for the
    # NSA guide's.
    def initialize(algorithm : String, key : Bytes, byte_order : String? = nil)
      algorithm, byte_order = Sealane.c_text(algorithm), Sealane.c_text(byte_order)
      @handle = Sealane.create do |error|
        LibSealane.hazmat_speck_new(algorithm, key, key.size, byte_order, error)
      end
    end

    # Encrypts each block of *data*, a whole number of blocks.
    def encrypt_blocks(data : Bytes) : Bytes
      output = Sealane.new_bytes(data.size)
      call_into(output) { |error| LibSealane.speck_encrypt_blocks(handle, data, data.size, output, output.size, error) }
    end

    # Decrypts each block of *data*.
    def decrypt_blocks(data : Bytes) : Bytes
      output = Sealane.new_bytes(data.size)
      call_into(output) { |error| LibSealane.speck_decrypt_blocks(handle, data, data.size, output, output.size, error) }
    end
  end

  # Speck-Poly1305, SpeckEx's AEAD. Prefer AES or ChaCha20: no analysis of this construction has
  # been published. Never use the key with `Keystream`: its keystream contains the tag keys.
  class SpeckAead < Aead
    # Expands a key of "speck128-128-poly1305", "speck128-192-poly1305" or "speck128-256-poly1305".
    def self.new(algorithm : String, key : Bytes) : self
      algorithm = Sealane.c_text(algorithm)
      new(Sealane.create { |error| LibSealane.hazmat_aead_new(algorithm, key, key.size, error) })
    end

    # The same with nonces of a whole 16-byte block, as in SpeckEx's low-level functions. Keep the
    # counters of messages apart: a message takes a counter per block, and two more. `seal` is
    # refused.
    def self.block_nonce(algorithm : String, key : Bytes) : self
      algorithm = Sealane.c_text(algorithm)
      new(Sealane.create { |error| LibSealane.hazmat_aead_new_block_nonce(algorithm, key, key.size, error) })
    end

    # The same for blocks of 32 to 96 bits, such as "speck64-128-poly1305". Only for existing
    # messages. The nonce is a whole block; count it so that messages do not overlap. `seal` is
    # refused.
    def self.small_block(algorithm : String, key : Bytes) : self
      algorithm = Sealane.c_text(algorithm)
      new(Sealane.create { |error| LibSealane.hazmat_aead_new_small_block(algorithm, key, key.size, error) })
    end
  end
end
