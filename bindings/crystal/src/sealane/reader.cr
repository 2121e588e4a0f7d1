module Sealane
  # Random access to an encrypted file. Only the chunks you read are decrypted, and each is
  # verified.
  #
  # ```
  # Sealane::Reader.open("data.sealed", keys) do |file|
  #   file.seek(1_000_000)
  #   file.gets
  # end
  # ```
  #
  # An age file has chunks of 64 KiB; other formats 4 KiB, 16 KiB or 1 MiB.
  class Reader < IO
    include ReadOnly

    # Bytes that a small read decrypts at once: a chunk of the format "chunked".
    BLOCK_SIZE = 16384

    Sealane.owns_handle(Reader)

    # Returns the authentic plaintext length in bytes.
    getter size : Int64
    # Whether `close` closes the other IO.
    property? sync_close = false

    @source : Source?
    @position = 0_i64
    # Fibers take turns reading another IO. In the library they would wait for each other and block
    # the whole thread.
    @mutex = Mutex.new

    # Opens a file. Verifies the header and the last chunk.
    def self.new(path : String | Path, keys : DecryptWith) : self
      path = Sealane.c_path(path)
      handle = keys.lend { |lent| Sealane.create({path}) { |error| LibSealane.reader_open(path, lent, error) } }
      new(handle, nil, false)
    end

    # Opens an encrypted file in another, seekable IO, such as `IO::Memory`. Do not use the other IO
    # while the reader is open. With *sync_close*, `close` closes the other IO.
    def self.new(io : IO, keys : DecryptWith, *, sync_close : Bool = false) : self
      source = Source.new(io)
      description = LibSealane::Source.new
      description.size = LibC::SizeT.new(sizeof(LibSealane::Source))
      description.length = source.size
      description.read_at = Source::CALLBACK
      description.context = source.as(Void*)
      description.flags = LibSealane::CALLING_THREAD
      handle = source.call do
        keys.lend { |lent| Sealane.create { |error| LibSealane.reader_over(pointerof(description), lent, error) } }
      end
      new(handle, source, sync_close)
    end

    # Like `new`, and closes the reader after the block.
    def self.open(source, keys : DecryptWith, **options, &)
      Sealane.closing(new(source, keys, **options)) { |reader| yield reader }
    end

    # :nodoc:
    def initialize(@handle : LibSealane::Reader, @source : Source?, @sync_close : Bool)
      @size = 0_i64
      self.buffer_size = BLOCK_SIZE
      @size = call { |error| LibSealane.reader_size(@handle, error) }
    end

    # Reads plaintext from byte *offset* on, independent of the position. Returns the number of
    # bytes, smaller than *output* only at the end. Fibers and threads may call it concurrently.
    def read_at(offset : Int, output : Bytes) : Int32
      check_open
      Sealane.writable(output)
      at = Hazmat.offset(offset)
      source = @source
      if source
        @mutex.synchronize { source.call { library_read(at, output) } }
      else
        library_read(at, output)
      end
    end

    # Like the other `read_at`, to new memory.
    def read_at(offset : Int, *, count : Int32) : Bytes
      rest = {@size.to_i128 - offset, 0_i128}.max
      output = Sealane.new_bytes({count.to_i128, rest}.min)
      output[0, read_at(offset, output)]
    end

    # Sets the position of the next read. A position past the end is allowed; reads there return
    # nothing.
    def seek(offset, whence : Seek = Seek::Set)
      check_open
      base = case whence
             in .set?     then 0_i64
             in .current? then pos
             in .end?     then @size
             end
      target = base.to_i128 + offset
      unless 0 <= target <= Int64::MAX
        raise ArgumentError.new("expected a position from 0 to #{Int64::MAX}, found #{target}")
      end
      @position = target.to_i64
      @in_buffer_rem = Bytes.empty
      self
    end

    def pos : Int64
      check_open
      @position - @in_buffer_rem.size
    end

    def pos=(value)
      seek(value)
      value
    end

    def close : Nil
      return if closed?
      free_handle
      @in_buffer_rem = Bytes.empty
      @source.try(&.close) if sync_close?
    end

    # :nodoc:
    def unbuffered_read(slice : Bytes)
      # End the buffer at a chunk boundary; otherwise the next read would decrypt that chunk again.
      into_next = (@position + slice.size) % BLOCK_SIZE
      slice = slice[0, slice.size - into_next] if slice.size == BLOCK_SIZE && into_next < slice.size
      count = read_at(@position, slice)
      @position += count
      count
    end

    # :nodoc:
    def unbuffered_rewind
      @position = 0_i64
    end

    private def library_read(at : UInt64, output : Bytes) : Int32
      call { |error| LibSealane.reader_read_at(handle, at, output, output.size, error) }.to_i32
    end
  end
end
