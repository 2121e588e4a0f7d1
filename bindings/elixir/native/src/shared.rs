//! Handles that change with their calls and come to an end.

use crate::error::{CallError, Result};
use std::sync::{Mutex, MutexGuard, TryLockError};

/// A value used by one call at a time, until finished or closed.
pub(crate) struct Exclusive<T>(Mutex<Option<T>>);

impl<T> Exclusive<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Mutex::new(Some(value)))
    }

    /// Returns the value, or `None` once taken. A call while another process is inside is refused:
    /// waiting would block a scheduler.
    pub(crate) fn enter(&self) -> Result<MutexGuard<'_, Option<T>>> {
        let expected = match self.0.try_lock() {
            Ok(inside) => return Ok(inside),
            Err(TryLockError::WouldBlock) => {
                "another process uses this object at the same time: give each process its own"
            }
            Err(TryLockError::Poisoned(_)) => {
                "an earlier call failed because of a bug in sealane: please report it"
            }
        };
        Err(CallError::Argument(expected))
    }
}

/// Returns the error for a finished or closed handle.
pub(crate) fn ended() -> CallError {
    sealane::Misuse::AlreadyFinalized.into()
}
