//! `EncryptWith` and `DecryptWith`: the keyword arguments that all file operations share.

use crate::error::raise_name;
use crate::keys;
use crate::keys::{Key, Keyring};
use crate::prelude::*;
use crate::{arguments, recipients, secrets};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::types::PyCFunction;
use sealane::age::Armor;
use sealane::file::{self, DecryptParams, EncryptParams, FileKey, Format, NameKey};

/// Keys and format for encrypting files: exactly one of ``key``, ``recipients`` and ``passphrase``.
/// The files they were loaded from are never overwritten.
///
/// Its ``repr`` shows no secret. It cannot be pickled: the pickle would contain the secret.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct EncryptWith(pub(crate) file::EncryptWith);

#[pymethods]
impl EncryptWith {
    #[new]
    #[pyo3(signature = (
        key = None, recipients = None, passphrase = None, context = Vec::new(), format = None, armor = false
    ))]
    fn new(
        key: Option<&Any<'_>>,
        recipients: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        #[pyo3(from_py_with = copy)] context: Vec<u8>,
        format: Option<&str>,
        armor: bool,
    ) -> PyResult<Self> {
        let key = key.map(|key| arguments::resolved(key, "resolve")).transpose()?;
        let mut inputs = Vec::from_iter(key.as_ref().and_then(key_file));
        let passphrase = secrets::passphrase(passphrase)?;
        let params = EncryptParams {
            key: key.as_ref().map(file_key).transpose()?,
            recipients: recipients::recipients(recipients, &mut inputs)?,
            passphrase: passphrase.as_ref().map(|text| text.as_str()),
            context: &context,
            format: named(format)?,
            armor: if armor { Armor::Ascii } else { Armor::Binary },
            inputs: &inputs,
        };
        params.build().map(Self).map_err(raise)
    }
}

/// Keys and format for decrypting files: exactly one of ``key``, ``identities`` and ``passphrase``.
/// The files they were loaded from are never overwritten.
///
/// Its ``repr`` shows no secret. It cannot be pickled: the pickle would contain the secret.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct DecryptWith(pub(crate) file::DecryptWith);

#[pymethods]
impl DecryptWith {
    #[new]
    #[pyo3(signature = (
        key = None, identities = None, passphrase = None, context = Vec::new(), format = None,
        max_work_factor = None
    ))]
    pub(crate) fn new(
        key: Option<&Any<'_>>,
        identities: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        #[pyo3(from_py_with = copy)] context: Vec<u8>,
        format: Option<&str>,
        max_work_factor: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        let key = key.map(|key| arguments::resolved(key, "resolve")).transpose()?;
        let mut inputs = Vec::from_iter(key.as_ref().and_then(key_file));
        let passphrase = secrets::passphrase(passphrase)?;
        let params = DecryptParams {
            key: key.as_ref().map(file_key).transpose()?,
            identities: recipients::identities(identities, &mut inputs)?,
            passphrase: passphrase.as_ref().map(|text| text.as_str()),
            context: &context,
            format: named(format)?,
            max_work_factor: max_work_factor.map(work_factor).transpose()?,
            inputs: &inputs,
        };
        params.build().map(Self).map_err(raise)
    }
}

/// Keys for rewrapping age files: identities or a passphrase to decrypt, and new recipients or a
/// new passphrase. The files they were loaded from are never overwritten.
///
/// Its ``repr`` shows no secret. It cannot be pickled: the pickle would contain the secret.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct RewrapWith(pub(crate) file::Rewrap);

#[pymethods]
impl RewrapWith {
    #[new]
    #[pyo3(signature = (
        identities = None, passphrase = None, max_work_factor = None, recipients = None, new_passphrase = None
    ))]
    fn new(
        identities: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        max_work_factor: Option<&Any<'_>>,
        recipients: Option<&Any<'_>>,
        new_passphrase: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        one_of("identities", identities, "passphrase", passphrase)?;
        one_of("recipients", recipients, "new_passphrase", new_passphrase)?;
        let mut inputs = Vec::new();
        let max_work_factor = max_work_factor.map(work_factor).transpose()?;
        let identities = match (secrets::passphrase(passphrase)?, max_work_factor) {
            (Some(text), Some(max)) => vec![Identity::passphrase_with_max_work_factor(&text, max)],
            (Some(text), None) => vec![Identity::passphrase(&text)],
            (None, Some(_)) => return Err(raise(Misuse::WorkFactorNeedsPassphrase.into())),
            (None, None) => recipients::identities(identities, &mut inputs)?.unwrap_or_default(),
        };
        let recipients = match secrets::passphrase(new_passphrase)? {
            Some(text) => vec![Recipient::passphrase(&text).map_err(raise)?],
            None => recipients::recipients(recipients, &mut inputs)?.unwrap_or_default(),
        };
        file::Rewrap::new(identities, recipients, &inputs).map(Self).map_err(raise)
    }

    fn decryption(&self) -> DecryptWith {
        DecryptWith(self.0.decryption())
    }

    /// Returns the new header of a binary age file of ``len`` bytes that begins with ``prefix``,
    /// and the length of the old header. None if the old header is longer than ``prefix``.
    fn new_header<'py>(
        &self,
        py: Python<'py>,
        prefix: &[u8],
        len: u64,
    ) -> PyResult<Option<(Bytes<'py>, u64)>> {
        let found = interruptible(py, || self.0.new_header(prefix, len))?.map_err(raise)?;
        Ok(found.map(|(header, old_len)| (PyBytes::new(py, header.as_bytes()), old_len)))
    }
}

