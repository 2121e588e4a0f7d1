//! The parser of Parquet footers does not panic, and what it finds is shorter than the input.
// claim: parquet-bounded, input-no-crash

use sealane::file::{ParquetColumnKey, ParquetFooter};

pub(crate) fn run(input: &[u8]) {
    for parse in [ParquetFooter::encrypted, ParquetFooter::metadata] {
        let Ok(found) = parse(input) else { continue };
        assert!(found.len <= input.len());
        let paths: usize = found.columns.iter().map(|column| column.path.len()).sum();
        let keys = found.columns.iter().map(|column| match column.key {
            ParquetColumnKey::Own(Some(stored)) => stored.len(),
            _ => 0,
        });
        let stored = found.key.map_or(0, <[u8]>::len) + keys.sum::<usize>();
        assert!(paths + stored + found.columns.len() <= input.len());
        // The result depends on the structure only.
        assert_eq!(parse(&input[..found.len]).expect("parsed before"), found);
    }
}
