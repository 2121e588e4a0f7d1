//! Keys: made by the operating system's generator, wiped when dropped, kept in files that others read.
//!
//! | key | file | with a passphrase | for recipients |
//! |---|---|---|---|
//! | symmetric | JSON Web Key `oct` (RFC 7517) | age file | age file |
//! | age | `AGE-SECRET-KEY-…`, as age-keygen has it | age file | age file |
//! | RSA, P-256, secp256k1, X25519, X-Wing | PKCS#8 in PEM | encrypted PKCS#8 | age file |
//!
//! Public keys are `age1…` or SPKI in PEM. Also read: PKCS#1 and SEC 1 in PEM, secp256k1 in hexadecimal, and private
//! keys of OpenSSH, which are identities for age files. Why these: `docs/decisions/013-key-files.md`.
//!
//! ```
//! use sealane::keys::{Kind, Secret};
//!
//! let key = Secret::generate(Kind::X25519)?;
//! let text = key.to_text(Some("correct horse"))?;
//! let again = Secret::from_text(&text, Some("correct horse"))?;
//! assert_eq!(again.public(), key.public());
//! # Ok::<(), sealane::Error>(())
//! ```

mod derive;
mod identities;
mod jwk;
mod kind;
mod pbes2;
mod pem;
mod pkcs8;
mod public;
mod read;
mod secret;
mod shape;
pub(crate) mod store;
mod write;

pub use crate::engine::staged::Existing;
pub use crate::key::Key;
pub use derive::{Cost, derive};
pub use identities::load_identities;
pub use jwk::{from_jwk, to_jwk};
pub use kind::Kind;
pub use public::Public;
pub use secret::Secret;
