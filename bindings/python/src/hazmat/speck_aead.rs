//! `sealane.hazmat.Aead`: Speck-Poly1305. (In the module of all native names `Aead` is another class.)

use crate::aead::unknown;
use crate::error::raise;
use crate::keys;
use crate::sealer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::hazmat::{Aead as Core, SpeckSize};

/// Speck-Poly1305, as the Elixir library SpeckEx has it. The calls are those of ``sealane.Aead``.
///
/// Parameters
/// ----------
/// algorithm : str
///     "speck128-128-poly1305", "speck128-192-poly1305" or "speck128-256-poly1305". For smaller blocks there
///     is ``Aead.new_small_block``.
/// key : bytes-like or sealane.keys.Key
///     As many bytes as the algorithm has. It is copied.
///
/// **Prefer sealane.Aead.** Nobody has published an analysis of this construction. ``SpeckCtr`` under the
/// same key and iv has the same keystream, so its user gives away the one-time key of a message here: never
/// share a key between the two.
///
/// A *sealed* message is ``nonce || ciphertext || tag``. Limits are enforced: 2**36 - 32 bytes a message and
/// 2**32 messages sealed by one object (whoever makes a second one from the same key has to count himself).
/// Safe to share between threads.
#[pyclass(frozen, module = "sealane.hazmat", name = "SpeckAead")]
pub(crate) struct SpeckAead {
    algorithm: &'static str,
    core: Core,
}

#[pymethods]
impl SpeckAead {
    #[new]
    fn new(algorithm: &str, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (algorithm, size) = find(algorithm)?;
        let core = Core::new(size, keys::extract(key)?.as_bytes()).map_err(raise)?;
        Ok(Self { algorithm, core })
    }

    /// The same with blocks of 32 to 96 bits: "speck64-128-poly1305" and its kin.
    ///
    /// **You do not want this**, unless you have to read what somebody wrote with it. The nonce is the whole
    /// counter block, and messages must not overlap: a message takes as many numbers, from its nonce on, as
    /// it has blocks together with the 32 bytes before it. So ``seal`` and ``seal_into`` raise ValueError:
    /// count nonces, and call ``encrypt``. Enforced are 2**(bits / 2) blocks sealed by one object, and a
    /// counter that never passes its end.
    #[staticmethod]
    fn new_small_block(algorithm: &str, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (algorithm, size) = find(algorithm)?;
        let core = Core::new_small_block(size, keys::extract(key)?.as_bytes()).map_err(raise)?;
        Ok(Self { algorithm, core })
    }

    /// Seals ``plaintext`` under a fresh random nonce: ``nonce || ciphertext || tag``.
    #[pyo3(signature = (plaintext, aad = None), text_signature = "($self, plaintext, aad=b'')")]
    fn seal<'py>(
        &self,
        plaintext: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::seal(&self.core, plaintext, aad)
    }

    /// Opens a sealed message. Raises AuthenticationError where key, aad or message are not what was sealed.
    #[pyo3(signature = (sealed, aad = None), text_signature = "($self, sealed, aad=b'')")]
    fn open<'py>(
        &self,
        sealed: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::open(&self.core, sealed, aad)
    }

    /// Seals into the start of ``out`` and returns the number of bytes written, as ``sealane.Aead.seal_into``
    /// does.
    #[pyo3(signature = (plaintext, out, aad = None), text_signature = "($self, plaintext, out, aad=b'')")]
    fn seal_into(
        &self,
        plaintext: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        sealer::seal_into(&self.core, plaintext, out, aad)
    }

    /// Opens into the start of ``out`` and returns the number of bytes written, as ``sealane.Aead.open_into``
    /// does.
    #[pyo3(signature = (sealed, out, aad = None), text_signature = "($self, sealed, out, aad=b'')")]
    fn open_into(
        &self,
        sealed: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        sealer::open_into(&self.core, sealed, out, aad)
    }

    /// Encrypts ``data`` under the caller's nonce: ``ciphertext || tag``. ``aad`` may be None.
    #[pyo3(signature = (nonce, data, aad = None), text_signature = "($self, nonce, data, aad=None)")]
    fn encrypt<'py>(
        &self,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::encrypt(&self.core, nonce, data, aad)
    }

    /// Encrypts into the start of ``out`` and returns the number of bytes written, as
    /// ``sealane.Aead.encrypt_into``.
    fn encrypt_into(
        &self,
        nonce: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        sealer::encrypt_into(&self.core, nonce, data, aad, out)
    }

    /// Decrypts ``data`` (``ciphertext || tag``) under the caller's nonce. Raises AuthenticationError.
    #[pyo3(signature = (nonce, data, aad = None), text_signature = "($self, nonce, data, aad=None)")]
    fn decrypt<'py>(
        &self,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::decrypt(&self.core, nonce, data, aad)
    }

    /// Decrypts into the start of ``out`` and returns the number of bytes written, as
    /// ``sealane.Aead.decrypt_into``.
    fn decrypt_into(
        &self,
        nonce: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        sealer::decrypt_into(&self.core, nonce, data, aad, out)
    }

    /// What is computed: the name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// Which build computes it.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    /// Bytes of a key.
    #[getter]
    fn key_len(&self) -> usize {
        self.core.size().key_len()
    }

    /// Bytes of a nonce.
    #[getter]
    fn nonce_len(&self) -> usize {
        self.core.nonce_len()
    }

    /// Bytes of a tag.
    #[getter]
    fn tag_len(&self) -> usize {
        self.core.tag_len()
    }

    /// Bytes by which a sealed message is longer than its plaintext: nonce and tag.
    #[getter]
    fn overhead(&self) -> usize {
        self.core.overhead()
    }

    /// The longest plaintext, in bytes.
    #[getter]
    fn max_plaintext_len(&self) -> u64 {
        self.core.max_plaintext_len()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.hazmat.Aead {} ({})>", self.algorithm, self.core.variant())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

/// Their names.
const NAMES: [&str; 10] = [
    "speck32-64-poly1305",
    "speck48-72-poly1305",
    "speck48-96-poly1305",
    "speck64-96-poly1305",
    "speck64-128-poly1305",
    "speck96-96-poly1305",
    "speck96-144-poly1305",
    "speck128-128-poly1305",
    "speck128-192-poly1305",
    "speck128-256-poly1305",
];

fn find(name: &str) -> PyResult<(&'static str, SpeckSize)> {
    let size = |known: &str| known.strip_suffix("-poly1305").and_then(SpeckSize::from_name);
    let known = NAMES.into_iter().find(|known| *known == name);
    known
        .and_then(|known| Some((known, size(known)?)))
        .ok_or_else(|| unknown("algorithm", name, NAMES.into_iter()))
}
