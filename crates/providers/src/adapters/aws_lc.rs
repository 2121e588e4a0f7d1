//! AWS-LC. It encrypts apart or in place and writes the tag to a separate buffer. It decrypts a copy in the destination.

use crate::Algorithm::*;
use crate::extended::{self, XChaCha, Xaes};
use crate::kernel;
use crate::key::{copied, nonce_array, rejected};
use crate::{AeadKey, AuthenticationError, Entry, InOut, KeyError, Parts, Provider, SealError};
use aws_lc_rs::aead::{self, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// AWS-LC, through the crate `aws-lc-rs`.
    pub const AwsLc: Self = Self::new("aws-lc");
}

pub(super) static ENTRIES: &[Entry] = &[
    Entry::opaque(Aes128Gcm, Provider::AwsLc, 2, |key| boxed(&aead::AES_128_GCM, key)),
    Entry::opaque(Aes192Gcm, Provider::AwsLc, 2, |key| boxed(&aead::AES_192_GCM, key)),
    Entry::opaque(Aes256Gcm, Provider::AwsLc, 2, |key| boxed(&aead::AES_256_GCM, key)),
    Entry::opaque(Aes128GcmSiv, Provider::AwsLc, 2, |key| boxed(&aead::AES_128_GCM_SIV, key)),
    Entry::opaque(Aes256GcmSiv, Provider::AwsLc, 2, |key| boxed(&aead::AES_256_GCM_SIV, key)),
    Entry::opaque(ChaCha20Poly1305, Provider::AwsLc, 2, |key| boxed(&aead::CHACHA20_POLY1305, key)),
    Entry::extended(XChaCha20Poly1305, Provider::AwsLc, 2, &[], |key| {
        extended::key::<XChaCha, _>(key, |key| expand(&aead::CHACHA20_POLY1305, key))
    }),
    Entry::extended(Xaes256Gcm, Provider::AwsLc, 2, &[&kernel::AES], |key| {
        extended::key::<Xaes, _>(key, |key| expand(&aead::AES_256_GCM, key))
    }),
];

fn boxed(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
    Ok(Box::new(expand(algorithm, key)?))
}

fn expand(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<LessSafeKey, KeyError> {
    // The library's only error is `Unspecified`, which does not name a cause.
    Ok(LessSafeKey::new(UnboundKey::new(algorithm, key).map_err(|_| KeyError::Unspecified)?))
}

/// The key is called "less safe" because the caller chooses the nonce, which the crate `sealane` generates.
impl AeadKey for LessSafeKey {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        let nonce = Nonce::assume_unique_for_key(*nonce_array::<NONCE_LEN>(nonce)?);
        let aad = Aad::from(aad);
        match data.into_parts() {
            Parts::InPlace(data) => self.seal_in_place_scatter(nonce, aad, data, &[], tag),
            Parts::Apart(from, to) => {
                self.seal_out_of_place_scatter(nonce, aad, from, to, &[], tag).inspect_err(|_| to.fill(0))
            }
        }
        // The library's only error is `Unspecified`, which does not name a cause.
        .map_err(|_| SealError::Unspecified)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        let Ok(nonce) = Nonce::try_assume_unique_for_key(nonce) else { return Err(rejected(data.target())) };
        let aad = Aad::from(aad);
        // The library reads the ciphertext twice, to verify and to decrypt it. The source may change in between, so the
        // library gets a copy in the destination, although it could work apart.
        let data = copied(data.into_parts());
        match self.open_in_place_separate_tag(nonce, aad, tag, data) {
            Ok(_) => Ok(()),
            // After an error, the library does not specify the contents of the destination.
            Err(_) => Err(rejected(data)),
        }
    }
}
