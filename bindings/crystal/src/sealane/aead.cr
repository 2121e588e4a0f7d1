module Sealane
  # An AEAD algorithm with a key. Fibers and threads may share it.
  #
  # ```
  # aead = Sealane::Aead.new("aes-256-gcm", Sealane.random_bytes(32))
  # sealed = aead.seal("text".to_slice, aad: "header".to_slice) # nonce || ciphertext || tag
  # String.new(aead.open(sealed, aad: "header".to_slice))       # => "text"
  # ```
  class Aead
    Sealane.owns_closable_handle(Aead)

    # Returns the nonce length in bytes.
    getter nonce_size : Int32
    # Returns the tag length in bytes.
    getter tag_size : Int32
    # Returns the algorithm's name, such as "aes-256-gcm".
    getter algorithm : String
    # Returns the implementation's name, such as "native".
    getter provider : String
    # Returns the variant (the code for an instruction set), such as "vaes512".
    getter variant : String
    # Returns the maximum plaintext length in bytes.
    getter max_plaintext_size : UInt64

    # Expands a key. `Sealane.algorithms` lists the names with their key lengths. The default
    # provider is the fastest on this machine.
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

    # Returns the number of bytes that sealing adds.
    def overhead : Int32
      nonce_size + tag_size
    end

    # Seals a message under a fresh random nonce. Returns `nonce || ciphertext || tag`. The
    # associated data is authenticated but not part of the result.
    def seal(data : Bytes, aad : Bytes = Bytes.empty) : Bytes
      seal_into(data, Sealane.new_bytes(data.size.to_i64 + overhead), aad)
    end

    # Opens a sealed message, or raises `AuthenticationError`.
    def open(sealed : Bytes, aad : Bytes = Bytes.empty) : Bytes
      open_into(sealed, Sealane.new_bytes({sealed.size - overhead, 0}.max), aad)
    end

    # Like `seal`, to the caller's memory. Returns the written part of *output*. In place if *data*
    # is `output + nonce_size`; any other overlap is refused.
    def seal_into(data : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_seal(handle, data, data.size, aad, aad.size, output, output.size, error)
      end
    end

    # Like `open`, to the caller's memory. In place if *output* is `sealed + nonce_size`.
    def open_into(sealed : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_open(handle, sealed, sealed.size, aad, aad.size, output, output.size, error)
      end
    end

    # Seals messages in one call: faster per message than `seal`, and large batches use several
    # cores. The messages are consecutive in *data*, with the lengths *sizes*. So are the sealed
    # messages in the result, each longer by `overhead`.
    def seal_many(data : Bytes, sizes : Enumerable(Int), aad : Bytes = Bytes.empty) : Bytes
      sizes = sizes_of_messages(sizes)
      output = Sealane.new_bytes(data.size.to_i64 + sizes.size.to_i64 * overhead)
      call_into(output) do |error|
        LibSealane.aead_seal_many(handle, data, data.size, sizes, sizes.size, aad, aad.size, output, output.size, error)
      end
    end

    # Opens messages of `seal_many`, consecutive in *sealed*, with the lengths *sizes*. If any is
    # not authentic, raises `AuthenticationError` with the first one's index.
    def open_many(sealed : Bytes, sizes : Enumerable(Int), aad : Bytes = Bytes.empty) : Bytes
      sizes = sizes_of_messages(sizes)
      output = Sealane.new_bytes({sealed.size.to_i64 - sizes.size.to_i64 * overhead, 0_i64}.max)
      call_into(output) do |error|
        LibSealane.aead_open_many(handle, sealed, sealed.size, sizes, sizes.size, aad, aad.size,
          output, output.size, Pointer(UInt8).null, error)
      end
    end

    private def sizes_of_messages(sizes : Enumerable(Int)) : Array(UInt64)
      sizes.map do |size|
        raise ArgumentError.new("expected lengths of 0 or more, found #{size}") if size < 0
        size.to_u64
      end
    end

    # Encrypts under the caller's nonce. Never use a nonce twice with one key. Returns `ciphertext
    # || tag`.
    def encrypt(nonce : Bytes, data : Bytes, aad : Bytes = Bytes.empty) : Bytes
      encrypt_into(nonce, data, Sealane.new_bytes(data.size.to_i64 + tag_size), aad)
    end

    # Decrypts `ciphertext || tag`, or raises `AuthenticationError`.
    def decrypt(nonce : Bytes, data : Bytes, aad : Bytes = Bytes.empty) : Bytes
      decrypt_into(nonce, data, Sealane.new_bytes({data.size - tag_size, 0}.max), aad)
    end

    # Like `encrypt`, to the caller's memory. In place if *output* begins where *data* does.
    def encrypt_into(nonce : Bytes, data : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_encrypt(handle, nonce, nonce.size, data, data.size, aad, aad.size, output, output.size, error)
      end
    end

    # Like `decrypt`, to the caller's memory. In place if *output* begins where *data* does.
    def decrypt_into(nonce : Bytes, data : Bytes, output : Bytes, aad : Bytes = Bytes.empty) : Bytes
      call_into(output) do |error|
        LibSealane.aead_decrypt(handle, nonce, nonce.size, data, data.size, aad, aad.size, output, output.size, error)
      end
    end
  end
end
