//! `sealane.hazmat.AeadDecryptor`.

use super::{Shared, algorithm_of, tag_of};
use crate::buffer::{Slot, fresh};
use crate::error::raise;
use crate::keys;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::InOut;

/// Decrypts one message in pieces of any length: associated data first, then data, then the tag.
///
/// **It releases plaintext that was not verified.** Until ``finalize(tag)`` returned, what ``update`` gave
/// may be anything that an attacker likes: do not act on it, do not show it, do not parse it, and throw all
/// of it away when ``finalize`` raises. ``sealane.Aead`` and ``sealane.decrypt_file`` never put you there.
///
/// Parameters
/// ----------
/// algorithm : str
///     "aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305" or "xchacha20-poly1305".
/// key : bytes-like or sealane.keys.Key
///     As many bytes as the algorithm has. It is copied.
/// nonce : bytes-like
///     12 bytes, 24 with XChaCha20.
///
/// After ``finalize`` every call raises ValueError. Threads may share an object: whole pieces follow each
/// other, in the order in which they come.
#[pyclass(frozen, module = "sealane.hazmat")]
pub(crate) struct AeadDecryptor {
    algorithm: &'static str,
    core: Shared<sealane::hazmat::AeadDecryptor>,
}

#[pymethods]
impl AeadDecryptor {
    #[new]
    fn new(
        py: Python<'_>,
        algorithm: &str,
        key: &Bound<'_, PyAny>,
        nonce: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let algorithm = algorithm_of(algorithm)?;
        let mut slot = Slot::new(py);
        let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
        let core = sealane::hazmat::AeadDecryptor::new(algorithm, key.as_bytes(), nonce).map_err(raise)?;
        Ok(Self { algorithm: algorithm.name(), core: Shared::new(core) })
    }

    /// A piece of associated data; returns the object itself. Raises ValueError after data.
    fn aad<'py>(slf: Bound<'py, Self>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        slf.get().core.with(py, piece.len(), |message| message.aad(piece).map(drop))?;
        Ok(slf)
    }

    /// The plaintext of a piece of ciphertext, of the same length, as new bytes. **Not verified.**
    ///
    /// Raises LimitExceededError past what the algorithm can carry; nothing was decrypted then.
    fn update<'py>(&self, py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut slot = Slot::new(py);
        let data = slot.read(data)?.bytes();
        fresh(py, data.len(), |out| {
            self.core.with(py, data.len(), |message| message.xor(InOut::apart(data, out)))
        })
    }

    /// The same into the start of ``out``; returns the number of bytes written, ``len(data)``.
    ///
    /// In place where ``out`` starts where ``data`` does. Raises ValueError where ``out`` is too short or
    /// overlaps ``data`` in any other way, TypeError where it is read-only; nothing was written then.
    fn update_into<'py>(
        &self,
        py: Python<'py>,
        data: &Bound<'py, PyAny>,
        out: &Bound<'py, PyAny>,
    ) -> PyResult<usize> {
        let (mut a, mut b) = (Slot::new(py), Slot::new(py));
        let data = a.read(data)?;
        let len = data.len();
        let layout = b.write(out)?.first(len)?.arrange(0, data, [])?;
        self.core.with(py, len, |message| message.xor(layout.data.in_out()))?;
        Ok(len)
    }

    /// Whether all of it was what somebody with the key encrypted.
    ///
    /// Raises AuthenticationError where it was not: throw away what ``update`` gave.
    fn finalize<'py>(&self, py: Python<'py>, tag: &Bound<'py, PyAny>) -> PyResult<()> {
        let tag = tag_of(tag)?;
        self.core.take(py)?.finalize(&tag).map_err(raise)
    }

    /// What is computed: the name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.AeadDecryptor {}>", self.algorithm)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}
