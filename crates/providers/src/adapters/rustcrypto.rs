//! The AEAD crates of RustCrypto: no C, no assembly, every algorithm but AEGIS.

use crate::Algorithm::{self, *};
use crate::key::{copied, rejected};
use crate::{
    AeadKey, Entry, InOut, KeyError, MessageError, OpenResult, Parts, Provider, SealError, SealResult,
};
use aes_gcm::aead::{AeadInOut, KeyInit, array::typenum::Unsigned, consts::U12, inout::InOutBuf};
use aes_gcm::{AesGcm, aes::Aes192};
use std::panic::RefUnwindSafe;

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// The AEAD crates of the RustCrypto project.
    pub const RustCrypto: Self = Self::new("rustcrypto");
}

pub(super) static ENTRIES: &[Entry] = &[
    entry::<aes_gcm::Aes128Gcm>(Aes128Gcm, 4),
    entry::<AesGcm<Aes192, U12>>(Aes192Gcm, 3),
    entry::<aes_gcm::Aes256Gcm>(Aes256Gcm, 4),
    entry::<aes_gcm_siv::Aes128GcmSiv>(Aes128GcmSiv, 3),
    entry::<aes_gcm_siv::Aes256GcmSiv>(Aes256GcmSiv, 3),
    entry::<chacha20poly1305::ChaCha20Poly1305>(ChaCha20Poly1305, 4),
    entry::<chacha20poly1305::XChaCha20Poly1305>(XChaCha20Poly1305, 4),
    entry::<xaes_256_gcm::Xaes256Gcm>(Xaes256Gcm, 4),
];

const fn entry<C>(algorithm: Algorithm, rank: u8) -> Entry
where
    C: AeadInOut + KeyInit + Send + Sync + RefUnwindSafe + 'static,
{
    Entry::opaque(algorithm, Provider::RustCrypto, rank, |key| {
        // The library's only error is a wrong length, but we checked it.
        Ok(Box::new(Whole(C::new_from_slice(key).map_err(|_| KeyError::Unspecified)?)))
    })
}

struct Whole<C>(C);

impl<C: AeadInOut + Send + Sync + RefUnwindSafe> AeadKey for Whole<C> {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> SealResult {
        let wrong_len =
            MessageError::InvalidNonceLength { found: nonce.len(), expected: C::NonceSize::USIZE };
        // The caller knows and reports the length.
        let nonce = nonce.try_into().map_err(|_| wrong_len)?;
        // The library's only error is a message that is too long.
        let made =
            self.0.encrypt_inout_detached(nonce, aad, buffer(data)).map_err(|_| SealError::Unspecified)?;
        tag.copy_from_slice(&made);
        Ok(())
    }

    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8; 16]) -> OpenResult {
        let (Ok(nonce), Ok(tag)) = (nonce.try_into(), tag[..].try_into()) else {
            return Err(rejected(data.target()));
        };
        // The library reads the ciphertext twice: it checks the tag first and leaves the
        // destination unchanged if the tag is wrong. The source may change in between, so the
        // library gets a copy in the destination.
        let data = copied(data.into_parts());
        self.0.decrypt_inout_detached(nonce, aad, (&mut *data).into(), tag).map_err(|_| rejected(data))
    }
}

fn buffer(data: InOut<'_>) -> InOutBuf<'_, '_, u8> {
    match data.into_parts() {
        Parts::InPlace(data) => InOutBuf::from(data),
        Parts::Apart(from, to) => InOutBuf::new(from, to).expect("both sides of an InOut have one length"),
    }
}
