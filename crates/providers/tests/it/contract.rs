//! Every row of the registry keeps the contract.

use providers::{Algorithm, ROWS, Row, contract};

/// Rows that work here. One that does not is a failure, not a silence: no row of today's registry may be missing.
fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().inspect(|row| {
        let available = row.available();
        assert_eq!(available, Ok(()), "{} from {}", row.algorithm.name(), row.provider.name());
    })
}

#[test]
fn round_trip() {
    rows().for_each(contract::round_trip);
}

#[test]
fn agreement() {
    for &algorithm in Algorithm::ALL {
        let mut rows = rows().filter(|row| row.algorithm == algorithm);
        let first = rows.next().expect("every algorithm has a row");
        rows.for_each(|row| contract::agreement(first, row));
    }
}

#[test]
fn refusal() {
    rows().for_each(contract::refusal);
}

#[test]
fn lengths_refused() {
    rows().for_each(contract::lengths_refused);
}

#[test]
fn sharing() {
    rows().for_each(contract::sharing);
}
