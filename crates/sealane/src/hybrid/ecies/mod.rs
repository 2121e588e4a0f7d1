//! ECIES, byte for byte as eciespy 0.3 to 0.4 and its siblings in Rust and JavaScript write it.
//!
//! ```text
//! message     = ephemeral public key[65 | 33 | 32] || nonce[16 | 12 | 24] || tag[16] || ciphertext
//! message key = HKDF-SHA256(salt = none, ikm = ephemeral public key || shared point, info = none)[32]
//! ciphertext  = AES-256-GCM or XChaCha20-Poly1305; associated data is sealane's addition, and empty there
//! ```
//!
//! | curve | ephemeral key | shared point |
//! |---|---|---|
//! | secp256k1 | 65 bytes, or 33 compressed | the whole point, encoded as the configuration says, like the key before it |
//! | x25519 | 32 | the 32 bytes of RFC 7748 |
//! | ed25519 | 32 | the point times the clamped scalar of RFC 8032, encoded |
//!
//! A message does not say which configuration made it, and not who sent it: whoever has the public key can write.
//! Every key here has one encoding and a point that is not of low order; eciespy opens messages whose ephemeral keys
//! were re-encoded by a stranger (hybrid prefixes, a top bit that is ignored), and these are refused.

mod keys;
#[cfg(test)]
mod test;

pub use crate::asymmetric::secp256k1::Encoding;
pub use keys::{PrivateKey, PublicKey};

use crate::{Aead, Algorithm, Error, Key, Misuse, nonce};
use providers::{AeadKey, InOut, raw};
use std::str::FromStr;
use zeroize::Zeroizing;

/// Bytes of a tag.
pub const TAG_LEN: usize = 16;
/// The longest nonce that a configuration may ask for, in bytes.
pub const MAX_NONCE_LEN: usize = 64;

const XCHACHA20_NONCE_LEN: usize = 24;

/// The group in which both sides agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Curve {
    /// That of Bitcoin and Ethereum.
    #[default]
    Secp256k1,
    /// RFC 7748.
    X25519,
    /// The curve of RFC 8032.
    Ed25519,
}

/// What encrypts the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Symmetric {
    /// AES-256-GCM.
    #[default]
    Aes256Gcm,
    /// XChaCha20-Poly1305.
    XChaCha20,
}

const CURVES: [(&str, Curve); 3] =
    [("secp256k1", Curve::Secp256k1), ("x25519", Curve::X25519), ("ed25519", Curve::Ed25519)];
const SYMMETRICS: [(&str, Symmetric); 2] =
    [("aes-256-gcm", Symmetric::Aes256Gcm), ("xchacha20", Symmetric::XChaCha20)];

impl FromStr for Curve {
    type Err = Error;

    /// By eciespy's name.
    fn from_str(text: &str) -> Result<Self, Error> {
        named(&CURVES, text).ok_or(Error::Format("not a curve of ECIES: secp256k1, x25519 or ed25519"))
    }
}

impl FromStr for Symmetric {
    type Err = Error;

    /// By eciespy's name.
    fn from_str(text: &str) -> Result<Self, Error> {
        named(&SYMMETRICS, text).ok_or(Error::Format("not a cipher of ECIES: aes-256-gcm or xchacha20"))
    }
}

fn named<T: Copy>(table: &[(&str, T)], text: &str) -> Option<T> {
    table.iter().find(|(name, _)| *name == text).map(|(_, row)| *row)
}

/// What both sides have to agree on beforehand. The default is eciespy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// eciespy's `elliptic_curve`.
    pub curve: Curve,
    /// eciespy's `is_ephemeral_key_compressed`: the key that the message begins with. Of secp256k1 only.
    pub ephemeral_key: Encoding,
    /// eciespy's `is_hkdf_key_compressed`: both points of which the message key is made. Of secp256k1 only.
    pub hkdf_key: Encoding,
    /// eciespy's `symmetric_algorithm`.
    pub symmetric: Symmetric,
    /// eciespy's `symmetric_nonce_length`, from 1 to 64 bytes. Of AES only.
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
    /// Bytes of the ephemeral key.
    fn ephemeral_len(&self) -> usize {
        match self.curve {
            Curve::Secp256k1 => self.ephemeral_key.public_len(),
            Curve::X25519 | Curve::Ed25519 => 32,
        }
    }

    fn nonce_len(&self) -> Result<usize, Error> {
        match (self.symmetric, self.nonce_len) {
            (Symmetric::XChaCha20, _) => Ok(XCHACHA20_NONCE_LEN),
            (Symmetric::Aes256Gcm, len @ 1..=MAX_NONCE_LEN) => Ok(len),
            (Symmetric::Aes256Gcm, got) => Err(Misuse::NonceLength { got, want: 16 }.into()),
        }
    }
}

/// Bytes of a message with a plaintext of `plaintext_len` bytes.
///
/// # Errors
/// [`Misuse::NonceLength`] for a configuration that cannot be; [`Error::LimitExceeded`].
pub fn sealed_len(config: &Config, plaintext_len: usize) -> Result<usize, Error> {
    let overhead = config.ephemeral_len() + config.nonce_len()? + TAG_LEN;
    plaintext_len
        .checked_add(overhead)
        .ok_or(Error::LimitExceeded("no memory holds a message of this length"))
}

