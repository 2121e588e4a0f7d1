//! `sealane.keys.TinkKeyset`.

use super::{extract, never_pickled};
use crate::error::{raise, raise_name};
use crate::text;
use pyo3::prelude::*;
use pyo3::types::PyString;
use sealane::file::{Format, Keyset};

/// Keys of Tink's AES-GCM-HKDF streaming: one encrypts, each of them may decrypt. Never shown, never pickled.
///
/// Parameters
/// ----------
/// json_text : str or bytes
///     A keyset in clear, as ``tinkey --out-format json`` and Tink's JSON writers make them.
///
/// Raises FormatError. Give it as ``key=`` to ``sealane.encrypt_file`` and its kin.
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct TinkKeyset(Keyset);

#[pymethods]
impl TinkKeyset {
    #[new]
    fn new(json_text: &Bound<'_, PyAny>) -> PyResult<Self> {
        Keyset::from_json(&text::secret("a keyset", json_text)?).map(Self).map_err(raise)
    }

    /// A keyset of one key, 16 or 32 bytes, for the format "tink-1mb" or "tink-4kb".
    ///
    /// Raises ValueError for another format or length.
    #[staticmethod]
    fn from_key(key: &Bound<'_, PyAny>, format: &str) -> PyResult<Self> {
        let format: Format = format.parse().map_err(raise_name)?;
        format.tink_keyset(&extract(key)?).map(Self).map_err(raise)
    }

    /// The keyset in clear, as Tink reads it: the secret itself.
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
    pub(crate) fn keyset(&self) -> &Keyset {
        &self.0
    }
}
