//! The variants of a table that this machine can run.

use kernels::cpu::Features;
use kernels::variant::Variant;
use std::sync::Once;

/// Returns the name of each variant that can run, with features that select exactly this variant.
///
/// The environment variable `SEALANE_VARIANTS` names variants that must run, for example
/// `vaes512,aesni,portable`. It is a failure if one of them is in the table and cannot run here, or
/// if none of them is in the table.
pub(crate) fn available(table: impl Iterator<Item = Variant>) -> Vec<(&'static str, Features)> {
    let here = Features::detect();
    let all: Vec<Variant> = table.collect();
    let mut variants = Vec::new();
    for variant in &all {
        match variant.check(here) {
            Ok(()) => variants.push((variant.name, here.intersection(variant.needs))),
            Err(missing) => eprintln!("NOT RUN: variant {} ({missing} is missing)", variant.name),
        }
    }
    let wanted = std::env::var("SEALANE_VARIANTS").unwrap_or_default();
    let wanted = || wanted.split(',').filter(|name| !name.is_empty());
    for name in wanted().filter(|name| all.iter().any(|variant| variant.name == *name)) {
        assert!(
            variants.iter().any(|(variant, _)| *variant == name),
            "SEALANE_VARIANTS wants {name}, which cannot run here"
        );
    }
    assert!(
        wanted().next().is_none() || wanted().any(|name| all.iter().any(|variant| variant.name == name)),
        "SEALANE_VARIANTS names no variant of this table"
    );
    variants
}

/// Returns the lengths or offsets to test: `all`, or with `SEALANE_LENGTHS=sparse`, for slow
/// emulators, only every 17th above 300.
pub(crate) fn every(all: impl Iterator<Item = usize>) -> impl Iterator<Item = usize> {
    static SAID: Once = Once::new();
    let sparse = match std::env::var("SEALANE_LENGTHS").unwrap_or_default().as_str() {
        "" | "all" => false,
        "sparse" => true,
        other => panic!("SEALANE_LENGTHS is {other:?}, not `all` or `sparse`"),
    };
    if sparse {
        SAID.call_once(|| {
            eprintln!("NOT RUN: 16 of 17 lengths and offsets above 300 (SEALANE_LENGTHS=sparse)")
        });
    }
    all.filter(move |n| !sparse || *n <= 300 || n.is_multiple_of(17))
}

/// Checks that removing features in this order selects each variant that can run here, one after
/// the other.
///
/// `selected` returns the variant of a new key with these features.
pub(crate) fn check_removal<T: Iterator<Item = Variant>>(
    table: fn() -> T,
    order: &[&str],
    selected: impl Fn(Features) -> &'static str,
) {
    assert_eq!(selected(Features::NONE), "portable");
    let mut features = Features::detect();
    let mut seen = vec![selected(features)];
    for name in order {
        let first = table().find(|variant| variant.check(features).is_ok()).unwrap();
        assert_eq!(selected(features), first.name);
        features = features.without(name).unwrap();
        seen.push(selected(features));
    }
    seen.dedup();
    let all: Vec<&str> = available(table()).into_iter().map(|(name, _)| name).collect();
    assert_eq!(seen, all);
}
