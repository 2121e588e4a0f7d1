//! Public keys.

use super::Kind;
use crate::age;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};

/// A public key; it may be published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublicKey {
    /// An age recipient, for files.
    Age(age::Recipient),
    /// P-256, for messages with HPKE.
    P256(p256::PublicKey),
    /// RSA, for messages with RSA-OAEP.
    Rsa(rsa::PublicKey),
    /// secp256k1, for messages with ECIES.
    Secp256k1(secp256k1::PublicKey),
    /// X25519, for messages.
    X25519(x25519::PublicKey),
    /// X-Wing, for messages with HPKE.
    XWing(xwing::PublicKey),
}

impl PublicKey {
    /// Returns the kind of the key; `None` for an RSA key of another length, an SSH key and a
    /// passphrase.
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
