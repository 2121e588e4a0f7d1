package sealane

import (
	"io"
	"strings"

	"example.invalid/sealane/go/internal/c"
)

// SignOptions are the options of [Sign].
type SignOptions struct {
	Passphrase string // of the key, if it is encrypted
	Namespace  string // of an SSH signature; empty means "file"
	Comment    string // trusted comment of a minisign signature; empty means the time
}

// Sign reads a message to its end and returns its signature, for ssh-keygen -Y verify or minisign
// -V. The key is the content of an OpenSSH Ed25519 private key or a minisign secret key. The
// options may be nil.
func Sign(message io.Reader, key []byte, options *SignOptions) ([]byte, error) {
	options = orDefault(options)
	signing, err := c.NewSigning(key, options.Passphrase, options.Namespace, options.Comment)
	return pass(message, signing, err)
}

// VerifySignatureOptions are the options of [VerifySignature].
type VerifySignatureOptions struct {
	Namespace string // of an SSH signature; empty means "file"
	Revoked   []byte // public keys that are not accepted any more
}

// Verified is what a valid signature says.
type Verified struct {
	// Signer has the principals in a file of allowed signers, else the fingerprint of the SSH key
	// (SHA256:…) or the number of the minisign key.
	Signer string
	// Comment is the trusted comment of a minisign signature.
	Comment string
}

// VerifySignature reads a message to its end and verifies its signature. The signers are public
// keys of SSH, a file of allowed signers of ssh-keygen, or a minisign public key. A signature that
// is not accepted is an [ErrAuthentication], and content that is no signature an [ErrFormat]. The
// options may be nil.
func VerifySignature(message io.Reader, signature, signers []byte, options *VerifySignatureOptions) (*Verified, error) {
	options = orDefault(options)
	verification, err := c.NewVerification(signature, signers, options.Namespace, options.Revoked)
	found, err := pass(message, verification, err)
	if err != nil {
		return nil, err
	}
	signer, comment, _ := strings.Cut(string(found), "\n")
	return &Verified{Signer: signer, Comment: comment}, nil
}

// pass passes a message to a signature, unless that could not be started.
func pass(message io.Reader, signature *c.Signature, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	// Without the methods that would copy the message in pieces of another length.
	if _, err := io.CopyBuffer(struct{ io.Writer }{signature}, struct{ io.Reader }{message}, make([]byte, pieceSize)); err != nil {
		return nil, err
	}
	return signature.Finish()
}
