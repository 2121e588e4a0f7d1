module Sealane::Hazmat
  # Another `IO` through a keystream: encrypts or decrypts bytes at their position.
  #
  # ```
  # keystream = Sealane::Hazmat::Keystream.new("aes-ctr", key, iv)
  # file = Sealane::Hazmat::KeystreamIO.new(keystream, File.open("data", "r+"), sync_close: true)
  # file.seek(1_000_000)
  # file.gets
  # ```
  #
  # Never write twice at one position under one keystream: the two texts reveal each other.
  class KeystreamIO < IO
    # Whether `close` closes the other IO.
    property? sync_close : Bool
    getter? closed = false

    # Fibers take turns: the other IO lets others run, and all share a position and a buffer.
    @mutex = Mutex.new

    # Byte *offset* of the keystream belongs to the current position of *io*.
    def initialize(@keystream : Keystream, @io : IO, offset : Int = 0, @sync_close : Bool = false)
      @offset = Hazmat.offset(offset)
      @scratch = Bytes.new(16384)
    end

    def read(slice : Bytes) : Int32
      @mutex.synchronize do
        check_open
        count = @io.read(slice)
        @keystream.xor_in_place(@offset, slice[0, count])
        @offset += count
        count
      end
    end

    def write(slice : Bytes) : Nil
      @mutex.synchronize do
        check_open
        until slice.empty?
          piece = slice[0, {slice.size, @scratch.size}.min]
          @io.write(@keystream.xor_into(@offset, piece, @scratch))
          @offset += piece.size
          slice += piece.size
        end
      end
    end

    # Moves the other IO, and the keystream by the same distance.
    def seek(offset, whence : Seek = Seek::Set)
      @mutex.synchronize do
        check_open
        before = @io.pos
        @io.seek(offset, whence)
        @offset = Hazmat.offset(@offset.to_i128 + @io.pos - before)
      end
      self
    end

    def pos : Int64
      @io.pos.to_i64
    end

    def pos=(value)
      seek(value)
      value
    end

    def rewind
      seek(0)
    end

    def flush
      @io.flush
    end

    def close : Nil
      return if closed?
      @closed = true
      @io.close if sync_close?
    end
  end
end
