// Package c is the only package that calls the C library. It translates slices, strings, errors and
// callbacks. Close frees handles, or else the garbage collector does.
package c

/*
#cgo !sealane_dynamic LDFLAGS: -lgcc_eh -lm -lpthread -ldl
#cgo sealane_dynamic pkg-config: sealane
#include "sealane.h"
*/
import "C"

import (
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

func init() {
	if found := C.sealane_abi(); found != C.SEALANE_ABI {
		panic(fmt.Sprintf("sealane: the library has the interface %d, expected %d; build the library again", found, C.SEALANE_ABI))
	}
}

// ABI returns the version of the library's interface. It is the cheapest call.
func ABI() uint32 { return uint32(C.sealane_abi()) }

// Version returns the version of the library.
func Version() string { return C.GoString(C.sealane_version()) }

// LiveHandles returns the number of handles and results not freed, for leak tests.
func LiveHandles() int64 { return int64(C.sealane_live_handles()) }

// SetDefaultProvider sets this process's provider.
func SetDefaultProvider(provider string) error {
	_, err := withText(cText, "provider", provider, func(name *C.char, e *C.sealane_error) (any, error) {
		return nil, check(C.sealane_set_default_provider(name, e), e)
	})
	return err
}

// Algorithms returns the lines of the list of algorithms.
func Algorithms() ([][]string, error) {
	return table(func(out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
		return C.sealane_algorithms(out, size, e)
	})
}

// Providers returns the lines of the list of implementations.
func Providers() ([][]string, error) {
	return table(func(out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
		return C.sealane_providers(out, size, e)
	})
}

// textCall calls a function of the library that writes a text.
type textCall func(out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t

// table returns the fields of each line of a text.
func table(call textCall) ([][]string, error) {
	text, err := textOutput(call)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for line := range strings.Lines(text) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows, nil
}

// textOutput returns the text that a call writes. The first buffer is long enough for every key,
// because encrypting a key with a passphrase takes a second.
func textOutput(call textCall) (string, error) {
	for buffer := make([]byte, 8192); ; {
		var e C.sealane_error
		n := call(ptr(buffer), C.size_t(len(buffer)), &e)
		switch {
		case n < 0:
			return "", failure(e)
		case int(n) < len(buffer):
			text := string(buffer[:n])
			clear(buffer)
			return text, nil
		}
		buffer = make([]byte, n+1)
	}
}

// ptr returns the pointer to the bytes of a slice.
func ptr(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

// size returns the length of a slice.
func size(b []byte) C.size_t { return C.size_t(len(b)) }

// cText returns a zero-terminated text for C, or nil for the empty text.
func cText(name, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	if at := strings.IndexByte(text, 0); at >= 0 {
		return nil, &Error{ErrMisuse, fmt.Sprintf("the %s has a zero byte at index %d, expected text without zeros", name, at)}
	}
	return append([]byte(text), 0), nil
}

// required returns a zero-terminated text. The empty text is allowed.
func required(name, text string) ([]byte, error) {
	if text == "" {
		return []byte{0}, nil
	}
	return cText(name, text)
}

// chars returns the pointer to a text of cText, null for the empty one.
func chars(text []byte) *C.char { return (*C.char)(unsafe.Pointer(unsafe.SliceData(text))) }

// withText converts a text with cText, required or pathText, and wipes it after the call.
func withText[T any](
	convert func(name, text string) ([]byte, error), name, text string, call func(text *C.char, e *C.sealane_error) (T, error),
) (T, error) {
	converted, err := convert(name, text)
	if err != nil {
		var none T
		return none, err
	}
	defer clear(converted)
	var e C.sealane_error
	return call(chars(converted), &e)
}

// withTexts is withText for two texts. The second may be empty: it is null for C.
func withTexts[T any](
	convert func(name, text string) ([]byte, error), name, text, optionalName, optional string,
	call func(text, optional *C.char, e *C.sealane_error) (T, error),
) (T, error) {
	return withText(convert, name, text, func(text *C.char, e *C.sealane_error) (T, error) {
		return withText(cText, optionalName, optional, func(optional *C.char, _ *C.sealane_error) (T, error) {
			return call(text, optional, e)
		})
	})
}

// Wrapping returns a function that wraps the result of a constructor of this package, unless that
// failed.
func Wrapping[C, T any](wrap func(core *C) *T) func(core *C, err error) (*T, error) {
	return func(core *C, err error) (*T, error) {
		if err != nil {
			return nil, err
		}
		return wrap(core), nil
	}
}

// owned returns the object that holds a new handle. The garbage collector frees them together. The
// error is for a null handle.
func owned[O any, H comparable](object *O, handle H, free func(H), e *C.sealane_error) (*O, error) {
	var null H
	if handle == null {
		return nil, failure(*e)
	}
	runtime.AddCleanup(object, free, handle)
	return object, nil
}

// check returns the error of a call with a negative result.
func check(n C.int64_t, e *C.sealane_error) error {
	if n < 0 {
		return failure(*e)
	}
	return nil
}

// count returns the result of a call as an int.
func count(n C.int64_t, e *C.sealane_error) (int, error) {
	if n < 0 {
		return 0, failure(*e)
	}
	return int(n), nil
}

// filled returns the bytes a call has written.
func filled(out []byte, n C.int64_t, e *C.sealane_error) ([]byte, error) {
	if n < 0 {
		return nil, failure(*e)
	}
	return out, nil
}

// given copies a result allocated by the library, and frees it.
func given(out *C.uint8_t, n C.int64_t, e *C.sealane_error) ([]byte, error) {
	if n < 0 {
		return nil, failure(*e)
	}
	result := make([]byte, n)
	copy(result, unsafe.Slice((*byte)(out), n))
	C.sealane_free(out)
	return result, nil
}
