package c

// #include "sealane.h"
import "C"

// EncryptWith holds keys and format for encrypting files. Goroutines can share it.
type EncryptWith struct{ handle *C.sealane_encrypt_with }

func newEncryptWith(handle *C.sealane_encrypt_with, e *C.sealane_error) (*EncryptWith, error) {
	free := func(handle *C.sealane_encrypt_with) { C.sealane_encrypt_with_free(handle) }
	return owned(&EncryptWith{handle}, handle, free, e)
}

// EncryptWithKey encrypts with a symmetric key.
func EncryptWithKey(key []byte, format string, context []byte) (*EncryptWith, error) {
	return withText(cText, "format", format, func(name *C.char, e *C.sealane_error) (*EncryptWith, error) {
		return newEncryptWith(C.sealane_encrypt_with_key(ptr(key), size(key), name, ptr(context), size(context), e), e)
	})
}

// EncryptWithSecret encrypts with a symmetric key held by the library.
func EncryptWithSecret(secret *Secret, format string, context []byte) (*EncryptWith, error) {
	return withText(cText, "format", format, func(name *C.char, e *C.sealane_error) (*EncryptWith, error) {
		return use(secret, func(handle *C.sealane_secret) (*EncryptWith, error) {
			return newEncryptWith(C.sealane_encrypt_with_secret(handle, name, ptr(context), size(context), e), e)
		})
	})
}

// EncryptWithKeyset encrypts with a Tink keyset.
func EncryptWithKeyset(keyset string, context []byte) (*EncryptWith, error) {
	return withText(required, "keyset", keyset, func(text *C.char, e *C.sealane_error) (*EncryptWith, error) {
		return newEncryptWith(C.sealane_encrypt_with_keyset(text, ptr(context), size(context), e), e)
	})
}

// armorFlag returns the flag for armored files.
func armorFlag(armor bool) C.uint32_t {
	if armor {
		return C.SEALANE_ARMOR
	}
	return 0
}

// EncryptWithRecipients encrypts age files for recipients, one per line.
func EncryptWithRecipients(recipients string, armor bool) (*EncryptWith, error) {
	return withText(required, "recipients", recipients, func(text *C.char, e *C.sealane_error) (*EncryptWith, error) {
		return newEncryptWith(C.sealane_encrypt_with_recipients(text, armorFlag(armor), e), e)
	})
}

// EncryptWithPassphrase encrypts age files with a passphrase. A work factor of 0 is the default.
func EncryptWithPassphrase(passphrase string, workFactor uint32, armor bool) (*EncryptWith, error) {
	return withText(required, "passphrase", passphrase, func(text *C.char, e *C.sealane_error) (*EncryptWith, error) {
		return newEncryptWith(C.sealane_encrypt_with_passphrase(text, C.uint32_t(workFactor), armorFlag(armor), e), e)
	})
}

// DecryptWith holds keys and format for decrypting files. Goroutines can share it.
type DecryptWith struct{ handle *C.sealane_decrypt_with }

func newDecryptWith(handle *C.sealane_decrypt_with, e *C.sealane_error) (*DecryptWith, error) {
	free := func(handle *C.sealane_decrypt_with) { C.sealane_decrypt_with_free(handle) }
	return owned(&DecryptWith{handle}, handle, free, e)
}

// DecryptWithKey decrypts with a symmetric key.
func DecryptWithKey(key []byte, format string, context []byte) (*DecryptWith, error) {
	return withText(cText, "format", format, func(name *C.char, e *C.sealane_error) (*DecryptWith, error) {
		return newDecryptWith(C.sealane_decrypt_with_key(ptr(key), size(key), name, ptr(context), size(context), e), e)
	})
}

// DecryptWithSecret decrypts with a symmetric key or an age identity held by the library.
func DecryptWithSecret(secret *Secret, format string, context []byte) (*DecryptWith, error) {
	return withText(cText, "format", format, func(name *C.char, e *C.sealane_error) (*DecryptWith, error) {
		return use(secret, func(handle *C.sealane_secret) (*DecryptWith, error) {
			return newDecryptWith(C.sealane_decrypt_with_secret(handle, name, ptr(context), size(context), e), e)
		})
	})
}

// DecryptWithKeyset decrypts with a Tink keyset.
func DecryptWithKeyset(keyset string, context []byte) (*DecryptWith, error) {
	return withText(required, "keyset", keyset, func(text *C.char, e *C.sealane_error) (*DecryptWith, error) {
		return newDecryptWith(C.sealane_decrypt_with_keyset(text, ptr(context), size(context), e), e)
	})
}

// DecryptWithIdentities decrypts age files with identities, one per line.
func DecryptWithIdentities(identities string) (*DecryptWith, error) {
	return withText(required, "identities", identities, func(text *C.char, e *C.sealane_error) (*DecryptWith, error) {
		return newDecryptWith(C.sealane_decrypt_with_identities(text, e), e)
	})
}

// DecryptWithPassphrase decrypts age files with a passphrase. A maximum of 0 is the default.
func DecryptWithPassphrase(passphrase string, maxWorkFactor uint32) (*DecryptWith, error) {
	return withText(required, "passphrase", passphrase, func(text *C.char, e *C.sealane_error) (*DecryptWith, error) {
		return newDecryptWith(C.sealane_decrypt_with_passphrase(text, C.uint32_t(maxWorkFactor), e), e)
	})
}
