package hazmat

import (
	"crypto/cipher"

	"example.invalid/sealane/go/internal/c"
)

// AEAD is a key of Speck-Poly1305, SpeckEx's AEAD. It implements [cipher.AEAD]. Goroutines can
// share it.
//
// Prefer AES or ChaCha20: no analysis of this construction has been published. Never use the key
// with [NewSpeckCTR]: its keystream contains the tag keys.
type AEAD struct{ core *c.AEAD }

var _ cipher.AEAD = (*AEAD)(nil)

var newAEAD = c.Wrapping(func(core *c.AEAD) *AEAD { return &AEAD{core} })

// NewSpeckPoly1305 expands a key of "speck128-128-poly1305", "speck128-192-poly1305" or
// "speck128-256-poly1305", with 12-byte nonces.
func NewSpeckPoly1305(algorithm string, key []byte) (*AEAD, error) {
	return newAEAD(c.NewSpeckPoly1305(algorithm, key))
}

// NewSpeckPoly1305BlockNonce does the same with nonces of a whole 16-byte block, as in SpeckEx's
// low-level functions. Keep the counters of messages apart: a message takes a counter per block,
// and two more.
func NewSpeckPoly1305BlockNonce(algorithm string, key []byte) (*AEAD, error) {
	return newAEAD(c.NewSpeckPoly1305BlockNonce(algorithm, key))
}

// NewSpeckPoly1305SmallBlock does the same for blocks of 32 to 96 bits, such as
// "speck64-128-poly1305". Only for existing messages. The nonce is a whole block; count it so that
// messages do not overlap.
func NewSpeckPoly1305SmallBlock(algorithm string, key []byte) (*AEAD, error) {
	return newAEAD(c.NewSpeckPoly1305SmallBlock(algorithm, key))
}

// NonceSize returns the nonce length in bytes.
func (a *AEAD) NonceSize() int { return a.core.NonceSize() }

// Overhead returns the tag length in bytes.
func (a *AEAD) Overhead() int { return a.core.Overhead() }

// Seal encrypts and authenticates plaintext and appends ciphertext and tag to dst, as [cipher.AEAD]
// requires. It panics on a mistake in the call, such as a nonce of the wrong length.
func (a *AEAD) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	return a.core.Seal(dst, nonce, plaintext, additionalData)
}

// Open decrypts and authenticates ciphertext and tag and appends the plaintext to dst, as
// [cipher.AEAD] requires. It panics on a mistake in the call.
func (a *AEAD) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	return a.core.Open(dst, nonce, ciphertext, additionalData)
}

// SealMessage seals plaintext under a fresh random nonce and appends nonce, ciphertext and tag to
// dst. Keys with whole-block nonces refuse it.
func (a *AEAD) SealMessage(dst, plaintext, additionalData []byte) ([]byte, error) {
	return a.core.SealMessage(dst, plaintext, additionalData)
}

// OpenMessage opens a message of SealMessage, and appends the plaintext to dst.
func (a *AEAD) OpenMessage(dst, message, additionalData []byte) ([]byte, error) {
	return a.core.OpenMessage(dst, message, additionalData)
}

// AEADEncryptor encrypts one message in pieces: first associated data, then plaintext. It is for
// one goroutine at a time.
type AEADEncryptor struct{ core *c.Pieces }

var newEncryptor = c.Wrapping(func(core *c.Pieces) *AEADEncryptor { return &AEADEncryptor{core} })

// NewAEADEncryptor starts a message of AES-GCM ("aes-128-gcm", "aes-192-gcm", "aes-256-gcm"),
// "chacha20-poly1305" or "xchacha20-poly1305". Never use a nonce twice with one key.
func NewAEADEncryptor(algorithm string, key, nonce []byte) (*AEADEncryptor, error) {
	return newEncryptor(c.NewEncryptor(algorithm, key, nonce))
}

// UpdateAAD adds associated data, before the first plaintext.
func (e *AEADEncryptor) UpdateAAD(aad []byte) error { return e.core.UpdateAAD(aad) }

// Update encrypts the next plaintext src to as many bytes of dst. The slices must be the same or
// apart.
func (e *AEADEncryptor) Update(dst, src []byte) error { return e.core.Update(dst, src) }

// Finalize returns the tag and completes the message.
func (e *AEADEncryptor) Finalize() ([]byte, error) { return e.core.Finalize() }

// AEADDecryptor decrypts one message in pieces. The plaintext is unverified until Verify returns
// nil: an attacker may have chosen it. Otherwise discard all of it. It is for one goroutine at a
// time.
type AEADDecryptor struct{ core *c.Pieces }

var newDecryptor = c.Wrapping(func(core *c.Pieces) *AEADDecryptor { return &AEADDecryptor{core} })

// NewAEADDecryptor starts a message of [NewAEADEncryptor].
func NewAEADDecryptor(algorithm string, key, nonce []byte) (*AEADDecryptor, error) {
	return newDecryptor(c.NewDecryptor(algorithm, key, nonce))
}

// UpdateAAD adds associated data, before the first ciphertext.
func (d *AEADDecryptor) UpdateAAD(aad []byte) error { return d.core.UpdateAAD(aad) }

// Update decrypts the next ciphertext src to as many bytes of dst. The slices must be the same or
// apart.
func (d *AEADDecryptor) Update(dst, src []byte) error { return d.core.Update(dst, src) }

// Verify compares the tag and completes the message.
func (d *AEADDecryptor) Verify(tag []byte) error { return d.core.Verify(tag) }
