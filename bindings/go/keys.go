package sealane

import (
	"strings"

	"example.invalid/sealane/go/internal/c"
)

// SecretKey is a private or symmetric key in the library's memory. Goroutines can share it.
type SecretKey struct{ core *c.Secret }

var secretKey = c.Wrapping(func(core *c.Secret) *SecretKey { return &SecretKey{core} })

// GenerateKey generates a key: "aes-128", "aes-192" or "aes-256" (symmetric, also for other
// ciphers), "aes-256-siv" (for file names), "age" or "age-pq" (for files), "rsa-2048", "rsa-3072",
// "rsa-4096", "secp256k1", "x25519", "p-256" or "x-wing" (for messages).
func GenerateKey(kind string) (*SecretKey, error) { return secretKey(c.GenerateSecret(kind)) }

// NewSecretKey copies a symmetric key.
func NewSecretKey(key []byte) (*SecretKey, error) { return secretKey(c.NewSecret(key)) }

// ParseSecretKey parses the text of a key file: a JSON Web Key, PEM, AGE-SECRET-KEY-…, or an
// OpenSSH key. The passphrase is empty for an unencrypted key.
func ParseSecretKey(text, passphrase string) (*SecretKey, error) {
	return secretKey(c.ParseSecret(text, passphrase))
}

// LoadSecretKey loads a private or symmetric key from a file, also in DER or in an age file. The
// passphrase is empty for an unencrypted key. A key other than the one that this user knows there
// is an [ErrAuthentication].
func LoadSecretKey(path, passphrase string) (*SecretKey, error) {
	return secretKey(c.LoadSecret(path, passphrase))
}

// SaveOptions are the options of [SecretKey.Save].
type SaveOptions struct {
	Passphrase string // encrypts the file if it is not empty
	Replace    bool   // whether a file that exists is replaced; otherwise it is an [fs.ErrExist]
}

// Save writes the key to a file that only the owner can read. The options may be nil.
func (k *SecretKey) Save(path string, options *SaveOptions) error {
	options = orDefault(options)
	return k.core.Save(path, options.Passphrase, options.Replace)
}

// Encode returns the key as the text of a key file, encrypted if the passphrase is not empty.
func (k *SecretKey) Encode(passphrase string) (string, error) { return k.core.Encode(passphrase) }

// Kind returns the key's kind, as for [GenerateKey], or an empty string if it has none.
func (k *SecretKey) Kind() (string, error) { return k.core.Kind() }

// PublicKey returns the public key as text: age1… or an SSH key without a newline, or PEM. It is
// empty for a symmetric key.
func (k *SecretKey) PublicKey() (string, error) {
	text, err := k.core.Public()
	if line := strings.TrimSuffix(text, "\n"); !strings.Contains(line, "\n") {
		text = line
	}
	return text, err
}

// Bytes returns the bytes of a symmetric key.
func (k *SecretKey) Bytes() ([]byte, error) { return k.core.Bytes() }

// Close wipes the key. Values made from it have copies.
func (k *SecretKey) Close() error { return k.core.Close() }

// DeriveKey derives a key of keyLen bytes from a passphrase with Argon2id (RFC 9106). The salt
// needs at least 8 bytes, better 16 random ones. The RFC recommends 3 passes, 64*1024 KiB and 4
// lanes where 2 GiB are too much.
func DeriveKey(passphrase, salt []byte, passes, memoryKiB, lanes uint32, keyLen int) ([]byte, error) {
	return c.DeriveKey(passphrase, salt, passes, memoryKiB, lanes, keyLen)
}

// HybridOptions are HPKE options that both sides need.
type HybridOptions struct {
	Info  []byte // description of the exchange
	Suite string // "aes-128-gcm", "aes-256-gcm" (the default) or "chacha20-poly1305"
}

// HybridSeal seals a message for a public key in the text form of [SecretKey.PublicKey]: HPKE for
// X25519, P-256 and X-Wing, RSA-OAEP, or ECIES for secp256k1. The options may be nil.
func HybridSeal(publicKey string, plaintext, additionalData []byte, options *HybridOptions) ([]byte, error) {
	options = orDefault(options)
	return c.HybridSeal(publicKey, plaintext, additionalData, options.Info, options.Suite)
}

// HybridOpen opens a message of [HybridSeal] with the private key. The options may be nil.
func HybridOpen(key *SecretKey, message, additionalData []byte, options *HybridOptions) ([]byte, error) {
	options = orDefault(options)
	return key.core.HybridOpen(message, additionalData, options.Info, options.Suite)
}
