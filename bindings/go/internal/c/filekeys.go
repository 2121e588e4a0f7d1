package c

// #include "sealane.h"
import "C"

import "runtime"

// EncryptWith is the keys and the format of files to encrypt. Goroutines can share it.
type EncryptWith struct{ handle *C.sealane_encrypt_with }

func newEncryptWith(handle *C.sealane_encrypt_with, e *C.sealane_error) (*EncryptWith, error) {
	if handle == nil {
		return nil, failure(*e)
	}
	w := &EncryptWith{handle}
	runtime.AddCleanup(w, func(handle *C.sealane_encrypt_with) { C.sealane_encrypt_with_free(handle) }, handle)
	return w, nil
}

// EncryptWithKey encrypts with a symmetric key.
func EncryptWithKey(key []byte, format string, context []byte) (*EncryptWith, error) {
	name, err := cText("format", format)
	if err != nil {
		return nil, err
	}
	var e C.sealane_error
	return newEncryptWith(C.sealane_encrypt_with_key(ptr(key), size(key), chars(name), ptr(context), size(context), &e), &e)
}

// EncryptWithSecret encrypts with a symmetric key that the library holds.
func EncryptWithSecret(secret *Secret, format string, context []byte) (with *EncryptWith, err error) {
	name, err := cText("format", format)
	if err != nil {
		return nil, err
	}
	err = secret.use(func(handle *C.sealane_secret) error {
		var e C.sealane_error
		with, err = newEncryptWith(C.sealane_encrypt_with_secret(handle, chars(name), ptr(context), size(context), &e), &e)
		return err
	})
	return with, err
}

// EncryptWithKeyset encrypts with a Tink keyset.
func EncryptWithKeyset(keyset string, context []byte) (*EncryptWith, error) {
	text, err := required("keyset", keyset)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	var e C.sealane_error
	return newEncryptWith(C.sealane_encrypt_with_keyset(chars(text), ptr(context), size(context), &e), &e)
}

// armorFlag returns the flag of files that are text.
func armorFlag(armor bool) C.uint32_t {
	if armor {
		return C.SEALANE_ARMOR
	}
	return 0
}

// EncryptWithRecipients encrypts age files for recipients, one on a line.
func EncryptWithRecipients(recipients string, armor bool) (*EncryptWith, error) {
	text, err := required("recipients", recipients)
	if err != nil {
		return nil, err
	}
	var e C.sealane_error
	return newEncryptWith(C.sealane_encrypt_with_recipients(chars(text), armorFlag(armor), &e), &e)
}

// EncryptWithPassphrase encrypts age files with a passphrase. A work factor of 0 is the default.
func EncryptWithPassphrase(passphrase string, workFactor uint32, armor bool) (*EncryptWith, error) {
	phrase, err := required("passphrase", passphrase)
	if err != nil {
		return nil, err
	}
	defer clear(phrase)
	var e C.sealane_error
	return newEncryptWith(C.sealane_encrypt_with_passphrase(chars(phrase), C.uint32_t(workFactor), armorFlag(armor), &e), &e)
}

// DecryptWith is the keys and the format of files to decrypt. Goroutines can share it.
type DecryptWith struct{ handle *C.sealane_decrypt_with }

func newDecryptWith(handle *C.sealane_decrypt_with, e *C.sealane_error) (*DecryptWith, error) {
	if handle == nil {
		return nil, failure(*e)
	}
	w := &DecryptWith{handle}
	runtime.AddCleanup(w, func(handle *C.sealane_decrypt_with) { C.sealane_decrypt_with_free(handle) }, handle)
	return w, nil
}

// DecryptWithKey decrypts with a symmetric key.
func DecryptWithKey(key []byte, format string, context []byte) (*DecryptWith, error) {
	name, err := cText("format", format)
	if err != nil {
		return nil, err
	}
	var e C.sealane_error
	return newDecryptWith(C.sealane_decrypt_with_key(ptr(key), size(key), chars(name), ptr(context), size(context), &e), &e)
}

// DecryptWithSecret decrypts with a symmetric key or an age identity that the library holds.
func DecryptWithSecret(secret *Secret, format string, context []byte) (with *DecryptWith, err error) {
	name, err := cText("format", format)
	if err != nil {
		return nil, err
	}
	err = secret.use(func(handle *C.sealane_secret) error {
		var e C.sealane_error
		with, err = newDecryptWith(C.sealane_decrypt_with_secret(handle, chars(name), ptr(context), size(context), &e), &e)
		return err
	})
	return with, err
}

// DecryptWithKeyset decrypts with a Tink keyset.
func DecryptWithKeyset(keyset string, context []byte) (*DecryptWith, error) {
	text, err := required("keyset", keyset)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	var e C.sealane_error
	return newDecryptWith(C.sealane_decrypt_with_keyset(chars(text), ptr(context), size(context), &e), &e)
}

// DecryptWithIdentities decrypts age files with identities, one on a line.
func DecryptWithIdentities(identities string) (*DecryptWith, error) {
	text, err := required("identities", identities)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	var e C.sealane_error
	return newDecryptWith(C.sealane_decrypt_with_identities(chars(text), &e), &e)
}

// DecryptWithPassphrase decrypts age files with a passphrase. A maximum of 0 is the default.
func DecryptWithPassphrase(passphrase string, maxWorkFactor uint32) (*DecryptWith, error) {
	phrase, err := required("passphrase", passphrase)
	if err != nil {
		return nil, err
	}
	defer clear(phrase)
	var e C.sealane_error
	return newDecryptWith(C.sealane_decrypt_with_passphrase(chars(phrase), C.uint32_t(maxWorkFactor), &e), &e)
}
