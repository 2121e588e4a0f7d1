//! HKDF with the labels of HPKE (RFC 9180, section 4).

use super::{Aead, Kem};
use crate::prelude::*;
use hkdf::{Hkdf, HkdfExtract};
use sha2::Sha256;

/// Identifier of HKDF-SHA256 in the IANA registry of HPKE.
const KDF_ID: u16 = 0x0001;
/// Length of a nonce in bytes (`Nn`), the same for all AEADs.
pub(super) const NONCE_LEN: usize = 12;
/// Length of a hash in bytes (`Nh`).
const HASH_LEN: usize = 32;
/// Maximum length of a LabeledExpand in bytes (RFC 5869, section 2.3).
const MAX_EXPAND_LEN: usize = 255 * HASH_LEN;

/// A secret of `Nh` bytes, wiped on drop.
pub(super) type Secret = Zeroizing<[u8; HASH_LEN]>;

/// HKDF-SHA256 with the labels of a suite: RFC 9180's LabeledExtract and LabeledExpand.
pub(super) struct Kdf {
    suite_id: Vec<u8>,
}

impl Kdf {
    /// Returns the KDF inside a DHKEM: `suite_id = "KEM" || kem_id` (section 4.1).
    pub(super) fn of_kem(kem: Kem) -> Self {
        Self { suite_id: [&b"KEM"[..], &kem.id().to_be_bytes()].concat() }
    }

    /// Returns the KDF of the key schedule: `suite_id = "HPKE" || kem_id || kdf_id || aead_id`
    /// (section 5.1).
    pub(super) fn of_suite(kem: Kem, aead: Aead) -> Self {
        let [kem, kdf, aead] = [kem.id(), KDF_ID, aead.id()].map(u16::to_be_bytes);
        Self { suite_id: [&b"HPKE"[..], &kem, &kdf, &aead].concat() }
    }

    /// Computes `LabeledExtract(salt, label, ikm)`, with `ikm` in parts.
    pub(super) fn extract(&self, salt: &[u8], label: &str, ikm: &[&[u8]]) -> Secret {
        let mut extract = HkdfExtract::<Sha256>::new(Some(salt));
        for part in [b"HPKE-v1", &self.suite_id[..], label.as_bytes()].iter().chain(ikm) {
            extract.input_ikm(part);
        }
        Secret::new(extract.finalize().0.into())
    }

    /// Computes `LabeledExpand(prk, label, info, out.len())`, with `info` in parts.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if `out` has more than 8160 bytes, the limit of
    /// HKDF-SHA256.
    pub(super) fn expand(&self, prk: &Secret, label: &str, info: &[&[u8]], out: &mut [u8]) -> Result<()> {
        const TOO_LONG: Error = Error::LimitExceeded("HPKE exports at most 8160 bytes at once");
        if out.len() > MAX_EXPAND_LEN {
            return Err(TOO_LONG);
        }
        let len = (out.len() as u16).to_be_bytes();
        let labels: [&[u8]; 4] = [&len, b"HPKE-v1", &self.suite_id, label.as_bytes()];
        let labeled_info = [&labels, info].concat();
        // Both errors of the crate are about lengths; ours are right.
        let hkdf = Hkdf::<Sha256>::from_prk(&**prk).map_err(|_| TOO_LONG)?;
        hkdf.expand_multi_info(&labeled_info, out).map_err(|_| TOO_LONG)
    }
}
