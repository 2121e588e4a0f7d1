//! Cancels calls that take seconds.
//!
//! A language with its own signal handling, such as Python, runs handlers only when its interpreter
//! is asked to. A binding therefore installs a check for the calling thread with [`with_check`].
//! Long work calls it from time to time and returns [`Error::Cancelled`] if the check returns
//! `Break`.

use crate::memory::affordable_threads;
use crate::os::without_signals;
use crate::{Error, OnDrop, Result};
use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Returns `Break` to cancel the work of the calling thread.
pub type Check = fn() -> ControlFlow<()>;

/// Time between two checks while other work runs.
const PERIOD: Duration = Duration::from_millis(50);
/// Abandoned computations that may run at once.
const MAX_ABANDONED: usize = 4;

/// The process and its abandoned computations. Those of a parent do not run in a forked child.
static ABANDONED: Mutex<(u32, Vec<Weak<()>>)> = Mutex::new((0, Vec::new()));

/// Returns how many abandoned computations run, with `more`. A forked child may inherit the lock
/// from a thread that it does not have, so we do not wait for it.
fn abandoned(more: Option<&Arc<()>>) -> usize {
    let Ok(mut found) = ABANDONED.try_lock() else { return 0 };
    let (process, list) = &mut *found;
    if *process != std::process::id() {
        (*process, *list) = (std::process::id(), Vec::new());
    }
    list.retain(|work| work.strong_count() > 0);
    list.extend(more.map(Arc::downgrade));
    list.len()
}

thread_local! {
    static CHECK: Cell<Option<Check>> = const { Cell::new(None) };
}

/// Runs `work` with a check that can cancel its long parts.
///
/// Those are: unwrapping the file key of an age file, deriving keys from passphrases, generating
/// RSA keys, and waiting for the other end of a pipe. scrypt and headers stop where they are; other
/// cancelled work ends in the background, on its own thread. A call of a PKCS#11 module cannot be
/// cancelled: a token must not get a second login while the first one runs.
pub fn with_check<T>(check: Check, work: impl FnOnce() -> T) -> T {
    let before = CHECK.replace(Some(check));
    let _restore = OnDrop(|| CHECK.set(before));
    work()
}

/// Calls this thread's check, if there is one.
///
/// # Errors
/// Returns [`Error::Cancelled`].
#[doc(hidden)]
pub fn check() -> Result<()> {
    match CHECK.get().map(|check| check()) {
        Some(ControlFlow::Break(())) => Err(Error::Cancelled),
        _ => Ok(()),
    }
}

/// Calls [`check`] from the loops of long work, every 50 ms: a check may wait for an interpreter.
#[doc(hidden)]
pub struct Pace {
    bytes: usize,
    checked: Instant,
}

impl Pace {
    /// Starts now.
    #[expect(clippy::new_without_default, reason = "it reads the clock")]
    pub fn new() -> Self {
        Self { bytes: 0, checked: Instant::now() }
    }

    /// Reports work on some bytes. The clock is read once per MiB.
    ///
    /// # Errors
    /// Returns [`Error::Cancelled`].
    pub fn after(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes < 1 << 20 {
            return Ok(());
        }
        self.bytes = 0;
        if self.checked.elapsed() < PERIOD {
            return Ok(());
        }
        self.checked = Instant::now();
        check()
    }
}

/// Runs work that cannot be stopped in the middle. If this thread has a check, the work runs on
/// another thread and is abandoned when the check cancels. If no thread can be started, the work
/// runs here. It waits while four abandoned computations run: callers who give up again and again
/// must not fill the memory.
///
/// # Errors
/// Returns the errors of `work`; [`Error::Cancelled`].
#[doc(hidden)]
pub fn interruptible<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    if CHECK.get().is_none() || affordable_threads(2) < 2 {
        return work();
    }
    while abandoned(None) >= MAX_ABANDONED {
        check()?;
        std::thread::sleep(PERIOD);
    }
    let runs = Arc::new(());
    let there_runs = Arc::clone(&runs);
    let (sender, receiver) = sync_channel(1);
    let task = Arc::new(Mutex::new(Some(work)));
    let there = Arc::clone(&task);
    let builder = std::thread::Builder::new().name("sealane long work".into());
    let run = move || {
        let work = there.lock().unwrap_or_else(PoisonError::into_inner).take();
        // If the receiver is gone, the result is dropped and wiped.
        let _ = work.map(|work| sender.send(work()));
        drop(there_runs);
    };
    if without_signals(|| builder.spawn(run)).is_err() {
        let work = task.lock().unwrap_or_else(PoisonError::into_inner).take();
        return work.map_or(Err(Error::Cancelled), |work| work());
    }
    loop {
        match receiver.recv_timeout(PERIOD) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => check().inspect_err(|_| _ = abandoned(Some(&runs)))?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(std::io::Error::other("a thread for long work ended without a result").into());
            }
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn the_check_applies_to_one_thread_and_one_call() {
        fn stop() -> ControlFlow<()> {
            ControlFlow::Break(())
        }
        assert!(check().is_ok());
        with_check(stop, || {
            assert!(matches!(check(), Err(Error::Cancelled)));
            with_check(|| ControlFlow::Continue(()), || assert!(check().is_ok()));
            assert!(matches!(check(), Err(Error::Cancelled)));
            std::thread::spawn(|| assert!(check().is_ok())).join().unwrap();
        });
        assert!(check().is_ok());
    }

    // claim: input-stops
    #[test]
    fn a_caller_who_gives_up_again_and_again_waits() {
        static RUNNING: AtomicU32 = AtomicU32::new(0);
        static MOST: AtomicU32 = AtomicU32::new(0);
        static CALLS: AtomicU32 = AtomicU32::new(0);
        fn second_time() -> ControlFlow<()> {
            match CALLS.fetch_add(1, Ordering::Relaxed) % 2 {
                0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        }
        let work = || {
            MOST.fetch_max(RUNNING.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_secs(1));
            RUNNING.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        };
        for _ in 0..12 {
            assert!(matches!(with_check(second_time, || interruptible(work)), Err(Error::Cancelled)));
        }
        let most = MOST.load(Ordering::SeqCst) as usize;
        assert!((2..=MAX_ABANDONED).contains(&most), "{most}");
        // The next caller waits, and gets a result.
        with_check(|| ControlFlow::Continue(()), || interruptible(work)).unwrap();
    }

    #[test]
    fn long_work_is_left_behind() {
        static CALLS: AtomicU32 = AtomicU32::new(0);
        fn third_time() -> ControlFlow<()> {
            match CALLS.fetch_add(1, Ordering::Relaxed) {
                ..2 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            }
        }
        // On a busy machine, the other thread may begin late.
        let never = || ControlFlow::Continue(());
        assert_eq!(with_check(never, || interruptible(|| Ok(5))).unwrap(), 5);
        let began = Instant::now();
        let sleep = || {
            std::thread::sleep(Duration::from_secs(20));
            Ok(())
        };
        assert!(matches!(with_check(third_time, || interruptible(sleep)), Err(Error::Cancelled)));
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(matches!(
            with_check(never, || interruptible(|| Err::<(), _>(Error::WrongPassphrase))),
            Err(Error::WrongPassphrase)
        ));
    }
}
