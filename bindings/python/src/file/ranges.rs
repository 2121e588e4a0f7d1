//! Decryption of ranges for `sealane.fs`, which fetches only the needed bytes.

use crate::file_keys::DecryptWith;
use crate::prelude::*;
use sealane::file;

/// Returns the size of a chunked-encryption@v1 file with this many plaintext bytes.
#[pyfunction]
pub(crate) fn sealed_len(plain_len: u64) -> PyResult<u64> {
    file::sealed_len(plain_len).map_err(raise)
}

/// Returns the plaintext bytes in a chunked-encryption@v1 file of this size.
///
/// Raises TruncatedError if no complete file has this size.
#[pyfunction]
pub(crate) fn plain_len(sealed_len: u64) -> PyResult<u64> {
    file::plain_len(sealed_len).map_err(raise)
}

/// Returns start and end, in the file, of the chunks that contain a plaintext range.
#[pyfunction]
pub(crate) fn sealed_range(start: u64, end: u64) -> (u64, u64) {
    let range = file::sealed_range(start..end);
    (range.start, range.end)
}

/// Decrypts ranges of a chunked-encryption@v1 file, given its header.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Ranges(file::RangeDecryptor);

#[pymethods]
impl Ranges {
    /// Creates an object from the first 56 bytes of the file.
    #[new]
    fn new(header: &Any<'_>, decryption: &DecryptWith) -> PyResult<Self> {
        let mut slot = Slot::new(header.py());
        file::RangeDecryptor::new(slot.read(header)?.bytes(), &decryption.0).map(Self).map_err(raise)
    }

    /// Decrypts the plaintext from ``start`` to ``end``, or to the end of the file.
    ///
    /// ``sealed`` is the file's bytes at ``sealed_range(start, end)``, shorter at the end of the
    /// file.
    fn open<'py>(&self, py: Python<'py>, start: u64, end: u64, sealed: &Any<'py>) -> PyResult<Bytes<'py>> {
        let mut slot = Slot::new(py);
        let fetched = self.0.range(start..end, slot.read(sealed)?.bytes()).map_err(raise)?;
        fresh(py, fetched.len(), |out| py.detach(|| fetched.decrypt_into(out)).map_err(raise))
    }
}
