package sealane

import (
	"crypto/cipher"

	"example.invalid/sealane/go/internal/c"
)

// AEAD is an algorithm with a key. It implements [cipher.AEAD]. Goroutines can share it.
type AEAD struct{ core *c.AEAD }

var _ cipher.AEAD = (*AEAD)(nil)

// NewAEAD expands a key. [Algorithms] lists the algorithms with the lengths of their keys; for example "aes-256-gcm" has a key
// of 32 bytes. The fastest implementation on this machine is used.
func NewAEAD(algorithm string, key []byte) (*AEAD, error) {
	return NewAEADWithProvider(algorithm, key, "")
}

// NewAEADWithProvider is [NewAEAD] with a provider, for example "native", "aws-lc" or "rustcrypto". [Implementations] lists them.
func NewAEADWithProvider(algorithm string, key []byte, provider string) (*AEAD, error) {
	core, err := c.NewAEAD(algorithm, key, provider)
	if err != nil {
		return nil, err
	}
	return &AEAD{core}, nil
}

// NewAEADWithSecretKey is [NewAEAD] with a symmetric key that the library holds.
func NewAEADWithSecretKey(algorithm string, key *SecretKey) (*AEAD, error) {
	core, err := c.NewAEADWithSecret(algorithm, key.core, "")
	if err != nil {
		return nil, err
	}
	return &AEAD{core}, nil
}

// NonceSize returns the length of a nonce in bytes.
func (a *AEAD) NonceSize() int { return a.core.NonceSize() }

// Overhead returns the length of a tag in bytes.
func (a *AEAD) Overhead() int { return a.core.Overhead() }

// Algorithm returns the name of the algorithm, for example "aes-256-gcm".
func (a *AEAD) Algorithm() string { return a.core.Algorithm() }

// Provider returns the name of the provider, for example "native".
func (a *AEAD) Provider() string { return a.core.Provider() }

// Variant returns the name of the code for an instruction set, for example "vaes512".
func (a *AEAD) Variant() string { return a.core.Variant() }

// MaxPlaintext returns the maximum length of a plaintext in bytes.
func (a *AEAD) MaxPlaintext() uint64 { return a.core.MaxPlaintext() }

// Seal encrypts and authenticates plaintext, authenticates additionalData, and appends ciphertext and tag to dst, as
// [cipher.AEAD] requires. The nonce must never be used twice with one key; [AEAD.SealMessage] chooses one.
//
// It encrypts in place with plaintext[:0] as dst. It panics if the nonce has the wrong length, if the buffers overlap in
// another way, and if the plaintext is too long.
func (a *AEAD) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	return a.core.Seal(dst, nonce, plaintext, additionalData)
}

// Open decrypts and authenticates ciphertext and tag, and appends the plaintext to dst, as [cipher.AEAD] requires. It decrypts
// in place with ciphertext[:0] as dst. It panics if the nonce has the wrong length and if the buffers overlap in another way.
// After [ErrAuthentication], the place of the plaintext is zero.
func (a *AEAD) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	return a.core.Open(dst, nonce, ciphertext, additionalData)
}

// SealMessage seals plaintext under a fresh random nonce, and appends nonce, ciphertext and tag to dst. It works in place if
// plaintext begins NonceSize bytes after the end of dst. With nonces of 12 bytes, seal at most 2^32 messages under one key.
func (a *AEAD) SealMessage(dst, plaintext, additionalData []byte) ([]byte, error) {
	return a.core.SealMessage(dst, plaintext, additionalData)
}

// OpenMessage opens a message of [AEAD.SealMessage], and appends the plaintext to dst.
func (a *AEAD) OpenMessage(dst, message, additionalData []byte) ([]byte, error) {
	return a.core.OpenMessage(dst, message, additionalData)
}

// SealMany seals messages in one call, which costs less for each of them than [AEAD.SealMessage] and uses several cores for large
// batches. The messages lie one after the other in data and have the lengths lens. Nonce, ciphertext and tag of each are
// appended to dst, so each is NonceSize()+Overhead() bytes longer. The memory after dst must not overlap data.
func (a *AEAD) SealMany(dst, data []byte, lens []uint64, additionalData []byte) ([]byte, error) {
	return a.core.SealMany(dst, data, lens, additionalData)
}

// OpenMany opens messages of [AEAD.SealMany], which lie one after the other in sealed and have the lengths lens, and appends the
// plaintexts to dst. If one of them is not authentic, the error is an [ErrAuthentication] that names the first one, and nothing is
// appended.
func (a *AEAD) OpenMany(dst, sealed []byte, lens []uint64, additionalData []byte) ([]byte, error) {
	return a.core.OpenMany(dst, sealed, lens, additionalData)
}
