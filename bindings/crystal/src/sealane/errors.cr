module Sealane
  # The base class of all errors that are specific to sealane. A mistake in a call is `ArgumentError`, and an error of
  # the operating system is `IO::Error`, for example `File::NotFoundError`.
  class Error < Exception
  end

  # The data is not authentic: another key, nonce, associated data or context, or changed data. The error does not say
  # which, because the difference would help an attacker.
  class AuthenticationError < Error
  end

  # The data does not have the expected format, for example because a header is damaged.
  class FormatError < Error
  end

  # The end of the data is missing, for example after an interrupted download.
  class TruncatedError < FormatError
  end

  # The data has a version of the format that this release does not support.
  class UnsupportedVersionError < FormatError
  end

  # No identity matches any recipient of the file, or the passphrase is another one.
  class NoMatchingKeyError < Error
  end

  # The provider does not have the algorithm on this machine.
  class ProviderUnavailableError < Error
  end

  # A limit of the algorithm, the format or the machine is exceeded, for example the maximum length of a message.
  class LimitExceededError < Error
  end

  # An operation was cancelled. The block of a file operation raises it, or any other exception, to cancel.
  class CancelledError < Error
  end

  # The object was closed. Create another one.
  class ClosedError < Error
  end

  # The system does not have the memory for a buffer.
  class OutOfMemoryError < Error
  end

  # A bug in sealane.
  class InternalError < Error
  end

  # :nodoc:
  # Translates an error of the C library. The paths are those of the call: if the system reports an error about one of
  # them, the exception is the one that `File` raises.
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
