package c

/*
#cgo noescape sealane_aead_encrypt
#cgo nocallback sealane_aead_encrypt
#cgo noescape sealane_aead_decrypt
#cgo nocallback sealane_aead_decrypt
#cgo noescape sealane_aead_seal
#cgo nocallback sealane_aead_seal
#cgo noescape sealane_aead_open
#cgo nocallback sealane_aead_open
#cgo noescape sealane_aead_seal_many
#cgo nocallback sealane_aead_seal_many
#cgo noescape sealane_aead_open_many
#cgo nocallback sealane_aead_open_many
#include "sealane.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"unsafe"
)

// AEAD is an expanded AEAD key. It implements the methods of [crypto/cipher.AEAD].
type AEAD struct {
	handle             *C.sealane_aead
	nonceSize, tagSize int
	description        C.sealane_aead_description
}

// NewAEAD expands a key. An empty provider means the fastest one.
func NewAEAD(algorithm string, key []byte, provider string) (*AEAD, error) {
	return newAEAD(algorithm, provider, func(name, provider *C.char, e *C.sealane_error) *C.sealane_aead {
		return C.sealane_aead_new(name, ptr(key), size(key), provider, e)
	})
}

// NewAEADWithSecret expands a symmetric key held by the library.
func NewAEADWithSecret(algorithm string, secret *Secret, provider string) (*AEAD, error) {
	return use(secret, func(handle *C.sealane_secret) (*AEAD, error) {
		return newAEAD(algorithm, provider, func(name, provider *C.char, e *C.sealane_error) *C.sealane_aead {
			return C.sealane_aead_new_with_secret(name, handle, provider, e)
		})
	})
}

// NewSpeckPoly1305 expands a Speck-Poly1305 key with 12-byte nonces.
func NewSpeckPoly1305(algorithm string, key []byte) (*AEAD, error) {
	return newAEAD(algorithm, "", func(name, _ *C.char, e *C.sealane_error) *C.sealane_aead {
		return C.sealane_hazmat_aead_new(name, ptr(key), size(key), e)
	})
}

// NewSpeckPoly1305BlockNonce expands a Speck-Poly1305 key with whole-block nonces.
func NewSpeckPoly1305BlockNonce(algorithm string, key []byte) (*AEAD, error) {
	return newAEAD(algorithm, "", func(name, _ *C.char, e *C.sealane_error) *C.sealane_aead {
		return C.sealane_hazmat_aead_new_block_nonce(name, ptr(key), size(key), e)
	})
}

// NewSpeckPoly1305SmallBlock expands a Speck-Poly1305 key with blocks of 32 to 96 bits.
func NewSpeckPoly1305SmallBlock(algorithm string, key []byte) (*AEAD, error) {
	return newAEAD(algorithm, "", func(name, _ *C.char, e *C.sealane_error) *C.sealane_aead {
		return C.sealane_hazmat_aead_new_small_block(name, ptr(key), size(key), e)
	})
}

type newAEADCall func(name, provider *C.char, e *C.sealane_error) *C.sealane_aead

func newAEAD(algorithm, provider string, call newAEADCall) (*AEAD, error) {
	return withTexts(required, "algorithm", algorithm, "provider", provider, func(name, provider *C.char, e *C.sealane_error) (*AEAD, error) {
		handle := call(name, provider, e)
		a, err := owned(&AEAD{handle: handle}, handle, func(handle *C.sealane_aead) { C.sealane_aead_free(handle) }, e)
		if err != nil {
			return nil, err
		}
		a.description.size = C.size_t(unsafe.Sizeof(a.description))
		if C.sealane_aead_describe(handle, &a.description, e) < 0 {
			return nil, failure(*e)
		}
		a.nonceSize, a.tagSize = int(a.description.nonce_len), int(a.description.tag_len)
		runtime.KeepAlive(a)
		return a, nil
	})
}

// Algorithm returns the algorithm's name.
func (a *AEAD) Algorithm() string { return member(&a.description.algorithm) }

// Provider returns the provider's name.
func (a *AEAD) Provider() string { return member(&a.description.provider) }

// Variant returns the variant (the code for an instruction set).
func (a *AEAD) Variant() string { return member(&a.description.variant) }

// MaxPlaintext returns the maximum plaintext length in bytes.
func (a *AEAD) MaxPlaintext() uint64 { return uint64(a.description.max_plaintext_len) }

// member returns the text in a structure's member.
func member(text *[32]C.uint8_t) string { return C.GoString((*C.char)(unsafe.Pointer(text))) }

// NonceSize returns the nonce length in bytes.
func (a *AEAD) NonceSize() int { return a.nonceSize }

// Overhead returns the tag length in bytes.
func (a *AEAD) Overhead() int { return a.tagSize }

// Seal encrypts under the nonce and appends ciphertext and tag to dst. It panics on a mistake in
// the call.
//
// With an error structure, which Go zeroes, 64 bytes took 91 ns instead of 85. So we call without
// one, and repeat the call to get the text of a mistake.
func (a *AEAD) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	whole, out := extend(dst, len(plaintext)+a.tagSize)
	n := C.sealane_aead_encrypt(a.handle, ptr(nonce), size(nonce), ptr(plaintext), size(plaintext),
		ptr(additionalData), size(additionalData), ptr(out), size(out), nil)
	runtime.KeepAlive(a)
	if n < 0 {
		a.sealFailed(n, out, nonce, plaintext, additionalData)
	}
	return whole
}

// sealFailed panics with a call's error. After a mistake no byte is written, so we repeat the call
// for the text. After any other failure, bytes may have been encrypted in place, and a second call
// would decrypt them.
func (a *AEAD) sealFailed(code C.int64_t, out, nonce, plaintext, additionalData []byte) {
	if code != C.SEALANE_MISUSE && code != C.SEALANE_LIMIT_EXCEEDED {
		panic(kind(code))
	}
	var e C.sealane_error
	n := C.sealane_aead_encrypt(a.handle, ptr(nonce), size(nonce), ptr(plaintext), size(plaintext),
		ptr(additionalData), size(additionalData), ptr(out), size(out), &e)
	runtime.KeepAlive(a)
	if n < 0 {
		panic(failure(e))
	}
}

// Open decrypts and appends the plaintext to dst. It panics on a mistake in the call.
func (a *AEAD) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	whole, out := extend(dst, max(0, len(ciphertext)-a.tagSize))
	n := C.sealane_aead_decrypt(a.handle, ptr(nonce), size(nonce), ptr(ciphertext), size(ciphertext),
		ptr(additionalData), size(additionalData), ptr(out), size(out), nil)
	runtime.KeepAlive(a)
	if n == C.SEALANE_AUTHENTICATION {
		return nil, ErrAuthentication
	}
	if n < 0 {
		if err := a.openFailed(n, out, nonce, ciphertext, additionalData); err != nil {
			return nil, err
		}
	}
	return whole, nil
}

// openFailed returns a call's error or panics with it. After a mistake no byte is written, so we
// repeat the call for the text.
func (a *AEAD) openFailed(code C.int64_t, out, nonce, ciphertext, additionalData []byte) error {
	if code != C.SEALANE_MISUSE && code != C.SEALANE_LIMIT_EXCEEDED {
		return kind(code)
	}
	var e C.sealane_error
	n := C.sealane_aead_decrypt(a.handle, ptr(nonce), size(nonce), ptr(ciphertext), size(ciphertext),
		ptr(additionalData), size(additionalData), ptr(out), size(out), &e)
	runtime.KeepAlive(a)
	if n >= 0 {
		return nil
	}
	err := failure(e)
	if errors.Is(err, ErrMisuse) {
		panic(err)
	}
	return err
}

// SealMessage encrypts under a random nonce and appends nonce, ciphertext and tag to dst.
func (a *AEAD) SealMessage(dst, plaintext, additionalData []byte) ([]byte, error) {
	whole, out := extend(dst, a.nonceSize+len(plaintext)+a.tagSize)
	var e C.sealane_error
	n := C.sealane_aead_seal(a.handle, ptr(plaintext), size(plaintext), ptr(additionalData), size(additionalData),
		ptr(out), size(out), &e)
	runtime.KeepAlive(a)
	return filled(whole, n, &e)
}

// OpenMessage decrypts a message of SealMessage and appends the plaintext to dst.
func (a *AEAD) OpenMessage(dst, message, additionalData []byte) ([]byte, error) {
	whole, out := extend(dst, max(0, len(message)-a.nonceSize-a.tagSize))
	var e C.sealane_error
	n := C.sealane_aead_open(a.handle, ptr(message), size(message), ptr(additionalData), size(additionalData),
		ptr(out), size(out), &e)
	runtime.KeepAlive(a)
	return filled(whole, n, &e)
}

// SealMany encrypts consecutive messages and appends them, each with its nonce and tag, to dst.
func (a *AEAD) SealMany(dst, data []byte, lens []uint64, additionalData []byte) ([]byte, error) {
	whole, out := extend(dst, len(data)+len(lens)*(a.nonceSize+a.tagSize))
	var e C.sealane_error
	n := C.sealane_aead_seal_many(a.handle, ptr(data), size(data), lengths(lens), C.size_t(len(lens)),
		ptr(additionalData), size(additionalData), ptr(out), size(out), &e)
	runtime.KeepAlive(a)
	return filled(whole, n, &e)
}

// OpenMany decrypts messages of SealMany and appends the plaintexts to dst.
func (a *AEAD) OpenMany(dst, sealed []byte, lens []uint64, additionalData []byte) ([]byte, error) {
	whole, out := extend(dst, max(0, len(sealed)-len(lens)*(a.nonceSize+a.tagSize)))
	var e C.sealane_error
	n := C.sealane_aead_open_many(a.handle, ptr(sealed), size(sealed), lengths(lens), C.size_t(len(lens)),
		ptr(additionalData), size(additionalData), ptr(out), size(out), nil, &e)
	runtime.KeepAlive(a)
	return filled(whole, n, &e)
}

// lengths returns the pointer to the lengths of messages.
func lengths(lens []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(lens)) }

// extend returns dst extended by n bytes, in place if it has the capacity, and those bytes.
func extend(dst []byte, n int) (whole, tail []byte) {
	if cap(dst)-len(dst) >= n {
		whole = dst[:len(dst)+n]
	} else {
		whole = make([]byte, len(dst)+n)
		copy(whole, dst)
	}
	return whole, whole[len(dst):]
}
