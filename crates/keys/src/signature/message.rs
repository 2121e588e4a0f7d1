//! Signatures of messages of any length, which are hashed in one pass.

use super::key::{Private, SigningKey};
use super::signers::{Public, Signers};
use super::{minisign_key, ssh};
use crate::prelude::*;
use aws_lc_rs::digest::{Context, SHA256, SHA512};
use base::error::Rejection;
use blake2::{Blake2b512, Digest};
use ssh_key::HashAlg;
use std::time::{SystemTime, UNIX_EPOCH};

/// The namespace of SSH signatures of inventories: the argument of `-n` in `ssh-keygen -Y verify`.
/// It keeps a signature for another purpose from being accepted there.
pub const NAMESPACE: &str = "sealane-inventory";

/// The usual namespace of SSH signatures of files.
pub const FILE_NAMESPACE: &str = "file";

/// Maximum length of a signature in bytes.
pub const MAX_SIGNATURE_LEN: usize = 1 << 16;
/// Maximum length of a trusted comment: minisign reads lines of 8192 bytes, with its prefix.
const MAX_COMMENT_LEN: usize = 8000;

#[derive(Clone)]
enum Hash {
    Sha(Context),
    Blake2b(Box<Blake2b512>),
}

impl Hash {
    fn ssh(hash: HashAlg) -> Self {
        Self::Sha(Context::new(if hash == HashAlg::Sha256 { &SHA256 } else { &SHA512 }))
    }

    fn update(&mut self, data: &[u8]) {
        match self {
            Self::Sha(hash) => hash.update(data),
            Self::Blake2b(hash) => hash.update(data),
        }
    }

    fn finish(self) -> Vec<u8> {
        match self {
            Self::Sha(hash) => hash.finish().as_ref().to_vec(),
            Self::Blake2b(hash) => hash.finalize().to_vec(),
        }
    }
}

/// Signs a message that is written to it in pieces of any length.
///
/// ```
/// # let new = sealane::signature::NewSigningKey::generate(None)?;
/// use sealane::signature::{FILE_NAMESPACE, Signers, Signing, SigningKey, Verifying};
///
/// let key = SigningKey::parse(new.text().as_bytes(), None)?;
/// let mut signing = Signing::new(&key, FILE_NAMESPACE, None)?;
/// std::io::copy(&mut &b"a file or another source"[..], &mut signing)?;
/// let signature = signing.finish()?;
///
/// let signers = Signers::parse(new.public().as_bytes())?;
/// let mut verifying = Verifying::new(signature.as_bytes(), &signers, FILE_NAMESPACE)?;
/// std::io::copy(&mut &b"a file or another source"[..], &mut verifying)?;
/// assert!(verifying.finish()?.signer.starts_with("SHA256:"));
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Signing {
    key: SigningKey,
    namespace: String,
    comment: String,
    hash: Hash,
}

impl Signing {
    /// Begins a message. SSH signatures are for a namespace, usually [`FILE_NAMESPACE`], and
    /// minisign also signs a comment. Without one, it is the time.
    ///
    /// # Errors
    /// Returns [`Misuse::SignatureOption`] for an empty namespace, a namespace with a minisign key,
    /// a comment with an SSH key, and a comment that is too long or not one printable line.
    pub fn new(key: &SigningKey, namespace: &str, comment: Option<&str>) -> Result<Self> {
        let is_ssh = matches!(&*key.0, Private::Ssh(_));
        check_namespace(is_ssh, namespace)?;
        Err(Misuse::SignatureOption(match comment {
            Some(_) if is_ssh => "SSH signatures have no comment; omit it, or use a minisign key",
            Some(text) if text.len() > MAX_COMMENT_LEN => "a trusted comment is limited to 8000 bytes",
            Some(text) if text.chars().any(|c| c.is_control() && c != '\t') => {
                "expected a trusted comment of one line, found one with a line end or a control character"
            }
            comment => {
                let comment = comment.map_or_else(|| format!("timestamp:{}\thashed", now()), str::to_owned);
                let hash = if is_ssh { Hash::ssh(ssh::HASH) } else { Hash::Blake2b(Box::default()) };
                return Ok(Self { key: key.clone(), namespace: namespace.to_owned(), comment, hash });
            }
        })
        .into())
    }

    /// Adds the next piece of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.hash.update(data);
    }

    /// Returns the text of the signature.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] for a namespace that is too long.
    pub fn finish(self) -> Result<String> {
        let hash = self.hash.finish();
        match &*self.key.0 {
            Private::Ssh(key) => key.sign(&self.namespace, &hash),
            Private::Minisign(key) => Ok(key.sign(&hash, &self.comment)),
        }
    }
}

/// Verifies the signature of a message that is written to it in pieces of any length.
pub struct Verifying {
    signature: Signature,
    signers: Signers,
    revoked: Option<Signers>,
    namespace: String,
    at: i64,
    hash: Hash,
}

enum Signature {
    Ssh(Box<ssh::Signature>),
    Minisign(minisign_key::Signature),
}

/// What a valid signature says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// The signer's principals in the file of allowed signers, else the fingerprint of the key:
    /// `SHA256:…` as `ssh-keygen -l` prints it, or the hexadecimal number of a minisign key.
    pub signer: String,
    /// The trusted comment of a minisign signature; empty for SSH.
    pub comment: String,
}

