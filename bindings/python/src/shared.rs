//! Objects that change with every call: one call at a time; a nested call is an exception.

use crate::detach::{DETACH_LEN, interruptible};
use crate::error::{raise, reentrant_call};
use crate::prelude::*;
use sealane::ForkGuard;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Condvar, Mutex, TryLockError};

/// How long a thread waits before it checks for signals, and for a missed release of the lock.
const WAIT: Duration = Duration::from_millis(10);

/// A lock that is not re-entrant and on which a thread cannot deadlock itself.
///
/// A signal handler, callback or file object can call back into the object whose call is in
/// progress; it gets ``ReentrantCallError``. In a forked child, a lock held by another thread of
/// the parent is free. A waiting thread is detached from the interpreter and handles signals.
#[pyclass(frozen, module = "sealane._native")]
#[derive(Default)]
pub(crate) struct CallLock {
    /// The caller inside, or 0.
    holder: AtomicU64,
    waiting: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
}

#[pymethods]
impl CallLock {
    #[new]
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Waits until no other thread is inside. Raises ``ReentrantCallError`` if this thread is.
    fn __enter__(&self, py: Python<'_>) -> PyResult<()> {
        while !self.try_enter()? {
            py.detach(|| self.wait());
            py.check_signals()?;
        }
        Ok(())
    }

    fn __exit__(&self, _kind: &Any<'_>, _error: &Any<'_>, _traceback: &Any<'_>) {
        self.leave();
    }
}

impl CallLock {
    /// Enters like the ``with`` statement. Dropping the result releases the lock.
    pub(crate) fn enter(&self, py: Python<'_>) -> PyResult<Inside<'_>> {
        self.__enter__(py)?;
        Ok(Inside(self))
    }

    /// Enters from a thread that is detached from the interpreter.
    pub(crate) fn enter_detached(&self) -> PyResult<Inside<'_>> {
        while !self.try_enter()? {
            self.wait();
        }
        Ok(Inside(self))
    }

    /// Returns whether the lock was free.
    fn try_enter(&self) -> PyResult<bool> {
        let me = caller()?;
        match self.holder.compare_exchange(0, me, SeqCst, SeqCst) {
            Ok(_) => Ok(true),
            Err(holder) if holder == me => Err(reentrant_call()),
            // The upper half is the process. A thread of a parent process does not exist here and
            // never leaves.
            Err(holder) if holder >> 32 != me >> 32 => {
                Ok(self.holder.compare_exchange(holder, me, SeqCst, SeqCst).is_ok())
            }
            Err(_) => Ok(false),
        }
    }

    fn wait(&self) {
        self.waiting.fetch_add(1, SeqCst);
        // `try_lock`, because another thread of the parent may have held it when we forked.
        match self.sleep.try_lock() {
            Ok(sleep) if self.holder.load(SeqCst) != 0 => drop(self.wake.wait_timeout(sleep, WAIT)),
            Ok(_) => {}
            Err(_) => std::thread::sleep(WAIT / 100),
        }
        self.waiting.fetch_sub(1, SeqCst);
    }

    fn leave(&self) {
        self.holder.store(0, SeqCst);
        if self.waiting.load(SeqCst) > 0 {
            self.wake.notify_one();
        }
    }
}

/// Keeps other callers out of a [`CallLock`] until it is dropped.
pub(crate) struct Inside<'a>(&'a CallLock);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

thread_local! {
    /// Number of this thread, or of the thread it works for. Never 0.
    static THREAD: Cell<u32> = Cell::new(next_thread());
}

fn next_thread() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, SeqCst)
}

/// Returns a number for this process and thread.
fn caller() -> PyResult<u64> {
    let process = ForkGuard::new().map_err(raise)?.process();
    Ok(process << 32 | u64::from(THREAD.get()))
}

/// The thread on whose behalf worker threads call a Python file object.
///
/// Without it, a file object that calls back from a worker thread would deadlock with the call
/// waiting for the worker.
#[derive(Default)]
pub(crate) struct OnBehalf(AtomicU32);

impl OnBehalf {
    /// Records that this thread makes the next calls.
    pub(crate) fn of_this_thread(&self) {
        self.0.store(THREAD.get(), SeqCst);
    }

    /// Runs `work` as if on the recorded thread.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let own = THREAD.get();
        if let thread @ 1.. = self.0.load(SeqCst) {
            THREAD.set(thread);
        }
        let result = work();
        THREAD.set(own);
        result
    }
}

/// A value that one caller at a time changes, until the last call takes it.
///
/// A thread that waits for the lock is detached from the interpreter, so the thread inside may wait
/// for the interpreter.
pub(crate) struct Shared<T> {
    lock: CallLock,
    value: Mutex<Option<T>>,
}

impl<T: Send> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { lock: CallLock::new(), value: Mutex::new(Some(value)) }
    }

    /// Runs `work` on `len` bytes, detached from the interpreter if the work is long.
    ///
    /// # Errors
    /// `ValueError` after [`Self::take`], and those of `work`.
    pub(crate) fn with<R: Send>(
        &self,
        py: Python<'_>,
        len: usize,
        work: impl FnOnce(&mut T) -> Result<R> + Send,
    ) -> PyResult<R> {
        self.access(py, len, |value| work(value.as_mut().ok_or(Misuse::AlreadyFinalized)?))?.map_err(raise)
    }

    /// Takes the value for the last call. Every later call fails.
    ///
    /// # Errors
    /// Raises `ValueError` if an earlier call took the value.
    pub(crate) fn take(&self, py: Python<'_>) -> PyResult<T> {
        self.access(py, 0, Option::take)?.ok_or_else(|| raise(Misuse::AlreadyFinalized.into()))
    }

    /// Runs `work` on the value, or on `None` if it was taken.
    ///
    /// # Errors
    /// ``ReentrantCallError`` inside another call of this thread; ``ForkedError`` in a forked child
    /// if the parent was in a call.
    pub(crate) fn access<R: Send>(
        &self,
        py: Python<'_>,
        len: usize,
        work: impl FnOnce(&mut Option<T>) -> R + Send,
    ) -> PyResult<R> {
        let _inside = self.lock.enter(py)?;
        let mut value = match self.value.try_lock() {
            Ok(value) => value,
            Err(TryLockError::Poisoned(value)) => value.into_inner(),
            // We hold the outer lock, so a thread of the parent process holds this one.
            Err(TryLockError::WouldBlock) => return Err(raise(Misuse::Forked.into())),
        };
        let value = &mut *value;
        if len < DETACH_LEN { Ok(work(value)) } else { interruptible(py, || work(value)) }
    }
}
