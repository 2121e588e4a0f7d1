module Sealane
  # An algorithm of authenticated encryption with a key. Fibers and threads may share it.
  #
  # ```
  # aead = Sealane::Aead.new("aes-256-gcm", Sealane.random_bytes(32))
  # sealed = aead.seal("text".to_slice, aad: "header".to_slice) # nonce || ciphertext || tag
  # String.new(aead.open(sealed, aad: "header".to_slice))       # => "text"
  # ```
  class Aead
    Sealane.owns_closable_handle(Aead)

    # Returns the length of a nonce in bytes.
    getter nonce_size : Int32
    # Returns the length of a tag in bytes.
    getter tag_size : Int32
    # Returns the name of the algorithm, for example "aes-256-gcm".
    getter algorithm : String
    # Returns the name of the implementation, for example "native".
    getter provider : String
    # Returns the name of the code for an instruction set, for example "vaes512".
    getter variant : String
    # Returns the maximum length of a plaintext in bytes.
    getter max_plaintext_size : UInt64

    # Expands a key. `Sealane.algorithms` lists the names with the length of a key. Without a provider, the fastest
    # implementation on this machine is used.
    def self.new(algorithm : String, key : Bytes, provider : String? = nil) : self
      algorithm, provider = Sealane.c_text(algorithm), Sealane.c_text(provider)
      new(Sealane.create { |error| LibSealane.aead_new(algorithm, key, key.size, provider, error) })
    end

    # :ditto:
    def self.new(algorithm : String, key : Secret, provider : String? = nil) : self
      algorithm, provider = Sealane.c_text(algorithm), Sealane.c_text(provider)
      new(key.lend do |secret|
        Sealane.create { |error| LibSealane.aead_new_with_secret(algorithm, secret, provider, error) }
      end)
    end

    # :nodoc:
    def initialize(@handle : LibSealane::Aead)
      description = LibSealane::AeadDescription.new
      description.size = LibC::SizeT.new(sizeof(LibSealane::AeadDescription))
      Sealane.check { |error| LibSealane.aead_describe(@handle, pointerof(description), error) }
      @nonce_size = description.nonce_len.to_i
      @tag_size = description.tag_len.to_i
      @algorithm = String.new(description.algorithm.to_unsafe)
      @provider = String.new(description.provider.to_unsafe)
      @variant = String.new(description.variant.to_unsafe)
      @max_plaintext_size = description.max_plaintext_len
    end

    # Returns the number of bytes that a sealed message is longer than its plaintext.
    def overhead : Int32
      nonce_size + tag_size
    end

    # Seals a message under a fresh random nonce, and returns `nonce || ciphertext || tag`. The associated data is
    # authenticated and not part of the result.
    def seal(data : Bytes, aad : Bytes = Bytes.empty) : Bytes
      seal_into(data, Sealane.new_bytes(data.size.to_i64 + overhead), aad)
    end

    # Opens a sealed message, or raises `AuthenticationError`.
    def open(sealed : Bytes, aad : Bytes = Bytes.empty) : Bytes
      open_into(sealed, Sealane.new_bytes({sealed.size - overhead, 0}.max), aad)
    end

    # As `seal`, to memory of the caller. Returns the part of *output* that was written. The result is written in place
    # if *data* is `output + nonce_size`; any other overlap is refused.
    def seal_into(data : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_seal(handle, data, data.size, aad, aad.size, output, output.size, error)
      end
    end

    # As `open`, to memory of the caller. In place if *output* is `sealed + nonce_size`.
    def open_into(sealed : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_open(handle, sealed, sealed.size, aad, aad.size, output, output.size, error)
      end
    end

    # Seals messages in one call, which costs less for each of them than `seal` and uses several cores for large batches. The
    # messages lie one after the other in *data* and have the lengths *sizes*. The result has them in the same order, each
    # longer by `overhead`.
    def seal_many(data : Bytes, sizes : Enumerable(Int), aad : Bytes = Bytes.empty) : Bytes
      sizes = sizes_of_messages(sizes)
      output = Sealane.new_bytes(data.size.to_i64 + sizes.size.to_i64 * overhead)
      call do |error|
        LibSealane.aead_seal_many(handle, data, data.size, sizes, sizes.size, aad, aad.size, output, output.size, error)
      end
      output
    end

    # Opens messages of `seal_many`, which lie one after the other in *sealed* and have the lengths *sizes*. If one is not
    # authentic, raises `AuthenticationError` with the index of the first one.
    def open_many(sealed : Bytes, sizes : Enumerable(Int), aad : Bytes = Bytes.empty) : Bytes
      sizes = sizes_of_messages(sizes)
      output = Sealane.new_bytes({sealed.size.to_i64 - sizes.size.to_i64 * overhead, 0_i64}.max)
      call do |error|
        LibSealane.aead_open_many(handle, sealed, sealed.size, sizes, sizes.size, aad, aad.size,
          output, output.size, Pointer(UInt8).null, error)
      end
      output
    end

    private def sizes_of_messages(sizes : Enumerable(Int)) : Array(UInt64)
      sizes.map do |size|
        raise ArgumentError.new("expected lengths of 0 or more, found #{size}") if size < 0
        size.to_u64
      end
    end

    # Encrypts under a nonce of the caller, which must never be used twice with one key. Returns `ciphertext || tag`.
    def encrypt(nonce : Bytes, data : Bytes, aad : Bytes = Bytes.empty) : Bytes
      encrypt_into(nonce, data, Sealane.new_bytes(data.size.to_i64 + tag_size), aad)
    end

    # Decrypts `ciphertext || tag`, or raises `AuthenticationError`.
    def decrypt(nonce : Bytes, data : Bytes, aad : Bytes = Bytes.empty) : Bytes
      decrypt_into(nonce, data, Sealane.new_bytes({data.size - tag_size, 0}.max), aad)
    end

    # As `encrypt`, to memory of the caller. In place if *output* begins where *data* does.
    def encrypt_into(nonce : Bytes, data : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_encrypt(handle, nonce, nonce.size, data, data.size, aad, aad.size, output, output.size, error)
      end
    end

    # As `decrypt`, to memory of the caller. In place if *output* begins where *data* does.
    def decrypt_into(nonce : Bytes, data : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_decrypt(handle, nonce, nonce.size, data, data.size, aad, aad.size, output, output.size, error)
      end
    end
  end
end
