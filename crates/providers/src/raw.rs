//! Raw ciphers of the kernels, for the floor above: the one place that knows how they are made.
//!
//! Each gets the widest row that this processor and `SEALANE_CPU` allow and that passes its self-test. There
//! is no choice between providers here: raw parts are ours only.

use crate::key::forged;
use crate::{AeadKey, BadVariable, Failed, Forged, InOut, environment};
use kernels::cpu::Features;
use kernels::error::KeyError;

pub use kernels::chacha20::{ChaCha20, XChaCha20};
pub use kernels::ct::equal;
pub use kernels::error::MessageError;
pub use kernels::gcm::{Gcm, Stream as GcmStream};
pub use kernels::poly1305::Poly1305;
pub use kernels::speck::{ByteOrder, Size as SpeckSize, Speck};

/// Why there is no raw cipher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRaw {
    /// A key of another length than the cipher's, in bytes.
    KeyLength(usize),
    /// Every variant of this cipher that may run here computed a wrong answer to its self-test.
    NoRow(&'static str),
    /// `SEALANE_CPU` cannot be understood.
    Variable(BadVariable),
}

/// ChaCha20 (RFC 8439).
///
/// # Errors
/// [`NoRaw::NoRow`], [`NoRaw::Variable`].
pub fn chacha20(key: &[u8; 32]) -> Result<ChaCha20, NoRaw> {
    make("ChaCha20", |features| ChaCha20::new(key, features))
}

/// XChaCha20 (draft-irtf-cfrg-xchacha-03).
///
/// # Errors
/// As [`chacha20()`].
pub fn xchacha20(key: &[u8; 32]) -> Result<XChaCha20, NoRaw> {
    make("ChaCha20", |features| XChaCha20::new(key, features))
}

/// Poly1305 (RFC 8439).
///
/// # Errors
/// As [`chacha20()`].
pub fn poly1305(key: &[u8; 32]) -> Result<Poly1305, NoRaw> {
    make("Poly1305", |features| Poly1305::new(key, features))
}

/// Speck.
///
/// # Errors
/// As [`chacha20()`], and [`NoRaw::KeyLength`].
pub fn speck(size: SpeckSize, key: &[u8], order: ByteOrder) -> Result<Speck, NoRaw> {
    make("Speck", |features| Speck::new(size, key, order, features))
}

/// AES-GCM, to be streamed.
///
/// # Errors
/// As [`speck()`]; a key has 16, 24 or 32 bytes.
pub fn gcm(key: &[u8]) -> Result<Gcm, NoRaw> {
    make("AES-GCM", |features| Gcm::new(key, features))
}

/// AES-GCM for the messages of others, whose nonces have another length than 12 bytes.
///
/// # Errors
/// As [`speck()`]; a key has 16, 24 or 32 bytes.
pub fn gcm_any_nonce(key: &[u8]) -> Result<GcmAnyNonce, NoRaw> {
    gcm(key).map(GcmAnyNonce)
}

/// AES-GCM under nonces of any length but none.
///
/// One of 12 bytes is used as it is; any other is hashed to a first counter (SP 800-38D, 7.1).
pub struct GcmAnyNonce(Gcm);

impl AeadKey for GcmAnyNonce {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
        let tag = tag.try_into().map_err(|_| Failed)?;
        // It would be hashed to zero, and zero encrypted, which masks the tag, is the key of the hash.
        if nonce.is_empty() {
            return Err(Failed);
        }
        self.0.seal(nonce, aad, data, tag).map_err(|_| Failed)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
        let (false, Ok(tag)) = (nonce.is_empty(), tag.try_into()) else {
            return Err(forged(data.target()));
        };
        self.0.open(nonce, aad, data, tag).map_err(|_| Forged)
    }
}

fn make<K>(name: &'static str, new: impl FnOnce(Features) -> Result<K, KeyError>) -> Result<K, NoRaw> {
    new(environment::features().map_err(NoRaw::Variable)?).map_err(|why| match why {
        KeyError::InvalidLength(got) => NoRaw::KeyLength(got),
        KeyError::SelfTestFailed => NoRaw::NoRow(name),
    })
}
