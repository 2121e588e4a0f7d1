//! `sealane.hazmat.Poly1305`.

use crate::prelude::*;
use crate::shared::Shared;
use crate::{arguments, keys};

/// The one-time authenticator Poly1305 (RFC 8439).
///
/// .. warning::
///     Use a key for one message only. With the tags of two messages under one key, an attacker can
///     forge a third.
///
/// Parameters
/// ----------
/// key : bytes-like or sealane.keys.Key
///     32 bytes, copied.
///
/// Notes
/// -----
/// After ``finalize`` or ``verify``, every call raises ValueError. In a forked child, ``finalize``
/// raises ForkedError. Threads may share an object: updates are atomic and in call order.
///
/// Examples
/// --------
/// >>> tag = Poly1305(key).update(b"first ").update(b"second").finalize()
#[pyclass(frozen, module = "sealane.hazmat")]
pub(crate) struct Poly1305 {
    /// The variant (the code for an instruction set) in use for it.
    #[pyo3(get)]
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
    fn new(key: &Any<'_>) -> PyResult<Self> {
        let key = keys::extract(key)?;
        sealane::hazmat::Poly1305::new(key.as_bytes()).map(Self::from_core).map_err(raise)
    }

    /// Creates an object with ChaCha20's one-time key: the first half of block 0 (RFC 8439, section
    /// 2.6).
    ///
    /// The arguments are ChaCha20's: a 32-byte ``key`` and a 12-byte ``nonce``.
    #[staticmethod]
    fn from_chacha20(py: Python<'_>, key: &Any<'_>, nonce: &Any<'_>) -> PyResult<Self> {
        let mut slot = Slot::new(py);
        let (key, nonce) = (keys::extract(key)?, slot.read(nonce)?.bytes());
        let core = sealane::hazmat::Poly1305::from_chacha20(key.as_bytes(), nonce).map_err(raise)?;
        Ok(Self::from_core(core))
    }

    /// Adds ``data`` of any length to the message and returns the object itself.
    fn update<'py>(slf: Bound<'py, Self>, data: &Any<'py>) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        read!(py; data);
        slf.get().core.with(py, data.len(), |mac| {
            mac.update(data);
            Ok(())
        })?;
        Ok(slf)
    }

    /// Returns the tag of the message, 16 bytes. No call may follow.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bytes<'py>> {
        Ok(PyBytes::new(py, &self.core.take(py)?.finalize().map_err(raise)?))
    }

    /// Compares the tag of the message with ``tag`` in constant time. No call may follow.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If the tags differ.
    fn verify<'py>(&self, py: Python<'py>, tag: &Any<'py>) -> PyResult<()> {
        let tag = arguments::tag(tag)?;
        self.core.take(py)?.verify(&tag).map_err(raise)
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.Poly1305 ({})>", self.variant)
    }
}
