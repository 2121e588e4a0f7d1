require "./chacha20"

# The one-time authenticator Poly1305 (RFC 8439, section 2.5). Use a key for one message: with two
# tags under one key, an attacker can forge a third.
module Crypto::Poly1305
  BLOCK_SIZE = 16

  # A tag being computed.
  abstract class MAC
    abstract def key : Bytes
    abstract def update(msg : Bytes)
    abstract def final : Bytes
  end

  # sealane's implementation; takes pieces of any length.
  class Default < MAC
    include HiddenKey

    BLOCK_SIZE = Poly1305::BLOCK_SIZE

    # Returns the one-time key.
    getter key : Bytes

    # A one-time key of 32 bytes.
    def initialize(@key : Bytes)
      raise ArgumentError.new("key needs to be 256 bits (32 bytes), found #{@key.size} bytes") unless @key.size == 32
      @key = @key.dup
      @mac = Sealane::Hazmat::Poly1305.new(@key)
    end

    # The same with hexadecimal text.
    def self.new(key : String) : self
      new(Hex.bytes(key))
    end

    # ChaCha20's one-time key for a key and a nonce (RFC 8439, section 2.6).
    def self.chacha20(key, nonce) : self
      cipher = ChaCha20::Default.new(key, nonce)
      chacha20(cipher).tap { cipher.close }
    end

    # The one-time key from a cipher's first block.
    def self.chacha20(cipher : ChaCha20::Cipher) : self
      first = cipher.clone
      block = ChaCha20.block_bytes(first.next_key_block, false)
      first.close if first.is_a?(ChaCha20::Default)
      new(block[0, 32]).tap { Sealane.wipe(block) }
    end

    # Computes the tag of a message.
    def self.auth(key, message : Bytes) : Bytes
      new(key).update(message).final
    end

    # Adds data to the message.
    def update(msg : Bytes) : self
      @mac.update(msg)
      self
    end

    # Returns the tag. Any later call raises.
    def final : Bytes
      @mac.final.tap { @mac.close }
    end

    # Compares the tag in constant time, unlike `==`, and raises `TagException` if it differs.
    def verify(tag : Bytes) : Nil
      @mac.verify(tag)
      @mac.close
    rescue Sealane::AuthenticationError
      @mac.close
      raise TagException.new
    end
  end

  # The shard's backend names. All are sealane's implementation.
  alias Native = Default
  # :ditto:
  alias Fast = Default
  # :ditto:
  alias OpenSSL = Default

  # Returns a tag being computed, for a key in bytes or hexadecimal.
  def self.new(key) : MAC
    Default.new(key)
  end

  # Computes the tag of a message.
  def self.auth(key, message : Bytes) : Bytes
    Default.auth(key, message)
  end

  # ChaCha20's one-time key for a key and a nonce.
  def self.chacha20(key, nonce) : MAC
    Default.chacha20(key, nonce)
  end

  # The one-time key from a cipher's first block.
  def self.chacha20(cipher : ChaCha20::Cipher) : MAC
    Default.chacha20(cipher)
  end
end
