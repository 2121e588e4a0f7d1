module Sealane
  # Encrypts what you write to another `IO`, such as a socket or a pipe.
  #
  # ```
  # Sealane::Encryptor.open(STDOUT, keys) do |encrypted|
  #   IO.copy(STDIN, encrypted)
  # end
  # ```
  #
  # `close` writes the end of the file. Without it the stream is truncated, and the decryptor
  # detects this.
  class Encryptor < IO
    # Encrypted in pieces, so that a long write needs no second copy of all its bytes.
    PIECE_SIZE = 262144

    Sealane.owns_handle(Filter, exclusive: true)

    # Whether `close` closes the other IO.
    property? sync_close : Bool

    # Fibers take turns: writing to the other IO lets others run, and all share one buffer.
    @mutex = Mutex.new

    # Starts a stream.
    def initialize(@io : IO, keys : EncryptWith, *, @sync_close : Bool = false)
      @buffer = Bytes.new(65536)
      @handle = keys.lend { |lent| Sealane.create { |error| LibSealane.encryptor_new(lent, error) } }
    end

    # Like `new`, and closes the stream after the block, or discards it if the block raises.
    def self.open(io : IO, keys : EncryptWith, *, sync_close : Bool = false, &)
      Sealane.closing(new(io, keys, sync_close: sync_close)) { |encryptor| yield encryptor }
    end

    def write(slice : Bytes) : Nil
      @mutex.synchronize do
        check_open
        until slice.empty?
          piece = slice[0, {slice.size, PIECE_SIZE}.min]
          write_out call { |error| LibSealane.filter_push(handle, piece, piece.size, error) }
          slice += piece.size
        end
      end
    end

    # Writes what is encrypted so far. A partial chunk waits for more bytes.
    def flush
      check_open
      @io.flush
    end

    # Writes the end of the stream, after the writes of other fibers.
    def close : Nil
      @mutex.synchronize do
        return if closed?
        begin
          write_out call { |error| LibSealane.filter_finish(handle, error) }
          @io.flush
        ensure
          free_handle
          @io.close if sync_close?
        end
      end
    end

    # Discards the stream: its end is not written, so it does not decrypt as complete.
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
