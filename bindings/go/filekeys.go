package sealane

import (
	"strings"

	"example.invalid/sealane/go/internal/c"
)

// Format is a symmetric-key file format.
type Format string

// The symmetric-key file formats. The zero value means Chunked.
const (
	Chunked Format = "chunked"  // chunked-encryption@v1 of C2SP
	Tink4KB Format = "tink-4kb" // the streaming format of Tink with segments of 4 KiB
	Tink1MB Format = "tink-1mb" // the same with segments of 1 MiB
)

// KeyOptions are options for files with a symmetric key. Encryption and decryption need the same
// ones.
type KeyOptions struct {
	Format  Format
	Context []byte // authenticated and not stored, for example a name
}

// AgeOptions are options for encrypting age files.
type AgeOptions struct {
	Armor bool // whether the file is text, with ASCII armor
	// WorkFactor is the base-2 logarithm of scrypt's N for a passphrase, or 0 for 18: about a second
	// and 256 MiB per file. Recipients do not use it.
	WorkFactor uint32
}

// EncryptWith holds keys and format for encrypting files. Goroutines can share it.
type EncryptWith struct{ core *c.EncryptWith }

var encryptWith = c.Wrapping(func(core *c.EncryptWith) *EncryptWith { return &EncryptWith{core} })

// EncryptWithKey encrypts files with a symmetric key of 16 or 32 bytes. The options may be nil.
func EncryptWithKey(key []byte, options *KeyOptions) (*EncryptWith, error) {
	o := orDefault(options)
	return encryptWith(c.EncryptWithKey(key, string(o.Format), o.Context))
}

// EncryptWithSecretKey is [EncryptWithKey] with a symmetric key held by the library. The options
// may be nil.
func EncryptWithSecretKey(key *SecretKey, options *KeyOptions) (*EncryptWith, error) {
	o := orDefault(options)
	return encryptWith(c.EncryptWithSecret(key.core, string(o.Format), o.Context))
}

// EncryptWithKeyset encrypts files with a Tink keyset in JSON for AES-GCM-HKDF streaming.
func EncryptWithKeyset(keyset string, context []byte) (*EncryptWith, error) {
	return encryptWith(c.EncryptWithKeyset(keyset, context))
}

// EncryptWithRecipients encrypts age files for recipients: age1…, ssh-ed25519 … or ssh-rsa …. The
// options may be nil.
func EncryptWithRecipients(recipients []string, options *AgeOptions) (*EncryptWith, error) {
	options = orDefault(options)
	return encryptWith(c.EncryptWithRecipients(strings.Join(recipients, "\n"), options.Armor))
}

// EncryptWithPassphrase encrypts age files with a passphrase. The options may be nil.
func EncryptWithPassphrase(passphrase string, options *AgeOptions) (*EncryptWith, error) {
	options = orDefault(options)
	return encryptWith(c.EncryptWithPassphrase(passphrase, options.WorkFactor, options.Armor))
}

// DecryptWith holds keys and format for decrypting files. Goroutines can share it.
type DecryptWith struct{ core *c.DecryptWith }

var decryptWith = c.Wrapping(func(core *c.DecryptWith) *DecryptWith { return &DecryptWith{core} })

// DecryptWithKey decrypts files of [EncryptWithKey]. The options may be nil.
func DecryptWithKey(key []byte, options *KeyOptions) (*DecryptWith, error) {
	o := orDefault(options)
	return decryptWith(c.DecryptWithKey(key, string(o.Format), o.Context))
}

// DecryptWithSecretKey decrypts files with a symmetric key or an age identity held by the library.
// An identity has no options; for a symmetric key they may be nil.
func DecryptWithSecretKey(key *SecretKey, options *KeyOptions) (*DecryptWith, error) {
	o := orDefault(options)
	return decryptWith(c.DecryptWithSecret(key.core, string(o.Format), o.Context))
}

// DecryptWithKeyset decrypts files of [EncryptWithKeyset].
func DecryptWithKeyset(keyset string, context []byte) (*DecryptWith, error) {
	return decryptWith(c.DecryptWithKeyset(keyset, context))
}

// DecryptWithIdentities decrypts age files with identities, tried in order: AGE-SECRET-KEY-…, or
// one OpenSSH private key. Each string may be the content of an identity file.
func DecryptWithIdentities(identities ...string) (*DecryptWith, error) {
	return decryptWith(c.DecryptWithIdentities(strings.Join(identities, "\n")))
}

// DecryptWithPassphrase decrypts age files with a passphrase. Files with a work factor above
// maxWorkFactor (0 means 20) are refused with [ErrLimitExceeded].
func DecryptWithPassphrase(passphrase string, maxWorkFactor uint32) (*DecryptWith, error) {
	return decryptWith(c.DecryptWithPassphrase(passphrase, maxWorkFactor))
}
