//! RSA: RSAES-OAEP (RFC 8017, section 7.1) wraps a message's key, and AES-256-GCM encrypts the
//! message.
//!
//! ```text
//! message     = wrapped key[modulus] || nonce[12] || ciphertext || tag[16]
//! wrapped key = RSAES-OAEP(SHA-256, MGF1-SHA-256, no label) of a fresh key of 32 bytes
//! ```
//!
//! Associated data is AES-GCM's. It need not include the wrapped key, because another wrapped key
//! unwraps to another key. A message does not name its sender: anyone with the public key can seal.
//!
//! ```
//! use sealane::asymmetric::rsa::PrivateKey;
//! use sealane::hybrid::{Opener, Sealer};
//!
//! let key = PrivateKey::generate(2048)?;
//! let message = key.public().seal(b"hello", b"header")?;
//! assert_eq!(key.open(&message, b"header")?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

use super::message::{Opener, Sealer};
use crate::asymmetric::rsa::{Oaep, PrivateKey, PublicKey};
use crate::prelude::*;
use providers::{AeadKey, raw};

/// Tag length in bytes.
pub const TAG_LEN: usize = 16;
const NONCE_LEN: usize = 12;
const KEY_LEN: usize = 32;

impl Sealer for PublicKey {
    fn overhead(&self) -> usize {
        self.modulus_len() + NONCE_LEN + TAG_LEN
    }

    fn seal_exact(&self, plaintext: &[u8], aad: &[u8], message: &mut [u8]) -> Result<()> {
        let (wrapped_key, sealed) = message.split_at_mut(self.modulus_len());
        let key = Key::generate(KEY_LEN)?;
        wrapped_key.copy_from_slice(&self.wrap(Oaep::Sha256, b"", key.as_bytes())?);
        Aead::new(Algorithm::Aes256Gcm, &key)?.seal_into(plaintext, sealed, aad).map(drop)
    }
}

impl Opener for PrivateKey {
    fn overhead(&self) -> usize {
        self.modulus_len() + NONCE_LEN + TAG_LEN
    }

    fn open_exact(&self, message: &[u8], aad: &[u8], plaintext: &mut [u8]) -> Result<()> {
        let (wrapped_key, sealed) = message.split_at(self.modulus_len());
        let key = self.unwrap(Oaep::Sha256, b"", wrapped_key)?;
        // An attacker with the public key can wrap a secret of any length.
        if key.len() != KEY_LEN {
            return Err(Error::Authentication);
        }
        Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&key))?.open_into(sealed, plaintext, aad).map(drop)
    }
}

/// A message in four parts, as stored by other libraries: AES-GCM under a wrapped key of 16, 24 or
/// 32 bytes and a nonce of any length.
///
/// PyCryptodome, for example, makes `(ciphertext, nonce, tag)` with a nonce of 16 bytes by default,
/// and wraps the key with [`Oaep::Sha1`].
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// The wrapped key, as long as the modulus.
    pub wrapped_key: &'a [u8],
    /// The nonce.
    pub nonce: &'a [u8],
    /// The ciphertext, as long as the plaintext.
    pub ciphertext: &'a [u8],
    /// The tag of 16 bytes, over the ciphertext and the associated data.
    pub tag: &'a [u8],
}

debug_text!(
    Parts<'_>; |it| "Parts({:?} bytes)", [it.wrapped_key, it.nonce, it.ciphertext, it.tag].map(<[u8]>::len)
);

/// Decrypts a message in separate parts, such as fields of a protocol.
///
/// # Errors
/// Returns [`Error::Authentication`] if the key, hash or associated data is wrong or a part was
/// changed, [`Misuse::TagLength`] unless the tag has 16 bytes, and [`Misuse::NonceLength`] for an
/// empty nonce.
pub fn open_parts(private: &PrivateKey, oaep: Oaep, parts: Parts<'_>, aad: &[u8]) -> Result<Vec<u8>> {
    let mut plaintext = memory::zeroed(parts.ciphertext.len())?;
    open_parts_into(private, oaep, parts, aad, &mut plaintext)?;
    Ok(plaintext)
}

/// Decrypts a message in parts into the start of `out`. Returns the number of bytes written.
///
/// # Errors
/// Returns the errors of [`open_parts`] and [`Misuse::OutputTooShort`], and leaves no plaintext in
/// `out`.
pub fn open_parts_into(
    private: &PrivateKey,
    oaep: Oaep,
    parts: Parts<'_>,
    aad: &[u8],
    out: &mut [u8],
) -> Result<usize> {
    let out = memory::first(out, parts.ciphertext.len())?;
    // The conversion fails only if the length is wrong.
    let tag = parts.tag.try_into().map_err(|_| Misuse::TagLength { got: parts.tag.len(), want: TAG_LEN })?;
    if parts.nonce.is_empty() {
        return Err(Misuse::NonceLength { got: 0, want: 16 }.into());
    }
    memory::clear_on_error(out, |out| {
        let key = private.unwrap(oaep, b"", parts.wrapped_key)?;
        if !matches!(key.len(), 16 | 24 | 32) {
            return Err(Error::Authentication);
        }
        let gcm = raw::gcm_any_nonce(&key)?;
        Ok(gcm.open(parts.nonce, aad, InOut::apart(parts.ciphertext, out), tag)?)
    })?;
    Ok(parts.ciphertext.len())
}
