//! The persistent worker pool of a process, for work of less than a millisecond.

use super::affinity::HelperAffinity;
use super::threads::default_threads;
use crate::memory::affordable_threads;
use crate::random::process_mark;
use rayon_core::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock, TryLockError};

/// The worker threads of this process, none of which keeps the process from ending.
struct WorkerPool {
    /// Mark of the process that made the pool. A process number would not do, because it may be that of an ancestor
    /// that has ended.
    process: u64,
    /// `None` if there is one core, or if the system refuses to make threads.
    threads: Option<ThreadPool>,
    /// Number of free workers. A caller that gets none works alone and never waits for the work of other callers.
    free: AtomicUsize,
    affinity: Arc<HelperAffinity>,
}

/// Use `try_*` only: after `fork()`, a lock held by another thread of the parent is never released.
static POOL: RwLock<Option<&'static WorkerPool>> = RwLock::new(None);

/// Runs `caller` on the calling thread and `helper` on up to `max_helpers` free threads of the pool at the same time.
/// Returns when all of them have returned. A helper starts when its thread wakes up, perhaps after the last job.
pub(super) fn run_with_helpers(max_helpers: usize, helper: impl Fn() + Sync, caller: impl FnOnce()) {
    // A pool thread that waited here could be given work that waits for a lock which that thread holds.
    let pool = if rayon_core::current_thread_index().is_some() { None } else { WorkerPool::of_process() };
    let Some((pool, threads)) = pool.and_then(|pool| Some((pool, pool.threads.as_ref()?))) else {
        return caller();
    };
    let slots: Vec<_> = (0..max_helpers).map_while(|_| WorkerSlot::reserve(pool)).collect();
    if slots.is_empty() {
        return caller();
    }
    pool.affinity.avoid_caller();
    let helper = &helper;
    threads.in_place_scope(|scope| {
        for slot in slots {
            scope.spawn(move |_| {
                let _slot = slot;
                helper();
            });
        }
        caller();
    });
}

impl WorkerPool {
    /// Returns the pool of this process and makes it at the first call. A forked child makes its own, because threads
    /// do not survive `fork()`.
    fn of_process() -> Option<&'static Self> {
        let process = process_mark().ok()?;
        let found = match POOL.try_read() {
            Ok(pool) => *pool,
            Err(TryLockError::Poisoned(poisoned)) => *poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        if let Some(pool) = found.filter(|pool| pool.process == process) {
            return Some(pool);
        }
        let mut entry = match POOL.try_write() {
            Ok(entry) => entry,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        match *entry {
            Some(pool) if pool.process == process => Some(pool),
            // The pool of a parent is leaked: dropping it would wait for its threads.
            _ => Some(entry.insert(Box::leak(Box::new(Self::new(process))))),
        }
    }

    fn new(process: u64) -> Self {
        // The calling thread works too, so one helper less than the default is started.
        let helpers = affordable_threads(default_threads()) - 1;
        let affinity = Arc::new(HelperAffinity::default());
        let of_threads = Arc::clone(&affinity);
        let builder = ThreadPoolBuilder::new()
            .num_threads(helpers)
            .thread_name(|_| "sealane".into())
            .start_handler(move |_| of_threads.register_helper());
        // To rayon, zero threads would mean one per core.
        let threads = (helpers > 0).then(|| builder.build().ok()).flatten();
        Self { process, free: AtomicUsize::new(threads.as_ref().map_or(0, |_| helpers)), threads, affinity }
    }
}

/// A reserved worker of the pool, which is released when this value is dropped.
struct WorkerSlot(&'static WorkerPool);

impl WorkerSlot {
    fn reserve(pool: &'static WorkerPool) -> Option<Self> {
        pool.free
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1))
            .ok()
            .map(|_| Self(pool))
    }
}

impl Drop for WorkerSlot {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn helpers_share_the_data_of_the_caller() {
        for _ in 0..100 {
            let (left, done) = (AtomicUsize::new(1000), Mutex::new(0));
            let run = || {
                while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
                    *done.lock().unwrap() += 1;
                }
            };
            run_with_helpers(3, run, run);
            assert_eq!(done.into_inner().unwrap(), 1000);
        }
    }

    /// A helper that asks for helpers works alone, because otherwise it could wait for itself.
    #[test]
    fn helper_gets_no_helpers() {
        let ran = AtomicUsize::new(0);
        let count = || {
            ran.fetch_add(1, Ordering::Relaxed);
        };
        run_with_helpers(1, || run_with_helpers(1, || (), count), count);
        assert!((1..=2).contains(&ran.into_inner()));
    }
}
