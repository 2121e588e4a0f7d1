module Sealane
  # Encrypts what is written, to another `IO`, for example a socket or a pipe.
  #
  # ```
  # Sealane::Encryptor.open(STDOUT, keys) do |encrypted|
  #   IO.copy(STDIN, encrypted)
  # end
  # ```
  #
  # `close` writes the end of the file. A stream without it is truncated, which the decryptor detects.
  class Encryptor < IO
    # The piece that is encrypted at once, so that a long write needs no second copy of all its bytes.
    PIECE_SIZE = 262144

    Sealane.owns_handle(Filter)

    # Whether `close` closes the other IO.
    property? sync_close : Bool

    # Starts a stream.
    def initialize(@io : IO, keys : EncryptWith, *, @sync_close : Bool = false)
      @buffer = Bytes.new(65536)
      @handle = keys.lend { |lent| Sealane.create { |error| LibSealane.encryptor_new(lent, error) } }
    end

    # As `new`. The stream is closed after the block, or given up if the block raises.
    def self.open(io : IO, keys : EncryptWith, *, sync_close : Bool = false, &)
      encryptor = new(io, keys, sync_close: sync_close)
      begin
        yield encryptor
      rescue error
        encryptor.abort
        raise error
      ensure
        encryptor.close
      end
    end

    def write(slice : Bytes) : Nil
      check_open
      until slice.empty?
        piece = slice[0, {slice.size, PIECE_SIZE}.min]
        write_out call { |error| LibSealane.filter_push(handle, piece, piece.size, error) }
        slice += piece.size
      end
    end

    # Writes what was encrypted so far. The bytes of a chunk that is not full have to wait for the next ones.
    def flush
      check_open
      @io.flush
    end

    # Writes the end of the stream.
    def close : Nil
      return if closed?
      begin
        write_out call { |error| LibSealane.filter_finish(handle, error) }
        @io.flush
      ensure
        free_handle
        @io.close if sync_close?
      end
    end

    # Gives the stream up: its end is not written, so it does not decrypt as a complete one.
    def abort : Nil
      return if closed?
      free_handle
      @io.close if sync_close?
    end

    def read(slice : Bytes) : Int32
      check_open
      raise IO::Error.new("expected an IO for reading, found an Encryptor; use Sealane::Decryptor")
    end

    private def write_out(waiting : Int64) : Nil
      while waiting > 0
        count = call { |error| LibSealane.filter_take(handle, @buffer, @buffer.size, error) }
        @io.write(@buffer[0, count])
        waiting -= count
      end
    end
  end
end
