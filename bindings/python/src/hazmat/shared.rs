//! Objects that change with every call and that several Python threads may share.

use crate::detach::DETACH_LEN;
use crate::error::raise;
use pyo3::prelude::*;
use sealane::{Error, Misuse};
use std::sync::{Mutex, PoisonError, TryLockError};

/// A value behind a lock, until a last call takes it.
///
/// A thread that holds the lock never waits for the interpreter. A thread that waits for the lock is detached from the
/// interpreter. So the two waits cannot form a deadlock.
pub(super) struct Shared<T>(Mutex<Option<T>>);

impl<T: Send> Shared<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Mutex::new(Some(value)))
    }

    /// Runs `work` on `len` bytes, detached from the interpreter if the work is long or the lock is taken.
    ///
    /// # Errors
    /// Raises `ValueError` after [`Self::take`], and the errors of `work`.
    pub(super) fn with<R: Send>(
        &self,
        py: Python<'_>,
        len: usize,
        work: impl FnOnce(&mut T) -> Result<R, Error> + Send,
    ) -> PyResult<R> {
        let run = |value: &mut Option<T>| work(value.as_mut().ok_or(Misuse::AlreadyFinalized)?);
        if len < DETACH_LEN {
            match self.0.try_lock() {
                Ok(mut value) => return run(&mut value).map_err(raise),
                Err(TryLockError::Poisoned(value)) => return run(&mut value.into_inner()).map_err(raise),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        py.detach(|| run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))).map_err(raise)
    }

    /// Takes the value out for the last call on it, after which every call fails.
    ///
    /// # Errors
    /// Raises `ValueError` if the value was taken by an earlier call.
    pub(super) fn take(&self, py: Python<'_>) -> PyResult<T> {
        let value = py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        value.ok_or_else(|| raise(Misuse::AlreadyFinalized.into()))
    }
}
