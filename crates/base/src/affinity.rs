//! CPU affinity of helper threads: they stay off the core of the thread they help.
//!
//! Linux wakes a thread on the core where it last ran or on its waker's core, and searches for an
//! idle core only while the cores that share a cache are lightly loaded. With two cores, one of
//! them busy, it often does not search. The helper then waits on the caller's core, next to an idle
//! one, until the caller has finished all the work (165 of 170 ms, measured).

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::HelperAffinity;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// The helper threads of a pool and the core they avoid.
    #[derive(Default)]
    pub(crate) struct HelperAffinity {
        threads: Mutex<Vec<Pid>>,
        /// Number of the avoided core plus one; 0 for none.
        avoided: AtomicUsize,
    }

    impl HelperAffinity {
        /// Registers the calling thread as a helper, to be moved off the caller's core.
        pub(crate) fn register_helper(&self) {
            if let Ok(mut threads) = self.threads.lock() {
                threads.push(gettid());
                self.avoided.store(0, Ordering::Relaxed);
            }
        }

        /// Moves the helpers off the core of the calling thread. If the caller has changed cores,
        /// this costs one system call, and one more per helper. Failures are ignored: affinity only
        /// affects speed.
        pub(crate) fn avoid_caller(&self) {
            let core = sched_getcpu();
            if core >= CpuSet::MAX_CPU || self.avoided.load(Ordering::Relaxed) == core + 1 {
                return;
            }
            let (Ok(mut others), Ok(threads)) = (sched_getaffinity(None), self.threads.try_lock()) else {
                return;
            };
            // Stored under the lock, so that it matches the last move when callers on two cores
            // compete.
            self.avoided.store(core + 1, Ordering::Relaxed);
            others.unset(core);
            if others.count() > 0 {
                for thread in &*threads {
                    let _ = sched_setaffinity(Some(*thread), &others);
                }
            }
        }
    }
}

/// Does nothing on other systems: the scheduler decides where threads run.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
#[derive(Default)]
pub(super) struct HelperAffinity;

#[cfg(not(any(target_os = "linux", target_os = "android")))]
impl HelperAffinity {
    pub(super) fn register_helper(&self) {}

    pub(super) fn avoid_caller(&self) {}
}
