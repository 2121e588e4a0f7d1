//! ring. It works in place only, so messages apart cost a copy first.

use crate::Algorithm::*;
use crate::extended::{self, XChaCha, Xaes};
use crate::kernel;
use crate::key::{copied, nonce_array, rejected};
use crate::{AeadKey, Entry, InOut, KeyError, OpenResult, Provider, SealError, SealResult};
use ring::aead::{self, Aad, LessSafeKey, NONCE_LEN, Nonce, Tag, UnboundKey};

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// The crate `ring`.
    pub const Ring: Self = Self::new("ring");
}

pub(super) static ENTRIES: &[Entry] = &[
    Entry::opaque(Aes128Gcm, Provider::Ring, 3, |key| boxed(&aead::AES_128_GCM, key)),
    Entry::opaque(Aes256Gcm, Provider::Ring, 3, |key| boxed(&aead::AES_256_GCM, key)),
    Entry::opaque(ChaCha20Poly1305, Provider::Ring, 3, |key| boxed(&aead::CHACHA20_POLY1305, key)),
    Entry::extended(XChaCha20Poly1305, Provider::Ring, 3, &[], |key| {
        extended::key::<XChaCha, _>(key, |key| expand(&aead::CHACHA20_POLY1305, key))
    }),
    Entry::extended(Xaes256Gcm, Provider::Ring, 3, &[&kernel::AES], |key| {
        extended::key::<Xaes, _>(key, |key| expand(&aead::AES_256_GCM, key))
    }),
];

fn boxed(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
    Ok(Box::new(expand(algorithm, key)?))
}

fn expand(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<LessSafeKey, KeyError> {
    // The library's only error, `Unspecified`, names no cause.
    Ok(LessSafeKey::new(UnboundKey::new(algorithm, key).map_err(|_| KeyError::Unspecified)?))
}

/// "Less safe" because the caller chooses the nonce; the crate `sealane` generates it.
impl AeadKey for LessSafeKey {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> SealResult {
        let nonce = Nonce::assume_unique_for_key(*nonce_array::<NONCE_LEN>(nonce)?);
        let apart = !data.is_in_place();
        let data = copied(data.into_parts());
        match self.seal_in_place_separate_tag(nonce, Aad::from(aad), data) {
            Ok(made) => {
                tag.copy_from_slice(made.as_ref());
                Ok(())
            }
            Err(_) => {
                // Otherwise the destination would hold the copied plaintext.
                if apart {
                    data.fill(0);
                }
                Err(SealError::Unspecified)
            }
        }
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8; 16]) -> OpenResult {
        let Ok(nonce) = Nonce::try_assume_unique_for_key(nonce) else { return Err(rejected(data.target())) };
        let data = copied(data.into_parts());
        let opened = self.open_in_place_separate_tag(nonce, Aad::from(aad), Tag::from(*tag), data, 0..);
        // The library gives no reason.
        opened.map(drop).map_err(|_| rejected(data))
    }
}
