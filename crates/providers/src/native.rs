//! The kernels of this project: raw AES today.

use crate::{Listed, NoAes, Provider, Reason, environment};
use kernels::aes::{self, Aes};
use kernels::cpu::Features;
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

/// The variants of raw AES streams: those of this build, widest first, then those of others.
pub(crate) fn listing() -> Vec<Listed> {
    let chosen = aes(&[0; 16]).ok().map(|aes| aes.variant());
    let here = aes::variants().map(|row| (row.name, check(row)));
    let elsewhere = ELSEWHERE
        .iter()
        .filter(|(name, _)| aes::variants().all(|row| row.name != *name))
        .map(|(name, architecture)| (*name, Err(Reason::Architecture(architecture))));
    here.chain(elsewhere)
        .map(|(variant, check)| Listed {
            algorithm: "aes-ctr",
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
