module Sealane
  # An encrypted file written in pieces. It gets its name when closed; until then an existing file
  # stays unchanged.
  #
  # ```
  # Sealane::Writer.open("data.sealed", keys) do |file|
  #   file.puts "line"
  # end
  # ```
  #
  # An exception in the block of `open` discards the file. A writer that is never closed leaves
  # nothing behind.
  class Writer < IO
    Sealane.owns_handle(Writer, exclusive: true)

    # Whether `close` waits until the bytes are on disk.
    property? sync : Bool

    # Starts a file.
    def initialize(path : String | Path, keys : EncryptWith, *, @sync : Bool = false)
      @path = Sealane.c_path(path)
      @handle = keys.lend { |lent| Sealane.create({@path}) { |error| LibSealane.writer_create(@path, lent, error) } }
    end

    # Like `new`, and closes the file after the block, or discards it if the block raises.
    def self.open(path : String | Path, keys : EncryptWith, *, sync : Bool = false, &)
      Sealane.closing(new(path, keys, sync: sync)) { |writer| yield writer }
    end

    def write(slice : Bytes) : Nil
      check_open
      call({@path}) { |error| LibSealane.writer_push(handle, slice, slice.size, error) }
    end

    # Writes the rest and gives the file its name. After an error, such as a full disk, nothing is
    # left.
    def close : Nil
      return if closed?
      begin
        flags = sync? ? LibSealane::SYNCED : 0_u32
        call({@path}) { |error| LibSealane.writer_finish(handle, flags, error) }
      ensure
        free_handle
      end
    end

    # Discards the file. Nothing remains on disk, and an existing file stays as it was.
    def abort : Nil
      free_handle
    end

    def read(slice : Bytes) : Int32
      check_open
      raise IO::Error.new("expected an IO for reading, found a Writer; use Sealane::Reader")
    end
  end
end
