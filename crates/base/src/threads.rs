//! The limits on threads, stated once for single files and for bulk jobs.

use std::cell::Cell;
use std::num::NonZeroUsize;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Limit of [`default_threads`]. More threads do not make a file faster: the kernel's page cache is the bottleneck by
/// then.
const MAX_DEFAULT_THREADS: usize = 8;

/// Limit of a requested number of threads, because each thread allocates buffers of its own.
const MAX_THREADS: usize = 256;

/// Length in bytes from which a bulk job gives one source file all threads. A shorter file gets one thread, and several
/// of them are processed at once: making threads costs 62 µs each (measured), and opening and renaming a file is not
/// parallel.
pub const PARALLEL_FILE_LEN: u64 = 4 << 20;

thread_local! {
    static ONE_THREAD: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, in which the calling thread alone processes a message, a keystream or a file for which no number of threads is
/// named. Batches and readers of encrypted files do not take part.
///
/// It is for languages whose runtime divides the cores among its own processes, for example Erlang: a long message on all
/// cores would stop the others.
pub fn on_one_thread<T>(work: impl FnOnce() -> T) -> T {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            ONE_THREAD.set(self.0);
        }
    }
    let _restore = Restore(ONE_THREAD.replace(true));
    work()
}

/// Returns the number of threads used where the caller requests none: one per core, at most 8, and one in
/// [`on_one_thread`].
pub fn default_threads() -> usize {
    if ONE_THREAD.get() { 1 } else { threads_of_process() }
}

/// Returns the number of threads that the process has by default: one per core, at most 8.
pub(crate) fn threads_of_process() -> usize {
    cores().min(MAX_DEFAULT_THREADS)
}

/// Returns the number of cores that this process may use.
fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZeroUsize::get)
}

/// Returns [`available_cores`], which is called again only when the affinity of the process has changed.
///
/// It reads three files of the control group, with 20 system calls.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn cores() -> usize {
    /// The number of cores in the affinity, shifted left by 32, plus the number of available ones.
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

/// Returns the number of threads for a request; `None` stands for the default.
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
        // The pool of the process serves other threads too.
        assert_eq!(on_one_thread(threads_of_process), before);
        assert_eq!(on_one_thread(|| thread_count(NonZeroUsize::new(3))), 3);
        assert!(std::panic::catch_unwind(|| on_one_thread(|| panic!("in the work"))).is_err());
        assert_eq!(default_threads(), before);
    }

    #[test]
    fn the_number_of_cores_follows_the_affinity() {
        // The affinity is that of the thread, so other tests keep theirs.
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
