package c

// #include "sealane.h"
import "C"

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"syscall"
	"unsafe"
)

// The kinds of errors, exported and documented by package sealane.
var (
	ErrAuthentication      = kindOf(C.SEALANE_AUTHENTICATION, "authentication failed")
	ErrFormat              = kindOf(C.SEALANE_FORMAT, "not in the expected format")
	ErrTruncated           = kindOf(C.SEALANE_TRUNCATED, "truncated")
	ErrUnsupportedVersion  = kindOf(C.SEALANE_UNSUPPORTED_VERSION, "unsupported version")
	ErrNoMatchingKey       = kindOf(C.SEALANE_NO_MATCHING_KEY, "no matching key")
	ErrProviderUnavailable = kindOf(C.SEALANE_PROVIDER_UNAVAILABLE, "provider unavailable")
	ErrLimitExceeded       = kindOf(C.SEALANE_LIMIT_EXCEEDED, "limit exceeded")
	ErrMisuse              = kindOf(C.SEALANE_MISUSE, "misuse")
	ErrIO                  = kindOf(C.SEALANE_IO, "input or output failed")
	ErrCancelled           = kindOf(C.SEALANE_CANCELLED, "cancelled")
	ErrOutOfMemory         = kindOf(C.SEALANE_OUT_OF_MEMORY, "out of memory")
	ErrInternal            = kindOf(C.SEALANE_INTERNAL, "internal error")
)

// kinds maps the codes of the header.
var kinds = map[C.int32_t]error{}

func kindOf(code C.int32_t, text string) error {
	kinds[code] = errors.New("sealane: " + text)
	return kinds[code]
}

// Error is a failure with the library's text. Its kind is one of the errors above.
type Error struct {
	Kind error
	Text string
}

func (e *Error) Error() string { return "sealane: " + e.Text }

// Unwrap returns the kind. A truncated input is also an io.ErrUnexpectedEOF, for packages unaware
// of sealane.
func (e *Error) Unwrap() []error {
	if e.Kind == ErrTruncated {
		return []error{e.Kind, io.ErrUnexpectedEOF}
	}
	return []error{e.Kind}
}

// failure translates the description of a failure. It takes a copy: if the address of the caller's
// structure escaped beyond the library call, every call would allocate it, even successful ones.
func failure(e C.sealane_error) error {
	text := unsafe.Slice((*byte)(&e.text[0]), len(e.text))
	if end := bytes.IndexByte(text, 0); end >= 0 {
		text = text[:end]
	}
	return &Error{kind(C.int64_t(e.code)), string(text)}
}

// kind returns the kind of error with this code.
func kind(code C.int64_t) error {
	if kind := kinds[C.int32_t(code)]; kind != nil {
		return kind
	}
	return ErrInternal
}

// fileFailure translates a failed file operation. An operating-system error is a [*fs.PathError].
func fileFailure(e C.sealane_error, operation string, paths ...string) error {
	err := failure(e)
	if e.code != C.SEALANE_IO || e.os_code == 0 {
		return err
	}
	return &fs.PathError{Op: operation, Path: pathIn(err.(*Error).Text, paths), Err: syscall.Errno(e.os_code)}
}

// pathIn returns the path in a text like "PATH: No such file or directory (os error 2)".
func pathIn(text string, paths []string) string {
	for _, path := range paths {
		if strings.HasPrefix(text, path+": ") || strings.HasPrefix(path, text) {
			return path
		}
	}
	// Another file of the operation, such as the output's folder.
	if end := strings.LastIndex(text, ": "); end > 0 {
		return text[:end]
	}
	return paths[0]
}

// pathText returns a path for C. A path with a NUL is refused as in package os.
func pathText(operation, path string) ([]byte, error) {
	text, err := required("path", path)
	if err != nil {
		return nil, &fs.PathError{Op: operation, Path: path, Err: syscall.EINVAL}
	}
	return text, nil
}
