//! The kernels of this project: AES-GCM, AES-GCM-SIV, ChaCha20-Poly1305, AEGIS, and raw ciphers.

use crate::key::forged;
use crate::{AeadKey, Failed, Forged, InOut, Listed, NoAes, Provider, Reason, environment};
use kernels::aegis::{self, Aegis, Kind};
use kernels::aes::{self, Aes};
use kernels::chacha20;
use kernels::chacha20_poly1305::{self, ChaCha20Poly1305, XChaCha20Poly1305};
use kernels::cpu::Features;
use kernels::error::KeyError;
use kernels::gcm::{self, Gcm};
use kernels::gcm_siv::{self, GcmSiv};
use kernels::poly1305;
use kernels::speck;
use kernels::variant::{Refusal, Row};

/// Variants that are built for one architecture only, so that a listing can name them on the others.
type Elsewhere = &'static [(&'static str, &'static str)];

/// Those of what is made of AES.
const OF_AES: Elsewhere =
    &[("vaes512", "x86_64"), ("vaes256", "x86_64"), ("aesni", "x86_64"), ("neon-aes", "aarch64")];
/// Those of what adds, rotates and xors.
const OF_WORDS: Elsewhere = &[("avx512", "x86_64"), ("avx2", "x86_64"), ("neon", "aarch64")];
/// Those of what multiplies.
const OF_POLY1305: Elsewhere = &[("avx512ifma", "x86_64"), ("avx2", "x86_64"), ("neon", "aarch64")];

/// Native AES with the widest row that this processor and `SEALANE_CPU` allow and that passes its self-test.
///
/// # Errors
/// [`NoAes::KeyLength`] unless the key has 16, 24 or 32 bytes; [`NoAes::NoRow`] where no row passes;
/// [`NoAes::Variable`] where `SEALANE_CPU` cannot be understood.
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
    expand::<16, _>(key, |key, features| Gcm::new(key, features))
}

pub(crate) fn aes_192_gcm(key: &[u8]) -> Result<Gcm, Failed> {
    expand::<24, _>(key, |key, features| Gcm::new(key, features))
}

pub(crate) fn aes_256_gcm(key: &[u8]) -> Result<Gcm, Failed> {
    expand::<32, _>(key, |key, features| Gcm::new(key, features))
}

pub(crate) fn aes_128_gcm_siv(key: &[u8]) -> Result<GcmSiv, Failed> {
    expand::<16, _>(key, |key, features| GcmSiv::new(key, features))
}

pub(crate) fn aes_256_gcm_siv(key: &[u8]) -> Result<GcmSiv, Failed> {
    expand::<32, _>(key, |key, features| GcmSiv::new(key, features))
}

pub(crate) fn chacha20_poly1305(key: &[u8]) -> Result<ChaCha20Poly1305, Failed> {
    expand::<32, _>(key, ChaCha20Poly1305::new)
}

pub(crate) fn xchacha20_poly1305(key: &[u8]) -> Result<XChaCha20Poly1305, Failed> {
    expand::<32, _>(key, XChaCha20Poly1305::new)
}

pub(crate) fn aegis_128l(key: &[u8]) -> Result<Aegis, Failed> {
    expand::<16, _>(key, |key, features| Aegis::new(Kind::Aegis128L, key, features))
}

pub(crate) fn aegis_128x2(key: &[u8]) -> Result<Aegis, Failed> {
    expand::<16, _>(key, |key, features| Aegis::new(Kind::Aegis128X2, key, features))
}

pub(crate) fn aegis_128x4(key: &[u8]) -> Result<Aegis, Failed> {
    expand::<16, _>(key, |key, features| Aegis::new(Kind::Aegis128X4, key, features))
}

pub(crate) fn aegis_256(key: &[u8]) -> Result<Aegis, Failed> {
    expand::<32, _>(key, |key, features| Aegis::new(Kind::Aegis256, key, features))
}

pub(crate) fn aegis_256x2(key: &[u8]) -> Result<Aegis, Failed> {
    expand::<32, _>(key, |key, features| Aegis::new(Kind::Aegis256X2, key, features))
}

pub(crate) fn aegis_256x4(key: &[u8]) -> Result<Aegis, Failed> {
    expand::<32, _>(key, |key, features| Aegis::new(Kind::Aegis256X4, key, features))
}

fn expand<const LEN: usize, K>(
    key: &[u8],
    new: fn(&[u8; LEN], Features) -> Result<K, KeyError>,
) -> Result<K, Failed> {
    let key: &[u8; LEN] = key.try_into().map_err(|_| Failed)?;
    let features = environment::features().map_err(|_| Failed)?;
    new(key, features).map_err(|_| Failed)
}

