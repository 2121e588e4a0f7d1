//! Secret arguments: passphrases, and keys as text.

use crate::prelude::*;
use sealane::keys::parse_passphrase;

/// Returns the text of a `str` or a UTF-8 buffer, in memory that is wiped.
///
/// `name` is the argument's name. Error messages contain it, never the text.
///
/// # Errors
/// Raises `TypeError` for another type, and `ValueError` for text that is not Unicode.
pub(crate) fn text(name: &str, text: &Any<'_>) -> PyResult<Zeroizing<String>> {
    if let Ok(text) = text.cast::<PyString>() {
        // Replace Python's error: it contains the text.
        return match text.to_str() {
            Ok(text) => Ok(Zeroizing::new(text.to_owned())),
            Err(_) => {
                Err(PyValueError::new_err(format!("{name} is not Unicode: it has half a surrogate pair")))
            }
        };
    }
    let mut slot = Slot::new(text.py());
    let Ok(bytes) = slot.read(text) else {
        let got = text.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} must be str or bytes in UTF-8, not {got}")));
    };
    match std::str::from_utf8(bytes.bytes()) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(PyValueError::new_err(format!("{name} is not Unicode: its bytes are not UTF-8"))),
    }
}

/// Returns the passphrase in an optional argument, or `None`.
pub(crate) fn passphrase(text: Option<&Any<'_>>) -> PyResult<Option<Zeroizing<String>>> {
    let Some(text) = text.map(|text| self::text("a passphrase", text)).transpose()? else { return Ok(None) };
    parse_passphrase(text.as_bytes()).map_err(PyValueError::new_err)?;
    Ok(Some(text))
}

/// Returns the bytes of any buffer, or of a `str` in UTF-8.
///
/// # Errors
/// Raises the errors of [`text`].
pub(crate) fn bytes(name: &str, object: &Any<'_>) -> PyResult<Zeroizing<Vec<u8>>> {
    let mut slot = Slot::new(object.py());
    match slot.read(object) {
        Ok(bytes) => Ok(Zeroizing::new(bytes.bytes().to_vec())),
        Err(_) => text(name, object).map(|mut text| Zeroizing::new(std::mem::take(&mut *text).into_bytes())),
    }
}
