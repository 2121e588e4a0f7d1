//! What `sealane.lab` measures and Python cannot.

use crate::{error::raise, number};
use pyo3::prelude::*;

/// Seconds that the processor's AES instructions alone take for the rounds of ``bytes`` bytes of AES-CTR.
///
/// On registers, by the widest instructions that this machine has, whatever ``SEALANE_CPU`` says; other threads run.
/// None where it has none. ``ValueError`` unless ``key_len`` is 16, 24 or 32; ``LimitExceededError`` above 64 GiB.
#[pyfunction]
pub(crate) fn aes_bound(
    py: Python<'_>,
    #[pyo3(from_py_with = number::bytes_in_memory)] key_len: usize,
    #[pyo3(from_py_with = number::bytes)] bytes: u64,
) -> PyResult<Option<f64>> {
    let time = py.detach(|| sealane::lab::aes_bound(key_len, bytes)).map_err(raise)?;
    Ok(time.map(|time| time.as_secs_f64()))
}
