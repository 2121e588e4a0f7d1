module Sealane
  # :nodoc:
  # Counts the calls that use a handle, so that `close` never frees it under one of them: a call can
  # let other fibers run, for example in an `IO` that it reads. The last call frees it instead. The
  # state is twice the number of calls, and odd once closed.
  struct Calls
    # Changes the state and returns the one before. Fibers of one thread change places only where
    # they wait, so a plain number is enough for them.
    {% if flag?(:preview_mt) %}
      @state = Atomic(Int32).new(0)

      private def change(&) : Int32
        loop do
          state = @state.get
          return state if @state.compare_and_set(state, yield state)[1]
        end
      end
    {% else %}
      @state = 0

      private def change(&) : Int32
        state = @state
        @state = yield state
        state
      end
    {% end %}

    # Returns whether a call may begin.
    def enter? : Bool
      change { |state| state.odd? ? state : state + 2 }.even?
    end

    # Ends a call. Returns whether the handle must be freed now.
    def leave? : Bool
      change { |state| state - 2 } == 3
    end

    # Refuses later calls. Returns whether the handle must be freed now.
    def close? : Bool
      change { |state| state | 1 } == 0
    end

    def closed? : Bool
      change(&.itself).odd?
    end
  end

  # :nodoc:
  # Declares that an object owns a C library handle, freed by `close` or the garbage collector. With
  # *exclusive*, fibers and threads take turns: the library changes such a handle in each call.
  macro owns_handle(type, exclusive = false)
    @handle : LibSealane::{{type}} = Pointer(Void).null.as(LibSealane::{{type}})
    @calls = Calls.new
    {% if exclusive %}
      @call = Mutex.new
    {% end %}

    # :nodoc:
    def handle : LibSealane::{{type}}
      refuse_closed if closed?
      @handle
    end

    private def refuse_closed : NoReturn
      raise ClosedError.new("expected an open #{self.class}, found a closed one; create another one")
    end

    # Refuses later calls. Frees the handle now, or when the last call in progress ends.
    private def free_handle : Nil
      LibSealane.{{type.stringify.underscore.id}}_free(@handle) if @calls.close?
    end

    # :nodoc:
    def finalize
      free_handle
    end

    # Calls the library. The handle stays valid until the call returns, and so does this object.
    private def call(paths : Enumerable(String) = [] of String, &) : Int64
      lend do
        Sealane.check(paths) do |error|
          {% if exclusive %}
            @call.synchronize { yield error }
          {% else %}
            yield error
          {% end %}
        end
      end
    end

    # Calls the library and returns the written part of *output*.
    private def call_into(output : Bytes, & : LibSealane::Error* ->) : Bytes
      Sealane.writable(output)
      output[0, call { |error| yield error }]
    end

    # :nodoc:
    # Yields the handle, which stays valid until the block returns.
    def lend(&)
      refuse_closed unless @calls.enter?
      begin
        yield @handle
      ensure
        LibSealane.{{type.stringify.underscore.id}}_free(@handle) if @calls.leave?
      end
    end

    # Returns whether the object is closed.
    def closed? : Bool
      @calls.closed?
    end
  end

  # :nodoc:
  # Like `owns_handle`, with a public method that closes the object.
  macro owns_closable_handle(type, exclusive = false)
    Sealane.owns_handle({{type}}, {{exclusive}})

    # Wipes and frees the memory of this object, once the calls in progress have ended. Later calls
    # raise `ClosedError`.
    def close : Nil
      free_handle
    end
  end

  # :nodoc:
  # Reads the object, so that the garbage collector cannot finalize it earlier: the compiler ends
  # its life at its last use.
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
  # Yields an object and closes it. If the block raises, what can be discarded is discarded.
  def self.closing(object, &)
    yield object
  rescue error
    object.abort if object.responds_to?(:abort)
    raise error
  ensure
    object.close
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
