//! What files are locked with, and what opens them: the keywords that all calls on files have in common.

use crate::buffer::Slot;
use crate::error::{raise, raise_name};
use crate::keys::{self, TinkKeyset};
use crate::{people, text};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sealane::age::{Armor, Identity, Recipient};
use sealane::file::{self, Format};

/// What a file is encrypted with. Never shown, never pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct EncryptWith(file::EncryptWith);

#[pymethods]
impl EncryptWith {
    /// Exactly one of ``key``, ``recipients`` and ``passphrase``.
    #[new]
    fn new(
        key: Option<&Bound<'_, PyAny>>,
        recipients: Option<&Bound<'_, PyAny>>,
        passphrase: Option<&Bound<'_, PyAny>>,
        context: &Bound<'_, PyAny>,
        format: Option<&str>,
        armor: bool,
    ) -> PyResult<Self> {
        exactly_one([("key", key), ("recipients", recipients), ("passphrase", passphrase)])?;
        let (context, format) = (copy(context)?, named(format)?);
        if let Some(key) = key {
            if armor {
                return Err(PyValueError::new_err(
                    "armor is for recipients and passphrases: only age files are text",
                ));
            }
            return keyed(key, format, &context, file::EncryptWith::of_key, file::EncryptWith::tink)
                .map(Self);
        }
        plainly_age(format, &context)?;
        let recipients = match (people::recipients(recipients)?, text::passphrase(passphrase)?) {
            (Some(recipients), _) => recipients,
            (None, Some(passphrase)) => vec![Recipient::passphrase(&passphrase).map_err(raise)?],
            (None, None) => Vec::new(),
        };
        Ok(Self(file::EncryptWith::age(&recipients, if armor { Armor::Ascii } else { Armor::Binary })))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

impl EncryptWith {
    pub(crate) fn core(&self) -> &file::EncryptWith {
        &self.0
    }
}

/// What opens an encrypted file. Never shown, never pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct DecryptWith(file::DecryptWith);

#[pymethods]
impl DecryptWith {
    /// Exactly one of ``key``, ``identities`` and ``passphrase``.
    #[new]
    fn new(
        key: Option<&Bound<'_, PyAny>>,
        identities: Option<&Bound<'_, PyAny>>,
        passphrase: Option<&Bound<'_, PyAny>>,
        context: &Bound<'_, PyAny>,
        format: Option<&str>,
        max_work_factor: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        exactly_one([("key", key), ("identities", identities), ("passphrase", passphrase)])?;
        let (context, format) = (copy(context)?, named(format)?);
        let most = max_work_factor.map(work).transpose()?;
        if most.is_some() && passphrase.is_none() {
            return Err(PyValueError::new_err("max_work_factor is for passphrases: nothing else takes work"));
        }
        if let Some(key) = key {
            return keyed(key, format, &context, file::DecryptWith::of_key, file::DecryptWith::tink)
                .map(Self);
        }
        plainly_age(format, &context)?;
        let identities = match (people::identities(identities)?, text::passphrase(passphrase)?, most) {
            (Some(identities), ..) => identities,
            (None, Some(text), Some(most)) => vec![Identity::passphrase_with_max_work_factor(&text, most)],
            (None, Some(text), None) => vec![Identity::passphrase(&text)],
            (None, None, _) => Vec::new(),
        };
        if identities.is_empty() {
            return Err(PyValueError::new_err("there is no identity: nothing could open the file"));
        }
        Ok(Self(file::DecryptWith::age(&identities)))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

impl DecryptWith {
    pub(crate) fn core(&self) -> &file::DecryptWith {
        &self.0
    }
}

fn exactly_one(given: [(&str, Option<&Bound<'_, PyAny>>); 3]) -> PyResult<()> {
    let [a, b, c] = given.map(|(name, _)| name);
    let found: Vec<_> = given.iter().filter(|(_, value)| value.is_some()).map(|(name, _)| *name).collect();
    let said = match &found[..] {
        [_] => return Ok(()),
        [] => "none is given".to_owned(),
        several => format!("given are {}", several.join(" and ")),
    };
    Err(PyTypeError::new_err(format!("exactly one of {a}, {b} and {c} is needed: {said}")))
}

/// `format` as `key` has it, from bytes or from a keyset.
fn keyed<L>(
    key: &Bound<'_, PyAny>,
    format: Option<Format>,
    context: &[u8],
    plain: fn(&sealane::Key, Format, &[u8]) -> Result<L, sealane::Error>,
    tink: fn(&file::Keyset, &[u8]) -> L,
) -> PyResult<L> {
    match (key.cast::<TinkKeyset>(), format) {
        (_, Some(Format::Age)) => {
            Err(PyValueError::new_err("age files have no key: give recipients, identities or a passphrase"))
        }
        (Ok(keyset), None) => Ok(tink(keyset.get().keyset(), context)),
        (Ok(_), Some(_)) => Err(PyValueError::new_err("a keyset says its format itself: leave out format")),
        (Err(_), format) => {
            plain(&keys::extract(key)?, format.unwrap_or(Format::Chunked), context).map_err(raise)
        }
    }
}

/// With people and passphrases there is but one format, and it has no context.
fn plainly_age(format: Option<Format>, context: &[u8]) -> PyResult<()> {
    match format {
        None | Some(Format::Age) if context.is_empty() => Ok(()),
        None | Some(Format::Age) => Err(PyValueError::new_err("age files have no context: it goes with key")),
        Some(other) => Err(PyValueError::new_err(format!("the format {} needs a key", other.name()))),
    }
}

pub(crate) fn named(format: Option<&str>) -> PyResult<Option<Format>> {
    format.map(|name| name.parse().map_err(raise_name)).transpose()
}

/// The base-2 logarithm of scrypt's N.
fn work(most: &Bound<'_, PyAny>) -> PyResult<u8> {
    let wrong = || PyValueError::new_err("max_work_factor must be 1 to 30: it is a base-2 logarithm");
    let most: i64 = most.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(most.py()) { wrong() } else { error }
    })?;
    u8::try_from(most).ok().filter(|most| (1..=30).contains(most)).ok_or_else(wrong)
}

fn copy(context: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(Slot::new(context.py()).read(context)?.bytes().to_vec())
}
