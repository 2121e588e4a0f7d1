//! Keys: generated from random bytes, wiped when they are dropped, and saved in files that other
//! software reads.
//!
//! | key | file | with a passphrase | for recipients |
//! |---|---|---|---|
//! | symmetric | JSON Web Key `oct` (RFC 7517) | age file | age file |
//! | age | `AGE-SECRET-KEY-…`, as age-keygen writes it | age file | age file |
//! | RSA, P-256, secp256k1, X25519, X-Wing | PKCS#8 in PEM | encrypted PKCS#8 | age file |
//! | keyring | Tink keyset in JSON | age file | age file |
//! | public | `age1…`, or SPKI in PEM | | |
//!
//! [`load`] also reads JSON Web Key Sets, DER, PKCS#1 and SEC 1 in PEM, secp256k1 keys in
//! hexadecimal, OpenSSH private and public keys, which are identities and recipients of age files,
//! and Tink keysets in the binary format. `docs/decisions/013-key-files.md` has the reasons for
//! these formats.
//!
//! ```
//! use sealane::keys::{Kind, SecretKey};
//!
//! let key = SecretKey::generate(Kind::X25519)?;
//! let text = key.to_text(Some("correct horse"))?;
//! let again = SecretKey::from_text(&text, Some("correct horse"))?;
//! assert_eq!(again, key);
//! # Ok::<(), sealane::Error>(())
//! ```

#[doc(hidden)]
pub use ::keys::accept_key;
#[doc(inline)]
pub use ::keys::{
    Cost, EncryptedKeyring, Existing, Fingerprint, FolderKeys, FolderLock, Jwk, Key, KeyFile, KeyInfo,
    KeyState, KeyType, Keyring, KeyringAead, KeyringDeterministicAead, KeyringLookup, Kind, LoadOptions,
    MAX_KEYSET_LEN, MAX_PASSPHRASE_LEN, PinPrompt, PinnedReference, Prefix, PublicKey, Purpose, Reference,
    SecretKey, ServiceLookup, TokenKey, WrappingServices, check_key, check_passphrase, derive, files_in,
    is_hexadecimal_key, is_secret, load, load_identities, may_be_key, parse_identity_file, parse_passphrase,
    read_content, refuse_replacing, remember_key, save_public, save_secret, set_key_services, set_keyring,
    set_pin_prompt, set_wrapping_services, text_of,
};
