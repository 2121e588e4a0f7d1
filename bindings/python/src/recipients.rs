//! Converts lists of recipients and identities from Python.

use crate::error::raise_about_key;
use crate::keys::{Key, PublicKey};
use crate::plugins;
use crate::prelude::*;
use crate::{arguments, secrets};
use sealane::age;
use sealane::keys::{self, load_identities};

/// Converts a list of `str` and `PublicKey` to recipients, and adds the files they were loaded from
/// to `files`.
///
/// # Errors
/// Raises `TypeError` for a key outside a list and for an entry of another type or kind, and
/// `FormatError` for text that is not a recipient.
pub(crate) fn recipients(
    list: Option<&Any<'_>>,
    files: &mut Vec<PathBuf>,
) -> PyResult<Option<Vec<Recipient>>> {
    let Some(list) = list else { return Ok(None) };
    let mut all: Vec<Recipient> = Vec::new();
    for one in entries("recipients", "[\"age1...\"]", list)? {
        let one = one?;
        if let Ok(key) = one.cast::<PublicKey>() {
            files.extend(key.get().file.clone());
            match &key.get().public {
                keys::PublicKey::Age(recipient) => all.push(recipient.clone()),
                _ => return Err(wrong_kind("a recipient", &key.get().kind_name())),
            }
        } else if let Ok(text) = one.cast::<PyString>() {
            // A line from a file often ends in a line feed.
            all.push(text.to_str()?.trim().parse().map_err(raise)?);
        } else if let Ok(key) = one.cast::<Key>() {
            if let SecretKey::Age(identity) = &key.get().secret
                && identity.plugin().is_some()
            {
                files.extend(key.get().file.clone());
                all.push(identity.recipient());
                continue;
            }
            return Err(key.get().instead_of("a public key as recipient", "; give key.public"));
        } else {
            return Err(PyTypeError::new_err(format!(
                "a recipient must be str or sealane.keys.PublicKey, not {}",
                one.get_type().name()?
            )));
        }
    }
    Ok(Some(match plugins::enabled() {
        Some(plugins) => all.into_iter().map(|recipient| recipient.with_plugins(&plugins)).collect(),
        None => all,
    }))
}

/// Converts a list of `str`, `Key` and paths to identities, and adds the files they were loaded
/// from to `files`.
///
/// # Errors
/// Raises `TypeError` for a key outside a list and for an entry of another type or kind, and the
/// errors of [`load_identities`] for a text or a file.
pub(crate) fn identities(
    list: Option<&Any<'_>>,
    files: &mut Vec<PathBuf>,
) -> PyResult<Option<Vec<Identity>>> {
    const NAMES_A_FILE: Error = Error::Format(
        "expected an age identity, AGE-SECRET-KEY-1..., found the name of a file; give pathlib.Path",
    );
    const SHOWN: &str = "[\"AGE-SECRET-KEY-1...\"] or [pathlib.Path(...)]";
    let Some(list) = list else { return Ok(None) };
    if is_path(list)? {
        return Err(no_list("identities", SHOWN, list));
    }
    let mut all: Vec<Identity> = Vec::new();
    for one in entries("identities", SHOWN, list)? {
        let one = arguments::resolved(&one?, "identity")?;
        if let Ok(key) = one.cast::<Key>() {
            files.extend(key.get().file.clone());
            match &key.get().secret {
                SecretKey::Age(identity) => all.push(identity.clone()),
                _ => return Err(wrong_kind("an identity", &key.get().kind_name())),
            }
        } else if let Ok(key) = one.cast::<PublicKey>() {
            let advice = "; give the private key of the pair";
            return Err(key.get().instead_of("a private key as identity", advice));
        } else if one.is_instance_of::<PyString>() {
            let text = secrets::text("an identity", &one)?;
            let found = age::parse_identities(&text);
            // The name is not shown: it may be a part of a key.
            let is_file = found.is_err() && Path::new(text.as_str()).is_file();
            let about = |error| if is_file { NAMES_A_FILE } else { error };
            all.extend(found.map_err(|error| raise_about_key(None)(about(error)))?);
        } else if is_path(&one)? {
            let path: PathBuf = one.extract()?;
            let found = interruptible(one.py(), || load_identities(&path, None))?;
            all.extend(found.map_err(raise_about_key(Some(&path)))?);
            files.push(path);
        } else {
            return Err(PyTypeError::new_err(format!(
                "an identity must be sealane.keys.Key, str or os.PathLike, not {}",
                one.get_type().name()?
            )));
        }
    }
    Ok(Some(match plugins::enabled() {
        Some(plugins) => all.into_iter().map(|identity| identity.with_plugins(&plugins)).collect(),
        None => all,
    }))
}

fn entries<'py>(name: &str, shown: &str, list: &Any<'py>) -> PyResult<Bound<'py, pyo3::types::PyIterator>> {
    let single = list.is_instance_of::<PyString>()
        || list.is_instance_of::<PyBytes>()
        || list.is_instance_of::<PyByteArray>();
    match list.try_iter() {
        Ok(entries) if !single => Ok(entries),
        // Python's error does not name the argument.
        _ => Err(no_list(name, shown, list)),
    }
}

/// Refuses a single key, and a `str`: it would be a list of letters.
#[cold]
fn no_list(name: &str, shown: &str, given: &Any<'_>) -> PyErr {
    let got = given.get_type().name().map_or("something else".into(), |name| name.to_string());
    PyTypeError::new_err(format!("{name} must be a list, as in {name}={shown}, not {got}"))
}

#[cold]
fn wrong_kind(what: &str, kind: &str) -> PyErr {
    let symmetric = kind.starts_with("aes-") || kind.starts_with("symmetric-");
    let advice = if symmetric { "as key=" } else { "with sealane.hybrid" };
    PyTypeError::new_err(format!(
        "expected {what}: an age or SSH key, found a key of the kind {kind}; use it {advice}"
    ))
}

/// Returns whether the object is an `os.PathLike`.
fn is_path(object: &Any<'_>) -> PyResult<bool> {
    object.get_type().hasattr("__fspath__")
}
