module Sealane
  # :nodoc:
  # An `IO` that the library reads with random access.
  class Source
    # The exception of the last call. It must not unwind the library's frames.
    property raised : Exception?

    CALLBACK = ->(context : Void*, offset : UInt64, into : UInt8*, size : LibC::SizeT) do
      context.as(Source).read_at(offset, Slice.new(into, {size, LibC::SizeT.new(Int32::MAX)}.min.to_i32))
    end

    def initialize(@io : IO)
    end

    def size : UInt64
      @io.seek(0, IO::Seek::End)
      @io.pos.to_u64
    end

    # Returns the number of bytes, or a negative error number.
    def read_at(offset : UInt64, into : Bytes) : Int64
      @io.seek(offset.to_i64)
      @io.read(into).to_i64
    rescue ex
      @raised = ex
      -Errno::EIO.value.to_i64
    end

    # Calls the library and raises what this IO raised instead of the library's resulting error.
    def call(&)
      @raised = nil
      begin
        result = yield
      rescue error
        raise @raised || error
      end
      Sealane.keep_alive(self.as(Void*))
      result
    end

    def close : Nil
      @io.close
    end
  end
end
