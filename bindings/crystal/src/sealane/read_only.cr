module Sealane
  # :nodoc:
  # The part of a buffered `IO` that refuses writes.
  module ReadOnly
    include IO::Buffered

    def write(slice : Bytes) : Nil
      refuse_write
    end

    def write_byte(byte : UInt8)
      refuse_write
    end

    def unbuffered_write(slice : Bytes)
      refuse_write
    end

    def unbuffered_flush
    end

    def unbuffered_close
      close
    end

    private def refuse_write : NoReturn
      check_open
      raise IO::Error.new("expected an IO for writing, found a #{self.class}, which reads; " \
                          "use Sealane::Writer or Sealane::Encryptor")
    end
  end
end
