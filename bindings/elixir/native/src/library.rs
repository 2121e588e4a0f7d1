//! Version, listings, and name lookup.

use crate::prelude::*;
use sealane::{Algorithm, ListedVariant};

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
fn providers() -> Vec<(&'static str, &'static str, &'static str, bool, bool, String)> {
    let rows = sealane::listing().into_iter().map(|row| {
        let ListedVariant { algorithm, provider, variant, available, reason, chosen } = row;
        (algorithm, provider, variant, available, chosen, reason)
    });
    rows.collect()
}

on_dirty_scheduler! { "DirtyCpu":
    value fn random[env](len: usize) {
        copied(env, Key::generate(len)?.as_bytes())
    }
}
