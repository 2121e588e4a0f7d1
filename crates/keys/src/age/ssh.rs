//! The recipient types for SSH keys. A stanza names its recipient by four bytes of a hash.
//!
//! ```text
//! tag      = SHA-256(SSH encoding of the public key)[:4]
//! stanza   = "ssh-ed25519" tag share[32]  body[32]
//! tweak    = HKDF-SHA-256(empty, SSH encoding of the public key, "age-encryption.org/v1/ssh-ed25519")
//! wrap key = HKDF-SHA-256(X25519(tweak, X25519(ephemeral, point)), share || point, same label)
//! stanza   = "ssh-rsa" tag  body: RSAES-OAEP with SHA-256, label "age-encryption.org/v1/ssh-rsa"
//! ```
//!
//! `point` is the Ed25519 key on the Montgomery curve; its private key is the first half of the
//! seed's SHA-512. The specification does not define these types; the source is the documentation
//! of age's Go package `agessh`.

use super::file_key::{FileKey, WRAPPED_LEN, derive};
use super::header::Writer;
use super::stanza::{Stanza, argument, to_argument};
use super::{ssh_rsa, x25519};
use crate::asymmetric::rsa::{self, Oaep};
use crate::asymmetric::{ed25519, x25519 as curve};
use crate::encoding::pem;
use crate::openssh::{self, MISMATCH, NOT_PRIVATE, NOT_PUBLIC, STACK, UNSUPPORTED};
use crate::prelude::*;
use curve25519_dalek::edwards::CompressedEdwardsY;
use sha2::{Digest, Sha256};
use ssh_key::private::KeypairData;
use ssh_key::public::KeyData;
use ssh_key::{PrivateKey, PublicKey};
use std::sync::{Mutex, PoisonError};

pub(super) const ED25519: &str = "ssh-ed25519";
pub(super) const RSA: &str = "ssh-rsa";

const ED25519_LABEL: &str = "age-encryption.org/v1/ssh-ed25519";
const RSA_LABEL: &[u8] = b"age-encryption.org/v1/ssh-rsa";
const WRONG_ED25519: &str =
    "an ssh-ed25519 stanza is not a tag, a share of 32 bytes and a wrapped key of 32 bytes";
const WRONG_RSA: &str = "an ssh-rsa stanza is not a tag and a wrapped key";
/// The error for an RSA key with numbers that are refused, such as an even modulus.
const WRONG_NUMBERS: Error = Error::Format(
    "expected an SSH RSA key with an odd modulus and a small odd exponent from 3, found other numbers",
);
/// Maximum length of a wrapped key in bytes, for an RSA key of 8192 bits.
const MAX_RSA_LEN: usize = 1024;

/// A public key, and its tag in stanzas.
#[derive(Clone)]
pub(super) struct Recipient {
    tag: String,
    /// The line of a public key file, without comment.
    pub(super) text: String,
    key: Public,
}

#[derive(Clone)]
enum Public {
    Ed25519 { point: curve::PublicKey, tweak: [u8; 32] },
    Rsa(rsa::PublicKey),
}

/// A private key. The libraries that hold it wipe it on drop.
#[derive(Clone)]
pub(super) struct Identity {
    key: Private,
    pub(super) public: Recipient,
}

#[derive(Clone)]
enum Private {
    Ed25519(curve::PrivateKey),
    Rsa(rsa::PrivateKey),
    /// A key encrypted with a passphrase. Its public key is not encrypted.
    Encrypted(Arc<Encrypted>),
}

/// Returns the passphrase of a key, for example from a terminal.
pub type AskPassphrase = Arc<dyn Fn() -> Result<Zeroizing<String>> + Send + Sync>;

/// An encrypted private key, decrypted when the first file for it is opened.
struct Encrypted {
    key: Box<PrivateKey>,
    ask: AskPassphrase,
    /// Other threads wait for the lock instead of asking for the passphrase again.
    decrypted: Mutex<Option<Identity>>,
}

