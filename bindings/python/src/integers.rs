//! Integer arguments: converts unbounded Python integers to fixed sizes.

use crate::prelude::*;
use pyo3::exceptions::PyOverflowError;

/// Converts a Python integer to a byte count or position.
///
/// # Errors
/// Raises `TypeError` for a non-integer, `ValueError` for a negative one, and `LimitExceededError`
/// from 2^64 on.
pub(crate) fn byte_count(value: &Any<'_>) -> PyResult<u64> {
    let (negative, above) =
        ("a number of bytes must not be negative", "a number of bytes must be below 2^64");
    value.extract().map_err(|error| outside(value, error, negative, above))
}

/// Returns the exception for an integer that is out of range.
#[cold]
fn outside(value: &Any<'_>, error: PyErr, negative: &'static str, above: &'static str) -> PyErr {
    match value.lt(0) {
        Ok(true) => PyValueError::new_err(negative),
        Ok(false) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            raise(Error::LimitExceeded(above))
        }
        _ => error,
    }
}

/// Converts a Python integer to the length of an object in memory.
///
/// # Errors
/// Raises what [`byte_count`] raises, and `LimitExceededError` if the value exceeds the address
/// space.
pub(crate) fn memory_len(value: &Any<'_>) -> PyResult<usize> {
    let fits = |n: u64| usize::try_from(n).ok().filter(|&n| isize::try_from(n).is_ok());
    fits(byte_count(value)?)
        .ok_or_else(|| raise(Error::LimitExceeded("the length exceeds the address space of this machine")))
}

/// Converts a Python integer to the length of the used part of a buffer.
///
/// A number beyond the address space becomes the largest one, too long for any buffer.
///
/// # Errors
/// Raises `TypeError` for a non-integer, and `ValueError` for a negative one.
pub(crate) fn buffer_len(value: &Any<'_>) -> PyResult<usize> {
    value.extract::<usize>().or_else(|error| match value.lt(0) {
        Ok(true) => Err(PyValueError::new_err("a length must not be negative")),
        Ok(false) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(usize::MAX),
        _ => Err(error),
    })
}

/// Converts the `block_index` that REncrypt authenticates with a message.
///
/// # Errors
/// Raises `TypeError` for a non-integer, and `ValueError` if it does not fit in 64 bits.
pub(crate) fn block_index(value: &Any<'_>) -> PyResult<u64> {
    value.extract::<u64>().map_err(|error| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyValueError::new_err("block_index must be from 0 to 2^64 - 1"),
        false => error,
    })
}

/// Converts a Python integer to ChaCha20's 32-bit block counter.
///
/// # Errors
/// Raises `TypeError` for a non-integer, `ValueError` for a negative one, and `LimitExceededError`
/// from 2^32 on.
pub(crate) fn block_counter(value: &Any<'_>) -> PyResult<u32> {
    let (negative, above) = ("a counter must not be negative", "a counter must be below 2^32");
    value.extract().map_err(|error| outside(value, error, negative, above))
}
