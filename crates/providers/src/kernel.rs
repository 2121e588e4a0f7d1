//! The kernels of this project as selection and listing see them.

use crate::{Reason, environment};
use kernels::cpu::Features;
use kernels::variant::{Refusal, Row};
use kernels::{aegis, aes, chacha20, chacha20_poly1305, gcm, gcm_siv, poly1305, speck};

/// Variants that are built for another architecture, so that a listing can name them, with that architecture.
type Elsewhere = &'static [(&'static str, &'static str)];

/// Variants of the kernels that use AES instructions.
const AES_VARIANTS: Elsewhere =
    &[("vaes512", "x86_64"), ("vaes256", "x86_64"), ("aesni", "x86_64"), ("neon-aes", "aarch64")];
/// Variants of the kernels that add, rotate and xor words.
const WORD_VARIANTS: Elsewhere = &[("avx512", "x86_64"), ("avx2", "x86_64"), ("neon", "aarch64")];
const POLY1305_VARIANTS: Elsewhere = &[("avx512ifma", "x86_64"), ("avx2", "x86_64"), ("neon", "aarch64")];

/// The name of a variant, with `Ok` or the reason why it cannot be used.
pub(crate) type Checked = (&'static str, Result<(), Reason>);

/// The variants of one kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Returns the variant that a new key gets: the widest that the processor and `SEALANE_CPU` allow and that passes
    /// its self-test.
    pub(crate) variant: fn() -> Result<&'static str, Reason>,
    /// Lists the variants of this build, widest first.
    here: fn() -> Vec<Checked>,
    /// The variants of all builds.
    elsewhere: Elsewhere,
}

macro_rules! kernels {
    ($($name:ident: $module:ident $elsewhere:ident;)*) => {
        $(
            pub(crate) static $name: Kernel = Kernel {
                variant: || first($module::check(environment::features()?)),
                here: || checked($module::check),
                elsewhere: $elsewhere,
            };
        )*
    };
}

kernels! {
    AES: aes AES_VARIANTS;
    GCM: gcm AES_VARIANTS;
    GCM_SIV: gcm_siv AES_VARIANTS;
    CHACHA20_POLY1305: chacha20_poly1305 WORD_VARIANTS;
    AEGIS: aegis AES_VARIANTS;
    CHACHA20: chacha20 WORD_VARIANTS;
    POLY1305: poly1305 POLY1305_VARIANTS;
    SPECK: speck WORD_VARIANTS;
}

/// The kernels that are listed although they are not an [`Algorithm`](crate::Algorithm), with their names.
pub(crate) static RAW: [(&str, &Kernel); 4] =
    [("aes-ctr", &AES), ("chacha20", &CHACHA20), ("poly1305", &POLY1305), ("speck", &SPECK)];

impl Kernel {
    /// A kernel whose variants all fail their self-tests.
    #[cfg(test)]
    pub(crate) const BROKEN: Self =
        Self { variant: || Err(Reason::SelfTestFailed), here: Vec::new, elsewhere: &[] };

    /// Lists the variants of this build, widest first, and then those of other builds.
    pub(crate) fn variants(&self) -> Vec<Checked> {
        with_elsewhere((self.here)(), self.elsewhere)
    }
}

/// Checks whether the processor has AES instructions. `SEALANE_CPU` is ignored, since foreign libraries ignore it.
pub(crate) fn aes_instructions() -> Result<(), Reason> {
    let narrowest = aes::variants().filter(|row| !row.needs.is_empty()).last();
    let row = narrowest.ok_or(Reason::WrongArchitecture("x86_64 or aarch64"))?;
    row.check(Features::detect()).map_err(Reason::MissingFeatures)
}

/// Returns the first variant that can be used.
///
/// The last variant of a kernel needs no features, so it can only fail its self-test.
fn first(mut rows: impl Iterator<Item = (Row, Result<(), Refusal>)>) -> Result<&'static str, Reason> {
    rows.find_map(|(row, check)| check.ok().map(|()| row.name)).ok_or(Reason::SelfTestFailed)
}

fn checked<R>(check: fn(Features) -> R) -> Vec<Checked>
where
    R: Iterator<Item = (Row, Result<(), Refusal>)>,
{
    let features = environment::features();
    check(features.clone().unwrap_or(Features::NONE))
        .map(|(row, check)| {
            let valid = features.clone().map_err(Reason::from);
            (row.name, valid.and_then(|_| check.map_err(Reason::from)))
        })
        .collect()
}

fn with_elsewhere(mut here: Vec<Checked>, elsewhere: Elsewhere) -> Vec<Checked> {
    for (name, architecture) in elsewhere {
        if here.iter().all(|(known, _)| known != name) {
            here.push((name, Err(Reason::WrongArchitecture(architecture))));
        }
    }
    here
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_variant_that_fails_its_self_test_is_listed_with_the_reason() {
        let mut rows: Vec<_> = aes::check(Features::NONE).collect();
        rows[0].1 = Err(Refusal::WrongAnswer);
        let broken = rows[0].0.name;
        let here = rows.into_iter().map(|(row, check)| (row.name, check.map_err(Reason::from))).collect();
        let listed = with_elsewhere(here, AES_VARIANTS);
        let (_, check) = listed.iter().find(|(name, _)| *name == broken).unwrap();
        assert_eq!(check, &Err(Reason::SelfTestFailed));
        assert_eq!(Reason::SelfTestFailed.to_string(), "failed its self-test");
    }

    #[test]
    fn the_first_usable_variant_is_selected() {
        let row = aes::variants().next().unwrap();
        let (good, wrong) = (Row { name: "good", ..row }, Row { name: "wrong", ..row });
        let missing = (row, Err(Refusal::Missing(row.needs)));
        let wrong = (wrong, Err(Refusal::WrongAnswer));
        assert_eq!(first([missing, wrong, (good, Ok(())), (row, Ok(()))].into_iter()), Ok("good"));
        assert_eq!(first([missing, wrong].into_iter()), Err(Reason::SelfTestFailed));
    }
}
