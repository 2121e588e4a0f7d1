//! Keys of the three curves, and the derivation of a message key.

use super::{Config, Curve, Encoding};
use crate::asymmetric::{ed25519, key_enums, secp256k1, x25519};
use crate::prelude::*;
use hkdf::HkdfExtract;
use sha2::Sha256;

const NO_EPHEMERAL_KEY: Error = Error::Format(
    "expected a message that begins with a public key in the curve and encoding of the configuration",
);

/// A recipient's public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PublicKey {
    Secp256k1(secp256k1::PublicKey),
    X25519(x25519::PublicKey),
    Ed25519(ed25519::PublicKey),
}

/// A recipient's private key, wiped on drop and hidden from `Debug`.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PrivateKey {
    Secp256k1(secp256k1::PrivateKey),
    X25519(x25519::PrivateKey),
    Ed25519(ed25519::PrivateKey),
}

/// The key of a message, wiped on drop.
type MessageKey = Zeroizing<[u8; 32]>;

impl PublicKey {
    /// Parses a public key of 32 bytes; for secp256k1, of 33 or 65 bytes, or of 64 as in Ethereum.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for another length, a non-canonical encoding, bytes that are not a
    /// point of the curve, and an ed25519 point of low order. An x25519 point of low order is
    /// rejected when it is used.
    pub fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Self> {
        match curve {
            Curve::Secp256k1 => secp256k1::PublicKey::from_bytes(bytes).map(Self::Secp256k1),
            Curve::X25519 => x25519_public(bytes).map(Self::X25519),
            Curve::Ed25519 => ed25519_public(bytes).map(Self::Ed25519),
        }
    }

    /// Parses a public key in hex, with or without `0x`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`], and [`Misuse::UnsuitableKey`] if the text is not
    /// hex.
    pub fn from_hex(curve: Curve, text: &str) -> Result<Self> {
        let digits = digits(text);
        // One byte more than the longest key, so that text that is too long is rejected below,
        // although it is cut.
        let mut buffer = [0; secp256k1::UNCOMPRESSED_LEN + 1];
        let digits = digits.as_bytes().get(..2 * buffer.len()).unwrap_or(digits.as_bytes());
        let bytes = base16ct::mixed::decode(digits, &mut buffer).map_err(|_| {
            Error::unsuitable_key(
                "expected a public key in hex, two digits for each byte, with or without 0x",
            )
        })?;
        Self::from_bytes(curve, bytes)
    }

    /// Generates an ephemeral key, writes its public part and returns the message key.
    pub(super) fn encapsulate(&self, config: &Config, ephemeral: &mut [u8]) -> Result<MessageKey> {
        match self {
            Self::Secp256k1(public) => {
                let private = secp256k1::PrivateKey::generate()?;
                let mut own = private.public_point();
                let key = derive_secp256k1(config, &mut own.clone(), private.shared_point(public));
                ephemeral.copy_from_slice(encoded(&mut own, config.ephemeral_key));
                Ok(key)
            }
            Self::X25519(public) => {
                let private = x25519::PrivateKey::generate()?;
                ephemeral.copy_from_slice(private.public().as_bytes());
                Ok(derive(ephemeral, &*private.diffie_hellman(public)?))
            }
            Self::Ed25519(public) => {
                let private = ed25519::PrivateKey::generate()?;
                ephemeral.copy_from_slice(private.public().as_bytes());
                Ok(derive(ephemeral, &*private.shared_point(public)))
            }
        }
    }
}

impl PrivateKey {
    /// Parses a private key of 32 bytes, as in eciespy.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for another length, and [`Misuse::UnsuitableKey`] for an
    /// invalid secp256k1 key.
    pub fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Self> {
        let bytes = bytes.try_into().map_err(|_| Misuse::KeyLength { got: bytes.len(), want: &[32] })?;
        Ok(match curve {
            Curve::Secp256k1 => Self::Secp256k1(secp256k1::PrivateKey::from_bytes(bytes)?),
            Curve::X25519 => Self::X25519(x25519::PrivateKey::from_bytes(bytes)?),
            Curve::Ed25519 => Self::Ed25519(ed25519::PrivateKey::from_bytes(bytes)?),
        })
    }

