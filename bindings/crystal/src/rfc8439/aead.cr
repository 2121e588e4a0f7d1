# The tag does not match the data, key, nonce and associated data. Nothing was decrypted.
class Crypto::TagException < Exception
  def initialize(message : String = "mismatching tag for cipher text")
    super
  end
end

# ChaCha20-Poly1305 (RFC 8439, section 2.8) for one message, in the layout of the shard rfc8439:
# associated data, padded to 16 bytes, ciphertext, padded as well, and both lengths. The tag is
# stored separately. `Sealane::Aead` has the layout of the RFC.
class Crypto::AeadChacha20Poly1305
  include HiddenKey

  # :nodoc:
  BLOCK_SIZE = 16
  # Bytes encrypted at once. With smaller pieces, an `IO::Memory` grows several times and copies all
  # its bytes each time.
  private PIECE_SIZE = 1_048_576

  private enum Stage
    New
    Aad
    Data
    Done
  end

  @key : Bytes
  @nonce : Bytes
  @stage = Stage::New
  @encryptor : Sealane::Hazmat::AeadEncryptor?
  @aad_size = 0_u64
  @data_size = 0_u64
  @scratch = Bytes.empty
  # Fibers take turns: writing to the IO lets others run.
  @mutex = Mutex.new

  # Takes a 32-byte key, a 12-byte nonce used for no other message of this key, and the IO for the
  # result.
  def initialize(key : Bytes, nonce : Bytes, @io : IO)
    raise ArgumentError.new("key needs to be 32 bytes (256 bits), found #{key.size}") unless key.size == 32
    raise ArgumentError.new("nonce needs to be 12 bytes (96 bits), found #{nonce.size}") unless nonce.size == 12
    @key, @nonce = key.dup, nonce.dup
  end

  # Adds associated data, in pieces of any length, before the plaintext.
  def aad(data : Bytes) : Nil
    @mutex.synchronize do
      encryptor(Stage::Aad).aad(data)
      @aad_size += data.size
      @io.write(data)
    end
  end

  # Encrypts plaintext, in pieces of any length.
  def update(data : Bytes) : Nil
    @mutex.synchronize do
      encryptor = encryptor(Stage::Data)
      until data.empty?
        piece = data[0, {data.size, PIECE_SIZE}.min]
        @scratch = Sealane.new_bytes(piece.size) if @scratch.size < piece.size
        @io.write(encryptor.update_into(piece, @scratch))
        @data_size += piece.size
        data += piece.size
      end
    end
  end

  # Writes the lengths and returns the tag.
  def final : Bytes
    @mutex.synchronize do
      encryptor = encryptor(Stage::Data)
      pad(@data_size)
      @io.write_bytes(@aad_size, IO::ByteFormat::LittleEndian)
      @io.write_bytes(@data_size, IO::ByteFormat::LittleEndian)
      @stage = Stage::Done
      encryptor.final.tap { encryptor.close }
    end
  end

  # Verifies the tag in constant time. If it matches, writes the plaintext to the IO and returns the
  # associated data; otherwise raises `TagException` and writes nothing.
  def decrypt(data : Bytes, tag : Bytes) : Bytes
    raise ArgumentError.new("expected a new object for each message, found one that was used") unless @stage.new?
    @stage = Stage::Done
    raise TagException.new unless tag.size == BLOCK_SIZE
    aad, ciphertext = parts(data)
    aead = Sealane::Aead.new("chacha20-poly1305", @key)
    begin
      message = Sealane.new_bytes(ciphertext.size.to_i64 + tag.size)
      ciphertext.copy_to(message)
      tag.copy_to(message + ciphertext.size)
      @io.write(aead.decrypt_into(@nonce, message, message, aad))
    rescue Sealane::AuthenticationError
      raise TagException.new
    ensure
      aead.close
    end
    aad
  end

  # Enters a stage, from the same one or an earlier one.
  private def encryptor(stage : Stage) : Sealane::Hazmat::AeadEncryptor
    if @stage.done?
      raise ArgumentError.new("expected a new object for each message, found one whose message has ended")
    elsif stage < @stage
      raise ArgumentError.new("expected associated data before the plaintext, found it after")
    end
    encryptor = @encryptor ||= Sealane::Hazmat::AeadEncryptor.new("chacha20-poly1305", @key, @nonce)
    pad(@aad_size) if stage.data? && !@stage.data?
    @stage = stage
    encryptor
  end

  private def pad(size : UInt64) : Nil
    used = (size % BLOCK_SIZE).to_i
    @io.write(Bytes.new(BLOCK_SIZE - used)) if used > 0
  end

  # Returns associated data and ciphertext. The tag covers exactly the bytes that the lengths
  # describe, so other lengths or nonzero padding are as wrong as a wrong tag.
  private def parts(data : Bytes) : {Bytes, Bytes}
    raise TagException.new if data.size < BLOCK_SIZE
    aad_size, data_size = {-16, -8}.map do |place|
      IO::ByteFormat::LittleEndian.decode(UInt64, data[data.size + place, 8])
    end
    from = (aad_size.to_u128 + BLOCK_SIZE - 1) // BLOCK_SIZE * BLOCK_SIZE
    footer = from + (data_size.to_u128 + BLOCK_SIZE - 1) // BLOCK_SIZE * BLOCK_SIZE
    raise TagException.new unless footer + BLOCK_SIZE == data.size
    from, aad_size, data_size = from.to_i, aad_size.to_i, data_size.to_i
    padding = {data[aad_size, from - aad_size], data[from + data_size, data.size - BLOCK_SIZE - from - data_size]}
    raise TagException.new unless padding.all?(&.all?(&.zero?))
    {data[0, aad_size], data[from, data_size]}
  end
end
