//! Python's integers have no end; ours do.

use crate::error::raise;
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use sealane::Error;

/// A number of bytes.
///
/// # Errors
/// `TypeError` for what is no integer, `ValueError` below zero, `LimitExceededError` from 2^64 on.
pub(crate) fn bytes(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract::<u64>().map_err(|error| match value.lt(0) {
        Ok(true) => PyValueError::new_err("a number of bytes is never negative"),
        Ok(false) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            raise(Error::LimitExceeded("2^64 bytes and more cannot be addressed"))
        }
        _ => error,
    })
}

/// The same for what lies in memory.
pub(crate) fn bytes_in_memory(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let fits = |n: u64| usize::try_from(n).ok().filter(|&n| isize::try_from(n).is_ok());
    fits(bytes(value)?).ok_or_else(|| raise(Error::LimitExceeded("more than this machine can address")))
}

/// How much of a buffer is meant. A number beyond all memory is one that no buffer has, and left to whoever looks.
///
/// # Errors
/// `TypeError` for what is no integer, `ValueError` below zero.
pub(crate) fn part(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    value.extract::<usize>().or_else(|error| match value.lt(0) {
        Ok(true) => Err(PyValueError::new_err("a length must not be negative")),
        Ok(false) if error.is_instance_of::<PyOverflowError>(value.py()) => Ok(usize::MAX),
        _ => Err(error),
    })
}

/// The number that REncrypt binds a message to.
///
/// # Errors
/// `TypeError` for what is no integer, `ValueError` where it has no place in 64 bits.
pub(crate) fn block_index(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract::<u64>().map_err(|error| match error.is_instance_of::<PyOverflowError>(value.py()) {
        true => PyValueError::new_err("block_index must be from 0 to 2^64 - 1"),
        false => error,
    })
}

/// The number of a block of ChaCha20.
///
/// # Errors
/// As [`bytes`], but from 2^32 on.
pub(crate) fn counter(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    value.extract::<u32>().map_err(|error| match value.lt(0) {
        Ok(true) => PyValueError::new_err("a counter is never negative"),
        Ok(false) if error.is_instance_of::<PyOverflowError>(value.py()) => {
            raise(Error::LimitExceeded("a counter has 32 bits"))
        }
        _ => error,
    })
}
