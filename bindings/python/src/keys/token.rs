//! Keys of PKCS#11 tokens that wrap keyrings.

use crate::prelude::*;
use crate::secrets;
use sealane::keys::TokenKey;

/// Returns a reference to a token's key without the value of ``pin-value``. It need not be
/// well-formed.
#[pyfunction]
pub(crate) fn shown_token_key(reference: &Any<'_>) -> PyResult<String> {
    Ok(TokenKey::without_pin(&secrets::text("a PKCS#11 URI", reference)?))
}

/// Raises ValueError if an attribute of a PKCS#11 URI is unknown, malformed or missing. The message
/// contains no value.
#[pyfunction]
pub(crate) fn check_token_key(uri: &Any<'_>) -> PyResult<()> {
    parse(uri).map(drop)
}

/// Encrypts a keyset with a token's key, bound to the context in the URI.
///
/// Raises KeyNotFoundError, KeyRefusedError or KeyServiceError; the message begins with the URI.
#[pyfunction]
pub(crate) fn token_encrypt<'py>(py: Python<'py>, uri: &Any<'py>, keyset: &Any<'py>) -> PyResult<Bytes<'py>> {
    let (key, keyset) = (parse(uri)?, secrets::bytes("a keyset", keyset)?);
    let ciphertext = py.detach(|| key.encrypt(&keyset)).map_err(raise)?;
    Ok(PyBytes::new(py, &ciphertext))
}

/// Decrypts the result of ``token_encrypt`` for the same context. The caller wipes the result.
///
/// Raises AuthenticationError if the key or context is wrong, and otherwise as ``token_encrypt``.
#[pyfunction]
pub(crate) fn token_decrypt<'py>(uri: &Any<'py>, ciphertext: &Any<'py>) -> PyResult<Bound<'py, PyByteArray>> {
    let py = uri.py();
    let (key, ciphertext) = (parse(uri)?, secrets::bytes("a ciphertext", ciphertext)?);
    let keyset = py.detach(|| key.decrypt(&ciphertext)).map_err(raise)?;
    Ok(PyByteArray::new(py, &keyset))
}

fn parse(uri: &Any<'_>) -> PyResult<TokenKey> {
    // It can contain a PIN, so treat it as a secret.
    TokenKey::parse(&secrets::text("a PKCS#11 URI", uri)?).map_err(raise)
}
