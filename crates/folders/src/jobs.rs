//! Schedules many files on threads.
//!
//! Files below [`PARALLEL_FILE_LEN`] come first, several at once on one thread each. The others
//! follow one by one, each on all threads. The calling thread receives the reports, so that it can
//! draw a progress bar or run an interpreter. It processes files only if the system refuses to make
//! threads.

use crate::prelude::*;
use base::memory::affordable_threads;
use base::os::without_signals;
use base::threads::{PARALLEL_FILE_LEN, thread_count};
use base::{OnDrop, debug_fields};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// The settings of a bulk job.
pub struct Schedule<'a> {
    /// Number of threads, at most 256. Default: one per core, at most 8.
    pub threads: Option<NonZeroUsize>,
    /// Whether to sync each file before it gets its name.
    pub durability: Durability,
    /// Number of finished files from which workers wait until these are reported. Several workers
    /// can finish a file at once, so a [`Report`] may have one more file for each further thread.
    pub batch: usize,
    /// Called by every worker at each step of its file. Once it returns true, files in progress
    /// leave nothing behind and no other file is begun.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Results since the last report. The listener gets a report every 20 ms, or earlier if a batch is
/// full.
#[derive(Debug)]
pub struct Report {
    /// Finished files by index, with their results; without cancelled files.
    pub ended: Vec<(usize, Result<Done>)>,
    /// Bytes of sources processed since the start of the job, including failed files.
    pub bytes: u64,
}

/// The result of a processed file.
#[derive(Clone, Copy, Debug)]
pub struct Done {
    /// Plaintext bytes.
    pub bytes: u64,
    /// Time taken, in seconds.
    pub seconds: f64,
}

/// Time between reports, unless a batch is full.
const REPORT_INTERVAL: Duration = Duration::from_millis(20);

impl Schedule<'_> {
    /// Calls `work` for each index of `sizes` (the lengths of the sources in bytes), and reports to
    /// `listen` on the calling thread.
    ///
    /// # Errors
    /// Returns the first error of `listen`. No other file is begun after it, but files in progress
    /// are completed and still reported.
    pub fn run<E>(
        &self,
        sizes: &[u64],
        work: impl Fn(usize, Options<'_>) -> Result<()> + Sync,
        mut listen: impl FnMut(Report) -> Result<(), E>,
    ) -> Result<(), E> {
        let threads = thread_count(self.threads);
        let (large, small): (Vec<_>, Vec<_>) =
            (0..sizes.len()).partition(|&file| sizes[file] >= PARALLEL_FILE_LEN);
        let bytes = AtomicU64::new(0);
        for (files, workers, threads_per_file) in [(small, threads, 1), (large, 1, threads)] {
            let round = Round {
                schedule: self,
                sizes,
                files,
                threads_per_file,
                work: &work,
                bytes: &bytes,
                next: AtomicUsize::new(0),
                stopped: AtomicBool::new(false),
                workers: AtomicUsize::new(0),
                ended: Mutex::default(),
                reported: Condvar::new(),
            };
            thread::scope(|scope| {
                let listener = thread::current();
                // This thread only listens.
                let workers = workers.min(round.files.len());
                for _ in 0..affordable_threads(workers + 1) - 1 {
                    let worker = Worker::new(&round, &listener);
                    // On failure, this drops the closure and its worker.
                    let builder = thread::Builder::new().name("sealane".into());
                    let _ = without_signals(|| builder.spawn_scoped(scope, move || worker.run()));
                }
                round.listen(&mut listen)
            })?;
        }
        Ok(())
    }
}

/// The files processed with the same number of threads, and the shared state of their workers.
struct Round<'a, W> {
    schedule: &'a Schedule<'a>,
    sizes: &'a [u64],
    /// Indexes in `sizes` of these files.
    files: Vec<usize>,
    threads_per_file: usize,
    work: &'a W,
    bytes: &'a AtomicU64,
    /// Position in `files` of the next file.
    next: AtomicUsize,
    /// Set to begin no other file; workers no longer wait for reports.
    stopped: AtomicBool,
    workers: AtomicUsize,
    ended: Mutex<Vec<(usize, Result<Done>)>>,
    /// Notified when `ended` is empty again and workers can report.
    reported: Condvar,
}

