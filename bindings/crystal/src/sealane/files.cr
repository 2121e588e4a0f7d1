module Sealane
  # Encrypts the file *from* to the file *to*, which appears complete or not at all. Either may be a
  # pipe.
  #
  # *threads* includes the calling one; 0 means one per core, at most 8. With *sync*, the call waits
  # until the bytes are on disk.
  def self.encrypt_file(from : String | Path, to : String | Path, keys : EncryptWith, *, threads : Int = 0,
                        sync : Bool = false) : Nil
    encrypt_file(from, to, keys, threads: threads, sync: sync, progress: nil)
  end

  # The same with progress reports: the bytes done and the total, or nil if unknown. An exception in
  # the block cancels the operation.
  def self.encrypt_file(from : String | Path, to : String | Path, keys : EncryptWith, *, threads : Int = 0,
                        sync : Bool = false, &progress : UInt64, UInt64? ->) : Nil
    encrypt_file(from, to, keys, threads: threads, sync: sync, progress: progress)
  end

  # Decrypts the file *from* to the file *to*, which appears complete and verified or not at all.
  def self.decrypt_file(from : String | Path, to : String | Path, keys : DecryptWith, *, threads : Int = 0,
                        sync : Bool = false) : Nil
    decrypt_file(from, to, keys, threads: threads, sync: sync, progress: nil)
  end

  # :ditto:
  def self.decrypt_file(from : String | Path, to : String | Path, keys : DecryptWith, *, threads : Int = 0,
                        sync : Bool = false, &progress : UInt64, UInt64? ->) : Nil
    decrypt_file(from, to, keys, threads: threads, sync: sync, progress: progress)
  end

  # Verifies every byte of an encrypted file.
  def self.verify_file(from : String | Path, keys : DecryptWith, *, threads : Int = 0) : Nil
    verify_file(from, keys, threads: threads, progress: nil)
  end

  # :ditto:
  def self.verify_file(from : String | Path, keys : DecryptWith, *, threads : Int = 0,
                       &progress : UInt64, UInt64? ->) : Nil
    verify_file(from, keys, threads: threads, progress: progress)
  end

  # Encrypts data to the bytes of a file.
  def self.encrypt(data : Bytes, keys : EncryptWith) : Bytes
    keys.lend { |lent| take_result { |result, error| LibSealane.encrypt(lent, data, data.size, result, error) } }
  end

  # Decrypts the bytes of a file.
  def self.decrypt(file : Bytes, keys : DecryptWith) : Bytes
    keys.lend { |lent| take_result { |result, error| LibSealane.decrypt(lent, file, file.size, result, error) } }
  end

  # :nodoc:
  # A file operation's block, and the exception it raised.
  class Progress
    getter raised : Exception?

    # An exception must not unwind the library's frames.
    CALLBACK = ->(context : Void*, done : UInt64, total : UInt64) do
      context.as(Progress).report(done, total) ? 0 : 1
    end

    def initialize(@block : UInt64, UInt64? ->)
    end

    def report(done : UInt64, total : UInt64) : Bool
      @block.call(done, total == LibSealane::UNKNOWN ? nil : total)
      true
    rescue ex
      @raised = ex
      false
    end
  end

  {% for function in %w(encrypt_file decrypt_file) %}
    private def self.{{function.id}}(from, to, keys, *, threads, sync, progress) : Nil
      from, to = c_path(from), c_path(to)
      with_options(threads, sync, progress, {from, to}) do |options, error|
        keys.lend { |lent| LibSealane.{{function.id}}(from, to, lent, options, error) }
      end
    end
  {% end %}

  private def self.verify_file(from, keys, *, threads, progress) : Nil
    from = c_path(from)
    with_options(threads, false, progress, {from}) do |options, error|
      keys.lend { |lent| LibSealane.verify_file(from, lent, options, error) }
    end
  end

  private def self.with_options(threads, sync, block, paths, &) : Nil
    unless 0 <= threads <= UInt32::MAX
      raise ArgumentError.new("expected a number of threads from 0 to #{UInt32::MAX}, found #{threads}")
    end
    options = LibSealane::Options.new
    options.size = LibC::SizeT.new(sizeof(LibSealane::Options))
    options.threads = threads.to_u32
    options.flags = sync ? LibSealane::SYNCED : 0_u32
    if block
      progress = Progress.new(block)
      options.progress = Progress::CALLBACK
      options.context = progress.as(Void*)
    end
    begin
      check(paths) { |error| yield pointerof(options), error }
    rescue error : CancelledError
      raise progress.try(&.raised) || error
    end
    keep_alive(progress.as(Void*)) if progress
  end
end
