//! The rows of a table that can run here.

use kernels::cpu::Features;
use kernels::variant::Row;

/// Each row that can run, with features that pick exactly it.
///
/// `SEALANE_ROWS=vaes512,aesni,portable` makes it a failure if one of these rows is in the table and cannot run here, or
/// if none of them is in the table.
pub(crate) fn rows(table: impl Iterator<Item = Row>) -> Vec<(&'static str, Features)> {
    let here = Features::detect();
    let all: Vec<Row> = table.collect();
    let mut rows = Vec::new();
    for row in &all {
        match row.check(here) {
            Ok(()) => rows.push((row.name, here.only(row.needs))),
            Err(missing) => eprintln!("NOT RUN: row {} ({missing} is missing)", row.name),
        }
    }
    let wanted = std::env::var("SEALANE_ROWS").unwrap_or_default();
    let wanted = || wanted.split(',').filter(|name| !name.is_empty());
    for name in wanted().filter(|name| all.iter().any(|row| row.name == *name)) {
        assert!(rows.iter().any(|(row, _)| *row == name), "SEALANE_ROWS wants {name}, which cannot run here");
    }
    assert!(
        wanted().next().is_none() || wanted().any(|name| all.iter().any(|row| row.name == name)),
        "SEALANE_ROWS names no row of this table"
    );
    rows
}
