//! Keeps threads that help off the core of the thread they help.
//!
//! Linux wakes a thread where it ran last or where it is woken from, and looks for an idle core only while those that
//! share a cache have little to do. With two cores, one of them at work, it often does not look; then the helper waits
//! on the caller's core, next to an idle one, until the caller is through with all the work (165 of 170 ms, measured).

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::Cores;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The threads that help, and which core they are kept off.
    #[derive(Default)]
    pub(crate) struct Cores {
        threads: Mutex<Vec<Pid>>,
        /// Its number and one; 0 where there is none.
        kept_off: AtomicUsize,
    }

    impl Cores {
        /// The calling thread is one that helps.
        pub(crate) fn helper_begins(&self) {
            if let Ok(mut threads) = self.threads.lock() {
                threads.push(gettid());
                self.kept_off.store(0, Ordering::Relaxed);
            }
        }

        /// Two system calls when the caller has moved, and none otherwise. Whatever cannot be done is left as it is.
        pub(crate) fn keep_off_the_callers(&self) {
            let here = sched_getcpu();
            if here >= CpuSet::MAX_CPU || self.kept_off.swap(here + 1, Ordering::Relaxed) == here + 1 {
                return;
            }
            let Ok(mut others) = sched_getaffinity(None) else { return };
            others.unset(here);
            if let (Ok(threads), 1..) = (self.threads.try_lock(), others.count()) {
                for thread in &*threads {
                    let _ = sched_setaffinity(Some(*thread), &others);
                }
            }
        }
    }
}

/// Elsewhere the system is left to it.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[derive(Default)]
pub(super) struct Cores;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl Cores {
    pub(super) fn helper_begins(&self) {}

    pub(super) fn keep_off_the_callers(&self) {}
}
