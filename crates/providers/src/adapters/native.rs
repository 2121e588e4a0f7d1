//! The kernels of this project: AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305 and AEGIS.

use crate::Algorithm::{self, *};
use crate::batch::{BatchAad, BatchError};
use crate::extended::{self, Xaes};
use crate::kernel::{self, Kernel, kernel};
use crate::key::{aead_keys, key_array, nonce_array, open_each, rejected, seal_each};
use crate::{
    AeadKey, AuthenticationError, Entry, InOut, KeyError, MessageError, OpenResult, Provider, SealError,
    SealResult, Threads, raw,
};
use kernels::aegis::{Aegis, Kind};
use kernels::chacha20_poly1305;
use kernels::cpu::Features;
use kernels::error::KeyError as KernelKeyError;
use kernels::gcm::Gcm;
use kernels::gcm_siv::GcmSiv;

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// The kernels of this project; each selects a variant for the processor.
    pub const Native: Self = Self::new("native");
}

static GCM: Kernel = kernel!(gcm);
static GCM_SIV: Kernel = kernel!(gcm_siv);
static CHACHA20_POLY1305: Kernel = kernel!(chacha20_poly1305);
static AEGIS: Kernel = kernel!(aegis);

pub(super) static ENTRIES: &[Entry] = &[
    Entry::native(Aes128Gcm, &GCM, |key| boxed(gcm(Aes128Gcm, key))),
    Entry::native(Aes192Gcm, &GCM, |key| boxed(gcm(Aes192Gcm, key))),
    Entry::native(Aes256Gcm, &GCM, |key| boxed(gcm(Aes256Gcm, key))),
    Entry::native(Aes128GcmSiv, &GCM_SIV, |key| boxed(gcm_siv(Aes128GcmSiv, key))),
    Entry::native(Aes256GcmSiv, &GCM_SIV, |key| boxed(gcm_siv(Aes256GcmSiv, key))),
    Entry::native(ChaCha20Poly1305, &CHACHA20_POLY1305, |key| {
        let key = key_array(key)?;
        boxed(expand(ChaCha20Poly1305, |features| chacha20_poly1305::ChaCha20Poly1305::new(key, features)))
    }),
    Entry::native(XChaCha20Poly1305, &CHACHA20_POLY1305, |key| {
        let key = key_array(key)?;
        boxed(expand(XChaCha20Poly1305, |features| chacha20_poly1305::XChaCha20Poly1305::new(key, features)))
    }),
    Entry::extended(Xaes256Gcm, Provider::Native, 1, &[&kernel::AES, &GCM], |key| {
        extended::key::<Xaes, _>(key, |key| gcm(Aes256Gcm, key))
    }),
    Entry::native(Aegis128L, &AEGIS, |key| aegis(Aegis128L, Kind::Aegis128L, key)),
    Entry::native(Aegis128X2, &AEGIS, |key| aegis(Aegis128X2, Kind::Aegis128X2, key)),
    Entry::native(Aegis128X4, &AEGIS, |key| aegis(Aegis128X4, Kind::Aegis128X4, key)),
    Entry::native(Aegis256, &AEGIS, |key| aegis(Aegis256, Kind::Aegis256, key)),
    Entry::native(Aegis256X2, &AEGIS, |key| aegis(Aegis256X2, Kind::Aegis256X2, key)),
    Entry::native(Aegis256X4, &AEGIS, |key| aegis(Aegis256X4, Kind::Aegis256X4, key)),
];

fn gcm(algorithm: Algorithm, key: &[u8]) -> Result<Gcm, KeyError> {
    expand(algorithm, |features| Gcm::new(key, features))
}

fn gcm_siv(algorithm: Algorithm, key: &[u8]) -> Result<GcmSiv, KeyError> {
    expand(algorithm, |features| GcmSiv::new(key, features))
}

fn aegis(algorithm: Algorithm, kind: Kind, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
    boxed(expand(algorithm, |features| Aegis::new(kind, key, features)))
}

fn expand<K>(
    algorithm: Algorithm,
    new: impl FnOnce(Features) -> Result<K, KernelKeyError>,
) -> Result<K, KeyError> {
    raw::expand(algorithm.name(), algorithm.key_lens(), new)
}

fn boxed(key: Result<impl AeadKey + 'static, KeyError>) -> Result<Box<dyn AeadKey>, KeyError> {
    Ok(Box::new(key?))
}

/// Implements the methods of [`AeadKey`] that divide a message between threads.
macro_rules! on_threads {
    ($checked_nonce:expr) => {
        fn divides_messages(&self) -> bool {
            true
        }

        fn seal_on(
            &self,
            threads: &dyn Threads,
            nonce: &[u8],
            aad: &[u8],
            data: InOut<'_>,
            tag: &mut [u8; 16],
        ) -> SealResult {
            Ok(self.seal_on(threads, $checked_nonce(nonce)?, aad, data, tag)?)
        }

        fn open_on(
            &self,
            threads: &dyn Threads,
            nonce: &[u8],
            aad: &[u8],
            mut data: InOut<'_>,
            tag: &[u8; 16],
        ) -> OpenResult {
            let Ok(nonce) = $checked_nonce(nonce) else { return Err(rejected(data.target())) };
            // Authentication failures and refused lengths are opaque, as in `open`.
            self.open_on(threads, nonce, aad, data.reborrow(), tag).map_err(|_| rejected(data.target()))
        }
    };
}

/// Implements the methods of [`AeadKey`] for batches: messages with shared associated data are
/// processed together.
macro_rules! in_batches {
    ($nonce_len:literal) => {
        fn seal_batch(
            &self,
            nonces: &[u8],
            aad: BatchAad<'_>,
            plaintexts: &[&[u8]],
            sealed: &mut [&mut [u8]],
        ) -> Result<(), BatchError<SealError>> {
            match (nonces.as_chunks(), aad) {
                ((nonces, []), BatchAad::Shared(aad)) if nonces.len() == plaintexts.len() => self
                    .seal_batch(nonces, aad, plaintexts, sealed)
                    .map_err(|(index, error)| BatchError { index, error: error.into() }),
                _ => seal_each(self, nonces, aad, plaintexts, sealed),
            }
        }

        fn open_batch(
            &self,
            nonce_len: usize,
            aad: BatchAad<'_>,
            sealed: &[&[u8]],
            plaintexts: &mut [&mut [u8]],
        ) -> Result<(), BatchError<AuthenticationError>> {
            match aad {
                BatchAad::Shared(aad) if nonce_len == $nonce_len => {
                    self.open_batch(aad, sealed, plaintexts).map_err(|(index, _)| BatchError {
                        index,
                        // A refused length is opaque, as in `open`.
                        error: rejected(plaintexts[index]),
                    })
                }
                _ => open_each(self, nonce_len, aad, sealed, plaintexts),
            }
        }
    };
}

aead_keys! {
    Gcm, nonce_array::<12>, {
        on_threads! { nonce_array::<12> }
        in_batches! { 12 }
    };
    GcmSiv, nonce_array::<12>, {
        on_threads! { nonce_array::<12> }
        in_batches! { 12 }
    };
    chacha20_poly1305::ChaCha20Poly1305, nonce_array::<12>, {
        on_threads! { nonce_array::<12> }
        in_batches! { 12 }
    };
    chacha20_poly1305::XChaCha20Poly1305, nonce_array::<24>, { on_threads! { nonce_array::<24> } };
    // The kernel checks the length, because it depends on the kind.
    Aegis, Ok::<_, MessageError>;
}
