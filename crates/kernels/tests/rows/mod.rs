//! The rows of a table that can run here.

use kernels::cpu::Features;
use kernels::variant::Row;

/// Each row that can run, with features that pick exactly it.
///
/// `SEALANE_ROWS=vaes512,aesni,portable` makes it a failure if one of these rows cannot run here.
pub(crate) fn rows(table: impl Iterator<Item = Row>) -> Vec<(&'static str, Features)> {
    let here = Features::detect();
    let mut rows = Vec::new();
    for row in table {
        match row.check(here) {
            Ok(()) => rows.push((row.name, here.only(row.needs))),
            Err(missing) => eprintln!("NOT RUN: row {} ({missing} is missing)", row.name),
        }
    }
    for wanted in std::env::var("SEALANE_ROWS").unwrap_or_default().split(',').filter(|name| !name.is_empty())
    {
        assert!(
            rows.iter().any(|(name, _)| *name == wanted),
            "SEALANE_ROWS wants {wanted}, which cannot run here"
        );
    }
    rows
}
