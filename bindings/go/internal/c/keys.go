package c

// #include "sealane.h"
import "C"

import (
	"fmt"
	"io/fs"
	"runtime"
	"sync"
)

// Secret is a private or symmetric key. Close waits for the calls that use it.
type Secret struct {
	mu      sync.RWMutex
	handle  *C.sealane_secret
	cleanup runtime.Cleanup
}

func newSecret(handle *C.sealane_secret, e *C.sealane_error) (*Secret, error) {
	if handle == nil {
		return nil, failure(*e)
	}
	s := &Secret{handle: handle}
	s.cleanup = runtime.AddCleanup(s, func(handle *C.sealane_secret) { C.sealane_secret_free(handle) }, handle)
	return s, nil
}

// GenerateSecret generates a key of a kind.
func GenerateSecret(kind string) (*Secret, error) {
	return withText(required, "kind", kind, func(name *C.char, e *C.sealane_error) (*Secret, error) {
		return newSecret(C.sealane_secret_generate(name, e), e)
	})
}

// NewSecret copies a symmetric key.
func NewSecret(key []byte) (*Secret, error) {
	var e C.sealane_error
	return newSecret(C.sealane_secret_from_bytes(ptr(key), size(key), &e), &e)
}

// ParseSecret parses the text of a key file.
func ParseSecret(text, passphrase string) (*Secret, error) {
	return withTexts(required, "text of a key", text, "passphrase", passphrase, func(key, phrase *C.char, e *C.sealane_error) (*Secret, error) {
		return newSecret(C.sealane_secret_from_text(key, phrase, e), e)
	})
}

// LoadSecret loads a key from a file.
func LoadSecret(path, passphrase string) (*Secret, error) {
	return withTexts(pathText, "open", path, "passphrase", passphrase, func(name, phrase *C.char, e *C.sealane_error) (*Secret, error) {
		handle := C.sealane_secret_load(name, phrase, e)
		if handle == nil {
			return nil, fileFailure(*e, "open", path)
		}
		return newSecret(handle, e)
	})
}

// use calls work with the handle, which stays valid during the call.
func use[T any](s *Secret, work func(handle *C.sealane_secret) (T, error)) (T, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.handle == nil {
		var none T
		return none, fs.ErrClosed
	}
	return work(s.handle)
}

// Close wipes the key.
func (s *Secret) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.handle == nil {
		return fs.ErrClosed
	}
	s.cleanup.Stop()
	C.sealane_secret_free(s.handle)
	s.handle = nil
	return nil
}

// Save writes the key to a file.
func (s *Secret) Save(path, passphrase string, replace bool) error {
	var flags C.uint32_t
	if replace {
		flags = C.SEALANE_REPLACE
	}
	_, err := withTexts(pathText, "create", path, "passphrase", passphrase, func(name, phrase *C.char, e *C.sealane_error) (any, error) {
		return use(s, func(handle *C.sealane_secret) (any, error) {
			if C.sealane_secret_save(handle, name, phrase, flags, e) < 0 {
				return nil, fileFailure(*e, "create", path)
			}
			return nil, nil
		})
	})
	return err
}

// text returns the text that a call writes for the handle.
func (s *Secret) text(call func(handle *C.sealane_secret, out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t) (string, error) {
	return use(s, func(handle *C.sealane_secret) (string, error) {
		return textOutput(func(out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
			return call(handle, out, size, e)
		})
	})
}

// Kind returns the kind of the key.
func (s *Secret) Kind() (string, error) {
	return s.text(func(handle *C.sealane_secret, out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
		return C.sealane_secret_kind(handle, out, size, e)
	})
}

// Public returns the public key.
func (s *Secret) Public() (string, error) {
	return s.text(func(handle *C.sealane_secret, out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
		return C.sealane_secret_public(handle, out, size, e)
	})
}

// Encode returns the text of a key file.
func (s *Secret) Encode(passphrase string) (string, error) {
	return withText(cText, "passphrase", passphrase, func(phrase *C.char, _ *C.sealane_error) (string, error) {
		return s.text(func(handle *C.sealane_secret, out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
			return C.sealane_secret_to_text(handle, phrase, out, size, e)
		})
	})
}

// Bytes returns the bytes of a symmetric key.
func (s *Secret) Bytes() ([]byte, error) {
	return use(s, func(handle *C.sealane_secret) ([]byte, error) {
		// No algorithm's key exceeds 64 bytes.
		buffer := make([]byte, 1024)
		defer clear(buffer)
		var e C.sealane_error
		n := C.sealane_secret_bytes(handle, ptr(buffer), size(buffer), &e)
		if n < 0 {
			return nil, failure(e)
		}
		return append([]byte(nil), buffer[:n]...), nil
	})
}

// DeriveKey derives a key with Argon2id.
func DeriveKey(passphrase, salt []byte, passes, memoryKiB, lanes uint32, keyLen int) ([]byte, error) {
	if keyLen < 0 {
		return nil, &Error{ErrMisuse, fmt.Sprintf("the length of the key is %d, expected 0 or more", keyLen)}
	}
	key := make([]byte, keyLen)
	var e C.sealane_error
	n := C.sealane_derive(ptr(passphrase), size(passphrase), ptr(salt), size(salt), C.uint32_t(memoryKiB), C.uint32_t(passes),
		C.uint32_t(lanes), ptr(key), size(key), &e)
	return filled(key, n, &e)
}

// HybridSeal seals a message for a public key.
func HybridSeal(publicKey string, data, aad, info []byte, suite string) ([]byte, error) {
	return withTexts(required, "public key", publicKey, "suite", suite, func(key, name *C.char, e *C.sealane_error) ([]byte, error) {
		var out *C.uint8_t
		n := C.sealane_hybrid_seal(key, ptr(data), size(data), ptr(aad), size(aad), ptr(info), size(info), name, &out, e)
		return given(out, n, e)
	})
}

// HybridOpen opens a message with a private key.
func (s *Secret) HybridOpen(message, aad, info []byte, suite string) ([]byte, error) {
	return withText(cText, "suite", suite, func(name *C.char, e *C.sealane_error) ([]byte, error) {
		return use(s, func(handle *C.sealane_secret) ([]byte, error) {
			var out *C.uint8_t
			n := C.sealane_hybrid_open(handle, ptr(message), size(message), ptr(aad), size(aad), ptr(info), size(info),
				name, &out, e)
			return given(out, n, e)
		})
	})
}
