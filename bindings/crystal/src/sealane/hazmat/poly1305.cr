module Sealane::Hazmat
  # A tag of Poly1305 that is being computed. The key of 32 bytes is for one message: two tags under one key are enough
  # to forge a third.
  class Poly1305
    TAG_SIZE = 16

    Sealane.owns_closable_handle(Poly1305)

    # Starts a tag.
    def self.new(key : Bytes) : self
      new(Sealane.create { |error| LibSealane.hazmat_poly1305_new(key, key.size, error) })
    end

    # Starts a tag with the one-time key that ChaCha20 makes from a key of 32 bytes and a nonce of 12 (RFC 8439,
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

    # Returns the tag. Then the object can only be closed.
    def final : Bytes
      tag = Bytes.new(TAG_SIZE)
      call { |error| LibSealane.poly1305_finalize(handle, tag, tag.size, error) }
      tag
    end

    # Compares the tag in constant time, and raises `AuthenticationError` if it differs. Then the object can only be
    # closed.
    def verify(tag : Bytes) : Nil
      call { |error| LibSealane.poly1305_verify(handle, tag, tag.size, error) }
    end
  end
end
