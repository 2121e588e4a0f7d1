module Sealane::Hazmat
  # :nodoc:
  # Defines what `AeadEncryptor` and `AeadDecryptor` have in common.
  macro aead_pieces(function)
    Sealane.owns_closable_handle(Pieces)

    # Starts a message.
    def initialize(algorithm : String, key : Bytes, nonce : Bytes)
      algorithm = Sealane.c_text(algorithm)
      @handle = Sealane.create do |error|
        LibSealane.{{function}}(algorithm, key, key.size, nonce, nonce.size, error)
      end
    end

    # Adds associated data.
    def aad(data : Bytes) : self
      call { |error| LibSealane.pieces_aad(handle, data, data.size, error) }
      self
    end

    # Encrypts the next data, or decrypts it to bytes that are not verified. The result has as many bytes.
    def update(data : Bytes) : Bytes
      update_into(data, Sealane.new_bytes(data.size))
    end

    # As `update`, to memory of the caller. Returns the part of *output* that was written. In place if *output* begins
    # where *data* does.
    def update_into(data : Bytes, output : Bytes) : Bytes
      call_into(output) do |error|
        LibSealane.pieces_update(handle, data, data.size, output, output.size, error)
      end
    end
  end

  # One message that is encrypted in pieces: AES-GCM, "chacha20-poly1305" or "xchacha20-poly1305". The nonce must never
  # be used twice with one key. Associated data comes first, then data, then `final`.
  class AeadEncryptor
    Hazmat.aead_pieces(hazmat_encryptor_new)

    # Returns the tag of 16 bytes. Then the object can only be closed.
    def final : Bytes
      tag = Bytes.new(16)
      call { |error| LibSealane.pieces_finalize(handle, tag, tag.size, error) }
      tag
    end
  end

  # One message that is decrypted in pieces. Its plaintext is not verified until `verify` returns: an attacker may have
  # chosen it. Discard all of it otherwise.
  class AeadDecryptor
    Hazmat.aead_pieces(hazmat_decryptor_new)

    # Compares the tag, and raises `AuthenticationError` if it differs. Then the object can only be closed.
    def verify(tag : Bytes) : Nil
      call { |error| LibSealane.pieces_verify(handle, tag, tag.size, error) }
    end
  end
end
