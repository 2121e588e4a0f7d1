//! Raw ciphers of the kernels, for the floor above: the one place that knows how they are made.
//!
//! Each gets the widest row that this processor and `SEALANE_CPU` allow and that passes its self-test. There
//! is no choice between providers here: raw parts are ours only.

use crate::{BadVariable, environment};
use kernels::aes::NoKey;
use kernels::cpu::Features;

pub use kernels::chacha20::{ChaCha20, XChaCha20};
pub use kernels::ct::equal;
pub use kernels::gcm::{Gcm, Refused, Stream as GcmStream};
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

fn make<K>(name: &'static str, new: impl FnOnce(Features) -> Result<K, NoKey>) -> Result<K, NoRaw> {
    new(environment::features().map_err(NoRaw::Variable)?).map_err(|why| match why {
        NoKey::Length(got) => NoRaw::KeyLength(got),
        NoKey::NoRow => NoRaw::NoRow(name),
    })
}
