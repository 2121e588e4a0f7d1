//! Arguments that several classes take: names of algorithms, providers and variants, and tags.

use crate::prelude::*;
use sealane::hazmat::{ByteOrder, SpeckSize, TAG_LEN};
use sealane::{Algorithm, DeterministicAlgorithm, Provider};

/// Returns the algorithm of [`sealane::Aead`] with this Python name.
pub(crate) fn algorithm(name: &str) -> PyResult<Algorithm> {
    Algorithm::from_name(name)
        .ok_or_else(|| unknown("algorithm", name, Algorithm::ALL.iter().map(|a| a.name())))
}

/// Returns the algorithm of [`sealane::DeterministicAead`] with this Python name.
pub(crate) fn deterministic_algorithm(name: &str) -> PyResult<DeterministicAlgorithm> {
    DeterministicAlgorithm::from_name(name)
        .ok_or_else(|| unknown("algorithm", name, DeterministicAlgorithm::ALL.iter().map(|a| a.name())))
}

/// Returns the key length of an algorithm, deterministic or not.
pub(crate) fn key_len(name: &str) -> PyResult<usize> {
    match DeterministicAlgorithm::from_name(name) {
        Some(algorithm) => Ok(algorithm.key_len()),
        None => algorithm(name).map(Algorithm::key_len),
    }
}

/// Returns the provider with this name.
pub(crate) fn provider(name: &str) -> PyResult<Provider> {
    Provider::from_name(name)
        .ok_or_else(|| unknown("provider", name, Provider::all().iter().map(|p| p.name())))
}

/// Returns the Speck size (block and key) with this name.
pub(crate) fn speck_size(name: &str) -> PyResult<SpeckSize> {
    SpeckSize::from_name(name)
        .ok_or_else(|| unknown("variant", name, SpeckSize::ALL.iter().map(|size| size.name())))
}

/// Returns the Speck byte order with this Python name.
pub(crate) fn byte_order(name: &str) -> PyResult<ByteOrder> {
    named("byte order", name, &[("big", ByteOrder::Big), ("little", ByteOrder::Little)])
}

/// Looks up a name in a table of allowed names.
pub(crate) fn named<T: Copy>(what: &str, name: &str, table: &[(&'static str, T)]) -> PyResult<T> {
    let found = table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| unknown(what, name, table.iter().map(|(known, _)| *known)))
}

/// Returns the number of threads, or `None` for the default.
///
/// # Errors
/// Raises `ValueError` if the number is 0.
pub(crate) fn threads(threads: Option<usize>) -> PyResult<Option<NonZeroUsize>> {
    let positive =
        |n| NonZeroUsize::new(n).ok_or_else(|| PyValueError::new_err("threads must be at least 1"));
    threads.map(positive).transpose()
}

/// Returns the 16 bytes of a tag argument.
///
/// # Errors
/// Raises `ValueError` if the length is not 16 bytes.
pub(crate) fn tag(tag: &Any<'_>) -> PyResult<[u8; TAG_LEN]> {
    read!(tag.py(); tag);
    // It fails only if the length is wrong.
    tag.try_into().map_err(|_| raise(Misuse::TagLength { got: tag.len(), want: TAG_LEN }.into()))
}

/// Returns what a reference such as ``"file:key.jwk"`` names, by this function of ``_reference``.
/// Returns other objects unchanged.
pub(crate) fn resolved<'py>(key: &Any<'py>, function: &str) -> PyResult<Any<'py>> {
    if !key.is_instance_of::<PyString>() {
        return Ok(key.clone());
    }
    let references = key.py().import("sealane._reference")?;
    match references.call_method1("is_reference", (key,))?.is_truthy()? {
        true => references.call_method1(function, (key,)),
        false => Ok(key.clone()),
    }
}

/// Returns the `ValueError` for an unknown name; it lists the known ones, and one that differs only
/// in case and separators.
#[cold]
pub(crate) fn unknown(what: &str, name: &str, known: impl Iterator<Item: Into<String>>) -> PyErr {
    let known: Vec<String> = known.map(Into::into).collect();
    let plain = |name: &str| name.replace(|c: char| !c.is_alphanumeric(), "").to_lowercase();
    let near = known.iter().find(|known| plain(known) == plain(name));
    let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
    PyValueError::new_err(format!("unknown {what} {name:?}; known: {}{near}", known.join(", ")))
}

/// Returns an argument with two names, ours and pyca's.
///
/// # Errors
/// `TypeError` if both were given.
#[inline]
pub(crate) fn either<'a, 'py>(
    name: &'static str,
    value: Option<&'a Any<'py>>,
    other_name: &'static str,
    other: Option<&'a Any<'py>>,
) -> PyResult<Option<&'a Any<'py>>> {
    match (value, other) {
        (Some(_), Some(_)) => Err(both_given(name, other_name)),
        (value, other) => Ok(value.or(other)),
    }
}

// Inlined, it would write the names to the stack on every call.
#[cold]
#[inline(never)]
fn both_given(name: &'static str, other_name: &'static str) -> PyErr {
    PyTypeError::new_err(format!(
        "{name} and {other_name} are two names of one argument; expected one of them, found both"
    ))
}

#[cold]
pub(crate) fn no_output() -> PyErr {
    PyTypeError::new_err("the output buffer is missing: give out, or buf")
}
