//! `sealane.keys.TinkKeyset`.

use super::classes::{extract, never_pickled};
use crate::error::{raise, raise_name};
use crate::secrets;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sealane::file::{Format, Keyset};

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
pub(crate) struct TinkKeyset(Keyset);

#[pymethods]
impl TinkKeyset {
    #[new]
    fn from_json(json_text: &Bound<'_, PyAny>) -> PyResult<Self> {
        Keyset::from_json(&secrets::text("a keyset", json_text)?).map(Self).map_err(raise)
    }

    /// Creates a keyset of one key of 16 or 32 bytes, for the format "tink-1mb" or "tink-4kb".
    ///
    /// Raises ValueError for another format or length.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyAny>, format: &str) -> PyResult<Self> {
        let format: Format = format.parse().map_err(raise_name)?;
        format.tink_keyset(&extract(key)?).map(Self).map_err(raise)
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
    pub(super) fn new(keyset: Keyset) -> Self {
        Self(keyset)
    }

    pub(crate) fn keyset(&self) -> &Keyset {
        &self.0
    }
}
