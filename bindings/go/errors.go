package sealane

import "example.invalid/sealane/go/internal/c"

// The kinds of errors. Compare them with [errors.Is]: errors have details in their text. An
// operating-system error is a [*fs.PathError] instead, and works with [fs.ErrNotExist],
// [fs.ErrPermission] and others.
var (
	// ErrAuthentication is returned for a wrong key, nonce or associated data, and for modified data.
	ErrAuthentication = c.ErrAuthentication
	// ErrFormat is returned for an input that is not in the expected format.
	ErrFormat = c.ErrFormat
	// ErrTruncated is returned for an input that ends too early. Such an error is also an
	// [io.ErrUnexpectedEOF].
	ErrTruncated = c.ErrTruncated
	// ErrUnsupportedVersion is returned for an unsupported format version.
	ErrUnsupportedVersion = c.ErrUnsupportedVersion
	// ErrNoMatchingKey is returned if none of the keys opens the data, or if the passphrase is wrong.
	ErrNoMatchingKey = c.ErrNoMatchingKey
	// ErrProviderUnavailable is returned if a provider cannot compute an algorithm on this machine.
	ErrProviderUnavailable = c.ErrProviderUnavailable
	// ErrLimitExceeded is returned at a limit of the algorithm, the format or the machine.
	ErrLimitExceeded = c.ErrLimitExceeded
	// ErrMisuse is returned for a mistake in the call, for example a key of the wrong length.
	ErrMisuse = c.ErrMisuse
	// ErrIO is returned for a failed input or output without an operating-system error, such as a file
	// that changed while it was read.
	ErrIO = c.ErrIO
	// ErrCancelled is returned if a progress function cancelled the operation.
	ErrCancelled = c.ErrCancelled
	// ErrOutOfMemory is returned if a buffer could not be allocated.
	ErrOutOfMemory = c.ErrOutOfMemory
	// ErrInternal is returned for a bug in sealane.
	ErrInternal = c.ErrInternal
)
