//! ring. It works in place only, so messages apart cost a copy first.

use crate::key::{copied, forged};
use crate::{AeadKey, Failed, Forged, InOut};
use ring::aead::{self, Aad, LessSafeKey, Nonce, Tag, UnboundKey};

pub(crate) fn aes_128_gcm(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_128_GCM, key)
}

pub(crate) fn aes_256_gcm(key: &[u8]) -> Result<LessSafeKey, Failed> {
    expand(&aead::AES_256_GCM, key)
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
        let apart = !data.is_in_place();
        let data = copied(data.into_parts());
        match self.seal_in_place_separate_tag(nonce, Aad::from(aad), data) {
            Ok(made) if made.as_ref().len() == tag.len() => {
                tag.copy_from_slice(made.as_ref());
                Ok(())
            }
            _ => {
                // The copied plaintext would otherwise pass for ciphertext.
                if apart {
                    data.fill(0);
                }
                Err(Failed)
            }
        }
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
        let (Ok(nonce), Ok(tag)) = (Nonce::try_assume_unique_for_key(nonce), Tag::try_from(tag)) else {
            return Err(forged(data.target()));
        };
        let data = copied(data.into_parts());
        match self.open_in_place_separate_tag(nonce, Aad::from(aad), tag, data, 0..) {
            Ok(_) => Ok(()),
            Err(_) => Err(forged(data)),
        }
    }
}
