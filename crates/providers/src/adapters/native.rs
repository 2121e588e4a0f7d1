//! The kernels of this project: AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305 and AEGIS.

use crate::Algorithm::{self, *};
use crate::extended::{self, Xaes};
use crate::kernel::{self, Kernel, kernel};
use crate::key::{key_array, nonce_array, rejected};
use crate::{AeadKey, AuthenticationError, Entry, InOut, KeyError, Provider, SealError, raw};
use kernels::aegis::{Aegis, Kind};
use kernels::chacha20_poly1305;
use kernels::cpu::Features;
use kernels::error::KeyError as KernelKeyError;
use kernels::gcm::Gcm;
use kernels::gcm_siv::GcmSiv;

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// The kernels of this project, which select a variant for the processor.
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

/// Implements [`AeadKey`] for a cipher whose nonces have one length.
macro_rules! aead_key {
    ($($cipher:ty, nonce $len:literal;)*) => {$(
        impl AeadKey for $cipher {
            #[inline]
            fn seal(
                &self,
                nonce: &[u8],
                aad: &[u8],
                data: InOut<'_>,
                tag: &mut [u8; 16],
            ) -> Result<(), SealError> {
                Ok(self.seal(nonce_array::<$len>(nonce)?, aad, data, tag)?)
            }

            #[inline]
            fn open(
                &self,
                nonce: &[u8],
                aad: &[u8],
                mut data: InOut<'_>,
                tag: &[u8; 16],
            ) -> Result<(), AuthenticationError> {
                let Ok(nonce) = nonce_array::<$len>(nonce) else { return Err(rejected(data.target())) };
                let len = data.len();
                // Authentication failures are opaque; a kernel that refuses a length has written nothing.
                self.open(nonce, aad, data.part(0, len), tag).map_err(|_| rejected(data.target()))
            }
        }
    )*};
}

aead_key! {
    Gcm, nonce 12;
    GcmSiv, nonce 12;
    chacha20_poly1305::ChaCha20Poly1305, nonce 12;
    chacha20_poly1305::XChaCha20Poly1305, nonce 24;
}

impl AeadKey for Aegis {
    #[inline]
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        Ok(self.seal(nonce, aad, data, tag)?)
    }

    #[inline]
    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        let len = data.len();
        // Authentication failures are opaque; a kernel that refuses a length has written nothing.
        self.open(nonce, aad, data.part(0, len), tag).map_err(|_| rejected(data.target()))
    }
}
