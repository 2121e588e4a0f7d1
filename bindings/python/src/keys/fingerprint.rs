//! Fingerprints that pin keys, and the key files of datasets. Their cleartext never reaches Python,
//! which cannot wipe it.

use super::classes::Key;
use super::keyring::Keyring;
use crate::prelude::*;
use crate::recipients;
use pyo3::exceptions::PyUserWarning;
use sealane::error::escaped;
use sealane::keys::{self, Kind, LoadOptions, Prefix};
use std::ffi::CString;

/// What has a fingerprint.
#[derive(FromPyObject)]
pub(crate) enum Pinnable<'py> {
    Key(Bound<'py, Key>),
    Keyring(Bound<'py, Keyring>),
    /// The fingerprint of a key of another process.
    Fingerprint(String),
}

impl Pinnable<'_> {
    fn fingerprint(&self, py: Python<'_>) -> PyResult<Fingerprint> {
        match self {
            Self::Key(key) => key.get().fingerprint(),
            Self::Fingerprint(text) => text.parse().map_err(raise),
            Self::Keyring(ring) => {
                ring.get().keyring(py).and_then(|ring| Fingerprint::of_keyring(&ring).map_err(raise))
            }
        }
    }
}

/// Splits a reference into the part before its fingerprint, and the fingerprint or None.
///
/// Raises ValueError for a malformed fingerprint.
#[pyfunction]
pub(crate) fn split_reference(reference: &str) -> PyResult<(&str, Option<String>)> {
    let (rest, fingerprint) = Fingerprint::split(reference).map_err(raise)?;
    Ok((rest, fingerprint.map(|found| found.to_string())))
}

/// Checks the key found at ``place``: by ``fingerprint``, or else by the user's file of known keys.
/// Without a place, only by the fingerprint.
///
/// Raises AuthenticationError for another key. Warns if neither check is possible.
#[pyfunction]
#[pyo3(signature = (key, place, fingerprint))]
pub(crate) fn check_key(
    py: Python<'_>,
    key: Pinnable<'_>,
    place: Option<&str>,
    fingerprint: Option<&str>,
) -> PyResult<()> {
    let (place, expected) = match (place, fingerprint) {
        (None, None) => return Ok(()),
        (place, text) => (place.unwrap_or_default(), text.map(str::parse).transpose().map_err(raise)?),
    };
    let found = key.fingerprint(py)?;
    warn(py, interruptible(py, || keys::check_key(place, expected.as_ref(), &found))?)
}

/// Accepts a key that this user is about to write, beside the known one.
#[pyfunction]
pub(crate) fn accept_key(py: Python<'_>, place: &str, fingerprint: &str) -> PyResult<()> {
    let found = fingerprint.parse().map_err(raise)?;
    interruptible(py, || keys::accept_key(place, &found))?.map_err(raise)
}

/// Remembers a key that this user made in the file of known keys.
#[pyfunction]
pub(crate) fn remember_key(py: Python<'_>, place: &str, fingerprint: &str) -> PyResult<()> {
    let found = fingerprint.parse().map_err(raise)?;
    interruptible(py, || keys::remember_key(place, &found))
}

pub(crate) fn warn(py: Python<'_>, warning: Result<Option<String>>) -> PyResult<()> {
    let Some(text) = warning.map_err(raise)? else { return Ok(()) };
    // Escaped, so the text has no NUL byte.
    let text = CString::new(escaped(&text)).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}

/// Generates a dataset key. Returns its age file for ``recipients``, and its fingerprint.
#[pyfunction]
pub(crate) fn new_dataset_key<'py>(kind: &str, recipients: &Any<'py>) -> PyResult<(Bytes<'py>, String)> {
    let (py, recipients) = (recipients.py(), all_recipients(recipients)?);
    let made = interruptible(py, || {
        let key = match kind {
            "keyring" => {
                let key_type = "aes-256-gcm".parse()?;
                KeyFile::Keyring(keys::Keyring::generate(key_type, Prefix::default_for(&key_type))?)
            }
            kind => KeyFile::Secret(SecretKey::generate(kind.parse::<Kind>()?)?),
        };
        Ok((encrypted(&key, &recipients)?, Fingerprint::of(&key)?))
    })?;
    let (file, fingerprint) = made.map_err(raise)?;
    Ok((PyBytes::new(py, file.as_bytes()), fingerprint.to_string()))
}

/// Encrypts the dataset key in an age file for other recipients. Returns the new file, and the
/// fingerprint. The key is checked as by ``check_key``.
#[pyfunction]
pub(crate) fn rewrap_dataset_key<'py>(
    py: Python<'py>,
    content: &Bytes<'py>,
    identity: &Any<'py>,
    recipients: &Any<'py>,
    place: Option<&str>,
    fingerprint: Option<&str>,
) -> PyResult<(Bytes<'py>, String)> {
    // Before the key is decrypted.
    let recipients = all_recipients(recipients)?;
    let identities: Vec<Identity> =
        recipients::identities(Some(identity), &mut Vec::new())?.unwrap_or_default();
    let expected: Option<Fingerprint> = fingerprint.map(str::parse).transpose().map_err(raise)?;
    let content = content.as_bytes();
    let made = interruptible(py, || {
        let options = LoadOptions { identities: Some(&identities), ..LoadOptions::default() };
        let key = KeyFile::parse(content, options)?;
        let found = Fingerprint::of(&key)?;
        let warning = match (place, expected) {
            (None, None) => None,
            (place, expected) => keys::check_key(place.unwrap_or_default(), expected.as_ref(), &found)?,
        };
        Ok((encrypted(&key, &recipients)?, found, warning))
    })?;
    let (file, fingerprint, warning) = made.map_err(raise)?;
    warn(py, Ok(warning))?;
    Ok((PyBytes::new(py, file.as_bytes()), fingerprint.to_string()))
}

/// Returns the cleartext keyset in Tink's binary format. The caller wipes it.
#[pyfunction]
pub(crate) fn cleartext_keyset<'py>(ring: &Bound<'py, Keyring>) -> PyResult<Bound<'py, PyByteArray>> {
    Ok(PyByteArray::new(ring.py(), &ring.get().keyring(ring.py())?.to_bytes()))
}

fn all_recipients(list: &Any<'_>) -> PyResult<Vec<Recipient>> {
    match recipients::recipients(Some(list), &mut Vec::new())?.unwrap_or_default() {
        none if none.is_empty() => {
            Err(PyValueError::new_err("recipients is empty: nothing could decrypt the key"))
        }
        recipients => Ok(recipients),
    }
}

fn encrypted(key: &KeyFile, recipients: &[Recipient]) -> Result<Zeroizing<String>> {
    match key {
        KeyFile::Secret(key) => key.to_text_for(recipients),
        KeyFile::Keyring(ring) => ring.to_text_for(recipients),
        _ => Err(Error::Format("expected a symmetric key or a keyring, found a public key")),
    }
}