impl Verifying {
    /// Parses a signature and begins its message. The signature must be for `namespace`, and its
    /// key valid now. A minisign signature has no namespace.
    ///
    /// # Errors
    /// Returns [`Rejection::Malformed`] for content that is not a signature, and
    /// [`Misuse::SignatureOption`] for an empty namespace, or one with a minisign signature.
    pub fn new(signature: &[u8], signers: &Signers, namespace: &str) -> Result<Self> {
        let text = std::str::from_utf8(signature.get(..=MAX_SIGNATURE_LEN).unwrap_or(signature));
        // Not even text.
        let text = text.ok().filter(|text| text.len() <= MAX_SIGNATURE_LEN).ok_or(Rejection::Malformed)?;
        let is_ssh = text.trim_start().starts_with("-----BEGIN SSH SIGNATURE-----");
        let signature = match is_ssh {
            true => Signature::Ssh(Box::new(ssh::Signature::parse(text)?)),
            false => Signature::Minisign(minisign_key::Signature::parse(text)?),
        };
        check_namespace(is_ssh, namespace)?;
        let hash = match &signature {
            Signature::Ssh(signature) => Hash::ssh(signature.hash()),
            Signature::Minisign(_) => Hash::Blake2b(Box::default()),
        };
        let (signers, namespace) = (signers.clone(), namespace.to_owned());
        Ok(Self { signature, signers, revoked: None, namespace, at: now(), hash })
    }

    /// Rejects signatures with these keys.
    #[must_use]
    pub fn revoked(self, keys: &Signers) -> Self {
        Self { revoked: Some(keys.clone()), ..self }
    }

    /// Requires that the key is valid at this time instead of now.
    #[must_use]
    pub fn at(self, time: SystemTime) -> Self {
        Self { at: seconds(time), ..self }
    }

    /// Adds the next piece of the message.
    pub fn update(&mut self, data: &[u8]) {
        self.hash.update(data);
    }

    /// Verifies that an accepted signer signed the message.
    ///
    /// # Errors
    /// Returns the [`Rejection`] if not. Only a valid signature is rejected for its key's state or
    /// its namespace.
    pub fn finish(self) -> Result<Verified> {
        Ok(self.accepted()?)
    }

    fn accepted(self) -> Result<Verified, Rejection> {
        let hash = self.hash.finish();
        match (&self.signature, &self.signers.0) {
            (Signature::Ssh(signature), Public::Ssh(keys)) => {
                let own = keys.iter().filter(|(key, _)| signature.is_of(key));
                let key = own.clone().next().map(|(key, _)| key).ok_or(Rejection::OtherSigner)?;
                signature.verify(&hash)?;
                if let Some(Signers(Public::Ssh(revoked))) = &self.revoked
                    && revoked.iter().any(|(revoked, _)| revoked == key)
                {
                    return Err(Rejection::Revoked);
                }
                if signature.namespace() != self.namespace {
                    return Err(Rejection::OtherNamespace);
                }
                let mut rejection = Rejection::OtherSigner;
                for (_, allowed) in own {
                    match allowed.check(&self.namespace, self.at) {
                        Ok(()) => {
                            let signer = allowed.principals.clone().unwrap_or_else(|| key.fingerprint());
                            return Ok(Verified { signer, comment: String::new() });
                        }
                        Err(found) => rejection = found,
                    }
                }
                Err(rejection)
            }
            (Signature::Minisign(signature), Public::Minisign(key)) => {
                let comment = signature.verify(key, &hash)?.to_owned();
                match &self.revoked {
                    Some(Signers(Public::Minisign(revoked))) if revoked == key => Err(Rejection::Revoked),
                    _ => Ok(Verified { signer: key.number(), comment }),
                }
            }
            _ => Err(Rejection::OtherSigner),
        }
    }
}

macro_rules! write {
    ($($Type:ident)*) => { $(
        impl io::Write for $Type {
            fn write(&mut self, data: &[u8]) -> io::Result<usize> {
                self.update(data);
                Ok(data.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }

        base::debug_fields!($Type);
    )* };
}

write! { Signing Verifying }

impl SigningKey {
    /// Signs an inventory. Returns the text of the signature, for the namespace [`NAMESPACE`].
    /// minisign also signs `comment`; SSH signatures have none.
    ///
    /// # Errors
    /// Returns [`Misuse::SignatureOption`] for a comment that is not one line of at most 8000
    /// bytes.
    pub fn sign(&self, message: &[u8], comment: &str) -> Result<String> {
        let comment = Some(comment).filter(|_| matches!(&*self.0, Private::Minisign(_)));
        let mut signing = Signing::new(self, NAMESPACE, comment)?;
        signing.update(message);
        signing.finish()
    }
}

impl Signers {
    /// Verifies that one of these keys signed an inventory.
    ///
    /// # Errors
    /// Returns the [`Rejection`] if not.
    pub fn verify(&self, message: &[u8], signature: &str) -> Result<(), Rejection> {
        let mut verifying =
            Verifying::new(signature.as_bytes(), self, NAMESPACE).map_err(|error| match error {
                Error::Signature(rejection) => rejection,
                // The namespace is valid.
                _ => Rejection::Malformed,
            })?;
        verifying.update(message);
        verifying.accepted().map(|_| ())
    }
}

fn check_namespace(is_ssh: bool, namespace: &str) -> Result<(), Misuse> {
    match namespace {
        "" => Err(Misuse::SignatureOption("expected a namespace, such as \"file\", found an empty one")),
        FILE_NAMESPACE | NAMESPACE => Ok(()),
        _ if is_ssh => Ok(()),
        _ => Err(Misuse::SignatureOption(
            "minisign has no namespaces, so its signatures are valid for any purpose; omit the namespace, or use \
             SSH signatures",
        )),
    }
}

fn now() -> i64 {
    seconds(SystemTime::now())
}

/// Seconds since 1970. A time too far away is the last one, when keys have expired.
fn seconds(time: SystemTime) -> i64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
        Err(before) => i64::try_from(before.duration().as_secs()).map_or(i64::MIN, |before| -before),
    }
}
