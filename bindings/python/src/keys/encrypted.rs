//! Keyrings encrypted by a key service: Tink's encrypted keysets and the services of the Python
//! package.

use super::keyring::Keyring;
use crate::prelude::*;
use crate::secrets;
use sealane::keys::EncryptedKeyring;

/// Returns an independent keyring with the same keys and file.
#[pyfunction]
pub(crate) fn duplicate_keyring(py: Python<'_>, ring: &Bound<'_, Keyring>) -> PyResult<Keyring> {
    Ok(Keyring::new(ring.get().keyring(py)?, ring.get().file.clone()))
}

/// Returns the encrypted keyset, in JSON, for the ciphertext of ``ring.to_bytes()``.
#[pyfunction]
pub(crate) fn encrypted_keyset<'py>(
    ring: &Bound<'py, Keyring>,
    ciphertext: &Any<'py>,
) -> PyResult<Bytes<'py>> {
    let ciphertext = secrets::bytes("a ciphertext", ciphertext)?;
    let found = EncryptedKeyring::new(&ring.get().keyring(ring.py())?, &ciphertext);
    Ok(PyBytes::new(ring.py(), found.to_json().as_bytes()))
}

/// Returns the ciphertext of an encrypted keyset in JSON or the binary format.
///
/// Raises FormatError for other content.
#[pyfunction]
pub(crate) fn keyset_ciphertext<'py>(content: &Any<'py>) -> PyResult<Bytes<'py>> {
    Ok(PyBytes::new(content.py(), parse(content)?.ciphertext()))
}

/// Returns the encrypted keyset in JSON with another ciphertext of the same keys.
///
/// Raises FormatError if the first argument is not an encrypted keyset.
#[pyfunction]
pub(crate) fn replace_keyset_ciphertext<'py>(
    content: &Any<'py>,
    ciphertext: &Any<'py>,
) -> PyResult<Bytes<'py>> {
    let ciphertext = secrets::bytes("a ciphertext", ciphertext)?;
    let found = parse(content)?.with_ciphertext(&ciphertext);
    Ok(PyBytes::new(content.py(), found.to_json().as_bytes()))
}

fn parse(content: &Any<'_>) -> PyResult<EncryptedKeyring> {
    // It may be a cleartext keyset named by mistake, so treat it as a secret.
    EncryptedKeyring::parse(&secrets::bytes("an encrypted keyset", content)?).map_err(raise)
}

/// Returns the cleartext keyset behind a reference to a key service, for the program.
pub(crate) fn keyset_of_service(reference: &str) -> Result<Zeroizing<Vec<u8>>> {
    Python::attach(|py| {
        let find = py.import("sealane._reference").and_then(|module| module.getattr("keyset"));
        let found = find.and_then(|find| find.call1((reference,)));
        let content = found.and_then(|found| secrets::bytes("a keyset", &found));
        content.map_err(|error| {
            let text = error.value(py).to_string();
            // Operating-system exceptions contain only the path of the keyset.
            let shown =
                Reference::parse(reference.as_ref()).map_or_else(|_| String::new(), |r| r.to_string());
            let named = text.contains(shown.split('#').next().unwrap_or(&shown));
            Error::KeyService(if named { text } else { format!("{shown}: {text}") })
        })
    })
}
