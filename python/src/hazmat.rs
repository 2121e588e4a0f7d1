//! `sealane.hazmat`: raw parts.

use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::keys;
use crate::number;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The keystream of AES in counter mode (NIST SP 800-38A), 2**64 bytes of it, at any offset.
///
/// **No authentication**: whoever flips a bit of the ciphertext flips that bit of the plaintext. Two texts under one
/// keystream give away their difference.
///
/// Parameters
/// ----------
/// key : bytes-like or sealane.keys.Key
///     16, 24 or 32 bytes. It is copied.
/// iv : bytes-like
///     16 bytes, the first counter block: the whole of it counts, big-endian, modulo 2**128.
///
/// Every ``offset`` is in bytes from the start of the stream. Encrypting and decrypting are the same call. Passing
/// 2**64 raises LimitExceededError before any byte is written; nothing ever wraps. Safe to share between threads.
#[pyclass(frozen, module = "sealane.hazmat")]
pub(crate) struct AesCtr {
    core: sealane::hazmat::AesCtr,
}

#[pymethods]
impl AesCtr {
    #[new]
    fn new(py: Python<'_>, key: &Bound<'_, PyAny>, iv: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut slot = Slot::new(py);
        let (key, iv) = (keys::extract(key)?, slot.read(iv)?.bytes());
        Ok(Self { core: sealane::hazmat::AesCtr::new(key.as_bytes(), iv).map_err(raise)? })
    }

    /// ``data`` XOR the keystream from ``offset`` on, as new bytes.
    fn xor_at<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number::bytes)] offset: u64,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut slot = Slot::new(py);
        let data = slot.read(data)?.bytes();
        fresh(py, data.len(), |out| detached(py, data.len(), || self.core.xor_into(offset, data, out)))
    }

    /// The same into the start of ``out``; returns the number of bytes written, ``len(src)``.
    ///
    /// In place where ``out`` starts where ``src`` does. Raises ValueError where ``out`` is too short or overlaps
    /// ``src`` in any other way, TypeError where it is read-only; nothing was written then.
    fn xor_into<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number::bytes)] offset: u64,
        src: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let (mut a, mut b) = (Slot::new(py), Slot::new(py));
        let src = a.read(src)?;
        let len = src.len();
        let layout = b.write(out)?.first(len)?.arrange(0, src, [])?;
        detached(py, len, || self.core.xor(offset, layout.data.in_out()))?;
        Ok(len)
    }

    /// The same in place.
    fn xor_in_place<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number::bytes)] offset: u64,
        buf: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let mut slot = Slot::new(py);
        let data = slot.write(buf)?.bytes();
        detached(py, data.len(), || self.core.xor_in_place(offset, data))
    }

    /// Which build computes it.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.AesCtr ({})>", self.core.variant())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}
