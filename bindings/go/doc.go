// Package sealane encrypts messages, files and streams in formats that other software reads, with
// code for AVX-512, AVX2, AES-NI and Arm.
//
// [NewAEAD] returns a [crypto/cipher.AEAD] for AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305,
// XChaCha20-Poly1305, XAES-256-GCM or AEGIS. [AEAD.SealMessage] generates a random nonce and
// prepends it to the message.
//
// [EncryptFile] and [DecryptFile] process whole files on all cores. [Open] reads any range of an
// encrypted file and verifies every byte. [Create], [Encrypt] and [Decrypt] process streams. The
// formats are C2SP chunked-encryption@v1, age v1 and Tink's streaming format.
//
// [HybridSeal] seals a message for the holder of a private key, with HPKE, RSA-OAEP or ECIES.
// [Sign] signs files and messages for ssh-keygen and minisign.
//
// # Errors
//
// Functions return errors that work with [errors.Is], for example with [ErrAuthentication] and
// [fs.ErrNotExist]. Like the standard library, [AEAD.Seal] and [AEAD.Open] panic on a mistake in
// the call: a nonce of the wrong length, overlapping buffers, a message that is too long.
//
// # Memory
//
// The library keeps its own copy of every key and wipes it when Close is called or the value
// becomes unreachable. The collector sees a few bytes where the library has kilobytes, so if you
// create many keys, close them where there is a method Close. Slices and strings with keys and
// passphrases belong to the caller, and Go never wipes them; [SecretKey] keeps a key out of Go's
// memory. Get random keys from [crypto/rand.Read].
//
// # Building
//
// The package needs cgo and this project's C library as an object file beside its sources; create
// it with "make -C bindings lib-go". The build tag sealane_dynamic uses the shared library found by
// pkg-config.
package sealane
