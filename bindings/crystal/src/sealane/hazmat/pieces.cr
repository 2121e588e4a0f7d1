module Sealane::Hazmat
  # :nodoc:
  # Defines what `AeadEncryptor` and `AeadDecryptor` share.
  macro aead_pieces(function)
    Sealane.owns_closable_handle(Pieces, exclusive: true)

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

    # Encrypts the next data, or decrypts it to unverified bytes. The result is equally long.
    def update(data : Bytes) : Bytes
      update_into(data, Sealane.new_bytes(data.size))
    end

    # Like `update`, to the caller's memory. Returns the written part of *output*. In place if
    # *output* begins where *data* does.
    def update_into(data : Bytes, output : Bytes) : Bytes
      call_into(output) do |error|
        LibSealane.pieces_update(handle, data, data.size, output, output.size, error)
      end
    end
  end

  # A message encrypted in pieces: AES-GCM, "chacha20-poly1305" or "xchacha20-poly1305". Never use a
  # nonce twice with one key. First associated data, then data, then `final`.
  class AeadEncryptor
    Hazmat.aead_pieces(hazmat_encryptor_new)

    # Returns the 16-byte tag. Afterwards, only close the object.
    def final : Bytes
      tag = Bytes.new(16)
      call_into(tag) { |error| LibSealane.pieces_finalize(handle, tag, tag.size, error) }
    end
  end

  # A message decrypted in pieces. The plaintext is unverified until `verify` returns: an attacker
  # may have chosen it. If `verify` raises, discard all of it.
  class AeadDecryptor
    Hazmat.aead_pieces(hazmat_decryptor_new)

    # Compares the tag and raises `AuthenticationError` if it differs. Afterwards, only close the
    # object.
    def verify(tag : Bytes) : Nil
      call { |error| LibSealane.pieces_verify(handle, tag, tag.size, error) }
    end
  end
end