impl<W: Fn(usize, Options<'_>) -> Result<()>> Round<'_, W> {
    /// Reports until all workers are done. If the system gave no thread, processes the files
    /// itself.
    fn listen<E>(&self, listen: &mut impl FnMut(Report) -> Result<(), E>) -> Result<(), E> {
        // Workers must not wait for a listener that panicked.
        let _stop = OnDrop(|| {
            self.stopped.store(true, Ordering::Relaxed);
            self.reported.notify_all();
        });
        let mut first_error = Ok(());
        loop {
            // Read this first: a worker stores its last result before it leaves.
            let mut last = self.workers.load(Ordering::Acquire) == 0;
            if last && let Some(file) = self.begin() {
                self.process(file);
                last = false;
            }
            let ended = mem::take(&mut *self.ended());
            self.reported.notify_all();
            if first_error.is_ok() || !ended.is_empty() {
                let report = Report { ended, bytes: self.bytes.load(Ordering::Relaxed) };
                if let Err(error) = listen(report) {
                    self.stopped.store(true, Ordering::Relaxed);
                    first_error = first_error.and(Err(error));
                }
            }
            if last {
                return first_error;
            }
            if self.workers.load(Ordering::Acquire) > 0 {
                thread::park_timeout(REPORT_INTERVAL);
            }
        }
    }

    fn begin(&self) -> Option<usize> {
        let stopped = self.stopped.load(Ordering::Relaxed) || (self.schedule.cancelled)();
        let next = if stopped { return None } else { self.next.fetch_add(1, Ordering::Relaxed) };
        self.files.get(next).copied()
    }

    fn process(&self, file: usize) {
        let began = Instant::now();
        let mut bytes = 0;
        let mut progress = |done: u64, _| {
            self.bytes.fetch_add(done.saturating_sub(bytes), Ordering::Relaxed);
            bytes = bytes.max(done);
            if (self.schedule.cancelled)() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = Options {
            threads: NonZeroUsize::new(self.threads_per_file),
            progress: Some(&mut progress),
            durability: self.schedule.durability,
        };
        let result = (self.work)(file, options);
        // Progress counts plaintext, but the report counts source bytes.
        self.bytes.fetch_add(self.sizes[file].saturating_sub(bytes), Ordering::Relaxed);
        if !matches!(result, Err(Error::Cancelled)) {
            let done = Done { bytes, seconds: began.elapsed().as_secs_f64() };
            self.ended().push((file, result.map(|()| done)));
        }
    }

    fn ended(&self) -> MutexGuard<'_, Vec<(usize, Result<Done>)>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that processes files. Dropping it, even in a panic, takes it off the count of workers.
struct Worker<'a, 'b, W> {
    round: &'a Round<'b, W>,
    listener: Thread,
}

impl<'a, 'b, W: Fn(usize, Options<'_>) -> Result<()>> Worker<'a, 'b, W> {
    fn new(round: &'a Round<'b, W>, listener: &Thread) -> Self {
        round.workers.fetch_add(1, Ordering::AcqRel);
        Self { round, listener: listener.clone() }
    }

    fn run(self) {
        let round = self.round;
        while let Some(file) = round.begin() {
            round.process(file);
            let mut ended = round.ended();
            while ended.len() >= round.schedule.batch && !round.stopped.load(Ordering::Relaxed) {
                self.listener.unpark();
                ended = round.reported.wait(ended).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl<W> Drop for Worker<'_, '_, W> {
    fn drop(&mut self) {
        self.round.workers.fetch_sub(1, Ordering::AcqRel);
        self.listener.unpark();
    }
}

debug_fields!(Schedule<'_>; |it| threads: it.threads, batch: it.batch);

#[cfg(test)]
mod test {
    use super::*;

    fn schedule(batch: usize, cancelled: &(dyn Fn() -> bool + Sync)) -> Schedule<'_> {
        Schedule { threads: NonZeroUsize::new(4), durability: Durability::Cached, batch, cancelled }
    }

    #[test]
    fn processes_every_file_once_and_reports_its_result() {
        let sizes: Vec<u64> = (0..500).map(|n| if n % 50 == 7 { PARALLEL_FILE_LEN } else { n }).collect();
        for batch in [1, 2, 64] {
            let calls: Vec<_> = sizes.iter().map(|_| AtomicUsize::new(0)).collect();
            let (mut reported, mut bytes) = (vec![0; sizes.len()], 0);
            let listener = thread::current().id();
            let work = |file: usize, options: Options<'_>| {
                assert_ne!(thread::current().id(), listener, "the listener has to stay free");
                let threads = if sizes[file] >= PARALLEL_FILE_LEN { 4 } else { 1 };
                assert_eq!(options.threads.unwrap().get(), threads);
                calls[file].fetch_add(1, Ordering::Relaxed);
                if file.is_multiple_of(3) { Err(Error::Truncated) } else { Ok(()) }
            };
            let result: Result<(), ()> = schedule(batch, &|| false).run(&sizes, work, |report| {
                // Each worker may add one more file before it must wait.
                assert!(report.ended.len() < batch + 4);
                assert!(report.bytes >= bytes);
                bytes = report.bytes;
                for (file, result) in report.ended {
                    assert_eq!(result.is_err(), file % 3 == 0);
                    reported[file] += 1;
                }
                Ok(())
            });
            assert_eq!((result, bytes), (Ok(()), sizes.iter().sum()));
            assert!(reported.iter().all(|&n| n == 1));
            assert!(calls.iter().all(|n| n.load(Ordering::Relaxed) == 1));
        }
    }

    /// The bytes of a large file are reported while it is in progress.
    #[test]
    fn bytes_are_reported_before_a_file_ends() {
        let heard = AtomicBool::new(false);
        let work = |_, options: Options<'_>| {
            let _ = options.progress.unwrap()(3, None);
            let began = Instant::now();
            while !heard.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(5) {
                thread::sleep(Duration::from_millis(1));
            }
            heard.load(Ordering::Relaxed).then_some(()).ok_or(Error::Truncated)
        };
        let mut ended = Vec::new();
        let result: Result<(), ()> = schedule(64, &|| false).run(&[10], work, |report| {
            heard.fetch_or(report.bytes == 3, Ordering::Relaxed);
            ended.extend(report.ended);
            Ok(())
        });
        assert!(result.is_ok() && matches!(ended[..], [(0, Ok(_))]), "{ended:?}");
    }

    #[test]
    fn an_error_of_the_listener_stops_and_files_in_progress_are_still_reported() {
        let (began, mut reported, mut calls) = (AtomicUsize::new(0), 0, 0);
        let work = |_, _: Options<'_>| {
            began.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let result = schedule(2, &|| false).run(&[1; 10_000], work, |report| {
            reported += report.ended.len();
            calls += usize::from(!report.ended.is_empty());
            if calls > 0 { Err(calls) } else { Ok(()) }
        });
        assert_eq!(result, Err(1));
        assert_eq!(reported, began.into_inner());
        assert!(reported < 20, "{reported}");
    }

    #[test]
    fn a_cancelled_file_is_not_reported() {
        let cancelled = AtomicBool::new(false);
        let work = |file, options: Options<'_>| {
            cancelled.fetch_or(file == 5, Ordering::Relaxed);
            match options.progress.unwrap()(0, None) {
                ControlFlow::Break(()) => Err(Error::Cancelled),
                ControlFlow::Continue(()) => Ok(()),
            }
        };
        let mut ended = Vec::new();
        let result: Result<(), ()> =
            schedule(64, &|| cancelled.load(Ordering::Relaxed)).run(&[1; 10_000], work, |report| {
                ended.extend(report.ended);
                Ok(())
            });
        assert!(result.is_ok() && ended.len() < 100, "{}", ended.len());
        assert!(ended.iter().all(|(_, result)| result.is_ok()));
    }
}
