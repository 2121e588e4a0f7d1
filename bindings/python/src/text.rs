//! Texts that are secret: passphrases, keys as text.

use crate::buffer::Slot;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use zeroize::Zeroizing;

/// The text in a `str`, or in a buffer with UTF-8, in memory that is wiped. `what` it is, for the errors, which never
/// show it.
///
/// # Errors
/// `TypeError` for anything else, `ValueError` for what is not Unicode.
pub(crate) fn secret(what: &str, text: &Bound<'_, PyAny>) -> PyResult<Zeroizing<String>> {
    if let Ok(text) = text.cast::<PyString>() {
        // Python's own error would carry the text along.
        return match text.to_str() {
            Ok(text) => Ok(Zeroizing::new(text.to_owned())),
            Err(_) => {
                Err(PyValueError::new_err(format!("{what} is not Unicode: it has half a surrogate pair")))
            }
        };
    }
    let mut slot = Slot::new(text.py());
    let Ok(bytes) = slot.read(text) else {
        let got = text.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{what} must be str or bytes in UTF-8, not {got}")));
    };
    match std::str::from_utf8(bytes.bytes()) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(PyValueError::new_err(format!("{what} is not Unicode: its bytes are not UTF-8"))),
    }
}

/// The passphrase, where there is one.
pub(crate) fn passphrase(text: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Zeroizing<String>>> {
    text.map(|text| secret("a passphrase", text)).transpose()
}

/// Bytes that are secret, of any kind: those of a buffer, or a text's in UTF-8.
///
/// # Errors
/// As [`secret`].
pub(crate) fn bytes(what: &str, object: &Bound<'_, PyAny>) -> PyResult<Zeroizing<Vec<u8>>> {
    let mut slot = Slot::new(object.py());
    match slot.read(object) {
        Ok(bytes) => Ok(Zeroizing::new(bytes.bytes().to_vec())),
        Err(_) => {
            secret(what, object).map(|mut text| Zeroizing::new(std::mem::take(&mut *text).into_bytes()))
        }
    }
}
