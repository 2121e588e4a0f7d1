//! The kernels of this project, as selection and listing see them.

use crate::{Reason, environment};
use kernels::aes;
use kernels::cpu::Features;
use kernels::variant::{Refusal, Variant};

/// The name of a variant; an error says why it cannot be used.
pub(crate) type Checked = (&'static str, Result<(), Reason>);

/// The variants of one kernel.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Returns the variant for new keys: the widest that the processor and `SEALANE_CPU` allow and
    /// that passes its self-test.
    pub(crate) variant: fn() -> Result<&'static str, Reason>,
    /// Lists the variants of this build, widest first, then those of other architectures.
    pub(crate) variants: fn() -> Vec<Checked>,
}

/// The [`Kernel`] of a module of the crate `kernels`.
macro_rules! kernel {
    ($module:ident) => {
        $crate::kernel::Kernel {
            variant: || $crate::kernel::first(kernels::$module::check($crate::environment::features()?)),
            variants: || $crate::kernel::checked(kernels::$module::check),
        }
    };
}
pub(crate) use kernel;

pub(crate) static AES: Kernel = kernel!(aes);

/// The listed kernels that are not an [`Algorithm`](crate::Algorithm), with their names.
pub(crate) static RAW: [(&str, &Kernel); 4] = [
    ("aes-ctr", &AES),
    ("chacha20", &kernel!(chacha20)),
    ("poly1305", &kernel!(poly1305)),
    ("speck", &kernel!(speck)),
];

impl Kernel {
    /// A kernel whose variants all fail their self-tests.
    #[cfg(test)]
    pub(crate) const BROKEN: Self = Self { variant: || Err(Reason::SelfTestFailed), variants: Vec::new };
}

/// Checks for AES instructions, on x86-64 with AVX. `SEALANE_CPU` is ignored, because foreign
/// libraries ignore it.
#[cfg_attr(
    not(all(feature = "aegis", feature = "aws-lc", feature = "ring")),
    allow(dead_code, reason = "providers that are not built use it")
)]
pub(crate) fn aes_instructions() -> Result<(), Reason> {
    aes_instructions_of(Features::detect())
}

#[cfg_attr(
    not(all(feature = "aegis", feature = "aws-lc", feature = "ring")),
    allow(dead_code, reason = "providers that are not built use it")
)]
fn aes_instructions_of(features: Features) -> Result<(), Reason> {
    let narrowest = aes::variants().filter(|variant| !variant.needs.is_empty()).last();
    let variant = narrowest.ok_or(Reason::WrongArchitecture("x86_64 or aarch64"))?;
    variant.check(features).map_err(Reason::MissingFeatures)
}

/// Returns the first usable variant.
///
/// The last variant of a build needs no features, so only its self-test can fail.
pub(crate) fn first(
    mut all: impl Iterator<Item = (Variant, Result<(), Refusal>)>,
) -> Result<&'static str, Reason> {
    all.find_map(|(variant, check)| check.ok().map(|()| variant.name)).ok_or(Reason::SelfTestFailed)
}

pub(crate) fn checked<R>(check: fn(Features) -> R) -> Vec<Checked>
where
    R: Iterator<Item = (Variant, Result<(), Refusal>)>,
{
    let features = environment::features();
    check(features.clone().unwrap_or(Features::NONE))
        .map(|(variant, check)| match (check, &features) {
            (Err(Refusal::OtherArchitecture(_)), _) | (_, Ok(_)) => {
                (variant.name, check.map_err(Reason::from))
            }
            (_, Err(invalid)) => (variant.name, Err(invalid.clone().into())),
        })
        .collect()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_variants_of_other_architectures_are_listed() {
        let elsewhere = |(name, check): &Checked| match check {
            Err(Reason::WrongArchitecture(architecture)) => Some((*name, *architecture)),
            _ => None,
        };
        let other = if cfg!(target_arch = "x86_64") { ("neon-aes", "aarch64") } else { ("aesni", "x86_64") };
        assert!((AES.variants)().iter().filter_map(elsewhere).any(|found| found == other));
    }

    #[test]
    fn a_variant_that_fails_its_self_test_is_listed_with_the_reason() {
        let listed = checked(|features| {
            let mut all: Vec<_> = aes::check(features).collect();
            all[0].1 = Err(Refusal::SelfTestFailed);
            all.into_iter()
        });
        assert_eq!(listed[0].1, Err(Reason::SelfTestFailed));
        assert_eq!(Reason::SelfTestFailed.to_string(), "failed its self-test");
    }

    #[test]
    fn aes_instructions_are_those_of_the_narrowest_variant() {
        assert!(matches!(
            aes_instructions_of(Features::NONE),
            Err(Reason::MissingFeatures(_) | Reason::WrongArchitecture(_))
        ));
        let some = Features::detect();
        let runs = aes::check(some).any(|(variant, check)| !variant.needs.is_empty() && check.is_ok());
        assert_eq!(aes_instructions_of(some).is_ok(), runs);
    }

    #[test]
    fn the_first_usable_variant_is_selected() {
        let any = aes::variants().next().unwrap();
        let (good, wrong) = (Variant { name: "good", ..any }, Variant { name: "wrong", ..any });
        let missing = (any, Err(Refusal::MissingFeatures(any.needs)));
        let wrong = (wrong, Err(Refusal::SelfTestFailed));
        assert_eq!(first([missing, wrong, (good, Ok(())), (any, Ok(()))].into_iter()), Ok("good"));
        assert_eq!(first([missing, wrong].into_iter()), Err(Reason::SelfTestFailed));
    }
}
