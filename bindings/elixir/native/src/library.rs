//! Version, listings, and name lookup.

use crate::error::{ArgumentError, CallError};
use crate::output::copied;
use crate::schedule::on_dirty_scheduler;
use sealane::{Algorithm, Key, ListedVariant, Provider};

#[rustler::nif]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Does nothing: the cost of a call.
#[rustler::nif]
fn nothing() -> bool {
    true
}

/// Does nothing on a dirty scheduler.
#[rustler::nif(schedule = "DirtyCpu")]
fn nothing_dirty() -> bool {
    true
}

/// Panics, for the package's tests.
#[cfg(feature = "panics")]
#[rustler::nif]
fn panics() -> bool {
    panic!("on purpose")
}

type AlgorithmRow = (&'static str, usize, usize, usize, u64, u64);

#[rustler::nif]
fn algorithms() -> Vec<AlgorithmRow> {
    let rows = Algorithm::ALL.iter().map(|algorithm| {
        let (name, key, nonce) = (algorithm.name(), algorithm.key_len(), algorithm.nonce_len());
        (name, key, nonce, algorithm.tag_len(), algorithm.max_plaintext_len(), algorithm.max_aad_len())
    });
    rows.collect()
}

/// Runs the pending self-tests.
#[rustler::nif(schedule = "DirtyCpu")]
fn providers() -> Vec<(String, String, String, bool, bool, String)> {
    let rows = sealane::listing().into_iter().map(|row| {
        let ListedVariant { algorithm, provider, variant, available, reason, chosen } = row;
        let names = (algorithm.to_string(), provider.to_string(), variant.to_string());
        (names.0, names.1, names.2, available, chosen, reason.to_string())
    });
    rows.collect()
}

on_dirty_scheduler! { "DirtyCpu":
    value fn random[env](len: usize) {
        copied(env, Key::generate(len)?.as_bytes())
    }
}

/// Returns the algorithm with this name.
pub(crate) fn algorithm_named(name: &str) -> Result<Algorithm, CallError> {
    Algorithm::from_name(name).ok_or_else(|| {
        let names: Vec<_> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
        unknown("algorithm", &names)
    })
}

/// Returns the provider with this name, or `None` without a name.
pub(crate) fn provider_named(name: Option<&str>) -> Result<Option<Provider>, CallError> {
    let find = |name| {
        Provider::from_name(name).ok_or_else(|| {
            let names: Vec<_> = Provider::all().into_iter().map(Provider::name).collect();
            unknown("provider", &names)
        })
    };
    name.map(find).transpose()
}

/// Returns the error for an unknown name.
pub(crate) fn unknown(name: &'static str, known: &[&str]) -> CallError {
    ArgumentError::Name { name, expected: format!("one of {}", known.join(", ")).into() }.into()
}
