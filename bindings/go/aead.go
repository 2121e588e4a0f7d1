package sealane

import (
	"crypto/cipher"

	"example.invalid/sealane/go/internal/c"
)

// AEAD is an algorithm with a key. It implements [cipher.AEAD]. Goroutines can share it.
type AEAD struct{ core *c.AEAD }

var _ cipher.AEAD = (*AEAD)(nil)

var newAEAD = c.Wrapping(func(core *c.AEAD) *AEAD { return &AEAD{core} })

// NewAEAD expands a key. [Algorithms] lists the algorithms with their key lengths; "aes-256-gcm"
// takes 32 bytes. It uses the fastest implementation on this machine.
func NewAEAD(algorithm string, key []byte) (*AEAD, error) {
	return NewAEADWithProvider(algorithm, key, "")
}

// NewAEADWithProvider is [NewAEAD] with a provider, such as "native", "aws-lc" or "rustcrypto".
// [Implementations] lists them.
func NewAEADWithProvider(algorithm string, key []byte, provider string) (*AEAD, error) {
	return newAEAD(c.NewAEAD(algorithm, key, provider))
}

// NewAEADWithSecretKey is [NewAEAD] with a symmetric key held by the library.
func NewAEADWithSecretKey(algorithm string, key *SecretKey) (*AEAD, error) {
	return newAEAD(c.NewAEADWithSecret(algorithm, key.core, ""))
}

// NonceSize returns the nonce length in bytes.
func (a *AEAD) NonceSize() int { return a.core.NonceSize() }

// Overhead returns the tag length in bytes.
func (a *AEAD) Overhead() int { return a.core.Overhead() }

// Algorithm returns the algorithm's name, such as "aes-256-gcm".
func (a *AEAD) Algorithm() string { return a.core.Algorithm() }

// Provider returns the provider's name, such as "native".
func (a *AEAD) Provider() string { return a.core.Provider() }

// Variant returns the variant (the code for an instruction set), such as "vaes512".
func (a *AEAD) Variant() string { return a.core.Variant() }

// MaxPlaintext returns the maximum plaintext length in bytes.
func (a *AEAD) MaxPlaintext() uint64 { return a.core.MaxPlaintext() }

// Seal encrypts and authenticates plaintext, authenticates additionalData, and appends ciphertext
// and tag to dst, as [cipher.AEAD] requires. Never use a nonce twice with one key;
// [AEAD.SealMessage] generates one.
//
// It encrypts in place with plaintext[:0] as dst. It panics if the nonce has the wrong length, the
// buffers overlap otherwise, or the plaintext is too long.
func (a *AEAD) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	return a.core.Seal(dst, nonce, plaintext, additionalData)
}

// Open decrypts and authenticates ciphertext and tag and appends the plaintext to dst, as
// [cipher.AEAD] requires. It decrypts in place with ciphertext[:0] as dst. It panics if the nonce
// has the wrong length or the buffers overlap otherwise. After [ErrAuthentication], the plaintext's
// bytes are zero.
func (a *AEAD) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	return a.core.Open(dst, nonce, ciphertext, additionalData)
}

// SealMessage seals plaintext under a fresh random nonce and appends nonce, ciphertext and tag to
// dst. Works in place if plaintext begins NonceSize bytes after the end of dst. With 12-byte
// nonces, seal at most 2^32 messages under one key.
func (a *AEAD) SealMessage(dst, plaintext, additionalData []byte) ([]byte, error) {
	return a.core.SealMessage(dst, plaintext, additionalData)
}

// OpenMessage opens a message of [AEAD.SealMessage] and appends the plaintext to dst.
func (a *AEAD) OpenMessage(dst, message, additionalData []byte) ([]byte, error) {
	return a.core.OpenMessage(dst, message, additionalData)
}

// SealMany seals messages in one call: faster per message than [AEAD.SealMessage], and large
// batches use several cores. The messages are consecutive in data, with the lengths lens. It
// appends nonce, ciphertext and tag of each to dst, NonceSize()+Overhead() bytes longer than the
// message. The memory after dst must not overlap data.
func (a *AEAD) SealMany(dst, data []byte, lens []uint64, additionalData []byte) ([]byte, error) {
	return a.core.SealMany(dst, data, lens, additionalData)
}

// OpenMany opens messages of [AEAD.SealMany], consecutive in sealed, with the lengths lens, and
// appends the plaintexts to dst. If any is not authentic, the error is an [ErrAuthentication] that
// names the first one, and nothing is appended.
func (a *AEAD) OpenMany(dst, sealed []byte, lens []uint64, additionalData []byte) ([]byte, error) {
	return a.core.OpenMany(dst, sealed, lens, additionalData)
}
