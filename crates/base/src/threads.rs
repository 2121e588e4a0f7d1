//! Limits on threads, for single files and bulk jobs.

use crate::OnDrop;
use std::cell::Cell;
use std::num::NonZeroUsize;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Limit of [`default_threads`]. More threads do not make a file faster: by then the kernel's page
/// cache is the bottleneck.
const MAX_DEFAULT_THREADS: usize = 8;

/// Limit of a requested number of threads: each thread allocates its own buffers.
const MAX_THREADS: usize = 256;

/// Length in bytes from which a bulk job gives one source file all threads. Shorter files get one
/// thread each, several at once: starting a thread costs 62 µs (measured), and opening and renaming
/// a file is not parallel.
pub const PARALLEL_FILE_LEN: u64 = 4 << 20;

thread_local! {
    static ONE_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` so that messages, keystreams and files use only the calling thread unless given a
/// number of threads. Does not affect batches and readers of encrypted files.
///
/// For languages whose runtime divides the cores among its own processes, such as Erlang: one long
/// message on all cores would stop the others.
pub fn on_one_thread<T>(work: impl FnOnce() -> T) -> T {
    let before = ONE_THREAD.replace(true);
    let _restore = OnDrop(|| ONE_THREAD.set(before));
    work()
}

/// Returns the default number of threads: one per core, at most 8; 1 inside [`on_one_thread`].
pub fn default_threads() -> usize {
    if ONE_THREAD.get() { 1 } else { threads_of_process() }
}

/// Returns the process's default number of threads: one per core, at most 8.
pub(crate) fn threads_of_process() -> usize {
    cores().min(MAX_DEFAULT_THREADS)
}

/// Returns the number of cores this process may use.
fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Returns [`available_cores`], cached until the affinity of the process changes.
///
/// The uncached call reads three cgroup files with 20 system calls.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn cores() -> usize {
    /// Number of cores in the affinity, shifted left by 32, plus the number of available ones.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let affinity = u64::from(rustix::thread::sched_getaffinity(None).map_or(0, |cores| cores.count()));
    let last = LAST.load(Ordering::Relaxed);
    if affinity > 0 && last >> 32 == affinity {
        return (last & u64::from(u32::MAX)) as usize;
    }
    let available = available_cores();
    LAST.store(affinity << 32 | available as u64, Ordering::Relaxed);
    available
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn cores() -> usize {
    available_cores()
}

/// Returns the number of threads for a request; `None` means the default.
pub fn thread_count(requested: Option<NonZeroUsize>) -> usize {
    requested.map_or_else(default_threads, |n| n.get().min(MAX_THREADS))
}

#[cfg(all(test, target_os = "linux"))]
mod test {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};

    #[test]
    fn one_thread_is_the_default_of_work_on_one_thread() {
        let before = default_threads();
        let inside = on_one_thread(|| (on_one_thread(default_threads), default_threads()));
        assert_eq!((inside, default_threads()), ((1, 1), before));
        // The process's pool serves other threads too.
        assert_eq!(on_one_thread(threads_of_process), before);
        assert_eq!(on_one_thread(|| thread_count(NonZeroUsize::new(3))), 3);
        assert!(std::panic::catch_unwind(|| on_one_thread(|| panic!("in the work"))).is_err());
        assert_eq!(default_threads(), before);
    }

    #[test]
    fn the_number_of_cores_follows_the_affinity() {
        // Affinity is per thread, so other tests keep theirs.
        let thread = std::thread::spawn(|| {
            let before = (sched_getaffinity(None).unwrap(), cores());
            assert_eq!(before.1, available_cores());
            let mut one = CpuSet::new();
            one.set(sched_getcpu());
            sched_setaffinity(None, &one).unwrap();
            assert_eq!((cores(), default_threads()), (1, 1));
            sched_setaffinity(None, &before.0).unwrap();
            assert_eq!(cores(), before.1);
        });
        thread.join().unwrap();
    }
}
