//! `sealane.hazmat.Speck`.

use super::{byte_order, speck_size};
use crate::aead::detached;
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::keys;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::{Error, InOut};

/// The block cipher Speck (ePrint 2013/404), block by block.
///
/// **No mode**: equal blocks give equal blocks. **Prefer AES or ChaCha20.**
///
/// Parameters
/// ----------
/// variant : str
///     "speck32-64", "speck48-72", "speck48-96", "speck64-96", "speck64-128", "speck96-96", "speck96-144",
///     "speck128-128", "speck128-192" or "speck128-256": bits of a block and of a key.
/// key : bytes-like or sealane.keys.Key
///     As many bytes as the variant says. It is copied.
/// byte_order : str
///     "big", as the paper prints blocks and keys, or "little", as NSA's guide, Linux and Crypto++ have them:
///     all bytes of key and block reversed.
///
/// Safe to share between threads.
#[pyclass(frozen, module = "sealane.hazmat")]
pub(crate) struct Speck {
    core: sealane::hazmat::Speck,
}

#[pymethods]
impl Speck {
    #[new]
    #[pyo3(signature = (variant, key, byte_order = "big"))]
    fn new(variant: &str, key: &Bound<'_, PyAny>, byte_order: &str) -> PyResult<Self> {
        let (size, order) = (speck_size(variant)?, self::byte_order(byte_order)?);
        let key = keys::extract(key)?;
        Ok(Self { core: sealane::hazmat::Speck::new(size, key.as_bytes(), order).map_err(raise)? })
    }

    /// Each block of ``data`` encrypted by itself, as new bytes.
    ///
    /// Raises ValueError where ``data`` is no whole number of blocks.
    fn encrypt_blocks<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        blocks(py, data, |data| self.core.encrypt_blocks(data))
    }

    /// Each block of ``data`` decrypted by itself, as new bytes. Raises as encrypt_blocks does.
    fn decrypt_blocks<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        blocks(py, data, |data| self.core.decrypt_blocks(data))
    }

    /// Bytes of a block.
    #[getter]
    fn block_len(&self) -> usize {
        self.core.block_len()
    }

    /// Which build computes it.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.Speck {} ({})>", self.core.name(), self.core.variant())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

fn blocks<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    work: impl FnOnce(InOut<'_>) -> Result<(), Error> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    fresh(py, data.len(), |out| detached(py, data.len(), || work(InOut::apart(data, out))))
}
