//! Private and symmetric keys.

use super::jwk::Jwk;
use super::{Kind, PublicKey};
use crate::age;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::prelude::*;

/// A private or symmetric key, wiped on drop. `Debug` shows only its kind or length.
///
/// Symmetric keys are compared in constant time, private keys by their public keys.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SecretKey {
    /// A symmetric key, with the members of its JSON Web Key.
    Symmetric(Jwk),
    /// An age identity, to decrypt the files of its recipient.
    Age(age::Identity),
    /// P-256, to open messages of HPKE.
    P256(p256::PrivateKey),
    /// RSA, to open messages of RSA-OAEP.
    Rsa(rsa::PrivateKey),
    /// secp256k1, to open messages of ECIES.
    Secp256k1(secp256k1::PrivateKey),
    /// X25519, to open messages.
    X25519(x25519::PrivateKey),
    /// X-Wing, to open messages of HPKE.
    XWing(xwing::PrivateKey),
}

impl SecretKey {
    /// Generates a key with the operating system's random generator, or AWS-LC's for RSA, which
    /// takes up to some seconds.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if no random bytes are available, and [`Error::LimitExceeded`] if
    /// memory is exhausted.
    pub fn generate(kind: Kind) -> Result<Self> {
        let symmetric = |len| Key::generate(len).map(Self::from);
        let age = |kind| age::Identity::generate(kind).map(Self::Age);
        let rsa = |bits| interruptible(move || rsa::PrivateKey::generate(bits)).map(Self::Rsa);
        match kind {
            Kind::Aes128 => symmetric(16),
            Kind::Aes192 => symmetric(24),
            Kind::Aes256 => symmetric(32),
            Kind::Aes256Siv => symmetric(64),
            Kind::Age => age(age::Kind::X25519),
            Kind::AgePq => age(age::Kind::Hybrid),
            Kind::Rsa2048 => rsa(2048),
            Kind::Rsa3072 => rsa(3072),
            Kind::Rsa4096 => rsa(4096),
            Kind::Secp256k1 => secp256k1::PrivateKey::generate().map(Self::Secp256k1),
            Kind::X25519 => x25519::PrivateKey::generate().map(Self::X25519),
            Kind::P256 => p256::PrivateKey::generate().map(Self::P256),
            Kind::XWing => xwing::PrivateKey::generate().map(Self::XWing),
        }
    }

    /// Returns the kind of the key; `None` if [`Self::generate`] does not make it: a symmetric or
    /// RSA key of another length, an SSH key, a passphrase or an age plugin's identity.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Symmetric(jwk) => match jwk.key.as_bytes().len() {
                16 => Some(Kind::Aes128),
                24 => Some(Kind::Aes192),
                32 => Some(Kind::Aes256),
                64 => Some(Kind::Aes256Siv),
                _ => None,
            },
            _ => self.public()?.kind(),
        }
    }

    /// Returns the public key; `None` for a symmetric key, a passphrase and an age plugin's
    /// identity.
    pub fn public(&self) -> Option<PublicKey> {
        match self {
            Self::Symmetric(_) => None,
            Self::Age(identity) => {
                let known = |found: &age::Recipient| !found.is_passphrase() && found.plugin().is_none();
                Some(identity.recipient()).filter(known).map(PublicKey::Age)
            }
            Self::P256(key) => Some(PublicKey::P256(key.public())),
            Self::Rsa(key) => Some(PublicKey::Rsa(key.public())),
            Self::Secp256k1(key) => Some(PublicKey::Secp256k1(key.public())),
            Self::X25519(key) => Some(PublicKey::X25519(key.public())),
            Self::XWing(key) => Some(PublicKey::XWing(key.public())),
        }
    }

    /// Returns the symmetric key, without the members of its JSON Web Key.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if it is a private key.
    pub fn into_symmetric(self) -> Result<Key> {
        match self {
            Self::Symmetric(jwk) => Ok(jwk.key),
            Self::Age(_) => Err(Error::unsuitable_key(
                "expected a symmetric key, found an age identity or an SSH key; identities decrypt age files",
            )),
            _ => Err(Error::unsuitable_key("expected a symmetric key, found a private key")),
        }
    }
}

impl From<Key> for SecretKey {
    fn from(key: Key) -> Self {
        Self::Symmetric(key.into())
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.kind()) {
            (_, Some(kind)) => write!(f, "SecretKey({kind})"),
            (Self::Symmetric(jwk), _) => write!(f, "SecretKey({} bytes)", jwk.key.as_bytes().len()),
            (Self::Rsa(key), _) => write!(f, "SecretKey(RSA, {} bits)", key.bits()),
            _ => f.write_str("SecretKey(age)"),
        }
    }
}
