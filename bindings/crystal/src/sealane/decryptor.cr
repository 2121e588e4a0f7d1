module Sealane
  # Decrypts another, non-seekable `IO`, such as a socket or a pipe.
  #
  # ```
  # decrypted = Sealane::Decryptor.new(STDIN, keys)
  # IO.copy(decrypted, STDOUT)
  # ```
  #
  # All bytes read are verified. Only end of file says that none are missing: a truncated stream
  # raises `TruncatedError` or `AuthenticationError` instead.
  class Decryptor < IO
    include ReadOnly

    Sealane.owns_handle(Filter, exclusive: true)

    # Whether `close` closes the other IO.
    property? sync_close : Bool

    @finished = false
    @failure : Exception?
    # Fibers take turns: reading the other IO lets others run, and all share one buffer. `close`
    # does not wait, so that it can end a read.
    @mutex = Mutex.new

    # Starts a stream.
    def initialize(@io : IO, keys : DecryptWith, *, @sync_close : Bool = false)
      @input = Bytes.new(65536)
      @handle = keys.lend { |lent| Sealane.create { |error| LibSealane.decryptor_new(lent, error) } }
    end

    # Like `new`, and closes the stream after the block.
    def self.open(io : IO, keys : DecryptWith, *, sync_close : Bool = false, &)
      Sealane.closing(new(io, keys, sync_close: sync_close)) { |decryptor| yield decryptor }
    end

    def close : Nil
      return if closed?
      free_handle
      @in_buffer_rem = Bytes.empty
      @io.close if sync_close?
    end

    # :nodoc:
    def unbuffered_read(slice : Bytes)
      @mutex.synchronize do
        # A failed stream never reaches its end.
        @failure.try { |failure| raise failure }
        loop do
          count = call { |error| LibSealane.filter_take(handle, slice, slice.size, error) }
          return count.to_i32 if count > 0 || @finished
          push_more
        end
      end
    end

    # :nodoc:
    def unbuffered_rewind
      raise IO::Error.new("expected an IO that can seek, found a Decryptor; use Sealane::Reader")
    end

    private def push_more : Nil
      count = @io.read(@input)
      begin
        if count == 0
          call { |error| LibSealane.filter_finish(handle, error) }
          @finished = true
        else
          call { |error| LibSealane.filter_push(handle, @input, count, error) }
        end
      rescue error
        @failure = error
        raise error
      end
    end
  end
end
