//! The tokens of `sealane.compat.fernet`.

use crate::prelude::*;
use crate::secrets;
use sealane::fernet::Token;

/// How far ahead the clock of the token's creator may be, in seconds; as in pyca/cryptography.
const MAX_CLOCK_SKEW: u64 = 60;

/// A key for Fernet tokens. Use ``sealane.compat.fernet.Fernet``, which also reads the clock.
#[pyclass(frozen, subclass, module = "sealane._native")]
pub(crate) struct Fernet {
    core: sealane::fernet::Fernet,
}

#[pymethods]
impl Fernet {
    /// Expands a 32-byte key in URL-safe base64. The key is copied.
    #[new]
    fn new(key: &Any<'_>) -> PyResult<Self> {
        let key = decoded_key(key)?;
        let core = sealane::fernet::Fernet::new(&key).map_err(raise)?;
        Ok(Self { core })
    }

    /// Encrypts ``data`` under a fresh random IV and returns the token with this time.
    fn encrypt_at_time<'py>(&self, data: &Any<'py>, current_time: u64) -> PyResult<Bytes<'py>> {
        token(data, |data, out| self.core.encrypt_into(data, current_time, out))
    }

    /// Encrypts ``data`` under a given IV, for published test vectors.
    fn encrypt_with_iv<'py>(&self, data: &Any<'py>, current_time: u64, iv: &[u8]) -> PyResult<Bytes<'py>> {
        let Ok(iv) = iv.try_into() else {
            return Err(PyValueError::new_err(format!("expected an iv of 16 bytes, found {}", iv.len())));
        };
        token(data, |data, out| self.core.encrypt_with_iv(data, current_time, iv, out))
    }

    /// Returns a token's data, or None if it is not valid. With ``ttl``, it must not have expired
    /// at ``now``.
    #[pyo3(signature = (token, ttl = None, now = None))]
    fn decrypt_or_none<'py>(
        &self,
        token: &Any<'py>,
        ttl: Option<&Any<'py>>,
        now: Option<&Any<'py>>,
    ) -> PyResult<Option<Bytes<'py>>> {
        let py = token.py();
        let Some(token) = parse(token)? else { return Ok(None) };
        let len = token.len();
        let Some((time, data)) = detached(py, len, || Error::authentic(self.core.decrypt(&token)))? else {
            return Ok(None);
        };
        if let (Some(ttl), Some(now)) = (ttl, now) {
            // Python numbers, so that the seconds may be a float and cannot overflow.
            let time = time.into_pyobject(py)?;
            if time.add(ttl)?.lt(now)? || now.add(MAX_CLOCK_SKEW)?.lt(time)? {
                return Ok(None);
            }
        }
        copied(py, &data).map(Some)
    }

    /// Returns a token's time, or None if it is not valid.
    fn time_or_none(&self, token: &Any<'_>) -> PyResult<Option<u64>> {
        let Some(parsed) = parse(token)? else { return Ok(None) };
        detached(token.py(), parsed.len(), || Error::authentic(self.core.time(&parsed)))
    }
}

/// Returns the token that `encrypt` writes.
fn token<'py>(
    data: &Any<'py>,
    encrypt: impl FnOnce(&[u8], &mut [u8]) -> Result<usize> + Send,
) -> PyResult<Bytes<'py>> {
    let (py, data) = (data.py(), bytes("data", data)?);
    fresh(py, sealane::fernet::Fernet::token_len(data.len()), |out| {
        detached(py, data.len(), || encrypt(data, out)).map(drop)
    })
}

/// Decodes a key. Python would leave the bytes in memory, so it only decodes text with characters
/// outside the alphabet, which it skips.
fn decoded_key(key: &Any<'_>) -> PyResult<sealane::Key> {
    let text = secrets::bytes("a Fernet key", key)?;
    if let Some(key) = sealane::fernet::decode_key(&text) {
        return Ok(key);
    }
    match urlsafe_decoded(key)? {
        Some(found) if found.as_bytes().len() == 32 => Ok(sealane::Key::from_bytes(found.as_bytes())),
        _ => Err(PyValueError::new_err("Fernet key must be 32 url-safe base64-encoded bytes.")),
    }
}

/// Decodes as pyca does; returns `None` where it raises ValueError.
fn urlsafe_decoded<'py>(object: &Any<'py>) -> PyResult<Option<Bytes<'py>>> {
    match object.py().import("base64")?.call_method1("urlsafe_b64decode", (object,)) {
        Ok(decoded) => Ok(Some(decoded.cast_into::<PyBytes>()?)),
        // As a cause it would show the key. `binascii.Error` is a ValueError too, and so is the
        // error for non-ASCII text.
        Err(error) if error.is_instance_of::<PyValueError>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Decodes a token, or returns `None` if it is malformed.
fn parse(token: &Any<'_>) -> PyResult<Option<Token>> {
    let py = token.py();
    let text = if let Ok(token) = token.cast::<PyBytes>() {
        token.as_bytes()
    } else if let Ok(text) = token.cast::<PyString>() {
        // A token has no surrogates.
        match text.to_str() {
            Ok(text) => text.as_bytes(),
            Err(_) => return Ok(None),
        }
    } else {
        return Err(wrong_type("token", "bytes or str", token)?);
    };
    match detached(py, text.len(), || Error::authentic(Token::parse(text)))? {
        Some(token) => Ok(Some(token)),
        None => parse_leniently(token),
    }
}

/// Decodes a token as Python does: characters outside the alphabet, such as line breaks, are
/// skipped.
#[cold]
fn parse_leniently(token: &Any<'_>) -> PyResult<Option<Token>> {
    let Some(decoded) = urlsafe_decoded(token)? else { return Ok(None) };
    Error::authentic(Token::from_bytes(decoded.as_bytes().to_vec())).map_err(raise)
}

/// Returns the bytes of an argument that must be a `bytes` object, as in pyca/cryptography.
fn bytes<'a>(name: &str, object: &'a Any<'_>) -> PyResult<&'a [u8]> {
    match object.cast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes()),
        Err(_) => Err(wrong_type(name, "bytes", object)?),
    }
}

#[cold]
fn wrong_type(name: &str, expected: &str, found: &Any<'_>) -> PyResult<PyErr> {
    Ok(PyTypeError::new_err(format!("{name} must be {expected}, found {}", found.get_type().name()?)))
}
