//! The AEAD crates of RustCrypto: no C, no assembly, every algorithm but AEGIS.

use crate::key::forged;
use crate::{AeadKey, Failed, Forged, InOut, Parts};
use aes_gcm::aead::{AeadInOut, KeyInit, consts::U12, inout::InOutBuf};
use aes_gcm::{Aes128Gcm, Aes256Gcm, AesGcm, aes::Aes192};
use aes_gcm_siv::{Aes128GcmSiv, Aes256GcmSiv};
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use xaes_256_gcm::Xaes256Gcm;

type Boxed = Result<Box<dyn AeadKey>, Failed>;

pub(crate) fn aes_128_gcm(key: &[u8]) -> Boxed {
    expand::<Aes128Gcm>(key)
}

pub(crate) fn aes_192_gcm(key: &[u8]) -> Boxed {
    expand::<AesGcm<Aes192, U12>>(key)
}

pub(crate) fn aes_256_gcm(key: &[u8]) -> Boxed {
    expand::<Aes256Gcm>(key)
}

pub(crate) fn aes_128_gcm_siv(key: &[u8]) -> Boxed {
    expand::<Aes128GcmSiv>(key)
}

pub(crate) fn aes_256_gcm_siv(key: &[u8]) -> Boxed {
    expand::<Aes256GcmSiv>(key)
}

pub(crate) fn chacha20_poly1305(key: &[u8]) -> Boxed {
    expand::<ChaCha20Poly1305>(key)
}

pub(crate) fn xchacha20_poly1305(key: &[u8]) -> Boxed {
    expand::<XChaCha20Poly1305>(key)
}

pub(crate) fn xaes_256_gcm(key: &[u8]) -> Boxed {
    expand::<Xaes256Gcm>(key)
}

fn expand<C: AeadInOut + KeyInit + Send + Sync + 'static>(key: &[u8]) -> Boxed {
    Ok(Box::new(Whole(C::new_from_slice(key).map_err(|_| Failed)?)))
}

struct Whole<C>(C);

impl<C: AeadInOut + Send + Sync> AeadKey for Whole<C> {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
        let nonce = nonce.try_into().map_err(|_| Failed)?;
        let made = self.0.encrypt_inout_detached(nonce, aad, buffer(data)).map_err(|_| Failed)?;
        *<&mut aes_gcm::aead::Tag<C>>::try_from(tag).map_err(|_| Failed)? = made;
        Ok(())
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
        let (Ok(nonce), Ok(tag)) = (nonce.try_into(), tag.try_into()) else {
            return Err(forged(data.target()));
        };
        let mut data = buffer(data);
        // The library checks the tag first and leaves the destination as it was.
        self.0.decrypt_inout_detached(nonce, aad, data.reborrow(), tag).map_err(|_| forged(data.get_out()))
    }
}

fn buffer(data: InOut<'_>) -> InOutBuf<'_, '_, u8> {
    match data.into_parts() {
        Parts::InPlace(data) => InOutBuf::from(data),
        Parts::Apart(from, to) => InOutBuf::new(from, to).expect("an InOut has two sides of one length"),
    }
}
