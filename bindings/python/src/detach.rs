//! Detaches a thread from the interpreter for work that takes longer than detaching and
//! reattaching.

use crate::error::raise;
use pyo3::prelude::*;
use sealane::error::Result;
use sealane::interrupt::with_check;
use std::{cell::Cell, ops::ControlFlow};

/// Length from which work runs detached from the interpreter.
///
/// Detaching costs 40 ns (measured), as much as 1 KiB of AES-GCM. From this length on it adds less
/// than 8 %.
pub(crate) const DETACH_LEN: usize = 8 << 10;

/// Runs `work` on `len` bytes. From [`DETACH_LEN`] on, other Python threads can run.
#[inline]
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    len: usize,
    work: impl FnOnce() -> Result<T> + Send,
) -> PyResult<T> {
    if len < DETACH_LEN { work() } else { py.detach(work) }.map_err(raise)
}

thread_local! {
    /// The exception that a signal handler or progress function raised during this thread's work.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Runs the handlers of pending signals, as Python does between instructions.
fn check_signals() -> ControlFlow<()> {
    continue_unless_raised(Python::attach(|py| py.check_signals()))
}

/// Returns a hook's answer to the core. [`with_hooks`], which runs the core on this thread, raises
/// the exception.
pub(crate) fn continue_unless_raised(result: PyResult<()>) -> ControlFlow<()> {
    match result {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => {
            RAISED.set(Some(error));
            ControlFlow::Break(())
        }
    }
}

/// Runs `work` detached and raises the exception of any hook in it.
pub(crate) fn with_hooks<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let result = py.detach(work);
    match RAISED.take() {
        Some(error) => Err(error),
        None => Ok(result),
    }
}

/// Runs `work` as [`with_hooks`] does, and cancels its key derivations, RSA key generation and long
/// headers when a signal handler raises, for example on Ctrl-C.
pub(crate) fn interruptible<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    with_hooks(py, || with_check(check_signals, work))
}
