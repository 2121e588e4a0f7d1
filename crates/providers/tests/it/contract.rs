//! Runs the contract on every entry.

use providers::{Algorithm, Entry, contract, entries};

/// Lists all entries. One that is not available on this machine is a failure: no entry may be skipped in silence.
fn available() -> impl Iterator<Item = &'static Entry> {
    entries().inspect(|entry| {
        let available = entry.available();
        assert_eq!(available, Ok(()), "{} from {}", entry.algorithm.name(), entry.provider.name());
    })
}

#[test]
fn round_trip() {
    available().for_each(contract::round_trip);
}

#[test]
fn agreement() {
    for &algorithm in Algorithm::ALL {
        let mut entries = available().filter(|entry| entry.algorithm == algorithm);
        let first = entries.next().expect("every algorithm has an entry");
        entries.for_each(|entry| contract::agreement(first, entry));
    }
}

#[test]
fn rejects_changes() {
    available().for_each(contract::rejects_changes);
}

#[test]
fn rejects_lengths() {
    available().for_each(contract::rejects_lengths);
}

#[test]
fn division() {
    available().for_each(contract::division);
}

#[test]
fn sharing() {
    available().for_each(contract::sharing);
}

#[test]
fn batches() {
    available().for_each(contract::batches);
}
