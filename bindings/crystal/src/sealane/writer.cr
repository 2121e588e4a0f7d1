module Sealane
  # An encrypted file that is written in pieces. It gets its name when it is closed. Until then nothing is there, and a
  # file that exists stays unchanged.
  #
  # ```
  # Sealane::Writer.open("data.sealed", keys) do |file|
  #   file.puts "line"
  # end
  # ```
  #
  # An exception that leaves the block of `open` gives the file up. A writer that is never closed leaves nothing behind.
  class Writer < IO
    Sealane.owns_handle(Writer)

    # Whether `close` waits until the disk has the bytes.
    property? sync : Bool

    # Starts a file.
    def initialize(path : String | Path, keys : EncryptWith, *, @sync : Bool = false)
      @path = Sealane.c_path(path)
      @handle = keys.lend { |lent| Sealane.create({@path}) { |error| LibSealane.writer_create(@path, lent, error) } }
    end

    # As `new`. The file is closed after the block, or given up if the block raises.
    def self.open(path : String | Path, keys : EncryptWith, *, sync : Bool = false, &)
      writer = new(path, keys, sync: sync)
      begin
        yield writer
      rescue error
        writer.abort
        raise error
      ensure
        writer.close
      end
    end

    def write(slice : Bytes) : Nil
      check_open
      call({@path}) { |error| LibSealane.writer_push(handle, slice, slice.size, error) }
    end

    # Writes the rest and gives the file its name. After an error, for example of a full disk, nothing is left.
    def close : Nil
      return if closed?
      begin
        flags = sync? ? LibSealane::SYNCED : 0_u32
        call({@path}) { |error| LibSealane.writer_finish(handle, flags, error) }
      ensure
        free_handle
      end
    end

    # Gives the file up. Nothing remains on disk, and a file of this name stays as it was.
    def abort : Nil
      free_handle
    end

    def read(slice : Bytes) : Int32
      check_open
      raise IO::Error.new("expected an IO for reading, found a Writer; use Sealane::Reader")
    end
  end
end
