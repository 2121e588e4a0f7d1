//! Many jobs, some threads, one answer.

use super::kept;
use crate::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Who works beside the calling thread.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Threads {
    /// So many, the calling one included, are made for the call (62 µs each, measured) and end with it.
    Made(usize),
    /// Those of the process that are free. For what takes less than a millisecond.
    Kept,
}

/// Looks for the last job of another thread's, each of about 40 ns, before the calling thread is put to sleep: to be
/// woken takes longer than most of a job of 128 KiB (measured).
const LOOKS: u32 = 1000;

/// Runs jobs `0..jobs` on several threads, the calling one included.
///
/// `room` makes what one thread reuses from job to job. `after` runs on the calling thread only, after each of its
/// jobs. The first error stops all; jobs that were begun are finished.
pub(crate) fn join<R>(
    threads: Threads,
    jobs: u64,
    room: impl Fn() -> R + Sync,
    work: impl Fn(u64, &mut R) -> Result<(), Error> + Sync,
    mut after: impl FnMut() -> Result<(), Error>,
) -> Result<(), Error> {
    let next = AtomicU64::new(0);
    let done = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    let first_error = Mutex::new(None);
    let run = |after: &mut dyn FnMut() -> Result<(), Error>| {
        let mut reused = room();
        while !stop.load(Ordering::Relaxed) {
            let job = next.fetch_add(1, Ordering::Relaxed);
            if job >= jobs {
                return;
            }
            let result = work(job, &mut reused).and_then(|()| after());
            done.fetch_add(1, Ordering::Relaxed);
            if let Err(error) = result {
                stop.store(true, Ordering::Relaxed);
                let mut first = first_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                first.get_or_insert(error);
                return;
            }
        }
    };
    let most = usize::try_from(jobs).unwrap_or(usize::MAX);
    match threads {
        Threads::Made(threads) => std::thread::scope(|scope| {
            for _ in 1..threads.min(most) {
                // Where the system gives no thread, the others do its jobs.
                let _ = std::thread::Builder::new()
                    .name("sealane".into())
                    .spawn_scoped(scope, || run(&mut || Ok(())));
            }
            run(&mut after);
        }),
        Threads::Kept => kept::beside(
            most.saturating_sub(1),
            || run(&mut || Ok(())),
            || {
                run(&mut after);
                let all = || done.load(Ordering::Relaxed) >= jobs || stop.load(Ordering::Relaxed);
                (0..LOOKS).take_while(|_| !all()).for_each(|_| std::hint::spin_loop());
            },
        ),
    }
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
        for threads in [Threads::Made(1), Threads::Made(2), Threads::Made(7), Threads::Kept] {
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
        for threads in [Threads::Made(2), Threads::Kept] {
            let ran = AtomicU64::new(0);
            let result = join(
                threads,
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
}
