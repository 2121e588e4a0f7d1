module Sealane
  # :nodoc:
  # Declares that an object owns a C library handle, freed by `close` or the garbage collector.
  macro owns_handle(type)
    @handle : LibSealane::{{type}} = Pointer(Void).null.as(LibSealane::{{type}})

    # :nodoc:
    def handle : LibSealane::{{type}}
      raise ClosedError.new("expected an open #{self.class}, found a closed one; create another one") if @handle.null?
      @handle
    end

    private def free_handle : Nil
      freed, @handle = @handle, Pointer(Void).null.as(LibSealane::{{type}})
      LibSealane.{{type.stringify.underscore.id}}_free(freed)
    end

    # :nodoc:
    def finalize
      free_handle
    end

    # Calls the library, keeping this object alive until the call returns.
    private def call(paths : Enumerable(String) = [] of String, &) : Int64
      error = uninitialized LibSealane::Error
      result = yield pointerof(error)
      Sealane.keep_alive(self.as(Void*))
      raise Sealane.failure(pointerof(error), paths) if result < 0
      result
    end

    # Calls the library and returns the written part of *output*.
    private def call_into(output : Bytes, & : LibSealane::Error* ->) : Bytes
      Sealane.writable(output)
      output[0, call { |error| yield error }]
    end

    # :nodoc:
    # Yields the handle, keeping this object alive until the block returns.
    def lend(&)
      result = yield handle
      Sealane.keep_alive(self.as(Void*))
      result
    end

    # Returns whether the object is closed.
    def closed? : Bool
      @handle.null?
    end
  end

  # :nodoc:
  # Like `owns_handle`, with a public method that closes the object.
  macro owns_closable_handle(type)
    Sealane.owns_handle({{type}})

    # Wipes and frees the memory of this object. Later calls raise `ClosedError`.
    def close : Nil
      free_handle
    end
  end

  # :nodoc:
  # Reads the object, so that the garbage collector cannot finalize it earlier. The compiler ends
  # the life of `self` at its last use; that would be when the handle is loaded for a call.
  @[AlwaysInline]
  def self.keep_alive(object : Void*) : Nil
    asm("" :: "r"(object) :: "volatile")
  end

  # :nodoc:
  # Calls a function that returns a length or a code.
  def self.check(paths : Enumerable(String) = [] of String, &) : Int64
    error = uninitialized LibSealane::Error
    result = yield pointerof(error)
    raise failure(pointerof(error), paths) if result < 0
    result
  end

  # :nodoc:
  # Calls a function that makes a handle.
  def self.create(paths : Enumerable(String) = [] of String, &)
    error = uninitialized LibSealane::Error
    handle = yield pointerof(error)
    raise failure(pointerof(error), paths) if handle.null?
    handle
  end

  # :nodoc:
  # Calls a function with a text output. 8192 bytes are enough for almost all texts.
  def self.text(&) : String
    size = 8192
    loop do
      buffer = Bytes.new(size)
      length = check { |error| yield buffer.to_unsafe, LibC::SizeT.new(size), error }
      text = String.new(buffer[0, length]) if length < size
      wipe(buffer)
      return text if text
      size = length.to_i + 1
    end
  end

  # :nodoc:
  # Calls a function that allocates its result, and moves the result to Crystal's memory.
  def self.take_result(&) : Bytes
    result = Pointer(UInt8).null
    length = check { |error| yield pointerof(result), error }
    begin
      new_bytes(length).tap(&.copy_from(result, length))
    ensure
      LibSealane.free(result)
    end
  end

  # :nodoc:
  # Returns a length in `Slice`'s length type.
  def self.checked_size(length : Int) : Int32
    return length.to_i32 if length <= Int32::MAX
    raise LimitExceededError.new("expected a result of at most #{Int32::MAX} bytes, which a Slice can have, " \
                                 "found #{length}; use files or streams for longer data")
  end

  # :nodoc:
  # Returns memory for a result that the library writes completely. `Bytes.new` would zero it first,
  # which takes as long as encrypting it.
  def self.new_bytes(size : Int) : Bytes
    raise ArgumentError.new("expected a length, found #{size}") if size < 0
    size = checked_size(size)
    Slice.new(GC.malloc_atomic(LibC::SizeT.new(size)).as(UInt8*), size)
  end

  # :nodoc:
  # Refuses output to read-only memory, such as a string's.
  def self.writable(output : Bytes) : Bytes
    return output unless output.read_only?
    raise ArgumentError.new("expected an output that can be written, found read-only bytes; use Bytes.new or #dup")
  end

  # :nodoc:
  # Returns a text for the library, where a zero byte would end it. The pointer keeps the text
  # alive.
  def self.c_text(text : String?) : LibC::Char*
    text ? text.check_no_null_byte.to_unsafe : Pointer(LibC::Char).null
  end

  # :nodoc:
  def self.c_path(path : String | Path) : String
    path.to_s.check_no_null_byte
  end
end