    /// Parses a private key in hex, with or without `0x`, without lookup tables because the text is
    /// secret.
    ///
    /// # Errors
    /// Returns the errors of [`Self::from_bytes`], and [`Misuse::UnsuitableKey`] if the text is not
    /// hex.
    pub fn from_hex(curve: Curve, text: &str) -> Result<Self> {
        let digits = digits(text);
        let mut buffer = Zeroizing::new([0; 32]);
        if digits.len() != 2 * buffer.len() {
            return Err(Misuse::KeyLength { got: digits.len() / 2, want: &[32] }.into());
        }
        // We do not report the position of a wrong digit in a secret.
        let bytes = base16ct::mixed::decode(digits, &mut *buffer).map_err(|_| {
            Error::unsuitable_key(
                "expected a private key in hex, two digits for each byte, with or without 0x",
            )
        })?;
        Self::from_bytes(curve, bytes)
    }

    /// Returns the message key for this ephemeral key.
    pub(super) fn decapsulate(&self, config: &Config, ephemeral: &[u8]) -> Result<MessageKey> {
        let key = match self {
            Self::Secp256k1(private) => secp256k1::PublicKey::from_bytes(ephemeral).map(|public| {
                let mut theirs = public.uncompressed();
                derive_secp256k1(config, &mut theirs, private.shared_point(&public))
            }),
            Self::X25519(private) => x25519_public(ephemeral)
                .and_then(|public| private.diffie_hellman(&public))
                .map(|shared| derive(ephemeral, &*shared)),
            Self::Ed25519(private) => {
                ed25519_public(ephemeral).map(|public| derive(ephemeral, &*private.shared_point(&public)))
            }
        };
        // All errors depend only on the message, even for a point of low order, so they are equal.
        key.map_err(|_| NO_EPHEMERAL_KEY)
    }
}

key_enums! {
    /// Returns the curve of the key; it must be the configuration's.
    curve -> Curve;
    Secp256k1: secp256k1;
    X25519: x25519;
    Ed25519: ed25519;
}

fn x25519_public(bytes: &[u8]) -> Result<x25519::PublicKey> {
    let bytes = bytes.try_into().ok().filter(is_reduced);
    let expected = "expected an x25519 public key: 32 bytes, a little-endian number below 2^255 - 19";
    Ok(x25519::PublicKey::from_bytes(&bytes.ok_or(Error::Format(expected))?))
}

fn ed25519_public(bytes: &[u8]) -> Result<ed25519::PublicKey> {
    // The conversion fails only if the length is wrong.
    let bytes = bytes.try_into().map_err(|_| Error::Format("expected an ed25519 public key of 32 bytes"))?;
    ed25519::PublicKey::from_bytes(bytes)
}

fn digits(text: &str) -> &str {
    text.strip_prefix("0x").or(text.strip_prefix("0X")).unwrap_or(text)
}

/// Checks that a u-coordinate is below 2^255 - 19, so that each key has one encoding (RFC 7748,
/// section 5).
fn is_reduced(u: &[u8; 32]) -> bool {
    let [low, middle @ .., high] = u;
    *high < 0x7f || (*high == 0x7f && (*low < 0xed || middle.iter().any(|byte| *byte != 0xff)))
}

/// Encodes an uncompressed point of secp256k1 in place (SEC 1, section 2.3.3).
fn encoded(point: &mut [u8; secp256k1::UNCOMPRESSED_LEN], encoding: Encoding) -> &[u8] {
    if encoding == Encoding::Compressed {
        point[0] = 2 | (point[64] & 1);
    }
    &point[..encoding.public_len()]
}

pub(super) fn derive_secp256k1(
    config: &Config,
    ephemeral: &mut [u8; secp256k1::UNCOMPRESSED_LEN],
    mut shared: Zeroizing<[u8; secp256k1::UNCOMPRESSED_LEN]>,
) -> MessageKey {
    derive(encoded(ephemeral, config.hkdf_key), encoded(&mut shared, config.hkdf_key))
}

/// Derives the message key with HKDF-SHA256 (RFC 5869), without salt and info. The input includes
/// the ephemeral key; without it, ECIES is malleable.
pub(super) fn derive(ephemeral: &[u8], shared: &[u8]) -> MessageKey {
    let mut extract = HkdfExtract::<Sha256>::new(None);
    extract.input_ikm(ephemeral);
    extract.input_ikm(shared);
    let (mut prk, hkdf) = extract.finalize();
    let mut key = Zeroizing::new([0; 32]);
    hkdf.expand(&[], &mut *key).expect("32 bytes are one block");
    zeroize::Zeroize::zeroize(prk.as_mut_slice());
    key
}
