//! Threads for one call of a library that divides its work with rayon.
//!
//! Outside a pool, such a library uses rayon's global pool. A forked child does not have its
//! threads, and would wait for them forever.

use super::os::without_signals;
use super::threads::default_threads;
use crate::memory::affordable_threads;
use crate::{Error, Result};
use rayon_core::{ThreadPoolBuilder, current_thread_index};

const NO_THREAD: Error = Error::LimitExceeded("the system refuses a thread for the key derivation");

/// Runs `work`, divided into `lanes` parts, on one thread per lane and at most one per core. The
/// threads end with the call. If the system refuses them, `work` runs on the calling thread.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] if rayon cannot make a pool of the calling thread.
pub fn with_threads_for<T: Send>(lanes: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    // In a pool of the caller, its threads share the work.
    if current_thread_index().is_some() {
        return Ok(work());
    }
    // The calling thread only waits, so it is not counted.
    let threads = affordable_threads(default_threads().min(lanes).saturating_add(1)) - 1;
    let builder = || ThreadPoolBuilder::new().num_threads(threads).thread_name(|_| "sealane".into());
    let spawned = || without_signals(|| builder().build()).ok();
    if let Some(pool) = (threads > 0).then(spawned).flatten() {
        return Ok(pool.install(work));
    }
    // The calling thread stays in this pool for good, so this is the last resort.
    let builder = ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    // Fails only if this thread already has a pool: excluded above.
    let pool = builder.build().map_err(|_| NO_THREAD)?;
    Ok(pool.install(work))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn threads_are_limited_by_lanes_and_cores() {
        for lanes in [1, 2, 3, 1000] {
            let threads = with_threads_for(lanes, rayon_core::current_num_threads).unwrap();
            assert_eq!(threads, default_threads().min(lanes));
        }
        assert!(current_thread_index().is_none());
    }

    #[test]
    fn work_inside_a_pool_stays_in_it() {
        let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let threads = pool.install(|| with_threads_for(1, rayon_core::current_num_threads)).unwrap();
        assert_eq!(threads, 3);
    }

    /// The address space is too small for another thread.
    #[test]
    #[cfg(target_os = "linux")]
    fn without_threads_the_calling_thread_works() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        if !crate::test::in_child("lanes::test::without_threads_the_calling_thread_works") {
            return;
        }
        let maximum = getrlimit(Resource::As).maximum;
        let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
        let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
        setrlimit(Resource::As, Rlimit { current: Some(pages * 4096 + (1 << 20)), maximum }).unwrap();
        let caller = std::thread::current().id();
        for _ in 0..2 {
            let worker = with_threads_for(4, || std::thread::current().id()).unwrap();
            assert_eq!(worker, caller);
        }
    }
}
