//! `sealane.hazmat.Speck`.

use crate::prelude::*;
use crate::{arguments, keys};

/// The block cipher Speck (ePrint 2013/404), applied to each block separately.
///
/// .. warning::
///     There is no mode of operation: equal plaintext blocks give equal ciphertext blocks. Prefer
///     AES or ChaCha20.
///
/// Parameters
/// ----------
/// variant : str
///     "speck32-64", "speck48-72", "speck48-96", "speck64-96", "speck64-128", "speck96-96",
///     "speck96-144", "speck128-128", "speck128-192" or "speck128-256": block and key size in bits.
/// key : bytes-like or sealane.keys.Key
///     The key, of the length of the variant. It is copied.
/// byte_order : str
///     "big", as in the paper's test vectors, or "little", as in the NSA's implementation guide,
///     Linux and Crypto++: all bytes of key and block are reversed.
///
/// Notes
/// -----
/// Calls do not change an object, so threads may share it.
///
/// Examples
/// --------
/// >>> speck = Speck("speck128-256", key)
/// >>> speck.decrypt_blocks(speck.encrypt_blocks(b"16 bytes a block")).decode()
/// '16 bytes a block'
#[pyclass(frozen, module = "sealane.hazmat")]
pub(crate) struct Speck {
    core: sealane::hazmat::Speck,
}

#[pymethods]
impl Speck {
    #[new]
    #[pyo3(signature = (variant, key, byte_order = "big"))]
    fn new(variant: &str, key: &Any<'_>, byte_order: &str) -> PyResult<Self> {
        let (size, order) = (arguments::speck_size(variant)?, arguments::byte_order(byte_order)?);
        let key = keys::extract(key)?;
        Ok(Self { core: sealane::hazmat::Speck::new(size, key.as_bytes(), order).map_err(raise)? })
    }

    /// Encrypts each block of ``data`` separately into new bytes.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If ``data`` is not a whole number of blocks.
    fn encrypt_blocks<'py>(&self, py: Python<'py>, data: &Any<'py>) -> PyResult<Bytes<'py>> {
        blocks(py, data, |data| self.core.encrypt_blocks(data))
    }

    /// Decrypts each block of ``data`` separately. Raises the errors of ``encrypt_blocks``.
    fn decrypt_blocks<'py>(&self, py: Python<'py>, data: &Any<'py>) -> PyResult<Bytes<'py>> {
        blocks(py, data, |data| self.core.decrypt_blocks(data))
    }

    /// Block length in bytes, for example 16 for Speck128.
    #[getter]
    fn block_len(&self) -> usize {
        self.core.block_len()
    }

    /// The variant (the code for an instruction set) in use for it.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.Speck {} ({})>", self.core.name(), self.core.variant())
    }
}

fn blocks<'py>(
    py: Python<'py>,
    data: &Any<'py>,
    work: impl FnOnce(InOut<'_>) -> Result<()> + Send,
) -> PyResult<Bytes<'py>> {
    read!(py; data);
    fresh(py, data.len(), |out| detached(py, data.len(), || work(InOut::apart(data, out))))
}
