//! Encryption of messages, files and streams at the speed of the hardware, in formats that other
//! software reads.
//!
//! sealane selects the fastest implementation of an algorithm on this machine, for example AES-GCM
//! with VAES and AVX-512, and falls back to portable code. Large files use all cores. Every format
//! has an implementation outside this project: RFC 8439 and NIST messages, age v1, C2SP chunked
//! encryption, Tink streaming AEAD, HPKE and JSON Web Keys.
//!
//! # Sealing a message
//!
//! [`Aead`] generates the nonce. The sealed message is `nonce || ciphertext || tag`; the associated
//! data is authenticated and not part of it.
//!
//! ```
//! use sealane::{Aead, Algorithm, Key};
//!
//! let key = Key::generate(Algorithm::Aes256Gcm.key_len())?;
//! let aead = Aead::new(Algorithm::Aes256Gcm, &key)?;
//! let sealed = aead.seal(b"hello", b"header")?;
//! assert_eq!(aead.open(&sealed, b"header")?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```
//!
//! # Encrypting a file
//!
//! [`EncryptWith`](file::EncryptWith) selects the format: a symmetric key, a Tink keyset, or age
//! recipients. The same value encrypts bytes, paths and streams.
//!
//! ```
//! use sealane::Key;
//! use sealane::file::{self, DecryptWith, EncryptWith};
//!
//! let key = Key::generate(32)?;
//! let encrypted = file::encrypt(b"hello", &EncryptWith::key(&key, b"backup"))?;
//! assert_eq!(*file::decrypt(&encrypted, &DecryptWith::key(&key, b"backup"))?, *b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```
//!
//! # Modules
//!
//! | to | use |
//! |---|---|
//! | seal messages with a symmetric key | [`Aead`], [`Key`], [`Algorithm`] |
//! | encrypt equal messages to equal ciphertexts, to search them | [`DeterministicAead`] |
//! | seal messages for the holder of a private key | [`hybrid`]: HPKE, ECIES, RSA |
//! | encrypt files, folders and streams, and read ranges of them | [`mod@file`] |
//! | read and write age files in memory, parse recipients and identities | [`age`] |
//! | generate, derive, load and save keys | [`keys`] |
//! | compute with one key pair, for example X25519 or RSA-OAEP | [`asymmetric`] |
//! | read and write Fernet tokens | [`fernet`] |
//! | read and write JSON Web Encryption | [`jwe`] |
//! | list implementations, or add one from another crate | [`provider`] |
//! | cancel long calls from a language with its own signal handling | [`interrupt`] |
//! | use raw ciphers, or authenticated messages in pieces | [`hazmat`] |
//!
//! # Features
//!
//! Without the default features, only Rust is compiled: messages, with the native kernels and
//! RustCrypto. The modules and types that need a feature say so.
//!
//! | feature | adds | needs |
//! |---|---|---|
//! | `aws-lc`, `ring`, `aegis` | a provider | a C compiler |
//! | `files` | [`mod@file`], [`age`], [`keys`], [`hybrid`], [`asymmetric`], [`signature`], [`fernet`], [`jwe`]; `aws-lc` | a C compiler |
//! | `fips` | refuses all but approved algorithms, which the FIPS module of AWS-LC computes; not on by default | a C compiler, CMake, Go, Perl |
//! | `pkcs11` | keys of PKCS#11 tokens; `files` | a C compiler |
//! | `aead-traits` | `rustcrypto`, the traits of the crate `aead`; not on by default | |
//!
//! # Guarantees
//!
//! - **Only verified plaintext is returned.** After a failed `open`, the destination has no byte of
//!   the plaintext. The exceptions are the parts of [`hazmat`] whose documentation says so, for
//!   example [`hazmat::AeadDecryptor`].
//! - **Keys are wiped** when they are dropped, and neither `Debug` nor an error shows them.
//! - **Nonces are fresh** in every thread and after a fork. Values that count nonces, for example
//!   [`file::Encryptor`], return [`Misuse::Forked`] in a forked child. A snapshot of a virtual
//!   machine can repeat them; use AES-GCM-SIV or explicit nonces there.
//! - **Native code runs in constant time** with respect to keys and plaintext. Each variant passes
//!   a self-test before its first use; a variant that fails is not used.
//!
//! # Errors
//!
//! All functions return [`Error`]. An authentication failure of a message is opaque: a wrong key, a
//! wrong nonce and a changed byte are all [`Error::Authentication`]. [`Error::Misuse`] is a mistake
//! in the call. The other errors name the thing that is wrong, for example the damaged chunk of a
//! file. [`Error::kind`] sorts them into a few kinds.
//!
//! # Limits
//!
//! Each algorithm limits the length of a message ([`Algorithm::max_plaintext_len`], for example 64
//! GiB for AES-GCM) and the number of messages with random nonces under one key
//! ([`Algorithm::max_random_messages_log2`], for example 2^32 for AES-GCM). The first is enforced.
//! Of the second, an [`Aead`] counts its own messages with AES-GCM and ChaCha20-Poly1305 and
//! refuses more than 2^32 ([`sealed_messages`](MessageKeys::sealed_messages)). Other processes may
//! use the same key, so the user has to count too.
#![forbid(unsafe_code)]

pub mod aead {
    //! Authenticated encryption of one message.

    #[doc(inline)]
    pub use messages::aead::{Aead, Buffer};
}
#[cfg(feature = "files")]
pub mod age;
#[cfg(feature = "files")]
pub mod file;
#[cfg(feature = "files")]
pub mod keys;
#[cfg(feature = "files")]
pub mod vault {
    //! Encrypted folders that are read by their plaintext names.

    #[doc(inline)]
    pub use vaults::{
        Contents, Entry, EntryKind, Format, Listing, LocalFolder, OwnFolder, Rclone, SingleFile, Storage,
        Vault, VaultJob, Walk, check_remains, detect, find, join, list, marks, open_file, rclone_config,
        split, unlock,
    };
}
pub mod provider;

#[cfg(feature = "files")]
#[doc(inline)]
pub use ::keys::{
    KeyringAead, KeyringDeterministicAead, asymmetric, fernet, hybrid, jwe, signature, wipe_stack,
};
#[doc(hidden)]
pub use ::providers::wipe;
#[doc(hidden)]
pub use base::os;
#[doc(inline)]
pub use base::os::without_signals;
#[doc(inline)]
pub use base::threads::on_one_thread;
#[doc(inline)]
pub use base::{Error, FolderError, ForkGuard, Misuse, error, interrupt};
#[doc(hidden)]
pub use messages::named;
#[cfg(feature = "aead-traits")]
#[doc(inline)]
pub use messages::rustcrypto;
#[doc(inline)]
pub use messages::{
    Aead, Buffer, DeterministicAead, DeterministicAlgorithm, Key, MessageKey, MessageKeys, Offset, hazmat,
};
#[doc(inline)]
pub use providers::{Algorithm, InOut, ListedVariant, Provider, listing, set_default};
