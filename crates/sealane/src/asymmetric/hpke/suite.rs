//! What a suite is made of, and the keys that choose it.

use crate::asymmetric::{p256, x25519, xwing};
use crate::{Algorithm, Error, Misuse};

/// How a secret is brought to the recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kem {
    /// DHKEM(X25519, HKDF-SHA256).
    X25519,
    /// DHKEM(P-256, HKDF-SHA256).
    P256,
    /// X-Wing: ML-KEM-768 and X25519.
    XWing,
}

impl Kem {
    /// Its number in the register of HPKE.
    pub fn id(self) -> u16 {
        match self {
            Self::X25519 => 0x0020,
            Self::P256 => 0x0010,
            Self::XWing => 0x647a,
        }
    }

    /// Bytes of an encapsulation.
    pub fn encapsulation_len(self) -> usize {
        match self {
            Self::X25519 => x25519::LEN,
            Self::P256 => p256::PUBLIC_LEN,
            Self::XWing => xwing::ENCAPSULATION_LEN,
        }
    }
}

/// What the message is encrypted with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aead {
    /// AES-128-GCM.
    Aes128Gcm,
    /// AES-256-GCM.
    #[default]
    Aes256Gcm,
    /// ChaCha20-Poly1305.
    ChaCha20Poly1305,
}

impl Aead {
    /// Its number in the register of HPKE.
    pub fn id(self) -> u16 {
        match self {
            Self::Aes128Gcm => 0x0001,
            Self::Aes256Gcm => 0x0002,
            Self::ChaCha20Poly1305 => 0x0003,
        }
    }

    /// What [`crate::Aead`] calls it.
    pub fn algorithm(self) -> Algorithm {
        match self {
            Self::Aes128Gcm => Algorithm::Aes128Gcm,
            Self::Aes256Gcm => Algorithm::Aes256Gcm,
            Self::ChaCha20Poly1305 => Algorithm::ChaCha20Poly1305,
        }
    }
}

impl TryFrom<Algorithm> for Aead {
    type Error = Error;

    /// # Errors
    /// [`Misuse::UnsuitableKey`] for what the register of HPKE does not have.
    fn try_from(algorithm: Algorithm) -> Result<Self, Error> {
        let all = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];
        all.into_iter().find(|aead| aead.algorithm() == algorithm).ok_or_else(|| {
            Misuse::UnsuitableKey("HPKE has aes-128-gcm, aes-256-gcm and chacha20-poly1305").into()
        })
    }
}

/// A private key of one of the KEMs.
#[derive(Clone, Debug)]
pub enum PrivateKey {
    /// Of X25519.
    X25519(x25519::PrivateKey),
    /// Of P-256.
    P256(p256::PrivateKey),
    /// Of X-Wing.
    XWing(xwing::PrivateKey),
}

impl PrivateKey {
    /// The KEM that it is a key of.
    pub fn kem(&self) -> Kem {
        match self {
            Self::X25519(_) => Kem::X25519,
            Self::P256(_) => Kem::P256,
            Self::XWing(_) => Kem::XWing,
        }
    }

    /// The public side.
    pub fn public(&self) -> PublicKey {
        match self {
            Self::X25519(key) => key.public().into(),
            Self::P256(key) => key.public().into(),
            Self::XWing(key) => key.public().into(),
        }
    }
}

/// A public key of one of the KEMs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// Of X25519.
    X25519(x25519::PublicKey),
    /// Of P-256.
    P256(p256::PublicKey),
    /// Of X-Wing.
    XWing(xwing::PublicKey),
}

impl PublicKey {
    /// The KEM that it is a key of.
    pub fn kem(&self) -> Kem {
        match self {
            Self::X25519(_) => Kem::X25519,
            Self::P256(_) => Kem::P256,
            Self::XWing(_) => Kem::XWing,
        }
    }
}

macro_rules! of_a_kem {
    ($($kem:ident: $module:ident;)*) => {$(
        impl From<$module::PrivateKey> for PrivateKey {
            fn from(key: $module::PrivateKey) -> Self {
                Self::$kem(key)
            }
        }

        impl From<$module::PublicKey> for PublicKey {
            fn from(key: $module::PublicKey) -> Self {
                Self::$kem(key)
            }
        }
    )*};
}

of_a_kem! {
    X25519: x25519;
    P256: p256;
    XWing: xwing;
}
