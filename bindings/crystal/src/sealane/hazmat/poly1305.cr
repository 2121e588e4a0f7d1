module Sealane::Hazmat
  # A Poly1305 tag being computed. Use the 32-byte key for one message: with two tags under one key,
  # an attacker can forge a third.
  class Poly1305
    TAG_SIZE = 16

    Sealane.owns_closable_handle(Poly1305, exclusive: true)

    # Starts a tag.
    def self.new(key : Bytes) : self
      new(Sealane.create { |error| LibSealane.hazmat_poly1305_new(key, key.size, error) })
    end

    # Starts a tag with ChaCha20's one-time key for a 32-byte key and a 12-byte nonce (RFC 8439,
    # section 2.6).
    def self.from_chacha20(key : Bytes, nonce : Bytes) : self
      new(Sealane.create do |error|
        LibSealane.hazmat_poly1305_new_from_chacha20(key, key.size, nonce, nonce.size, error)
      end)
    end

    # :nodoc:
    def initialize(@handle : LibSealane::Poly1305)
    end

    # Adds data to the message.
    def update(data : Bytes) : self
      call { |error| LibSealane.poly1305_update(handle, data, data.size, error) }
      self
    end

    # Returns the tag. Afterwards, only close the object.
    def final : Bytes
      tag = Bytes.new(TAG_SIZE)
      call_into(tag) { |error| LibSealane.poly1305_finalize(handle, tag, tag.size, error) }
    end

    # Compares the tag in constant time and raises `AuthenticationError` if it differs. Afterwards,
    # only close the object.
    def verify(tag : Bytes) : Nil
      call { |error| LibSealane.poly1305_verify(handle, tag, tag.size, error) }
    end
  end
end
