//! Raw ciphers, which are always native, and AES-GCM for messages in pieces and for nonces of any length.
//!
//! In a build with the feature `fips`, all of them are refused with [`KeyError::NotApproved`].
//!
//! Each key uses the widest variant that the processor and `SEALANE_CPU` allow and that passes its self-test.

use crate::key::aead_keys;
use crate::{KeyError, MessageError, environment, fips};
use kernels::cpu::Features;
use kernels::error::KeyError as KernelKeyError;

pub use kernels::aes::Aes;
pub use kernels::chacha20::{ChaCha20, XChaCha20};
pub use kernels::ct::equal;
pub use kernels::gcm::{Gcm, Stream as GcmStream};
pub use kernels::poly1305::Poly1305;
pub use kernels::siv::Siv;
pub use kernels::speck::{ByteOrder, Size as SpeckSize, Speck};

/// Lengths of an AES key in bytes.
const AES_KEYS: &[usize] = &[16, 24, 32];

/// Expands a key of AES, for AES in counter mode and for single blocks.
///
/// # Errors
/// Returns [`KeyError::InvalidLength`] unless the key has 16, 24 or 32 bytes, or an error as [`chacha20()`] does.
pub fn aes(key: &[u8]) -> Result<Aes, KeyError> {
    expand("AES", AES_KEYS, |features| Aes::new(key, features))
}

/// Expands a key of ChaCha20 (RFC 8439).
///
/// # Errors
/// Returns [`KeyError::SelfTestFailed`] if no variant passes its self-test, and [`KeyError::Environment`] if
/// `SEALANE_CPU` is invalid.
pub fn chacha20(key: &[u8; 32]) -> Result<ChaCha20, KeyError> {
    expand("ChaCha20", &[32], |features| ChaCha20::new(key, features))
}

/// Expands a key of XChaCha20 (draft-irtf-cfrg-xchacha-03).
///
/// # Errors
/// Returns the same errors as [`chacha20()`], for the same reasons.
pub fn xchacha20(key: &[u8; 32]) -> Result<XChaCha20, KeyError> {
    expand("ChaCha20", &[32], |features| XChaCha20::new(key, features))
}

/// Starts the computation of a Poly1305 tag (RFC 8439) with a one-time key.
///
/// # Errors
/// Returns the same errors as [`chacha20()`], for the same reasons.
pub fn poly1305(key: &[u8; 32]) -> Result<Poly1305, KeyError> {
    expand("Poly1305", &[32], |features| Poly1305::new(key, features))
}

/// Expands a key of Speck.
///
/// # Errors
/// Returns [`KeyError::InvalidLength`] unless the key has [`SpeckSize::key_len`] bytes, or an error as [`chacha20()`]
/// does.
pub fn speck(size: SpeckSize, key: &[u8], order: ByteOrder) -> Result<Speck, KeyError> {
    /// Lengths of the keys of all sizes, so that an error can name one of them.
    static LENGTHS: [usize; 7] = [8, 9, 12, 16, 18, 24, 32];
    let at = LENGTHS.iter().position(|len| *len == size.key_len());
    let expected = at.map_or(&[][..], |at| &LENGTHS[at..=at]);
    expand("Speck", expected, |features| Speck::new(size, key, order, features))
}

/// Expands a key of AES-SIV (RFC 5297): two keys of AES, one after the other.
///
/// # Errors
/// Returns [`KeyError::InvalidLength`] unless the key has 32, 48 or 64 bytes, or an error as [`chacha20()`] does.
pub fn siv(key: &[u8]) -> Result<Siv, KeyError> {
    expand("AES", &[32, 48, 64], |features| Siv::new(key, features))
}

/// Expands a key of AES-GCM, for example for messages in pieces.
///
/// # Errors
/// Returns the same errors as [`aes()`], for the same reasons.
pub fn gcm(key: &[u8]) -> Result<Gcm, KeyError> {
    expand("AES-GCM", AES_KEYS, |features| Gcm::new(key, features))
}

/// Expands a key of AES-GCM for messages of other implementations, whose nonces may have another length than 12 bytes.
///
/// # Errors
/// Returns the same errors as [`aes()`], for the same reasons.
pub fn gcm_any_nonce(key: &[u8]) -> Result<GcmAnyNonce, KeyError> {
    gcm(key).map(GcmAnyNonce)
}

/// A key of AES-GCM for nonces of any length but zero.
///
/// A nonce of 12 bytes is used as it is; any other is hashed to J0 (SP 800-38D, section 7.1).
pub struct GcmAnyNonce(Gcm);

aead_keys! { GcmAnyNonce[0], not_empty; }

/// Refuses the empty nonce: it is hashed to J0 = 0, and the encrypted block 0, which masks the tag, is the key of GHASH.
fn not_empty(nonce: &[u8]) -> Result<&[u8], MessageError> {
    match nonce {
        [] => Err(MessageError::InvalidNonceLength { found: 0, expected: 12 }),
        nonce => Ok(nonce),
    }
}

/// Makes a key of a kernel with the features of this machine. `cipher` and `expected` are for its errors.
#[inline]
pub(crate) fn expand<K>(
    cipher: &'static str,
    expected: &'static [usize],
    new: impl FnOnce(Features) -> Result<K, KernelKeyError>,
) -> Result<K, KeyError> {
    fips::check_native(cipher)?;
    new(environment::features()?).map_err(|error| KeyError::of_kernel(error, cipher, expected))
}
