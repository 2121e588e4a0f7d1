//! `sealane.keys.Key`: what is secret.

use super::{PublicKey, never_pickled, one_at_most};
use crate::error::{raise, raise_about};
use crate::{people, text};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealane::keys::{Existing, Secret};
use std::borrow::Cow;
use std::path::PathBuf;

/// A private or a symmetric key. Wiped when dropped; never shown, never pickled.
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct Key(Secret);

#[pymethods]
impl Key {
    /// A symmetric key of these bytes: uniformly random ones, never a password.
    #[staticmethod]
    fn from_bytes(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        super::extract(data).map(Secret::Symmetric).map(Self)
    }

    /// The key that is written so: a JSON Web Key, PEM, an age identity, 64 hexadecimal digits of secp256k1, or one
    /// of these in an age file as text.
    ///
    /// Raises FormatError, NoMatchingKeyError for another passphrase, ValueError where one is missing or in vain.
    #[staticmethod]
    #[pyo3(signature = (text, passphrase = None))]
    fn from_text(
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        passphrase: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let (text, passphrase) = (text::secret("a key", text)?, text::passphrase(passphrase)?);
        py.detach(|| Secret::from_text(&text, passphrase.as_ref().map(|text| text.as_str())))
            .map(Self)
            .map_err(raise)
    }

    /// What kind it is: one of ``sealane.keys.KINDS``, or the like of it for a key of another length.
    #[getter]
    #[pyo3(name = "kind")]
    pub(crate) fn kind_name(&self) -> Cow<'static, str> {
        match (self.0.kind(), &self.0) {
            (Some(kind), _) => kind.name().into(),
            (None, Secret::Symmetric(key)) => format!("symmetric-{}", 8 * key.as_bytes().len()).into(),
            (None, secret) => secret.public().map_or("unknown".into(), |public| super::public::kind(&public)),
        }
    }

    /// The public side; None of a symmetric key.
    #[getter]
    fn public(&self) -> Option<PublicKey> {
        self.0.public().map(PublicKey::new)
    }

    /// Writes the key to a new file that only its owner can read.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     Encrypts the file.
    /// recipients : list, optional
    ///     Encrypts the file for these people instead. See ``sealane.encrypt_file``.
    /// overwrite : bool
    ///     Whether to replace a file. Otherwise FileExistsError is raised: a key that is written over takes its files
    ///     along.
    #[pyo3(signature = (path, passphrase = None, *, recipients = None, overwrite = false))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&Bound<'_, PyAny>>,
        recipients: Option<&Bound<'_, PyAny>>,
        overwrite: bool,
    ) -> PyResult<()> {
        one_at_most("passphrase", passphrase, "recipients", recipients)?;
        let (passphrase, recipients) = (text::passphrase(passphrase)?, people::recipients(recipients)?);
        py.detach(|| match recipients {
            Some(recipients) => self.0.save_for(&path, &recipients, existing(overwrite)),
            None => self.0.save(&path, passphrase.as_ref().map(|text| text.as_str()), existing(overwrite)),
        })
        .map_err(|e| raise_about(&path, e))
    }

    /// The key as a file has it, for those who keep it elsewhere: the secret itself, unless ``passphrase`` encrypts it.
    #[pyo3(signature = (passphrase = None))]
    fn to_text<'py>(
        &self,
        py: Python<'py>,
        passphrase: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyString>> {
        let passphrase = text::passphrase(passphrase)?;
        let text = py.detach(|| self.0.to_text(passphrase.as_ref().map(|text| text.as_str())));
        Ok(PyString::new(py, &text.map_err(raise)?))
    }

    /// The secret number as 64 hexadecimal digits. Of secp256k1 only; otherwise TypeError is raised.
    fn to_hex<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        match &self.0 {
            Secret::Secp256k1(key) => Ok(super::hex(py, key.as_bytes())),
            _ => Err(super::no_hex(&self.kind_name())),
        }
    }

    /// The secret itself. Of a symmetric key only; otherwise TypeError is raised.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.symmetric()?.as_bytes()))
    }

    fn __repr__(&self) -> String {
        format!("<sealane.keys.Key {}>", self.kind_name())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(never_pickled())
    }
}

impl Key {
    pub(crate) fn new(secret: Secret) -> Self {
        Self(secret)
    }

    pub(crate) fn secret(&self) -> &Secret {
        &self.0
    }

    /// The symmetric key that it is.
    ///
    /// # Errors
    /// `TypeError`.
    pub(crate) fn symmetric(&self) -> PyResult<&sealane::Key> {
        match &self.0 {
            Secret::Symmetric(key) => Ok(key),
            Secret::Age(_) => Err(PyTypeError::new_err(format!(
                "a symmetric key is needed, not one of the kind {}: that is an identity, for identities=[key]",
                self.kind_name()
            ))),
            _ => Err(PyTypeError::new_err(format!(
                "a symmetric key is needed, not one of the kind {}",
                self.kind_name()
            ))),
        }
    }
}

pub(super) fn existing(overwrite: bool) -> Existing {
    if overwrite { Existing::Replace } else { Existing::Refuse }
}