/// The name of a variant, and what speaks against using it.
type Checked = (&'static str, Result<(), Reason>);

/// A table of the kernels, as far as choosing and listing need it.
#[derive(Debug)]
pub(crate) struct Table {
    /// The variant that a new key gets: by what the processor has, `SEALANE_CPU` leaves of it, and who passes the
    /// self-test.
    pub(crate) variant: fn() -> Result<&'static str, Reason>,
    /// All variants of this build, widest first, with what speaks against using them.
    all: fn() -> Vec<Checked>,
    /// Variants of other builds among them.
    elsewhere: Elsewhere,
}

macro_rules! tables {
    ($($name:ident: $module:ident $elsewhere:ident;)*) => {
        $(
            pub(crate) static $name: Table = Table {
                variant: || first($module::check(environment::features()?)),
                all: || checked($module::check),
                elsewhere: $elsewhere,
            };
        )*
    };
}

tables! {
    AES: aes OF_AES;
    GCM: gcm OF_AES;
    GCM_SIV: gcm_siv OF_AES;
    CHACHA20_POLY1305: chacha20_poly1305 OF_WORDS;
    AEGIS: aegis OF_AES;
    CHACHA20: chacha20 OF_WORDS;
    POLY1305: poly1305 OF_POLY1305;
    SPECK: speck OF_WORDS;
}

/// What is no [`Algorithm`](crate::Algorithm), as a listing names it.
pub(crate) static RAW: [(&str, &Table); 4] =
    [("aes-ctr", &AES), ("chacha20", &CHACHA20), ("poly1305", &POLY1305), ("speck", &SPECK)];

impl Table {
    /// For whoever has none that works.
    #[cfg(test)]
    pub(crate) const WRONG: Self =
        Self { variant: || Err(Reason::WrongAnswer), all: Vec::new, elsewhere: &[] };

    /// Its variants; `chosen` says whether it is what a call gets.
    pub(crate) fn listed(&self, algorithm: &'static str, chosen: bool) -> Vec<Listed> {
        listed(algorithm, (self.all)(), self.elsewhere, (self.variant)().ok().filter(|_| chosen))
    }
}

/// The first row that nothing speaks against. Against the last, which needs nothing, only a wrong answer can.
fn first(mut rows: impl Iterator<Item = (Row, Result<(), Refusal>)>) -> Result<&'static str, Reason> {
    rows.find_map(|(row, check)| check.ok().map(|()| row.name)).ok_or(Reason::WrongAnswer)
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

/// Ciphers whose nonces have one length.
macro_rules! aead_key {
    ($cipher:ident) => {
        impl AeadKey for $cipher {
            #[inline]
            fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
                let nonce = nonce.try_into().map_err(|_| Failed)?;
                self.seal(nonce, aad, data, tag.try_into().map_err(|_| Failed)?).map_err(|_| Failed)
            }

            #[inline]
            fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
                let (Ok(nonce), Ok(tag)) = (nonce.try_into(), tag.try_into()) else {
                    return Err(forged(data.target()));
                };
                self.open(nonce, aad, data, tag).map_err(|_| Forged)
            }
        }
    };
}

aead_key! { GcmSiv }
aead_key! { ChaCha20Poly1305 }
aead_key! { XChaCha20Poly1305 }

impl AeadKey for Aegis {
    #[inline]
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<(), Failed> {
        self.seal(nonce, aad, data, tag.try_into().map_err(|_| Failed)?).map_err(|_| Failed)
    }

    #[inline]
    fn open(&self, nonce: &[u8], aad: &[u8], mut data: InOut<'_>, tag: &[u8]) -> Result<(), Forged> {
        let fits = nonce.len() == self.kind().nonce_len();
        let (true, Ok(tag)) = (fits, tag.try_into()) else {
            return Err(forged(data.target()));
        };
        self.open(nonce, aad, data, tag).map_err(|_| Forged)
    }
}

/// The variants of this build, widest first, with what speaks against using them.
fn checked<R>(check: fn(Features) -> R) -> Vec<Checked>
where
    R: Iterator<Item = (Row, Result<(), Refusal>)>,
{
    let features = environment::features();
    check(features.clone().unwrap_or(Features::NONE))
        .map(|(row, check)| {
            let understood = features.clone().map_err(Reason::from);
            (row.name, understood.and_then(|_| check.map_err(Reason::from)))
        })
        .collect()
}

/// These variants, then those of other builds.
fn listed(
    algorithm: &'static str,
    here: Vec<Checked>,
    elsewhere: Elsewhere,
    chosen: Option<&str>,
) -> Vec<Listed> {
    let elsewhere: Vec<_> = elsewhere
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

#[cfg(test)]
mod test {
    use super::*;

    /// As `check` answers on a machine whose widest row is wrong.
    fn broken() -> Vec<(Row, Result<(), Refusal>)> {
        let mut rows: Vec<_> = aes::check(Features::NONE).collect();
        rows[0].1 = Err(Refusal::WrongAnswer);
        rows
    }

    #[test]
    fn a_wrong_row_is_listed_with_its_reason() {
        let here = broken().into_iter().map(|(row, check)| (row.name, check.map_err(Reason::from))).collect();
        let lines = listed("aes-ctr", here, OF_AES, None);
        let wrong = lines.iter().find(|line| line.variant == broken()[0].0.name).unwrap();
        assert_eq!((wrong.available, &*wrong.reason), (false, "computed a wrong answer to its self-test"));
    }

    #[test]
    fn the_first_good_row_is_the_one() {
        let row = aes::variants().next().unwrap();
        let (good, wrong) = (Row { name: "good", ..row }, Row { name: "wrong", ..row });
        let missing = (row, Err(Refusal::Missing(row.needs)));
        let wrong = (wrong, Err(Refusal::WrongAnswer));
        assert_eq!(first([missing, wrong, (good, Ok(())), (row, Ok(()))].into_iter()), Ok("good"));
        assert_eq!(first([missing, wrong].into_iter()), Err(Reason::WrongAnswer));
    }
}
