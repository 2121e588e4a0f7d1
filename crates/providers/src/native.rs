//! The kernels of this project: AES-GCM, and raw AES.

use crate::key::forged;
use crate::{AeadKey, Algorithm, Failed, Forged, InOut, Listed, NoAes, Provider, Reason, environment};
use kernels::aes::{self, Aes};
use kernels::cpu::Features;
use kernels::gcm::{self, Gcm};
use kernels::variant::Row;

/// Variants of kernels that are built for one architecture only, so that a listing can name them on the others.
const ELSEWHERE: [(&str, &str); 4] =
    [("vaes512", "x86_64"), ("vaes256", "x86_64"), ("aesni", "x86_64"), ("neon-aes", "aarch64")];

/// Native AES with the widest row that this processor and `SEALANE_CPU` allow.
///
/// # Errors
/// [`NoAes::KeyLength`] unless the key has 16, 24 or 32 bytes; [`NoAes::Variable`] where `SEALANE_CPU` cannot be
/// understood.
pub fn aes(key: &[u8]) -> Result<Aes, NoAes> {
    Ok(Aes::new(key, environment::features()?)?)
}

/// Whether the processor computes AES itself, whatever `SEALANE_CPU` says: foreign libraries do not hear that.
pub(crate) fn aes_instructions() -> Result<(), Reason> {
    let narrowest = aes::variants().filter(|row| !row.needs.is_empty()).last();
    let row = narrowest.ok_or(Reason::Architecture("x86_64 or aarch64"))?;
    row.check(Features::detect()).map_err(Reason::Processor)
}

pub(crate) fn aes_128_gcm(key: &[u8]) -> Result<Gcm, Failed> {
    expand::<16>(key)
}

pub(crate) fn aes_192_gcm(key: &[u8]) -> Result<Gcm, Failed> {
    expand::<24>(key)
}

pub(crate) fn aes_256_gcm(key: &[u8]) -> Result<Gcm, Failed> {
    expand::<32>(key)
}

fn expand<const LEN: usize>(key: &[u8]) -> Result<Gcm, Failed> {
    let key: &[u8; LEN] = key.try_into().map_err(|_| Failed)?;
    let features = environment::features().map_err(|_| Failed)?;
    Gcm::new(key, features).map_err(|_| Failed)
}

/// The variant of AES-GCM that a new key gets.
pub(crate) fn gcm_variant() -> &'static str {
    let features = environment::features().unwrap_or(Features::NONE);
    // The last row needs nothing, so there is one.
    gcm::variants().find(|row| row.check(features).is_ok()).map_or("", |row| row.name)
}

impl AeadKey for Gcm {
    #[inline]
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
        let nonce: &[u8; 12] = nonce.try_into().map_err(|_| Failed)?;
        self.seal(nonce, aad, data, tag.try_into().map_err(|_| Failed)?).map_err(|_| Failed)
    }

    #[inline]
    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
        let (Ok(nonce), Ok(tag)) = (<&[u8; 12]>::try_from(nonce), tag.try_into()) else {
            return Err(forged(data.target()));
        };
        self.open(nonce, aad, data, tag).map_err(|_| Forged)
    }
}

/// The variants of raw AES streams.
pub(crate) fn streams() -> Vec<Listed> {
    let chosen = aes(&[0; 16]).ok().map(|aes| aes.variant());
    listed("aes-ctr", aes::variants(), chosen)
}

/// The variants of one of our AES-GCMs; `chosen` says whether it is what a call gets.
pub(crate) fn gcms(algorithm: Algorithm, chosen: bool) -> Vec<Listed> {
    listed(algorithm.name(), gcm::variants(), chosen.then(gcm_variant))
}

/// The variants of this build, widest first, then those of others.
fn listed(algorithm: &'static str, rows: impl Iterator<Item = Row>, chosen: Option<&str>) -> Vec<Listed> {
    let here: Vec<_> = rows.map(|row| (row.name, check(row))).collect();
    let elsewhere: Vec<_> = ELSEWHERE
        .iter()
        .filter(|(name, _)| here.iter().all(|(known, _)| known != name))
        .map(|(name, architecture)| (*name, Err(Reason::Architecture(architecture))))
        .collect();
    here.into_iter()
        .chain(elsewhere)
        .map(|(variant, check)| Listed {
            algorithm,
            provider: Provider::Native.name(),
            variant,
            available: check.is_ok(),
            reason: check.err().map(|reason| reason.to_string()).unwrap_or_default(),
            chosen: chosen == Some(variant),
        })
        .collect()
}

fn check(row: Row) -> Result<(), Reason> {
    row.check(environment::features()?).map_err(Reason::Processor)
}
