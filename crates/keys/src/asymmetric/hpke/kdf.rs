//! Labelled HKDF (RFC 9180, section 4) and the key schedule (section 5.1).
//!
//! ```text
//! psk_id_hash          = LabeledExtract("", "psk_id_hash", psk_id)
//! info_hash            = LabeledExtract("", "info_hash", info)
//! key_schedule_context = mode || psk_id_hash || info_hash
//! secret               = LabeledExtract(shared_secret, "secret", psk)
//! key                  = LabeledExpand(secret, "key", key_schedule_context, Nk)
//! base_nonce           = LabeledExpand(secret, "base_nonce", key_schedule_context, Nn)
//! exporter_secret      = LabeledExpand(secret, "exp", key_schedule_context, Nh)
//! ```

use super::{Aead, Kem, Psk};
use base::Error;
use hkdf::{Hkdf, HkdfExtract};
use sha2::Sha256;
use zeroize::Zeroizing;

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
#[derive(Clone, Copy)]
pub(super) struct Kdf {
    suite_id: [u8; 10],
    suite_id_len: usize,
}

impl Kdf {
    /// Returns the KDF inside a DHKEM: `suite_id = "KEM" || kem_id` (section 4.1).
    pub(super) fn of_kem(kem: Kem) -> Self {
        let [a, b] = kem.id().to_be_bytes();
        Self { suite_id: [b'K', b'E', b'M', a, b, 0, 0, 0, 0, 0], suite_id_len: 5 }
    }

    /// Returns the KDF of the key schedule: `suite_id = "HPKE" || kem_id || kdf_id || aead_id`
    /// (section 5.1).
    pub(super) fn of_suite(kem: Kem, aead: Aead) -> Self {
        let mut suite_id = *b"HPKE\0\0\0\0\0\0";
        for (place, id) in suite_id[4..].chunks_exact_mut(2).zip([kem.id(), KDF_ID, aead.id()]) {
            place.copy_from_slice(&id.to_be_bytes());
        }
        Self { suite_id, suite_id_len: 10 }
    }

    fn suite_id(&self) -> &[u8] {
        &self.suite_id[..self.suite_id_len]
    }

    /// Computes `LabeledExtract(salt, label, ikm)`, with `ikm` in parts.
    pub(super) fn extract(&self, salt: &[u8], label: &str, ikm: &[&[u8]]) -> Secret {
        let mut extract = HkdfExtract::<Sha256>::new(Some(salt));
        for part in [b"HPKE-v1", self.suite_id(), label.as_bytes()].iter().chain(ikm) {
            extract.input_ikm(part);
        }
        Secret::new(extract.finalize().0.into())
    }

    /// Computes `LabeledExpand(prk, label, info, out.len())`, with `info` in parts.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if `out` has more than 8160 bytes, the limit of
    /// HKDF-SHA256.
    pub(super) fn expand(
        &self,
        prk: &Secret,
        label: &str,
        info: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error> {
        const TOO_LONG: Error = Error::LimitExceeded("HPKE exports at most 8160 bytes at once");
        if out.len() > MAX_EXPAND_LEN {
            return Err(TOO_LONG);
        }
        let len = (out.len() as u16).to_be_bytes();
        let labels: [&[u8]; 4] = [&len, b"HPKE-v1", self.suite_id(), label.as_bytes()];
        let labeled_info = [&labels, info].concat();
        // Both errors of the crate are about lengths; ours are right.
        let hkdf = Hkdf::<Sha256>::from_prk(&**prk).map_err(|_| TOO_LONG)?;
        hkdf.expand_multi_info(&labeled_info, out).map_err(|_| TOO_LONG)
    }
}

pub(super) struct Schedule {
    pub(super) key: Zeroizing<Vec<u8>>,
    pub(super) base_nonce: [u8; NONCE_LEN],
    pub(super) exporter_secret: Secret,
}

impl Schedule {
    /// Computes `KeySchedule(mode, shared_secret, info, psk, psk_id)`.
    pub(super) fn new(
        kdf: Kdf,
        aead: Aead,
        mode: u8,
        shared_secret: &Secret,
        info: &[u8],
        psk: Option<Psk<'_>>,
    ) -> Result<Self, Error> {
        let (psk, psk_id) = psk.map_or((&[][..], &[][..]), |psk| (psk.secret, psk.id));
        let psk_id_hash = kdf.extract(b"", "psk_id_hash", &[psk_id]);
        let info_hash = kdf.extract(b"", "info_hash", &[info]);
        let key_schedule_context: [&[u8]; 3] = [&[mode], &*psk_id_hash, &*info_hash];
        let secret = kdf.extract(&**shared_secret, "secret", &[psk]);
        let expand = |label, out: &mut [u8]| kdf.expand(&secret, label, &key_schedule_context, out);
        let mut schedule = Self {
            // bounded: at most 32 bytes.
            key: Zeroizing::new(vec![0; aead.algorithm().key_len()]),
            base_nonce: [0; NONCE_LEN],
            exporter_secret: Secret::default(),
        };
        expand("key", &mut schedule.key)?;
        expand("base_nonce", &mut schedule.base_nonce)?;
        expand("exp", &mut *schedule.exporter_secret)?;
        Ok(schedule)
    }
}