/// Bytes of the plaintext of a message of `message_len` bytes.
///
/// # Errors
/// [`Error::Truncated`]; [`Misuse::NonceLength`] for a configuration that cannot be.
pub fn opened_len(config: &Config, message_len: usize) -> Result<usize, Error> {
    message_len.checked_sub(sealed_len(config, 0)?).ok_or(Error::Truncated)
}

/// Encrypts `plaintext` for whoever has the private key.
///
/// # Errors
/// [`Misuse::UnsuitableKey`] for a key of another curve than the configuration's or of low order; those of [`sealed_len`].
pub fn seal(config: &Config, public: &PublicKey, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
    let mut message = vec![0; sealed_len(config, plaintext.len())?];
    seal_into(config, public, plaintext, aad, &mut message)?;
    Ok(message)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`seal`]; [`Misuse::OutputTooShort`].
pub fn seal_into(
    config: &Config,
    public: &PublicKey,
    plaintext: &[u8],
    aad: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    let len = sealed_len(config, plaintext.len())?;
    check(config, public.curve())?;
    let (ephemeral, rest) = super::first(out, len)?.split_at_mut(config.ephemeral_len());
    let (nonce, rest) = rest.split_at_mut(config.nonce_len()?);
    let (tag, ciphertext) = rest.split_first_chunk_mut::<TAG_LEN>().expect("the length was checked");
    let key = public.encapsulate(config, ephemeral)?;
    // Each message has a key of its own, so a nonce of any length is safe.
    nonce::fill(nonce)?;
    let data = InOut::apart(plaintext, ciphertext);
    match config.symmetric {
        Symmetric::Aes256Gcm => gcm(&key)?.seal(nonce, aad, data, tag)?,
        Symmetric::XChaCha20 => xchacha20(&key)?.encrypt_parts(nonce, aad, data, tag)?,
    }
    Ok(len)
}

/// Decrypts a message.
///
/// # Errors
/// [`Error::Authentication`] for another key, another configuration or a changed message; [`Error::Truncated`];
/// [`Error::Format`] where it begins with no key of the configuration's curve and encoding; [`Misuse::UnsuitableKey`] for a
/// private key of another curve.
pub fn open(config: &Config, private: &PrivateKey, message: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plaintext = vec![0; opened_len(config, message.len())?];
    open_into(config, private, message, aad, &mut plaintext)?;
    Ok(plaintext)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`open`]: `out` is zero where the plaintext would be. [`Misuse::OutputTooShort`].
pub fn open_into(
    config: &Config,
    private: &PrivateKey,
    message: &[u8],
    aad: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    check(config, private.curve())?;
    let plaintext = super::first(out, opened_len(config, message.len())?)?;
    let (ephemeral, rest) = message.split_at(config.ephemeral_len());
    let (nonce, rest) = rest.split_at(config.nonce_len()?);
    let (tag, ciphertext) = rest.split_first_chunk::<TAG_LEN>().expect("the length was checked");
    super::or_zero(plaintext, |plaintext| {
        let key = private.decapsulate(config, ephemeral)?;
        let data = InOut::apart(ciphertext, plaintext);
        match config.symmetric {
            Symmetric::Aes256Gcm => gcm(&key)?.open(nonce, aad, data, tag)?,
            Symmetric::XChaCha20 => xchacha20(&key)?.decrypt_parts(nonce, aad, data, tag)?,
        }
        Ok(ciphertext.len())
    })
}

/// eciespy's `encrypt`: the public key is hex, with or without `0x`, of secp256k1 33, 65 or 64 bytes.
///
/// # Errors
/// Those of [`seal`]; [`Misuse::UnsuitableKey`] for what is not hex; [`Error::Format`] for no public key.
pub fn ecies_encrypt(public_hex: &str, data: &[u8], config: &Config) -> Result<Vec<u8>, Error> {
    seal(config, &PublicKey::from_hex(config.curve, public_hex)?, data, b"")
}

/// eciespy's `decrypt`: the private key is hex, with or without `0x`. An empty one is refused; eciespy would decrypt
/// with a random one.
///
/// # Errors
/// Those of [`open`]; [`Misuse::UnsuitableKey`] and [`Misuse::KeyLength`] for no private key.
pub fn ecies_decrypt(private_hex: &str, message: &[u8], config: &Config) -> Result<Vec<u8>, Error> {
    open(config, &PrivateKey::from_hex(config.curve, private_hex)?, message, b"")
}

fn check(config: &Config, curve: Curve) -> Result<(), Misuse> {
    match curve == config.curve {
        true => Ok(()),
        false => Err(Misuse::UnsuitableKey("the key is on another curve than the configuration says")),
    }
}

/// The kernel itself: nobody else's takes nonces of other lengths than 12.
fn gcm(key: &[u8; 32]) -> Result<raw::GcmAnyNonce, Error> {
    Ok(raw::gcm_any_nonce(key)?)
}

fn xchacha20(key: &Zeroizing<[u8; 32]>) -> Result<Aead, Error> {
    Aead::new(Algorithm::XChaCha20Poly1305, &Key::from_bytes(&**key))
}
