module Sealane
  # The base class of errors specific to sealane. A mistake in a call is `ArgumentError`, and an
  # operating-system error is `IO::Error`, such as `File::NotFoundError`.
  class Error < Exception
  end

  # The data is not authentic: wrong key, nonce, associated data or context, or modified data. The
  # error does not say which, because the difference would help an attacker.
  class AuthenticationError < Error
  end

  # The data does not have the expected format, for example because a header is damaged.
  class FormatError < Error
  end

  # The end of the data is missing, for example after an interrupted download.
  class TruncatedError < FormatError
  end

  # This release does not support the data's format version.
  class UnsupportedVersionError < FormatError
  end

  # No identity matches any recipient of the file, or the passphrase is wrong.
  class NoMatchingKeyError < Error
  end

  # The provider cannot compute the algorithm on this machine.
  class ProviderUnavailableError < Error
  end

  # A limit of the algorithm, the format or the machine is exceeded, such as the maximum message
  # length.
  class LimitExceededError < Error
  end

  # An operation was cancelled. To cancel a file operation, raise this or any other exception in its
  # block.
  class CancelledError < Error
  end

  # The object was closed. Create another one.
  class ClosedError < Error
  end

  # A buffer could not be allocated.
  class OutOfMemoryError < Error
  end

  # A bug in sealane.
  class InternalError < Error
  end

  # :nodoc:
  # Translates an error of the C library. If the system reports an error about one of the call's
  # *paths*, the exception is the one that `File` raises.
  def self.failure(error : LibSealane::Error*, paths : Enumerable(String) = [] of String) : Exception
    text = String.new(error.value.text.to_unsafe)
    case error.value.code
    when LibSealane::AUTHENTICATION       then AuthenticationError.new(text)
    when LibSealane::FORMAT               then FormatError.new(text)
    when LibSealane::TRUNCATED            then TruncatedError.new(text)
    when LibSealane::UNSUPPORTED_VERSION  then UnsupportedVersionError.new(text)
    when LibSealane::NO_MATCHING_KEY      then NoMatchingKeyError.new(text)
    when LibSealane::PROVIDER_UNAVAILABLE then ProviderUnavailableError.new(text)
    when LibSealane::LIMIT_EXCEEDED       then LimitExceededError.new(text)
    when LibSealane::MISUSE               then ArgumentError.new(text)
    when LibSealane::IO                   then io_failure(text, error.value.os_code, paths)
    when LibSealane::CANCELLED            then CancelledError.new(text)
    when LibSealane::OUT_OF_MEMORY        then OutOfMemoryError.new(text)
    else                                       InternalError.new(text)
    end
  end

  private def self.io_failure(text : String, os_code : Int32, paths : Enumerable(String)) : IO::Error
    return IO::Error.new(text) if os_code == 0
    path = paths.find { |path| text.starts_with?(path) } || paths.first?
    if path
      File::Error.from_os_error("Error processing encrypted file", Errno.new(os_code), file: path)
    else
      IO::Error.from_os_error("Error processing encrypted data", Errno.new(os_code))
    end
  end
end