impl Encrypted {
    fn decrypt(&self) -> Result<Identity> {
        let mut decrypted = self.decrypted.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(identity) = &*decrypted {
            return Ok(identity.clone());
        }
        let identity = Identity::new(&*openssh::decrypt(&self.key, Some(&(self.ask)()?))?)?;
        Ok(decrypted.insert(identity).clone())
    }
}

/// A stanza for an SSH key.
pub(super) struct Wrapped {
    pub(super) tag: String,
    body: Body,
}

enum Body {
    Ed25519 { share: [u8; 32], wrapped: [u8; WRAPPED_LEN] },
    Rsa(Vec<u8>),
}

impl Wrapped {
    /// Parses a stanza of the type [`ED25519`] or [`RSA`].
    pub(super) fn parse(stanza: &Stanza<'_>) -> Result<Self> {
        let (tag, body, wrong) = if stanza.kind() == ED25519 {
            let [tag, share] = stanza.exactly(WRONG_ED25519)?;
            let (share, wrapped) = (argument(share, WRONG_ED25519)?, stanza.body(WRONG_ED25519)?);
            (tag, Body::Ed25519 { share, wrapped }, WRONG_ED25519)
        } else {
            let [tag] = stanza.exactly(WRONG_RSA)?;
            let body = stanza.body_within(MAX_RSA_LEN).ok_or(Error::Header(WRONG_RSA))?;
            (tag, Body::Rsa(body), WRONG_RSA)
        };
        argument::<4>(tag, wrong)?;
        Ok(Self { tag: tag.to_owned(), body })
    }
}

impl Recipient {
    /// Parses `ssh-ed25519 AAAA…` or `ssh-rsa AAAA…`, with or without a comment.
    pub(super) fn parse(text: &str) -> Result<Self> {
        Self::new(openssh::public(text)?.key_data())
    }

    fn new(data: &KeyData) -> Result<Self> {
        let named = PublicKey::from(data.clone());
        // The library's error does not help and could quote a secret.
        let wire = named.to_bytes().map_err(|_| NOT_PUBLIC)?;
        let key = match data {
            KeyData::Ed25519(key) => {
                let point = CompressedEdwardsY(key.0).decompress().ok_or(NOT_PUBLIC)?;
                Public::Ed25519 {
                    point: curve::PublicKey::from_bytes(&point.to_montgomery().to_bytes()),
                    tweak: *derive(&[], &wire, ED25519_LABEL),
                }
            }
            // The SSH key was read; it is its numbers that are refused.
            KeyData::Rsa(key) => match rsa::PublicKey::from_spki(&ssh_rsa::spki(key).ok_or(NOT_PUBLIC)?) {
                Err(Error::Format(_)) => return Err(WRONG_NUMBERS),
                found => Public::Rsa(found?),
            },
            _ => return Err(UNSUPPORTED),
        };
        // The library's error does not help and could quote a secret.
        let text = named.to_openssh().map_err(|_| NOT_PUBLIC)?.trim_end().to_owned();
        Ok(Self { tag: to_argument(&Sha256::digest(wire)[..4]), text, key })
    }

    pub(super) fn wrap(&self, file_key: &FileKey, header: &mut Writer) -> Result<()> {
        match &self.key {
            Public::Ed25519 { point, tweak } => {
                let (share, shared) = x25519::new_share(point)?;
                let secret = apply_tweak(tweak, &shared)?;
                let wrap_key = x25519::wrap_key(&secret, share.as_bytes(), point, ED25519_LABEL);
                let body = file_key.wrap(&wrap_key)?;
                header.stanza(&[ED25519, &self.tag, &to_argument(share.as_bytes())], &body);
            }
            Public::Rsa(key) => {
                let body = key.wrap(Oaep::Sha256, RSA_LABEL, file_key.as_bytes())?;
                header.stanza(&[RSA, &self.tag], &body);
            }
        }
        Ok(())
    }
}

