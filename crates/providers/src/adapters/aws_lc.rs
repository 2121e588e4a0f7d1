//! AWS-LC. It encrypts apart or in place and writes the tag to a separate buffer. It decrypts a copy in the destination.

use crate::Algorithm::{self, *};
use crate::extended::{self, XChaCha, Xaes};
use crate::kernel;
use crate::key::{copied, nonce_array, rejected};
use crate::{AeadKey, AuthenticationError, Entry, Expand, InOut, KeyError, Parts, Provider, SealError};
#[cfg(feature = "fips")]
use aws_lc_rs::aead::RandomizedNonceKey;
use aws_lc_rs::aead::{self, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

#[allow(non_upper_case_globals, reason = "providers are named like the variants of an enum")]
impl Provider {
    /// AWS-LC, through the crate `aws-lc-rs`.
    pub const AwsLc: Self = Self::new("aws-lc");
}

pub(super) static ENTRIES: &[Entry] = &[
    gcm(Aes128Gcm, |key| gcm_key(&aead::AES_128_GCM, key)),
    // The module does not report AES-192-GCM as an approved service.
    Entry::opaque(Aes192Gcm, Provider::AwsLc, 2, |key| boxed(&aead::AES_192_GCM, key)),
    gcm(Aes256Gcm, |key| gcm_key(&aead::AES_256_GCM, key)),
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

/// Makes an entry that a FIPS build may use.
const fn gcm(algorithm: Algorithm, expand: Expand) -> Entry {
    let entry = Entry::opaque(algorithm, Provider::AwsLc, 2, expand).approved();
    #[cfg(feature = "fips")]
    let entry = entry.available_if(crate::fips::module_available);
    entry
}

#[cfg(not(feature = "fips"))]
use boxed as gcm_key;

/// Expands a key twice: for nonces that the module generates, and for those of a format or of a received message.
#[cfg(feature = "fips")]
fn gcm_key(algorithm: &'static aead::Algorithm, key: &[u8]) -> Result<Box<dyn AeadKey>, KeyError> {
    // The library's only error is `Unspecified`, which does not name a cause.
    let fresh = RandomizedNonceKey::new(algorithm, key).map_err(|_| KeyError::Unspecified)?;
    Ok(Box::new(ModuleKey { fresh, given: expand(algorithm, key)? }))
}

/// A key of AES-GCM in the FIPS module.
#[cfg(feature = "fips")]
struct ModuleKey {
    fresh: RandomizedNonceKey,
    given: LessSafeKey,
}

#[cfg(feature = "fips")]
impl AeadKey for ModuleKey {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        self.given.seal(nonce, aad, data, tag)
    }

    /// The module approves AES-GCM only under nonces that it generates itself (SP 800-38D, section 8.2.2).
    fn seal_fresh(
        &self,
        nonce: &mut [u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Option<Result<(), SealError>> {
        if let Err(wrong_length) = nonce_array::<NONCE_LEN>(nonce) {
            return Some(Err(wrong_length.into()));
        }
        let data = copied(data.into_parts());
        Some(match self.fresh.seal_in_place_separate_tag(Aad::from(aad), data) {
            Ok((fresh, made)) => {
                let fresh: &[u8; NONCE_LEN] = fresh.as_ref();
                nonce.copy_from_slice(fresh);
                tag.copy_from_slice(made.as_ref());
                Ok(())
            }
            // The library's only error is `Unspecified`, which does not name a cause.
            Err(_) => {
                data.fill(0);
                Err(SealError::Unspecified)
            }
        })
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.given.open(nonce, aad, data, tag)
    }
}

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
