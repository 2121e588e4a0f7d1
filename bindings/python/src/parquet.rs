//! The native part of `sealane/parquet/_footer.py`.

use crate::prelude::*;
use sealane::file::{ParquetColumnKey, ParquetFooter};

/// The associated data of the footer, and whether pages are not authenticated.
type Algorithm = (Cow<'static, [u8]>, bool);
/// Path, kind of key, and how the writer stored it.
type Column<'a> = (String, &'static str, Option<&'a [u8]>);
/// The algorithm, how the writer stored the footer's key, the columns, and the number of bytes of
/// the structure.
type Footer<'a> = (Option<Algorithm>, Option<&'a [u8]>, Vec<Column<'a>>, usize);

/// Parses the beginning of a ``PARE`` footer, or else cleartext metadata.
#[pyfunction]
pub(crate) fn parquet_footer(footer: &[u8], encrypted: bool) -> PyResult<Footer<'_>> {
    let parse = if encrypted { ParquetFooter::encrypted } else { ParquetFooter::metadata };
    let found = parse(footer).map_err(raise)?;
    let algorithm = found.algorithm.map(|it| {
        // Module type 0 is the footer.
        let aad = [it.aad_prefix, it.aad_file_unique, &[0]].concat();
        (Cow::Owned(aad), it.unauthenticated)
    });
    let columns = found.columns.into_iter().map(|column| match column.key {
        ParquetColumnKey::Clear => (column.path, "clear", None),
        ParquetColumnKey::Footer => (column.path, "footer", None),
        ParquetColumnKey::Own(stored) => (column.path, "own", stored),
    });
    Ok((algorithm, found.key, columns.collect(), found.len))
}
