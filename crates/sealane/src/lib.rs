//! Encryption at the speed of the hardware.
//!
//! THE MEANING floor: what users call. A message is sealed by an [`Aead`], or by [`hybrid`] for the holder of a private
//! key; a file or a stream is encrypted by [`mod@file`], with a key, for people or under a passphrase ([`age`]); keys
//! live in [`keys`], and what key pairs compute in [`asymmetric`]; raw parts, with the danger in the path, in [`hazmat`].
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
//! Nothing that was not verified reaches a caller: a failed `open` leaves zeros where the plaintext would be.
//! Everything written here, somebody else's software reads; there is no format of our own.
#![forbid(unsafe_code)]

pub mod aead;
pub mod age;
pub mod asymmetric;
mod encoding;
mod engine;
pub mod error;
pub mod file;
pub mod hazmat;
pub mod hybrid;
mod key;
pub mod keys;
mod nonce;
pub mod provider;
mod random;

pub use aead::{Aead, Buffer};
pub use error::{Error, Misuse};
pub use key::Key;
pub use providers::{Algorithm, InOut, ListedVariant, Provider, listing, set_default};
