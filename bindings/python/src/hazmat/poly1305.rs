//! `sealane.hazmat.Poly1305`.

use super::{Shared, tag_of};
use crate::buffer::Slot;
use crate::error::raise;
use crate::keys;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The one-time authenticator Poly1305 (RFC 8439).
///
/// **A key is for one message.** Whoever sees the tags of two messages under one key can forge a third.
///
/// Parameters
/// ----------
/// key : bytes-like or sealane.keys.Key
///     32 bytes. It is copied.
///
/// ``update`` returns the object itself, so that calls can be chained. After ``finalize`` or ``verify`` every
/// call raises ValueError. Threads may share an object: whole updates follow each other, in the order in
/// which they come.
#[pyclass(frozen, module = "sealane.hazmat")]
pub(crate) struct Poly1305 {
    variant: &'static str,
    core: Shared<sealane::hazmat::Poly1305>,
}

impl Poly1305 {
    fn from_core(core: sealane::hazmat::Poly1305) -> Self {
        Self { variant: core.variant(), core: Shared::new(core) }
    }
}

#[pymethods]
impl Poly1305 {
    #[new]
    fn new(key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let key = keys::extract(key)?;
        sealane::hazmat::Poly1305::new(key.as_bytes()).map(Self::from_core).map_err(raise)
    }

    /// With the one-time key that ChaCha20 makes from a key of 32 bytes and a nonce of 12: the first half of
    /// block 0.
    #[staticmethod]
    fn from_chacha20(py: Python<'_>, key: &Bound<'_, PyAny>, nonce: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut slot = Slot::new(py);
        let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
        let core = sealane::hazmat::Poly1305::from_chacha20(key.as_bytes(), nonce).map_err(raise)?;
        Ok(Self::from_core(core))
    }

    /// Goes on with ``data``, of any length, and returns the object itself.
    fn update<'py>(slf: Bound<'py, Self>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let mut slot = Slot::new(py);
        let data = slot.read(data)?.bytes();
        slf.get().core.with(py, data.len(), |mac| {
            mac.update(data);
            Ok(())
        })?;
        Ok(slf)
    }

    /// The tag, 16 bytes.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.core.take(py)?.finalize()))
    }

    /// Compares the tag with ``tag``, in a time that does not depend on either.
    ///
    /// Raises AuthenticationError where it is another one.
    fn verify<'py>(&self, py: Python<'py>, tag: &Bound<'py, PyAny>) -> PyResult<()> {
        let tag = tag_of(tag)?;
        self.core.take(py)?.verify(&tag).map_err(raise)
    }

    /// Which build computes it.
    #[getter]
    fn variant(&self) -> &'static str {
        self.variant
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.Poly1305 ({})>", self.variant)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}
