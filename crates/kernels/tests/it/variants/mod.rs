//! The variants of a table that this machine can run.

use kernels::cpu::Features;
use kernels::variant::Variant;

/// Returns the name of each variant that can run, with features that select exactly this variant.
///
/// The environment variable `SEALANE_VARIANTS` names variants that must run, for example `vaes512,aesni,portable`. It is a
/// failure if one of them is in the table and cannot run here, or if none of them is in the table.
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
