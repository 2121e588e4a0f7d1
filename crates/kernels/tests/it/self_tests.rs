//! The self-tests of all variants: they pass here, and notice wrong answers.

use crate::variants::available;
use kernels::cpu::Features;
use kernels::variant::{Refusal, Variant};

/// A table of variants, with the results of their self-tests and the check that these reject
/// changed answers.
struct Table {
    name: &'static str,
    variants: Vec<Variant>,
    results: Vec<(Variant, Result<(), Refusal>)>,
    rejects_changed_answers: fn(Features) -> bool,
}

macro_rules! tables {
    ($($cipher:ident)*) => {
        [$( {
            use kernels::$cipher::{check, rejects_changed_answers, variants};
            Table {
                name: stringify!($cipher),
                variants: variants().collect(),
                results: check(Features::detect()).collect(),
                rejects_changed_answers,
            }
        } ),*]
    };
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn changed_answers_are_rejected() {
    for table in tables!(aegis aes chacha20 gcm gcm_siv poly1305 speck xsalsa20_poly1305) {
        for (variant, features) in available(table.variants.into_iter()) {
            assert!((table.rejects_changed_answers)(features), "{} {variant}", table.name);
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_variant_passes() {
    let elsewhere = |check: &Result<(), Refusal>| matches!(check, Err(Refusal::OtherArchitecture(_)));
    for table in tables!(aegis aes chacha20 gcm gcm_siv poly1305 speck xsalsa20_poly1305) {
        for (variant, check) in table.results.into_iter().filter(|(_, check)| !elsewhere(check)) {
            let expected = variant.check(Features::detect()).map_err(Refusal::MissingFeatures);
            assert_eq!(check, expected, "{} {}", table.name, variant.name);
        }
    }
}
