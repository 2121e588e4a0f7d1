//! What `sealane.fs` reads with: ranges of files that lie on servers, where each byte that is fetched costs.

use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::file_keys::DecryptWith;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::file;

/// Bytes of a file in the format chunked-encryption@v1 with this much plaintext.
#[pyfunction]
pub(crate) fn sealed_len(plain_len: u64) -> PyResult<u64> {
    file::sealed_len(plain_len).map_err(raise)
}

/// Bytes of plaintext in such a file of this size. Raises TruncatedError for a size that no whole file has.
#[pyfunction]
pub(crate) fn plain_len(sealed_len: u64) -> PyResult<u64> {
    file::plain_len(sealed_len).map_err(raise)
}

/// Where the chunks of a range of plaintext lie in such a file: start and end.
#[pyfunction]
pub(crate) fn sealed_range(start: u64, end: u64) -> (u64, u64) {
    let range = file::sealed_range(start..end);
    (range.start, range.end)
}

/// Opens ranges of a file, of which it knows the header alone.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Ranges(file::Ranges);

#[pymethods]
impl Ranges {
    /// From the first 56 bytes of the file.
    #[new]
    fn new(header: &Bound<'_, PyAny>, unlock: &DecryptWith) -> PyResult<Self> {
        let mut slot = Slot::new(header.py());
        file::Ranges::new(slot.read(header)?.bytes(), unlock.core()).map(Self).map_err(raise)
    }

    /// The plaintext from ``start`` to ``end``, or to the end of the file, from what the file has at its
    /// ``sealed_range``.
    fn open<'py>(
        &self,
        py: Python<'py>,
        start: u64,
        end: u64,
        sealed: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut slot = Slot::new(py);
        let fetched = self.0.fetched(start..end, slot.read(sealed)?.bytes()).map_err(raise)?;
        fresh(py, fetched.len(), |out| py.detach(|| fetched.open_into(out)).map_err(raise))
    }
}
