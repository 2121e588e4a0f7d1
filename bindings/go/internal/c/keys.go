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

func newSecret(handle *C.sealane_secret) *Secret {
	s := &Secret{handle: handle}
	s.cleanup = runtime.AddCleanup(s, func(handle *C.sealane_secret) { C.sealane_secret_free(handle) }, handle)
	return s
}

// GenerateSecret generates a key of a kind.
func GenerateSecret(kind string) (*Secret, error) {
	name, err := required("kind", kind)
	if err != nil {
		return nil, err
	}
	var e C.sealane_error
	handle := C.sealane_secret_generate(chars(name), &e)
	if handle == nil {
		return nil, failure(e)
	}
	return newSecret(handle), nil
}

// NewSecret copies a symmetric key.
func NewSecret(key []byte) (*Secret, error) {
	var e C.sealane_error
	handle := C.sealane_secret_from_bytes(ptr(key), size(key), &e)
	if handle == nil {
		return nil, failure(e)
	}
	return newSecret(handle), nil
}

// ParseSecret parses the text of a key file.
func ParseSecret(text, passphrase string) (*Secret, error) {
	key, err := required("text of a key", text)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	phrase, err := cText("passphrase", passphrase)
	if err != nil {
		return nil, err
	}
	defer clear(phrase)
	var e C.sealane_error
	handle := C.sealane_secret_from_text(chars(key), chars(phrase), &e)
	if handle == nil {
		return nil, failure(e)
	}
	return newSecret(handle), nil
}

// LoadSecret loads a key from a file.
func LoadSecret(path, passphrase string) (*Secret, error) {
	name, err := pathText("open", path)
	if err != nil {
		return nil, err
	}
	phrase, err := cText("passphrase", passphrase)
	if err != nil {
		return nil, err
	}
	defer clear(phrase)
	var e C.sealane_error
	handle := C.sealane_secret_load(chars(name), chars(phrase), &e)
	if handle == nil {
		return nil, fileFailure(e, "open", path)
	}
	return newSecret(handle), nil
}

// use calls work with the handle, which is not freed meanwhile.
func (s *Secret) use(work func(handle *C.sealane_secret) error) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.handle == nil {
		return fs.ErrClosed
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
	name, err := pathText("create", path)
	if err != nil {
		return err
	}
	phrase, err := cText("passphrase", passphrase)
	if err != nil {
		return err
	}
	defer clear(phrase)
	var flags C.uint32_t
	if replace {
		flags = C.SEALANE_REPLACE
	}
	return s.use(func(handle *C.sealane_secret) error {
		var e C.sealane_error
		if C.sealane_secret_save(handle, chars(name), chars(phrase), flags, &e) < 0 {
			return fileFailure(e, "create", path)
		}
		return nil
	})
}

// text returns the text that a call writes for the handle.
func (s *Secret) text(call func(handle *C.sealane_secret, out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t) (text string, err error) {
	err = s.use(func(handle *C.sealane_secret) error {
		text, err = textOutput(func(out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
			return call(handle, out, size, e)
		})
		return err
	})
	return text, err
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
	phrase, err := cText("passphrase", passphrase)
	if err != nil {
		return "", err
	}
	defer clear(phrase)
	return s.text(func(handle *C.sealane_secret, out *C.uint8_t, size C.size_t, e *C.sealane_error) C.int64_t {
		return C.sealane_secret_to_text(handle, chars(phrase), out, size, e)
	})
}

// Bytes returns the bytes of a symmetric key.
func (s *Secret) Bytes() (key []byte, err error) {
	err = s.use(func(handle *C.sealane_secret) error {
		// The keys of all algorithms have at most 64 bytes.
		buffer := make([]byte, 1024)
		defer clear(buffer)
		var e C.sealane_error
		n := C.sealane_secret_bytes(handle, ptr(buffer), size(buffer), &e)
		if n < 0 {
			return failure(e)
		}
		key = append(key, buffer[:n]...)
		return nil
	})
	return key, err
}

// DeriveKey derives a key with Argon2id.
func DeriveKey(passphrase, salt []byte, passes, memoryKiB, lanes uint32, keyLen int) ([]byte, error) {
	if keyLen < 0 {
		return nil, &Error{ErrMisuse, fmt.Sprintf("the length of the key is %d, expected 0 or more", keyLen)}
	}
	key := make([]byte, keyLen)
	var e C.sealane_error
	if C.sealane_derive(ptr(passphrase), size(passphrase), ptr(salt), size(salt), C.uint32_t(memoryKiB), C.uint32_t(passes),
		C.uint32_t(lanes), ptr(key), size(key), &e) < 0 {
		return nil, failure(e)
	}
	return key, nil
}

// HybridSeal seals a message for a public key.
func HybridSeal(publicKey string, data, aad, info []byte, suite string) ([]byte, error) {
	key, err := required("public key", publicKey)
	if err != nil {
		return nil, err
	}
	name, err := cText("suite", suite)
	if err != nil {
		return nil, err
	}
	var e C.sealane_error
	var out *C.uint8_t
	n := C.sealane_hybrid_seal(chars(key), ptr(data), size(data), ptr(aad), size(aad), ptr(info), size(info), chars(name),
		&out, &e)
	if n < 0 {
		return nil, failure(e)
	}
	return given(out, n), nil
}

// HybridOpen opens a message with a private key.
func (s *Secret) HybridOpen(message, aad, info []byte, suite string) (plaintext []byte, err error) {
	name, err := cText("suite", suite)
	if err != nil {
		return nil, err
	}
	err = s.use(func(handle *C.sealane_secret) error {
		var e C.sealane_error
		var out *C.uint8_t
		n := C.sealane_hybrid_open(handle, ptr(message), size(message), ptr(aad), size(aad), ptr(info), size(info),
			chars(name), &out, &e)
		if n < 0 {
			return failure(e)
		}
		plaintext = given(out, n)
		return nil
	})
	return plaintext, err
}
