//! Detached signatures of files, for `ssh-keygen -Y verify` and `minisign -V`.
//!
//! | key | signature | file beside the signed one |
//! |---|---|---|
//! | OpenSSH private key of type Ed25519 | SSHSIG (PROTOCOL.sshsig of OpenSSH), namespace [`NAMESPACE`] | `.sig` |
//! | minisign secret key | minisign, prehashed, with a trusted comment | `.minisig` |
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

mod minisign_key;
mod new_key;
mod rejection;
mod ssh;

pub use new_key::NewSigningKey;
pub use rejection::{NAMESPACE, Rejection};

use crate::approved::Computation;
use crate::encoding::{pem, text::text_of};
use crate::openssh;
use base::Error;
use std::slice;

/// A private signing key, wiped on drop and hidden from `Debug`.
pub struct SigningKey(Private);

enum Private {
    Ssh(ssh::Private),
    Minisign(Box<minisign_key::Private>),
}

/// The public keys of accepted signers.
#[derive(Clone, Debug)]
pub struct Signers(Public);

#[derive(Clone, Debug)]
enum Public {
    Ssh(Vec<ssh::Public>),
    Minisign(minisign_key::Public),
}

impl SigningKey {
    /// Parses an OpenSSH private key or a minisign secret key, decrypting it with `passphrase` if
    /// it is encrypted.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content,
    /// [`Misuse::KeyPassphraseRequired`](base::Misuse::KeyPassphraseRequired) or
    /// [`Error::WrongPassphrase`] if the passphrase is missing or wrong,
    /// [`Misuse::KeyNotEncrypted`](base::Misuse::KeyNotEncrypted) if there is one but the key is
    /// not encrypted, and [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for an SSH key of
    /// another type than Ed25519.
    pub fn parse(content: &[u8], passphrase: Option<&str>) -> Result<Self, Error> {
        Computation::Signature.check()?;
        const EXPECTED: Error =
            Error::Format("expected an OpenSSH private key or a minisign secret key, found other content");
        let text = text_of(content);
        if pem::is_pem(&text) {
            return ssh::Private::parse(&text, passphrase).map(Private::Ssh).map(Self);
        }
        match minisign_key::Private::parse(&text, passphrase)? {
            Some(key) => Ok(Self(Private::Minisign(Box::new(key)))),
            None => Err(EXPECTED),
        }
    }

    /// Signs a message, such as the content of a file. Returns the text of the signature. minisign
    /// also signs `comment`; SSH signatures have none.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes, and
    /// [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for a damaged key.
    pub fn sign(&self, message: &[u8], comment: &str) -> Result<String, Error> {
        match &self.0 {
            Private::Ssh(key) => key.sign(message),
            Private::Minisign(key) => Ok(key.sign(message, comment)),
        }
    }

    /// Returns the suffix of a signature file: `.sig` for SSH, `.minisig` for minisign.
    pub fn suffix(&self) -> &'static str {
        match &self.0 {
            Private::Ssh(_) => ".sig",
            Private::Minisign(_) => ".minisig",
        }
    }
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match &self.0 {
            Private::Ssh(_) => "SigningKey(SSH)",
            Private::Minisign(_) => "SigningKey(minisign)",
        })
    }
}

impl Signers {
    /// The suffixes of signature files.
    pub const SUFFIXES: [&'static str; 2] = [".sig", ".minisig"];

    /// Parses public keys: one or more lines of OpenSSH (`ssh-ed25519 AAAA… comment`), or a
    /// minisign public key.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other content, and
    /// [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for an SSH key of another type than
    /// Ed25519.
    pub fn parse(content: &[u8]) -> Result<Self, Error> {
        Computation::Signature.check()?;
        const EXPECTED: Error = Error::Format(
            "expected public keys of SSH (ssh-ed25519 AAAA...) or a minisign public key, found other content",
        );
        let text = text_of(content);
        if let Some(key) = minisign_key::Public::parse(&text) {
            return Ok(Self(Public::Minisign(key)));
        }
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let keys: Vec<_> = lines
            .map(|line| match openssh::is_public(line) {
                true => ssh::Public::parse(line),
                false => Err(EXPECTED),
            })
            .collect::<Result<_, _>>()?;
        if keys.is_empty() { Err(EXPECTED) } else { Ok(Self(Public::Ssh(keys))) }
    }

    /// Verifies that one of these keys signed a message.
    ///
    /// # Errors
    /// Returns the [`Rejection`] if not.
    pub fn verify(&self, message: &[u8], signature: &str) -> Result<(), Rejection> {
        let (ssh, minisign) = match &self.0 {
            Public::Ssh(keys) => (&keys[..], &[][..]),
            Public::Minisign(key) => (&[][..], slice::from_ref(key)),
        };
        match signature.trim_start().starts_with("-----BEGIN SSH SIGNATURE-----") {
            true => ssh::verify(ssh, message, signature),
            false => minisign_key::verify(minisign, message, signature),
        }
    }
}

/// The public key of a signing key.
impl From<&SigningKey> for Signers {
    fn from(key: &SigningKey) -> Self {
        Self(match &key.0 {
            Private::Ssh(key) => Public::Ssh(vec![key.public()]),
            Private::Minisign(key) => Public::Minisign(key.public()),
        })
    }
}
