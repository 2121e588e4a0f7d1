//! Detached signatures of files, for `ssh-keygen -Y verify` and `minisign -V`.
//!
//! | key | signature | file beside the signed one |
//! |---|---|---|
//! | OpenSSH private key of type Ed25519 | SSHSIG (PROTOCOL.sshsig of OpenSSH), for a namespace | `.sig` |
//! | minisign secret key | minisign, prehashed, with a trusted comment | `.minisig` |
//!
//! [`Signing`] and [`Verifying`] take a message of any length in pieces. [`SigningKey::sign`] and
//! [`Signers::verify`] are for inventories of folders.
//!
//! ```
//! use sealane::signature::{Signers, SigningKey};
//!
//! let key = "-----BEGIN OPENSSH PRIVATE KEY-----\n\
//!     b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n\
//!     QyNTUxOQAAACCzPq7zfqLffKoBDe/eo04kH2XxtSmk9D7RQyf1xUqrYgAAAJgAIAxdACAM\n\
//!     XQAAAAtzc2gtZWQyNTUxOQAAACCzPq7zfqLffKoBDe/eo04kH2XxtSmk9D7RQyf1xUqrYg\n\
//!     AAAEC2BsIi0QwW2uFscKTUUXNHLsYX4FxlaSDSblbAj7WR7bM+rvN+ot98qgEN796jTiQf\n\
//!     ZfG1KaT0PtFDJ/XFSqtiAAAAEHVzZXJAZXhhbXBsZS5jb20BAgMEBQ==\n\
//!     -----END OPENSSH PRIVATE KEY-----\n";
//! let key = SigningKey::parse(key.as_bytes(), None)?;
//! let signature = key.sign(b"inventory", "a comment")?;
//! assert!(Signers::from(&key).verify(b"inventory", &signature).is_ok());
//! assert!(Signers::from(&key).verify(b"Inventory", &signature).is_err());
//! # Ok::<(), sealane::Error>(())
//! ```

mod allowed;
mod key;
mod message;
mod minisign_key;
mod new_key;
mod signers;
mod ssh;

pub use base::error::Rejection;
pub use key::SigningKey;
pub use message::{FILE_NAMESPACE, MAX_SIGNATURE_LEN, NAMESPACE, Signing, Verified, Verifying};
pub use new_key::NewSigningKey;
pub use signers::Signers;
