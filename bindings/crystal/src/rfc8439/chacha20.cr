require "./hex"

# The stream cipher ChaCha20 (RFC 8439, section 2.4). It does not detect changes; see
# `AeadChacha20Poly1305`.
module Crypto::ChaCha20
  BLOCK_SIZE = 64

  # A keystream with a position. Each call continues at the byte where the last one ended.
  abstract class Cipher
    abstract def encrypt(plaintext : Bytes) : Bytes
    abstract def encrypt(plaintext : Bytes, encrypted : Bytes) : Nil
    abstract def next_key_block : UInt32[16]
    abstract def reset
  end

  # sealane's implementation; chooses instructions when a key is set up.
  class Default < Cipher
    include HiddenKey

    BLOCK_SIZE = ChaCha20::BLOCK_SIZE

    @position : UInt64

    # Takes a 32-byte key, a 12-byte nonce, and the number of the first block.
    def initialize(@key : Bytes, @nonce : Bytes, counter : UInt32 = 0_u32)
      raise ArgumentError.new("key needs to be 32 bytes (256 bits), found #{@key.size}") unless @key.size == 32
      raise ArgumentError.new("nonce needs to be 12 bytes (96 bits), found #{@nonce.size}") unless @nonce.size == 12
      # The caller may change its bytes before calling `clone`.
      @key, @nonce = @key.dup, @nonce.dup
      @keystream = Sealane::Hazmat::Keystream.new("chacha20", @key, @nonce)
      @position = counter.to_u64 * BLOCK_SIZE
    end

    # The same with hexadecimal text.
    def self.new(key : String, nonce : String, counter : UInt32 = 0_u32) : self
      new(Hex.bytes(key), Hex.bytes(nonce), counter)
    end

    # Continues a state (RFC 8439, section 2.3): constants, key, block number, nonce.
    def self.new(state : UInt32[16]) : self
      constants = {0x61707865_u32, 0x3320646e_u32, 0x79622d32_u32, 0x6b206574_u32}
      unless constants.each_with_index.all? { |constant, index| state[index] == constant }
        raise ArgumentError.new("expected the constants of ChaCha20 in the first four words of the state, found others")
      end
      bytes = ChaCha20.block_bytes(state, false)
      new(bytes[16, 32], bytes[52, 12], state[12])
    end

    # Returns another cipher with the same key and nonce, at block 0.
    def clone
      # A closed cipher has no key.
      @keystream.handle
      self.class.new(@key, @nonce)
    end

    # Goes back to block 0.
    def reset
      @position = 0
    end

    # Encrypts or decrypts.
    def encrypt(plaintext : Bytes) : Bytes
      encrypted = @keystream.xor_at(@position, plaintext)
      @position += plaintext.size
      encrypted
    end

    # Like the other `encrypt`, to the caller's memory, which may be longer or the same.
    def encrypt(plaintext : Bytes, encrypted : Bytes) : Nil
      @keystream.xor_into(@position, plaintext, encrypted)
      @position += plaintext.size
    end

    # Encrypts or decrypts everything readable from another IO.
    def encrypt(plaintext : IO, encrypted : IO) : Nil
      buffer = Bytes.new(65536)
      while (count = plaintext.read(buffer)) > 0
        encrypt(buffer[0, count], buffer)
        encrypted.write(buffer[0, count])
      end
    end

    # Returns the next whole block of the keystream.
    def next_key_block : UInt32[16]
      @position = (@position + BLOCK_SIZE - 1) // BLOCK_SIZE * BLOCK_SIZE
      bytes = encrypt(Bytes.new(BLOCK_SIZE))
      block = StaticArray(UInt32, 16).new do |index|
        IO::ByteFormat::LittleEndian.decode(UInt32, bytes[4 * index, 4])
      end
      Sealane.wipe(bytes)
      block
    end

    # Wipes the key. Later calls raise `Sealane::ClosedError`.
    def close : Nil
      @keystream.close
      Sealane.wipe(@key)
    end
  end

  # The shard's backend names. All are sealane's implementation.
  alias Native = Default
  # :ditto:
  alias Neon = Default
  # :ditto:
  alias OpenSSL = Default

  # Returns a cipher for keys and nonces in bytes or hexadecimal.
  def self.new(key, nonce, counter : UInt32 = 0_u32) : Cipher
    Default.new(key, nonce, counter)
  end

  # Returns the bytes of a block of words.
  def self.block_bytes(block : UInt32[16], be : Bool = true) : Bytes
    bytes = Bytes.new(BLOCK_SIZE)
    block.each_with_index do |word, index|
      place = bytes[4 * index, 4]
      be ? IO::ByteFormat::BigEndian.encode(word, place) : IO::ByteFormat::LittleEndian.encode(word, place)
    end
    bytes
  end
end
