//! Raw ciphers (always native), and AES-GCM for messages in pieces and nonces of any length.
//!
//! A build with the feature `fips` refuses them all with [`KeyError::NotApproved`].
//!
//! Each key uses the widest variant that the processor and `SEALANE_CPU` allow and that passes its
//! self-test.

use crate::key::aead_keys;
use crate::{KeyError, MessageError, environment, fips};
use kernels::cpu::Features;
use kernels::error::KeyError as KernelKeyError;

pub use kernels::aes::Aes;
pub use kernels::chacha20::{ChaCha20, XChaCha20};
pub use kernels::ct::equal;
pub use kernels::eme::Eme;
pub use kernels::gcm::{Gcm, Stream as GcmStream};
pub use kernels::poly1305::Poly1305;
pub use kernels::siv::Siv;
pub use kernels::speck::{ByteOrder, Size as SpeckSize, Speck};
pub use kernels::xsalsa20_poly1305::XSalsa20Poly1305;

/// Lengths of an AES key in bytes.
const AES_KEYS: &[usize] = &[16, 24, 32];

/// Expands an AES key for counter mode and single blocks.
///
/// # Errors
/// Returns [`KeyError::InvalidLength`] unless the key has 16, 24 or 32 bytes, and the errors of
/// [`chacha20()`].
pub fn aes(key: &[u8]) -> Result<Aes, KeyError> {
    expand("AES", AES_KEYS, |features| Aes::new(key, features))
}

/// Expands a ChaCha20 key (RFC 8439).
///
/// # Errors
/// Returns [`KeyError::SelfTestFailed`] if no variant passes its self-test, and
/// [`KeyError::Environment`] if `SEALANE_CPU` is invalid.
pub fn chacha20(key: &[u8; 32]) -> Result<ChaCha20, KeyError> {
    expand("ChaCha20", &[32], |features| ChaCha20::new(key, features))
}

/// Expands an XChaCha20 key (draft-irtf-cfrg-xchacha-03).
///
/// # Errors
/// Returns the errors of [`chacha20()`].
pub fn xchacha20(key: &[u8; 32]) -> Result<XChaCha20, KeyError> {
    expand("ChaCha20", &[32], |features| XChaCha20::new(key, features))
}

/// Starts a Poly1305 tag (RFC 8439) with a one-time key.
///
/// # Errors
/// Returns the errors of [`chacha20()`].
pub fn poly1305(key: &[u8; 32]) -> Result<Poly1305, KeyError> {
    expand("Poly1305", &[32], |features| Poly1305::new(key, features))
}

/// Expands a Speck key.
///
/// # Errors
/// Returns [`KeyError::InvalidLength`] unless the key has [`SpeckSize::key_len`] bytes, and the
/// errors of [`chacha20()`].
pub fn speck(size: SpeckSize, key: &[u8], order: ByteOrder) -> Result<Speck, KeyError> {
    /// Key lengths of all sizes, so that an error can refer to one.
    static LENGTHS: [usize; 7] = [8, 9, 12, 16, 18, 24, 32];
    let at = LENGTHS.iter().position(|len| *len == size.key_len());
    let expected = at.map_or(&[][..], |at| &LENGTHS[at..=at]);
    expand("Speck", expected, |features| Speck::new(size, key, order, features))
}

/// Expands an AES-SIV key (RFC 5297): two AES keys, one after the other.
///
/// # Errors
/// Returns [`KeyError::InvalidLength`] unless the key has 32, 48 or 64 bytes, and the errors of
/// [`chacha20()`].
pub fn siv(key: &[u8]) -> Result<Siv, KeyError> {
    expand("AES", &[32, 48, 64], |features| Siv::new(key, features))
}

/// Expands an EME key: an AES key for tweakable encryption of 1 to 128 blocks.
///
/// # Errors
/// Returns the errors of [`aes()`].
pub fn eme(key: &[u8]) -> Result<Eme, KeyError> {
    expand("AES", AES_KEYS, |features| Eme::new(key, features))
}

/// Expands an XSalsa20-Poly1305 key, for NaCl's secretbox.
///
/// # Errors
/// Returns the errors of [`chacha20()`].
pub fn xsalsa20_poly1305(key: &[u8; 32]) -> Result<XSalsa20Poly1305, KeyError> {
    expand("Salsa20", &[32], |features| XSalsa20Poly1305::new(key, features))
}

/// Expands an AES-GCM key, such as for messages in pieces.
///
/// # Errors
/// Returns the errors of [`aes()`].
pub fn gcm(key: &[u8]) -> Result<Gcm, KeyError> {
    expand("AES-GCM", AES_KEYS, |features| Gcm::new(key, features))
}

/// Expands an AES-GCM key for messages of other implementations, with nonces of any length but
/// zero.
///
/// # Errors
/// Returns the errors of [`aes()`].
pub fn gcm_any_nonce(key: &[u8]) -> Result<GcmAnyNonce, KeyError> {
    gcm(key).map(GcmAnyNonce)
}

/// An AES-GCM key for nonces of any length but zero.
///
/// A nonce of 12 bytes is used as is; any other is hashed to J0 (SP 800-38D, section 7.1).
pub struct GcmAnyNonce(Gcm);

aead_keys! { GcmAnyNonce[0], not_empty; }

/// Refuses the empty nonce. It hashes to J0 = 0, so the mask of the tag would be the encrypted zero
/// block, GHASH's key.
fn not_empty(nonce: &[u8]) -> Result<&[u8], MessageError> {
    let wrong = MessageError::InvalidNonceLength { found: 0, expected: 12 };
    if nonce.is_empty() { Err(wrong) } else { Ok(nonce) }
}

/// Makes a kernel key with the features of this machine. `cipher` and `expected` are for its
/// errors.
#[inline]
pub(crate) fn expand<K>(
    cipher: &'static str,
    expected: &'static [usize],
    new: impl FnOnce(Features) -> Result<K, KernelKeyError>,
) -> Result<K, KeyError> {
    fips::check_native(cipher)?;
    new(environment::features()?).map_err(|error| match error {
        KernelKeyError::InvalidLength(found) => KeyError::InvalidLength { found, expected },
        KernelKeyError::SelfTestFailed => KeyError::SelfTestFailed(cipher),
    })
}
