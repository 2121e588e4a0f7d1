//! age v1: files for recipients and passphrases (c2sp.org/age, age-encryption.org/v1).
//!
//! ```text
//! file   = header || payload             binary, or with ASCII armor
//! header = a fresh file key, wrapped for each recipient, and a MAC
//! ```
//!
//! This module encrypts and decrypts in memory. [`mod@crate::file`] does the same with files and
//! streams.
//!
//! ```
//! use sealane::age::{self, Armor, Identity, Kind};
//!
//! let identity = Identity::generate(Kind::Hybrid)?;
//! let file = age::seal(b"hello", &[identity.recipient()], Armor::Ascii)?;
//! assert_eq!(*age::open(&file, &[identity])?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

#[doc(inline)]
pub use ::keys::age::{
    Armor, AskPassphrase, DEFAULT_WORK_FACTOR, Header, Identity, Kind, MAX_HEADER_LEN, MAX_WORK_FACTOR,
    Parsed, Plugins, Recipient, Stanza, armor, open, parse_identities, parse_recipients, plugin, seal,
};
