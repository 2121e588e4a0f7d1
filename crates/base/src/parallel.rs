//! Numbered jobs on several threads.

use super::os::without_signals;
use super::pool::run_with_helpers;
use super::threads::thread_count;
use crate::memory::{affordable_threads, threads_take_from_results};
use crate::{ForkGuard, Result};
use providers::Threads;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Threads that run jobs together with the calling thread.
#[derive(Clone, Copy, Debug)]
pub enum Workers {
    /// This many threads, the calling one included, spawned for the call (62 µs each, measured).
    Spawned(usize),
    /// At most this many threads: the calling one and free threads of the persistent pool. For work
    /// of less than a millisecond.
    Pooled(usize),
}

/// How often the calling thread polls for other threads' last jobs (about 40 ns each) before it
/// goes to sleep. Waking up takes longer than most of a job of 128 KiB (measured).
const POLLS: u32 = 1000;

/// Runs jobs `0..jobs` on several threads, the calling one included.
///
/// `buffers` makes the buffers that a thread reuses from job to job. A thread that gets no memory
/// for them runs no job; if it is the calling thread, it returns the error. `after` runs on the
/// calling thread only, after each of its jobs. An error stops the run; jobs that have started are
/// finished. Jobs start in order, so the error returned is the first failing job's, on any number
/// of threads.
///
/// The last argument of `work` starts threads of the pool that have become ready. Call it between
/// pieces of a job that takes longer than a few microseconds.
#[doc(hidden)]
pub fn run_jobs<B>(
    workers: Workers,
    jobs: u64,
    buffers: impl Fn() -> Result<B> + Sync,
    work: impl Fn(u64, &mut B, &dyn Fn()) -> Result<()> + Sync,
    mut after: impl FnMut() -> Result<()>,
) -> Result<()> {
    let next = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let run = |buffers: &mut B, start: &dyn Fn(), after: &mut dyn FnMut() -> Result<()>| {
        while !stop.load(Ordering::Relaxed) {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            // The last job leaves other threads nothing to do.
            let start = if job + 1 < jobs { start } else { &|| () };
            start();
            let result = work(job, buffers, start).and_then(|()| after());
            done.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = result {
                stop.store(true, Ordering::Relaxed);
                let mut first = first_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                if first.as_ref().is_none_or(|(other, _)| job < *other) {
                    *first = Some((job, error));
                }
                return;
            }
        }
    };
    // If a helper gets no memory, the other threads run its jobs.
    let help = || {
        if let Ok(mut buffers) = buffers() {
            run(&mut buffers, &|| (), &mut || Ok(()));
        }
    };
    let mut own = buffers()?;
    let guard = ForkGuard::new()?;
    let max_threads = usize::try_from(jobs).unwrap_or(usize::MAX);
    match workers {
        Workers::Spawned(threads) => std::thread::scope(|scope| {
            for _ in 1..affordable_threads(threads.min(max_threads)) {
                // If the system refuses a thread, the other threads run its jobs.
                let builder = std::thread::Builder::new().name("sealane".into());
                let _ = without_signals(|| builder.spawn_scoped(scope, help));
            }
            run(&mut own, &|| (), &mut after);
            // `after` has forked and this is the child. It would wait for ever: the threads of this
            // call exist in its parent only.
            if guard.check().is_err() && threads > 1 {
                let text = b"sealane: a forked child has returned from a progress callback; end it there\n";
                let _ = std::io::Write::write_all(&mut std::io::stderr(), text);
                std::process::abort();
            }
        }),
        Workers::Pooled(threads) => {
            run_with_helpers(threads.min(max_threads).saturating_sub(1), help, |start| {
                run(&mut own, start, &mut after);
                let finished = || done.load(Ordering::Relaxed) >= jobs || stop.load(Ordering::Relaxed);
                (0..POLLS).take_while(|_| !finished()).for_each(|_| std::hint::spin_loop());
            })
        }
    }
    match first_error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

/// Runs `work` on each of `parts`, in order, as [`run_jobs`] does.
///
/// # Errors
/// Returns the error of the first part that fails.
#[doc(hidden)]
pub fn run_parts<P: Send>(
    workers: Workers,
    parts: &[Mutex<P>],
    work: impl Fn(usize, &mut P, &dyn Fn()) -> Result<()> + Sync,
) -> Result<()> {
    let work = |at: u64, (): &mut (), start: &dyn Fn()| {
        let mut part = parts[at as usize].lock().unwrap_or_else(PoisonError::into_inner);
        work(at as usize, &mut part, start)
    };
    run_jobs(workers, parts.len() as u64, || Ok(()), work, || Ok(()))
}

/// Minimum length in bytes of a message worth dividing between threads.
pub const PARALLEL_LEN: usize = 512 << 10;
/// Minimum length in bytes of a segment. It takes about 10 us, so that threads end at about the
/// same time.
const SEGMENT_LEN: usize = 64 << 10;
/// Maximum length in bytes of a segment, unless there would be more than [`MAX_SEGMENTS`]. Helpers
/// start between two segments.
const LONGEST_SEGMENT: usize = 4 << 20;
/// Length in bytes from which the destination is probably new memory (malloc maps it).
const NEW_MEMORY_LEN: usize = 32 << 20;
/// Minimum length in bytes of a segment in new memory: a huge page. If two threads write to one new
/// page at the same time, both create it, one of them in vain.
const HUGE_PAGE: usize = 2 << 20;
/// Segments per thread. A helper that starts late processes fewer of them.
const SEGMENTS_PER_THREAD: usize = 8;
/// Maximum number of segments; each takes less than 100 bytes of memory.
const MAX_SEGMENTS: usize = 4096;

/// Free threads of this process that share the segments of one message with the calling thread.
pub struct FreeThreads {
    /// Maximum number, the calling thread included.
    max: usize,
}

impl FreeThreads {
    /// Returns the threads for a message of `len` bytes, or `None` if one thread should process it.
    /// At most `requested` threads; `None` means the default.
    #[inline]
    pub fn for_message(len: usize, requested: Option<NonZeroUsize>) -> Option<Self> {
        if len < PARALLEL_LEN { None } else { Self::for_long_message(requested) }
    }

    #[cold]
    fn for_long_message(requested: Option<NonZeroUsize>) -> Option<Self> {
        let max = if threads_take_from_results() { 1 } else { thread_count(requested) };
        (max > 1).then_some(Self { max })
    }
}

impl Threads for FreeThreads {
    fn segment_len(&self, len: usize) -> usize {
        let min = if len < NEW_MEMORY_LEN { SEGMENT_LEN } else { HUGE_PAGE };
        (len / (self.max * SEGMENTS_PER_THREAD)).clamp(min, LONGEST_SEGMENT.max(len.div_ceil(MAX_SEGMENTS)))
    }

    fn run(&self, segments: usize, work: &(dyn Fn(usize) + Sync)) {
        let segment = |number: u64, (): &mut (), _: &dyn Fn()| {
            work(number as usize);
            Ok(())
        };
        // Neither the (empty) buffers nor the work returns an error.
        let _ = run_jobs(Workers::Pooled(self.max), segments as u64, || Ok(()), segment, || Ok(()));
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::Error;

    #[test]
    fn every_job_runs_once() {
        for workers in [Workers::Spawned(1), Workers::Spawned(2), Workers::Spawned(7), Workers::Pooled(9)] {
            let runs: Vec<_> = (0..100).map(|_| AtomicU64::new(0)).collect();
            run_jobs(
                workers,
                100,
                || Ok(()),
                |job, (), _| {
                    runs[job as usize].fetch_add(1, Ordering::Relaxed);
                    Ok(())
                },
                || Ok(()),
            )
            .unwrap();
            assert!(runs.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn segments_of_long_messages_are_not_shorter_than_a_huge_page() {
        const KIB: usize = 1 << 10;
        const MIB: usize = 1 << 20;
        let lengths = [512 * KIB, 2 * MIB, 16 * MIB, 32 * MIB, 64 * MIB, 256 * MIB, 1 << 30, 64 << 30];
        let of = |max: usize| lengths.map(|len| FreeThreads { max }.segment_len(len) / KIB);
        assert_eq!(of(2), [64, 128, 1024, 2048, 4096, 4096, 4096, 16384]);
        assert_eq!(of(8), [64, 64, 256, 2048, 2048, 4096, 4096, 16384]);
    }

    #[test]
    fn buffers_that_are_refused() {
        let caller = std::thread::current().id();
        for workers in [Workers::Spawned(3), Workers::Pooled(9)] {
            let ran = AtomicU64::new(0);
            let refused = || Error::OutOfMemory { bytes: 1 };
            let only_the_caller =
                || (std::thread::current().id() == caller).then_some(()).ok_or_else(refused);
            let count = |_, (): &mut (), _: &dyn Fn()| {
                ran.fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            run_jobs(workers, 100, only_the_caller, count, || Ok(())).unwrap();
            assert_eq!(ran.load(Ordering::Relaxed), 100);
            let result = run_jobs(workers, 100, || Err(refused()), count, || Ok(()));
            assert!(matches!(result, Err(Error::OutOfMemory { .. })));
            assert_eq!(ran.load(Ordering::Relaxed), 100);
        }
    }

    #[test]
    fn the_error_is_that_of_the_first_job_that_fails() {
        for workers in [Workers::Spawned(4), Workers::Pooled(4)] {
            for _ in 0..50 {
                let fail = |job, (): &mut (), _: &dyn Fn()| match job {
                    7 => {
                        std::thread::sleep(std::time::Duration::from_micros(50));
                        Err(Error::Truncated)
                    }
                    8.. => Err(Error::Authentication),
                    _ => Ok(()),
                };
                let result = run_jobs(workers, 20, || Ok(()), fail, || Ok(()));
                assert!(matches!(result, Err(Error::Truncated)));
            }
        }
    }

    #[test]
    fn error_stops_the_remaining_jobs() {
        for workers in [Workers::Spawned(2), Workers::Pooled(9)] {
            let ran = AtomicU64::new(0);
            let result = run_jobs(
                workers,
                1_000_000,
                || Ok(()),
                |job, (), _| {
                    ran.fetch_add(1, Ordering::Relaxed);
                    if job == 10 { Err(Error::Authentication) } else { Ok(()) }
                },
                || Ok(()),
            );
            assert!(matches!(result, Err(Error::Authentication)));
            assert!(ran.load(Ordering::Relaxed) < 1_000_000);
        }
    }
}
