//! `sealane.keys`: symmetric keys, made, kept and loaded.

use crate::buffer::Slot;
use crate::error::{raise, raise_about};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::keys::{Existing, Secret};
use std::path::PathBuf;

/// The kinds of key and their lengths in bytes.
const KINDS: [(&str, usize); 2] = [("aes-128", 16), ("aes-256", 32)];

/// A symmetric key. Wiped when dropped; never shown, never pickled. ``bytes(key)`` is the secret itself.
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct Key(sealane::Key);

#[pymethods]
impl Key {
    /// Writes the key to a new file that only its owner can read, as a JSON Web Key (RFC 7517).
    ///
    /// Raises FileExistsError where ``path`` exists: a key that is written over takes its files along.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let key = Secret::Symmetric(self.0.clone());
        py.detach(|| key.save(&path, None, Existing::Refuse)).map_err(|e| raise_about(&path, e))
    }

    fn __bytes__<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.0.as_bytes())
    }

    fn __repr__(&self) -> String {
        format!("<sealane.keys.Key of {} bytes>", self.0.as_bytes().len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(never_pickled())
    }
}

/// A fresh key of the kind "aes-128" or "aes-256", from the operating system. Raises ValueError for another kind.
#[pyfunction]
pub(crate) fn generate(kind: &str) -> PyResult<Key> {
    let found = KINDS.iter().find(|(name, _)| *name == kind);
    let (_, len) = found.ok_or_else(|| {
        PyValueError::new_err(format!(
            "unknown kind of key {kind:?}; known: {}",
            KINDS.map(|k| k.0).join(", ")
        ))
    })?;
    Ok(Key(sealane::Key::generate(*len).map_err(raise)?))
}

/// The key in a file that ``Key.save`` or ``sealane keygen`` wrote. Raises OSError, FormatError.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf) -> PyResult<Key> {
    let loaded = py.detach(|| Secret::load(&path, None).and_then(Secret::into_symmetric));
    loaded.map(Key).map_err(|e| raise_about(&path, e))
}

/// A copy of the secret in a [`Key`] or in any buffer. A `str` is refused: it is more likely a password than a key.
pub(crate) fn extract(key: &Bound<'_, PyAny>) -> PyResult<sealane::Key> {
    match key.cast::<Key>() {
        Ok(key) => Ok(key.get().0.clone()),
        Err(_) => Ok(sealane::Key::from_bytes(Slot::new(key.py()).read(key)?.bytes())),
    }
}

#[cold]
pub(crate) fn never_pickled() -> PyErr {
    PyTypeError::new_err("secrets are never pickled or copied: load the key where it is needed")
}
