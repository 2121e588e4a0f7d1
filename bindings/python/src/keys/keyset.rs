//! `sealane.keys.TinkKeyset`.

use super::classes::{extract, never_pickled};
use crate::error::{raise, raise_name};
use crate::secrets;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sealane::file::{Format, Keyset};
use std::path::PathBuf;

/// A Tink keyset of AES-GCM-HKDF streaming keys: the primary key encrypts, and each enabled key decrypts. It is never
/// shown or pickled.
///
/// Parameters
/// ----------
/// json_text : str or bytes
///     A cleartext keyset, as ``tinkey --out-format json`` and the JSON writers of Tink make it.
///
/// Raises FormatError. Pass it as ``key=``, for example to ``sealane.encrypt_file``.
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct TinkKeyset(Keyset, Option<PathBuf>);

#[pymethods]
impl TinkKeyset {
    #[new]
    fn from_json(json_text: &Bound<'_, PyAny>) -> PyResult<Self> {
        Keyset::from_json(&secrets::text("a keyset", json_text)?)
            .map(|keyset| Self::new(keyset, None))
            .map_err(raise)
    }

    /// Creates a keyset of one key of 16 or 32 bytes, for the format "tink-1mb" or "tink-4kb".
    ///
    /// Raises ValueError for another format or length.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyAny>, format: &str) -> PyResult<Self> {
        let format: Format = format.parse().map_err(raise_name)?;
        format.tink_keyset(&extract(key)?).map(|keyset| Self::new(keyset, None)).map_err(raise)
    }

    /// The cleartext keyset in JSON, as Tink reads it. It is the secret.
    fn to_json<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.to_json())
    }

    fn __repr__(&self) -> String {
        format!("<sealane.keys.TinkKeyset of {}>", self.0.len())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(never_pickled())
    }
}

impl TinkKeyset {
    /// A keyset, and the file that it was loaded from, which no output may replace.
    pub(super) fn new(keyset: Keyset, file: Option<PathBuf>) -> Self {
        Self(keyset, file)
    }

    /// Returns the file that the keyset was loaded from, if any.
    pub(crate) fn file(&self) -> Option<&PathBuf> {
        self.1.as_ref()
    }

    pub(crate) fn keyset(&self) -> &Keyset {
        &self.0
    }
}
