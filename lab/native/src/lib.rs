//! The Python module `sealane_lab._native`: the AES speed limit of this processor.

use lab_bench::aes_limit::AesLimit;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::Instant;

/// At most this many bytes in one call, because the loop cannot be interrupted: 64 GiB take some
/// seconds.
const MAX_BYTES: u64 = 1 << 36;

/// Returns the seconds that the AES instructions alone take for the rounds of ``bytes`` bytes of
/// AES-CTR.
///
/// The rounds run on registers, with the widest AES instructions of this processor, whatever
/// ``SEALANE_CPU`` says: other libraries, which are compared with this figure, do not read that
/// variable. Other Python threads run meanwhile. Returns None if the processor has no AES
/// instructions. Raises ``ValueError`` unless ``key_len`` is 16, 24 or 32 and ``bytes`` at most 64
/// GiB.
#[pyfunction]
fn aes_limit(py: Python<'_>, key_len: usize, bytes: u64) -> PyResult<Option<f64>> {
    if ![16, 24, 32].contains(&key_len) {
        return Err(PyValueError::new_err(format!(
            "expected a key length of 16, 24 or 32 bytes, got {key_len}"
        )));
    }
    if bytes > MAX_BYTES {
        return Err(PyValueError::new_err(format!("expected at most {MAX_BYTES} bytes, got {bytes}")));
    }
    Ok(AesLimit::widest().map(|limit| {
        py.detach(|| {
            let start = Instant::now();
            limit.run(key_len, bytes);
            start.elapsed().as_secs_f64()
        })
    }))
}

/// The module.
#[pymodule(gil_used = false)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(aes_limit, module)?)
}
