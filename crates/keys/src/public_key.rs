//! Public keys.

use super::Kind;
use crate::age;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};

/// The public key of a key pair, which may be published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// An age recipient, for which files can be encrypted.
    Age(age::Recipient),
    /// A P-256 public key, for which messages are sealed with HPKE.
    P256(p256::PublicKey),
    /// An RSA public key, for which messages are sealed with RSA-OAEP.
    Rsa(rsa::PublicKey),
    /// A secp256k1 public key, for which messages are sealed with ECIES.
    Secp256k1(secp256k1::PublicKey),
    /// An X25519 public key, for which messages are sealed.
    X25519(x25519::PublicKey),
    /// An X-Wing public key, for which messages are sealed with HPKE.
    XWing(xwing::PublicKey),
}

impl PublicKey {
    /// Returns the kind of the key, or `None` for an RSA key of another length, an SSH key and a passphrase.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Age(recipient) => recipient.kind().map(|kind| match kind {
                age::Kind::X25519 => Kind::Age,
                age::Kind::Hybrid => Kind::AgePq,
            }),
            Self::P256(_) => Some(Kind::P256),
            Self::Rsa(key) => Kind::of_rsa(key.bits()),
            Self::Secp256k1(_) => Some(Kind::Secp256k1),
            Self::X25519(_) => Some(Kind::X25519),
            Self::XWing(_) => Some(Kind::XWing),
        }
    }
}
