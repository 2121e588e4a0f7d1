//! `sealane.keys.PublicKey`: what others may know.

use super::key::existing;
use crate::error::{raise, raise_about};
use crate::text;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sealane::asymmetric::secp256k1::Encoding;
use sealane::keys::Public;
use std::borrow::Cow;
use std::path::PathBuf;

/// The public side of a key.
///
/// Parameters
/// ----------
/// text : str
///     "age1…", "age1pq1…", "ssh-ed25519 …" or "ssh-rsa …", PEM, or hexadecimal digits of secp256k1: 33, 65 or, as
///     Ethereum has them, 64 bytes, with or without 0x.
///
/// Raises FormatError. ``str(key)`` is such a text again; equal keys are equal and have the same hash.
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct PublicKey(Public);

#[pymethods]
impl PublicKey {
    #[new]
    fn from_text(text: &Bound<'_, PyAny>) -> PyResult<Self> {
        Public::from_text(&text::secret("a public key", text)?).map(Self).map_err(raise)
    }

    /// The key in a file. Raises OSError, FormatError.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Public::load(&path)).map(Self).map_err(|e| raise_about(&path, e))
    }

    /// Writes the key to a new file. Raises FileExistsError unless ``overwrite``.
    #[pyo3(signature = (path, *, overwrite = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        py.detach(|| self.0.save(&path, existing(overwrite))).map_err(|e| raise_about(&path, e))
    }

    /// What kind it is: one of ``sealane.keys.KINDS``, "ssh-ed25519", "ssh-rsa", or "rsa-" and another number of bits.
    #[getter]
    #[pyo3(name = "kind")]
    pub(crate) fn kind_name(&self) -> Cow<'static, str> {
        kind(&self.0)
    }

    /// The point as hexadecimal digits of 65 or 33 bytes. Of secp256k1 only; otherwise TypeError is raised.
    #[pyo3(signature = (compressed = false))]
    fn to_hex<'py>(&self, py: Python<'py>, compressed: bool) -> PyResult<Bound<'py, PyString>> {
        let encoding = if compressed { Encoding::Compressed } else { Encoding::Uncompressed };
        match &self.0 {
            Public::Secp256k1(key) => Ok(super::hex(py, &key.to_bytes(encoding))),
            _ => Err(super::no_hex(&self.kind_name())),
        }
    }

    /// The address that Ethereum derives from the key, with capitals as EIP-55 has them. Of secp256k1 only; otherwise
    /// TypeError is raised.
    #[getter]
    fn ethereum_address(&self) -> PyResult<String> {
        match &self.0 {
            Public::Secp256k1(key) => Ok(key.ethereum_address()),
            _ => Err(super::no_hex(&self.kind_name())),
        }
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.keys.PublicKey {}>", self.kind_name())
    }

    fn __eq__(&self, other: PyRef<'_, Self>) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.0.to_string()).hash()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (py.get_type::<Self>(), (self.0.to_string(),))
    }
}

impl PublicKey {
    pub(crate) fn new(public: Public) -> Self {
        Self(public)
    }

    pub(crate) fn public(&self) -> &Public {
        &self.0
    }
}

pub(super) fn kind(public: &Public) -> Cow<'static, str> {
    match (public.kind(), public) {
        (Some(kind), _) => kind.name().into(),
        (None, Public::Rsa(key)) => format!("rsa-{}", key.bits()).into(),
        // "ssh-rsa AAAA…"
        (None, other) => other.to_string().split(' ').next().unwrap_or_default().to_owned().into(),
    }
}