/// Rewraps the age file at a URL for the program; see ``sealane.fs.rewrap``.
pub(crate) fn rewrap_url(from: &str, to: &str, with: &file::Rewrap, cancelled: fn() -> bool) -> Result<()> {
    Python::attach(|py| {
        let progress = PyCFunction::new_closure(py, None, None, move |_, _| match cancelled() {
            true => Err(PyKeyboardInterrupt::new_err(())),
            false => Ok(()),
        });
        let rewrap = py.import("sealane.fs._rewrap").and_then(|module| module.getattr("rewrap_with"));
        let keys = Py::new(py, RewrapWith(with.clone()));
        let done = rewrap.and_then(|rewrap| rewrap.call1((from, to, keys?, progress?)));
        done.map(drop).map_err(|error| {
            let is = |name| py.import("sealane").and_then(|module| module.getattr(name));
            let matches = |name| is(name).is_ok_and(|class| error.is_instance(py, &class));
            match () {
                () if error.is_instance_of::<PyKeyboardInterrupt>(py) => Error::Cancelled,
                () if matches("NoMatchingKeyError") => Error::NoMatchingKey,
                () if matches("TruncatedError") => Error::Truncated,
                () => Error::Io { path: None, source: std::io::Error::other(error.value(py).to_string()) },
            }
        })
    })
}

/// Checks that exactly one of two arguments is given.
fn one_of(a: &str, is_a: Option<&Any<'_>>, b: &str, is_b: Option<&Any<'_>>) -> PyResult<()> {
    if is_a.is_none() && is_b.is_none() {
        return Err(PyTypeError::new_err(format!("give {a} or {b}; found neither")));
    }
    keys::at_most_one(a, is_a, b, is_b)
}

/// Converts a key object from ``sealane.keys``, or key bytes, to a file key.
fn file_key(key: &Any<'_>) -> PyResult<FileKey> {
    match key.cast::<Keyring>() {
        Ok(ring) => Ok(ring.get().keyring(key.py())?.into()),
        Err(_) => keys::extract(key).map(FileKey::from),
    }
}

/// Converts a key object from ``sealane.keys``, or 64 bytes, to a name key.
pub(crate) fn name_key(key: &Any<'_>) -> PyResult<NameKey> {
    let key = arguments::resolved(key, "resolve")?;
    let made = match key.cast::<Keyring>() {
        Ok(ring) => NameKey::keyring(&ring.get().keyring(key.py())?),
        Err(_) => NameKey::new(&keys::extract(&key)?),
    };
    made.map_err(raise)
}

/// Returns the file a key object was loaded from, if any.
pub(crate) fn key_file(key: &Any<'_>) -> Option<PathBuf> {
    match (key.cast::<Key>(), key.cast::<Keyring>()) {
        (Ok(key), _) => key.get().file.clone(),
        (_, Ok(ring)) => ring.get().file.clone(),
        _ => None,
    }
}

pub(crate) fn named(format: Option<&str>) -> PyResult<Option<Format>> {
    format.map(|name| name.parse().map_err(raise_name)).transpose()
}

/// Converts the base-2 logarithm of scrypt's N, which age calls the work factor.
fn work_factor(log_n: &Any<'_>) -> PyResult<u8> {
    let out_of_range = || PyValueError::new_err("max_work_factor must be 1 to 30: it is a base-2 logarithm");
    let overflow = |error: &PyErr| error.is_instance_of::<pyo3::exceptions::PyOverflowError>(log_n.py());
    let log_n: i64 = log_n.extract().map_err(|e: PyErr| if overflow(&e) { out_of_range() } else { e })?;
    u8::try_from(log_n).ok().filter(|log_n| (1..=30).contains(log_n)).ok_or_else(out_of_range)
}

pub(crate) fn copy(context: &Any<'_>) -> PyResult<Vec<u8>> {
    Ok(Slot::new(context.py()).read(context)?.bytes().to_vec())
}
