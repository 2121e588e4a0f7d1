//! `sealane.keys`: keys of every kind, made, kept and loaded.

mod key;
mod keyset;
mod public;

pub(crate) use key::Key;
pub(crate) use keyset::TinkKeyset;
pub(crate) use public::PublicKey;

use crate::buffer::{Slot, fresh};
use crate::error::{raise, raise_about};
use crate::{people, text};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use sealane::keys::{self, Cost, Kind, Secret};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// The kinds of key that ``generate`` makes.
#[pyfunction]
pub(crate) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Kind::ALL.map(Kind::name))
}

/// A fresh key from the operating system's generator. RSA takes up to seconds.
///
/// Raises ValueError for a kind that is not in ``KINDS``.
#[pyfunction]
pub(crate) fn generate(py: Python<'_>, kind: &str) -> PyResult<Key> {
    let kind: Kind = kind.parse().map_err(raise)?;
    py.detach(|| Secret::generate(kind)).map(Key::new).map_err(raise)
}

/// The key in a file: whatever ``Key.save`` or ``sealane keygen`` wrote, and what the like of OpenSSL wrote.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
/// passphrase : str or bytes, optional
///     Where the file is encrypted with one.
/// identities : list, optional
///     Where it is encrypted for recipients. See ``sealane.decrypt_file``.
///
/// Raises
/// ------
/// NoMatchingKeyError
///     For another passphrase, and where no identity fits.
/// FormatError
///     For what is no private or symmetric key.
/// ValueError
///     Where the file is encrypted and nothing was given that opens it, or the other way round.
/// OSError
#[pyfunction]
#[pyo3(signature = (path, passphrase = None, *, identities = None))]
pub(crate) fn load(
    py: Python<'_>,
    path: PathBuf,
    passphrase: Option<&Bound<'_, PyAny>>,
    identities: Option<&Bound<'_, PyAny>>,
) -> PyResult<Key> {
    one_at_most("passphrase", passphrase, "identities", identities)?;
    let (passphrase, identities) = (text::passphrase(passphrase)?, people::identities(identities)?);
    py.detach(|| match identities {
        Some(identities) => Secret::load_with(&path, &identities),
        None => Secret::load(&path, passphrase.as_ref().map(|text| text.as_str())),
    })
    .map(Key::new)
    .map_err(|e| raise_about(&path, e))
}

/// ``length`` bytes that follow from a passphrase: Argon2id (RFC 9106).
///
/// Parameters
/// ----------
/// passphrase : str or bytes-like
/// salt : bytes-like
///     At least 8 bytes, better 16, random for each passphrase; not secret.
/// length : int
///     From 4 to 65536.
/// memory_kib, passes, lanes : int
///     The cost. Other numbers give another key. At most 4 GiB of memory, and 64 GiB in all passes.
///
/// Raises ValueError for numbers that cannot be, LimitExceededError where there is not so much memory.
#[pyfunction]
#[pyo3(signature = (passphrase, salt, *, length = 32, memory_kib = 65536, passes = 3, lanes = 4))]
pub(crate) fn derive<'py>(
    py: Python<'py>,
    passphrase: &Bound<'py, PyAny>,
    salt: &Bound<'py, PyAny>,
    length: usize,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) -> PyResult<Bound<'py, PyBytes>> {
    let passphrase = text::bytes("a passphrase", passphrase)?;
    let mut slot = Slot::new(py);
    let salt = slot.read(salt)?.bytes();
    let cost = Cost { memory_kib, passes, lanes };
    let derived = py.detach(|| keys::derive(&passphrase, salt, length, cost)).map_err(raise)?;
    fresh(py, derived.len(), |out| {
        out.copy_from_slice(&derived);
        Ok(())
    })
}

/// A copy of the secret in a [`Key`] or in any buffer. A `str` is refused: it is more likely a password than a key.
pub(crate) fn extract(key: &Bound<'_, PyAny>) -> PyResult<sealane::Key> {
    match key.cast::<Key>() {
        Ok(key) => key.get().symmetric().cloned(),
        Err(_) => Ok(sealane::Key::from_bytes(Slot::new(key.py()).read(key)?.bytes())),
    }
}

/// Both would be a contradiction.
fn one_at_most(
    a: &str,
    is_a: Option<&Bound<'_, PyAny>>,
    b: &str,
    is_b: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    match (is_a, is_b) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err(format!("give {a} or {b}, not both"))),
        _ => Ok(()),
    }
}

#[cold]
pub(crate) fn never_pickled() -> PyErr {
    PyTypeError::new_err("secrets are never pickled or copied: load the key where it is needed")
}

/// The digits of a key, secret or not: without tables, and wiped but for those that Python gets.
fn hex<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &Zeroizing::new(base16ct::lower::encode_string(bytes)))
}

#[cold]
fn no_hex(kind: &str) -> PyErr {
    PyTypeError::new_err(format!("only secp256k1 has it, not {kind}"))
}
