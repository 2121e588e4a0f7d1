//! The configuration of ECIES, with eciespy's names.

use crate::asymmetric::secp256k1::Encoding;
use crate::prelude::*;
use providers::{AeadKey, raw};

/// Length in bytes of the tag, before the ciphertext in a message.
pub const TAG_LEN: usize = 16;
/// Length in bytes of the longest nonce.
pub const MAX_NONCE_LEN: usize = 64;

const XCHACHA20_NONCE_LEN: usize = 24;

/// The curve of the key agreement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Curve {
    /// secp256k1, as in Bitcoin and Ethereum.
    #[default]
    Secp256k1,
    /// Curve25519 in Montgomery form (RFC 7748).
    X25519,
    /// Curve25519 in Edwards form (RFC 8032).
    Ed25519,
}

const CURVES: [(&str, Curve); 3] =
    [("secp256k1", Curve::Secp256k1), ("x25519", Curve::X25519), ("ed25519", Curve::Ed25519)];

impl FromStr for Curve {
    type Err = Error;

    /// Parses eciespy's name.
    fn from_str(text: &str) -> Result<Self> {
        named(&CURVES, text).ok_or(Error::Format("expected a curve of ECIES: secp256k1, x25519 or ed25519"))
    }
}

/// The cipher of the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symmetric {
    /// AES-256-GCM, `aes-256-gcm` in eciespy.
    #[default]
    Aes256Gcm,
    /// XChaCha20-Poly1305, `xchacha20` in eciespy.
    XChaCha20,
}

const SYMMETRICS: [(&str, Symmetric); 2] =
    [("aes-256-gcm", Symmetric::Aes256Gcm), ("xchacha20", Symmetric::XChaCha20)];

impl FromStr for Symmetric {
    type Err = Error;

    /// Parses eciespy's name.
    fn from_str(text: &str) -> Result<Self> {
        named(&SYMMETRICS, text).ok_or(Error::Format("expected a cipher of ECIES: aes-256-gcm or xchacha20"))
    }
}

/// The configuration of both sides. The default is eciespy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// The curve of the keys; `elliptic_curve` of eciespy.
    pub curve: Curve,
    /// The encoding of the ephemeral key in the message; `is_ephemeral_key_compressed` of eciespy.
    /// For secp256k1 only.
    pub ephemeral_key: Encoding,
    /// The encoding of both points in the HKDF input; `is_hkdf_key_compressed` of eciespy. For
    /// secp256k1 only.
    pub hkdf_key: Encoding,
    /// The cipher of the message; `symmetric_algorithm` of eciespy.
    pub symmetric: Symmetric,
    /// The nonce length in bytes, from 1 to 64; `symmetric_nonce_length` of eciespy. For AES only.
    pub nonce_len: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            curve: Curve::default(),
            ephemeral_key: Encoding::Uncompressed,
            hkdf_key: Encoding::Uncompressed,
            symmetric: Symmetric::default(),
            nonce_len: 16,
        }
    }
}

impl Config {
    pub(super) fn ephemeral_len(&self) -> usize {
        match self.curve {
            Curve::Secp256k1 => self.ephemeral_key.public_len(),
            Curve::X25519 | Curve::Ed25519 => 32,
        }
    }

    pub(super) fn nonce_len(&self) -> usize {
        match self.symmetric {
            Symmetric::XChaCha20 => XCHACHA20_NONCE_LEN,
            Symmetric::Aes256Gcm => self.nonce_len,
        }
    }

    pub(super) fn overhead(&self) -> usize {
        self.ephemeral_len() + self.nonce_len() + TAG_LEN
    }

    pub(super) fn check(self, curve: Curve) -> Result<Self, Misuse> {
        if curve != self.curve {
            return Err(Misuse::UnsuitableKey("the key is on another curve than the configuration"));
        }
        match self.nonce_len() {
            1..=MAX_NONCE_LEN => Ok(self),
            got => Err(Misuse::NonceLength { got, want: 16 }),
        }
    }

    /// Expands a message key for the cipher.
    pub(super) fn cipher(&self, key: &[u8; 32]) -> Result<Box<dyn AeadKey>> {
        Ok(match self.symmetric {
            // Only the native kernel accepts nonces of other lengths than 12.
            Symmetric::Aes256Gcm => Box::new(raw::gcm_any_nonce(key)?),
            Symmetric::XChaCha20 => providers::choose(Algorithm::XChaCha20Poly1305, None)?.key(key)?,
        })
    }
}

fn named<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
}