impl Identity {
    /// Parses an OpenSSH private key, decrypting it with `passphrase` if it is encrypted.
    pub(super) fn parse(text: &str, passphrase: Option<&str>) -> Result<Self> {
        let key = openssh::private(&pem::read(text)?)?;
        match passphrase {
            _ if key.is_encrypted() => Self::new(&*openssh::decrypt(&key, passphrase)?),
            None => Self::new(&key),
            // The caller believes that the key is encrypted.
            Some(_) => Err(Misuse::KeyNotEncrypted.into()),
        }
    }

    /// Parses an OpenSSH private key. If it is encrypted, `ask` is called to open the first file
    /// for it.
    pub(super) fn parse_asking(text: &str, ask: AskPassphrase) -> Result<Self> {
        let key = openssh::private(&pem::read(text)?)?;
        if !key.is_encrypted() {
            return Self::new(&key);
        }
        let public = Recipient::new(key.public_key().key_data())?;
        let encrypted = Encrypted { key, ask, decrypted: Mutex::default() };
        Ok(Self { key: Private::Encrypted(Arc::new(encrypted)), public })
    }

    fn new(key: &PrivateKey) -> Result<Self> {
        wiping_stack::<STACK, _>(|| Self::converted(key))
    }

    fn converted(key: &PrivateKey) -> Result<Self> {
        let public = Recipient::new(key.public_key().key_data())?;
        let key = match (key.key_data(), &public.key) {
            (KeypairData::Ed25519(pair), Public::Ed25519 { point, .. }) => {
                let seed = Zeroizing::new(pair.private.to_bytes());
                let scalar = ed25519::PrivateKey::from_bytes(&seed)?.scalar();
                let key = curve::PrivateKey::from_bytes(&scalar)?;
                if key.public() != *point {
                    return Err(MISMATCH);
                }
                Private::Ed25519(key)
            }
            (KeypairData::Rsa(pair), Public::Rsa(_)) => {
                let der = ssh_rsa::pkcs8(pair).ok_or(NOT_PRIVATE)?;
                Private::Rsa(rsa::PrivateKey::from_pkcs8(&der)?)
            }
            _ => return Err(UNSUPPORTED),
        };
        Ok(Self { key, public })
    }

    /// Returns whether a stanza with this tag is for this key; wrong for one tag in 2^32.
    pub(super) fn has_tag(&self, tag: &str) -> bool {
        self.public.tag == tag
    }

    pub(super) fn unwrap(&self, wrapped: &Wrapped) -> Result<Option<FileKey>> {
        if !self.has_tag(&wrapped.tag) {
            return Ok(None);
        }
        match (&self.public.key, &wrapped.body, &self.key) {
            (Public::Ed25519 { .. }, Body::Ed25519 { .. }, Private::Encrypted(key))
            | (Public::Rsa(_), Body::Rsa(_), Private::Encrypted(key)) => key.decrypt()?.unwrap(wrapped),
            (Public::Ed25519 { point, tweak }, Body::Ed25519 { share, wrapped }, Private::Ed25519(key)) => {
                let secret = apply_tweak(tweak, &*x25519::shared_secret(key, share)?)?;
                FileKey::unwrap(&x25519::wrap_key(&secret, share, point, ED25519_LABEL), wrapped)
            }
            (_, Body::Rsa(wrapped), Private::Rsa(key)) => {
                let opened = key.unwrap(Oaep::Sha256, RSA_LABEL, wrapped);
                Ok(Error::authentic(opened)?.and_then(|bytes| FileKey::from_bytes(&bytes)))
            }
            _ => Ok(None),
        }
    }
}

/// Binds a shared secret to the SSH key.
fn apply_tweak(tweak: &[u8; 32], secret: &[u8; 32]) -> Result<Zeroizing<[u8; 32]>> {
    curve::PrivateKey::from_bytes(tweak)?.diffie_hellman(&curve::PublicKey::from_bytes(secret))
}
