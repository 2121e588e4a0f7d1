//! Many jobs, some threads, one answer.

use crate::Error;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// More threads than this do not make a file faster: the kernel's page cache is the limit by then.
const MOST_THREADS: usize = 8;

/// More than these are not made, whatever is asked for: each has its buffers.
const MOST_ASKED: usize = 256;

/// Threads to use where the caller does not say.
pub(crate) fn threads(asked: Option<NonZeroUsize>) -> usize {
    match asked {
        Some(n) => n.get().min(MOST_ASKED),
        None => std::thread::available_parallelism().map_or(1, NonZeroUsize::get).min(MOST_THREADS),
    }
}

/// Runs jobs `0..jobs` on up to `threads` threads, the calling one included.
///
/// `room` makes what one thread reuses from job to job. `after` runs on the calling thread only, after each of its
/// jobs. The first error stops all; jobs that were begun are finished.
///
/// Threads are made for the call (62 µs each, measured) and not kept: a pool would have to survive `fork`, and a file
/// worth two threads takes longer than that.
pub(crate) fn join<R>(
    threads: usize,
    jobs: u64,
    room: impl Fn() -> R + Sync,
    work: impl Fn(u64, &mut R) -> Result<(), Error> + Sync,
    mut after: impl FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let next = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let run = |after: &mut dyn FnMut() -> Result<(), Error>| {
        let mut reused = room();
        while !stop.load(Ordering::Relaxed) {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            if let Err(error) = work(job, &mut reused).and_then(|()| after()) {
                stop.store(true, Ordering::Relaxed);
                let mut first = first_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                first.get_or_insert(error);
                return;
            }
        }
    };
    let helpers = threads.min(usize::try_from(jobs).unwrap_or(usize::MAX)).saturating_sub(1);
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // Where the system gives no thread, the others do its jobs.
            let _ = std::thread::Builder::new()
                .name("sealane".into())
                .spawn_scoped(scope, || run(&mut || Ok(())));
        }
        run(&mut after);
    });
    match first_error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_job_runs_once() {
        for threads in [1, 2, 7] {
            let seen: Vec<_> = (0..100).map(|_| AtomicU64::new(0)).collect();
            join(
                threads,
                100,
                || (),
                |job, ()| {
                    seen[job as usize].fetch_add(1, Ordering::Relaxed);
                    Ok(())
                },
                || Ok(()),
            )
            .unwrap();
            assert!(seen.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn an_error_stops_the_rest() {
        let ran = AtomicU64::new(0);
        let result = join(
            2,
            1_000_000,
            || (),
            |job, ()| {
                ran.fetch_add(1, Ordering::Relaxed);
                if job == 10 { Err(Error::Authentication) } else { Ok(()) }
            },
            || Ok(()),
        );
        assert!(matches!(result, Err(Error::Authentication)));
        assert!(ran.load(Ordering::Relaxed) < 1_000_000);
    }
}
