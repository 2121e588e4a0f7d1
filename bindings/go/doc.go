// Package sealane encrypts messages, files and streams in formats that other software reads, with code for AVX-512, AVX2,
// AES-NI and Arm.
//
// [NewAEAD] returns a [crypto/cipher.AEAD] for AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305, XChaCha20-Poly1305, XAES-256-GCM or
// AEGIS. [AEAD.SealMessage] chooses a random nonce and puts it in front of the message.
//
// [EncryptFile] and [DecryptFile] process whole files on all cores. [Open] reads any range of an encrypted file, and verifies
// every byte of it. [Create], [Encrypt] and [Decrypt] process streams. The formats are chunked-encryption@v1 of C2SP, age v1
// and the streaming format of Tink.
//
// [HybridSeal] seals a message for the holder of a private key, with HPKE, RSA-OAEP or ECIES.
//
// # Errors
//
// Functions return errors that work with [errors.Is], for example with [ErrAuthentication] and [fs.ErrNotExist]. [AEAD.Seal]
// and [AEAD.Open] panic after mistakes in the call, as the standard library does: a nonce of the wrong length, buffers that
// overlap, a message that is too long.
//
// # Memory
//
// The library keeps its own copy of every key, and wipes it when Close is called or the garbage collector finds that the value
// is unreachable. A collector sees a few bytes where the library has kilobytes, so a program that creates many keys should
// close them where there is a method Close. Slices and strings with keys and passphrases belong to the caller, and Go never
// wipes them; [SecretKey] keeps a key out of the memory of Go. A random key comes from [crypto/rand.Read].
//
// # Building
//
// The package needs cgo, and the C library of this project as an object file beside its sources, which "make -C bindings lib-go"
// creates. The build tag sealane_dynamic uses the shared library that pkg-config finds.
package sealane
