//! AWS-LC. It seals and opens apart or in place in one pass, with the tag where we want it.

use crate::key::forged;
use crate::{AeadKey, Failed, Forged, InOut, Parts};
use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};

pub(crate) fn aes_128_gcm(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_128_GCM, key)
}

pub(crate) fn aes_192_gcm(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_192_GCM, key)
}

pub(crate) fn aes_256_gcm(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_256_GCM, key)
}

pub(crate) fn aes_128_gcm_siv(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_128_GCM_SIV, key)
}

pub(crate) fn aes_256_gcm_siv(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_256_GCM_SIV, key)
}

pub(crate) fn chacha20_poly1305(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::CHACHA20_POLY1305, key)
}

fn expand(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<LessSafeKey, Failed> {
    Ok(LessSafeKey::new(UnboundKey::new(algorithm, key).map_err(|_| Failed)?))
}

/// "Less safe" because the nonce is ours to choose; nonces are made, and kept apart, one floor up.
impl AeadKey for LessSafeKey {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Failed)?;
        let aad = Aad::from(aad);
        match data.into_parts() {
            Parts::InPlace(data) => self.seal_in_place_scatter(nonce, aad, data, &[], tag),
            Parts::Apart(from, to) => {
                self.seal_out_of_place_scatter(nonce, aad, from, to, &[], tag).inspect_err(|_| to.fill(0))
            }
        }
        .map_err(|_| Failed)
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
        let Ok(nonce) = Nonce::try_assume_unique_for_key(nonce) else { return Err(forged(data.target())) };
        let aad = Aad::from(aad);
        // What a failed call leaves in the destination is unspecified by the library.
        match data.into_parts() {
            Parts::InPlace(data) => match self.open_in_place_separate_tag(nonce, aad, tag, data) {
                Ok(_) => Ok(()),
                Err(_) => Err(forged(data)),
            },
            Parts::Apart(from, to) => {
                self.open_separate_gather(nonce, aad, from, tag, to).map_err(|_| forged(to))
            }
        }
    }
}
