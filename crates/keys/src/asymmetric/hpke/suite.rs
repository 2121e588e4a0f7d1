//! The algorithms of a suite. The keys determine the KEM.

use crate::asymmetric::{key_enums, mlkem768_p256, p256, x25519, xwing};
use crate::prelude::*;

/// The key encapsulation mechanism: transports a fresh shared secret to the recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kem {
    /// DHKEM(X25519, HKDF-SHA256): short keys, widely supported.
    X25519 = 0x0020,
    /// DHKEM(P-256, HKDF-SHA256), for recipients that need a NIST curve.
    P256 = 0x0010,
    /// X-Wing: ML-KEM-768 with X25519, also secure against quantum computers.
    XWing = 0x647a,
    /// MLKEM768-P256: ML-KEM-768 with P-256, for hardware keys.
    MlKem768P256 = 0x0050,
}

impl Kem {
    /// Returns the identifier in the IANA registry of HPKE.
    pub fn id(self) -> u16 {
        self as u16
    }

    /// Returns the length of an encapsulated key in bytes, `Nenc`.
    pub fn enc_len(self) -> usize {
        match self {
            Self::X25519 => x25519::LEN,
            Self::P256 => p256::PUBLIC_LEN,
            Self::XWing => xwing::CIPHERTEXT_LEN,
            Self::MlKem768P256 => mlkem768_p256::CIPHERTEXT_LEN,
        }
    }
}

/// The AEAD for the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Aead {
    /// AES-128-GCM, with a key of 16 bytes.
    Aes128Gcm = 0x0001,
    /// AES-256-GCM, with a key of 32 bytes.
    #[default]
    Aes256Gcm = 0x0002,
    /// ChaCha20-Poly1305, with a key of 32 bytes.
    ChaCha20Poly1305 = 0x0003,
}

impl Aead {
    /// Returns the identifier in the IANA registry of HPKE.
    pub fn id(self) -> u16 {
        self as u16
    }

    /// Returns the algorithm for [`Aead`](messages::Aead).
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
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if HPKE does not register the
    /// algorithm.
    fn try_from(algorithm: Algorithm) -> Result<Self> {
        let all = [Self::Aes128Gcm, Self::Aes256Gcm, Self::ChaCha20Poly1305];
        all.into_iter().find(|aead| aead.algorithm() == algorithm).ok_or_else(|| {
            Error::unsuitable_key("HPKE supports aes-128-gcm, aes-256-gcm and chacha20-poly1305")
        })
    }
}

/// A private key for a KEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PrivateKey {
    /// X25519, for [`Kem::X25519`].
    X25519(x25519::PrivateKey),
    /// P-256, for [`Kem::P256`].
    P256(p256::PrivateKey),
    /// X-Wing, for [`Kem::XWing`].
    XWing(xwing::PrivateKey),
    /// MLKEM768-P256, for [`Kem::MlKem768P256`].
    MlKem768P256(mlkem768_p256::PrivateKey),
}

/// A public key for a KEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PublicKey {
    /// X25519, for [`Kem::X25519`].
    X25519(x25519::PublicKey),
    /// P-256, for [`Kem::P256`].
    P256(p256::PublicKey),
    /// X-Wing, for [`Kem::XWing`].
    XWing(xwing::PublicKey),
    /// MLKEM768-P256, for [`Kem::MlKem768P256`].
    MlKem768P256(mlkem768_p256::PublicKey),
}

impl PublicKey {
    /// Returns `SerializePublicKey(pkX)`.
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Self::X25519(key) => key.as_bytes(),
            Self::P256(key) => key.as_bytes(),
            Self::XWing(key) => key.as_bytes(),
            Self::MlKem768P256(key) => key.as_bytes(),
        }
    }
}

key_enums! {
    /// Returns the KEM of this key.
    kem -> Kem;
    X25519: x25519;
    P256: p256;
    XWing: xwing;
    MlKem768P256: mlkem768_p256;
}
