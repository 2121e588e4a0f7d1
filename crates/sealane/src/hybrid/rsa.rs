//! RSA wraps the key of a message (RFC 8017, section 7.1), AES-256-GCM encrypts it.
//!
//! ```text
//! message = capsule[modulus] || nonce[12] || ciphertext || tag[16]
//! capsule = RSAES-OAEP(SHA-256, MGF1-SHA-256, no label) of a fresh key of 32 bytes
//! ```
//!
//! Associated data is that of AES-GCM. The capsule is not in it and needs not be: another capsule is another key. A
//! message does not say who sent it: whoever has the public key can write.

use crate::asymmetric::rsa::{Oaep, PrivateKey, PublicKey};
use crate::{Aead, Algorithm, Error, Key, Misuse};
use providers::{AeadKey, InOut, raw};
use std::fmt;

/// Bytes of a tag.
pub const TAG_LEN: usize = 16;
const NONCE_LEN: usize = 12;
const KEY_LEN: usize = 32;

/// Bytes of a message with a plaintext of `plaintext_len` bytes.
///
/// # Errors
/// [`Error::LimitExceeded`].
pub fn sealed_len(public: &PublicKey, plaintext_len: usize) -> Result<usize, Error> {
    plaintext_len
        .checked_add(public.modulus_len() + NONCE_LEN + TAG_LEN)
        .ok_or(Error::LimitExceeded("no memory holds a message of this length"))
}

/// Bytes of the plaintext of a message of `sealed_len` bytes.
///
/// # Errors
/// [`Error::Truncated`] where no message is so short.
pub fn opened_len(private: &PrivateKey, sealed_len: usize) -> Result<usize, Error> {
    sealed_len.checked_sub(private.modulus_len() + NONCE_LEN + TAG_LEN).ok_or(Error::Truncated)
}

/// Encrypts `plaintext` for whoever has the private key.
///
/// # Errors
/// [`Error::LimitExceeded`] past what AES-GCM can carry; [`Error::Io`].
pub fn seal(public: &PublicKey, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
    let mut message = vec![0; sealed_len(public, plaintext.len())?];
    seal_into(public, plaintext, aad, &mut message)?;
    Ok(message)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`seal`]; [`Misuse::OutputTooShort`].
pub fn seal_into(public: &PublicKey, plaintext: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let len = sealed_len(public, plaintext.len())?;
    let (capsule, body) = super::first(out, len)?.split_at_mut(public.modulus_len());
    let key = Key::generate(KEY_LEN)?;
    let aead = Aead::new(Algorithm::Aes256Gcm, &key)?;
    capsule.copy_from_slice(&public.wrap(Oaep::Sha256, b"", key.as_bytes())?);
    aead.seal_into(plaintext, body, aad)?;
    Ok(len)
}

/// Decrypts a message.
///
/// # Errors
/// [`Error::Authentication`] for another key, other associated data or a changed message; [`Error::Truncated`].
pub fn open(private: &PrivateKey, message: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plaintext = vec![0; opened_len(private, message.len())?];
    open_into(private, message, aad, &mut plaintext)?;
    Ok(plaintext)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`open`]: what would have been the plaintext is zero then. [`Misuse::OutputTooShort`].
pub fn open_into(private: &PrivateKey, message: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
    let out = super::first(out, opened_len(private, message.len())?)?;
    let (capsule, body) = message.split_at_checked(private.modulus_len()).ok_or(Error::Truncated)?;
    super::or_zero(out, |out| {
        let key = private.unwrap(Oaep::Sha256, b"", capsule)?;
        // Whoever has the public key can wrap what they like.
        if key.len() != KEY_LEN {
            return Err(Error::Authentication);
        }
        Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&key))?.open_into(body, out, aad)
    })
}

/// A message in four parts, as others keep it: AES-GCM under a wrapped key of 16, 24 or 32 bytes and a nonce of any
/// length.
///
/// PyCryptodome, left to its defaults, makes `(ciphertext, nonce, tag)` with a nonce of 16 bytes, and a capsule of
/// [`Oaep::Sha1`].
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// The wrapped key, as long as the modulus.
    pub capsule: &'a [u8],
    /// The nonce.
    pub nonce: &'a [u8],
    /// The ciphertext.
    pub ciphertext: &'a [u8],
    /// The tag, 16 bytes.
    pub tag: &'a [u8],
}

impl fmt::Debug for Parts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lens = [self.capsule, self.nonce, self.ciphertext, self.tag].map(<[u8]>::len);
        write!(f, "Parts({lens:?} bytes)")
    }
}

/// Decrypts a message in parts.
///
/// # Errors
/// [`Error::Authentication`] for another key, hash or associated data, or a changed part. [`Misuse::TagLength`],
/// [`Misuse::NonceLength`] for an empty nonce.
pub fn open_parts(private: &PrivateKey, oaep: Oaep, parts: Parts<'_>, aad: &[u8]) -> Result<Vec<u8>, Error> {
    let mut plaintext = vec![0; parts.ciphertext.len()];
    open_parts_into(private, oaep, parts, aad, &mut plaintext)?;
    Ok(plaintext)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`open_parts`]: what would have been the plaintext is zero then. [`Misuse::OutputTooShort`].
pub fn open_parts_into(
    private: &PrivateKey,
    oaep: Oaep,
    parts: Parts<'_>,
    aad: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    let out = super::first(out, parts.ciphertext.len())?;
    let tag = parts.tag.try_into().map_err(|_| Misuse::TagLength { got: parts.tag.len(), want: TAG_LEN })?;
    if parts.nonce.is_empty() {
        return Err(Misuse::NonceLength { got: 0, want: 16 }.into());
    }
    super::or_zero(out, |out| {
        let key = private.unwrap(oaep, b"", parts.capsule)?;
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Error::Authentication);
        }
        let gcm = raw::gcm_any_nonce(&key)?;
        gcm.open(parts.nonce, aad, InOut::apart(parts.ciphertext, out), tag)?;
        Ok(parts.ciphertext.len())
    })
}
