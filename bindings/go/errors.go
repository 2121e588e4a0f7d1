package sealane

import "example.invalid/sealane/go/internal/c"

// The kinds of errors. Compare them with [errors.Is], because errors have the details in their text. An error of the operating
// system is a [*fs.PathError] instead, and so works with [fs.ErrNotExist], [fs.ErrPermission] and others.
var (
	// ErrAuthentication is returned for a wrong key, nonce or associated data, and for data that was changed.
	ErrAuthentication = c.ErrAuthentication
	// ErrFormat is returned for an input that is not in the expected format.
	ErrFormat = c.ErrFormat
	// ErrTruncated is returned for an input that ends too early. Such an error is also an [io.ErrUnexpectedEOF].
	ErrTruncated = c.ErrTruncated
	// ErrUnsupportedVersion is returned for a version of a format that is not supported.
	ErrUnsupportedVersion = c.ErrUnsupportedVersion
	// ErrNoMatchingKey is returned if none of the keys opens the data, or if the passphrase is wrong.
	ErrNoMatchingKey = c.ErrNoMatchingKey
	// ErrProviderUnavailable is returned if a provider cannot compute an algorithm on this machine.
	ErrProviderUnavailable = c.ErrProviderUnavailable
	// ErrLimitExceeded is returned at a limit of the algorithm, the format or the machine.
	ErrLimitExceeded = c.ErrLimitExceeded
	// ErrMisuse is returned for a mistake in the call, for example a key of the wrong length.
	ErrMisuse = c.ErrMisuse
	// ErrIO is returned for a failed input or output that has no error of the operating system, for example a file that
	// changed while it was read.
	ErrIO = c.ErrIO
	// ErrCancelled is returned if a progress function cancelled the operation.
	ErrCancelled = c.ErrCancelled
	// ErrOutOfMemory is returned if the system does not have the memory for a buffer.
	ErrOutOfMemory = c.ErrOutOfMemory
	// ErrInternal is returned for a bug in sealane.
	ErrInternal = c.ErrInternal
)
