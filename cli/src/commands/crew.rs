//! Many files at once: a small file has one thread, a large one has all, and one thread talks.

use crate::error::{Failure, Kind, name};
use crate::interrupt;
use crate::tui::{Bar, Console};
use sealane::Error;
use sealane::file::{Durability, FileFingerprint, Options};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// From here on a file is worth all threads.
const LARGE: u64 = 8 << 20;

/// How often the thread that talks looks what the others did.
const GLANCE: Duration = Duration::from_millis(20);

/// One file.
pub(super) struct Job {
    pub(super) source: PathBuf,
    pub(super) target: PathBuf,
    /// As it was before it was read.
    pub(super) seen: FileFingerprint,
}

/// What came of it.
#[derive(Clone, Copy)]
pub(super) struct Done {
    /// Of plaintext.
    pub(super) bytes: u64,
    pub(super) seconds: f64,
}

/// How the work is done.
pub(super) struct Crew<'a> {
    pub(super) threads: Option<NonZeroUsize>,
    pub(super) durability: Durability,
    /// What to do after an interruption.
    pub(super) advice: &'static str,
    pub(super) console: &'a Console,
}

impl Crew<'_> {
    /// Does all jobs; `end` hears of each that is done, on the calling thread.
    pub(super) fn all(
        &self,
        jobs: &[Job],
        work: impl Fn(&Job, Options<'_>) -> Result<(), Error> + Sync,
        mut end: impl FnMut(&Job, Done) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        interrupt::advise(Some(self.advice));
        let most = || thread::available_parallelism().map_or(1, NonZeroUsize::get).min(8);
        let threads = self.threads.map_or_else(most, NonZeroUsize::get);
        let (large, small): (Vec<_>, Vec<_>) = jobs.iter().partition(|job| job.seen.len() >= LARGE);
        let total = jobs.iter().map(|job| job.seen.len()).sum();
        let mut tally = Tally { all: jobs.len(), done: 0, before: 0, bar: self.console.bar("", Some(total)) };
        for (jobs, at_once, each) in [(small, threads, 1), (large, 1, threads)] {
            let round = Round::new(&jobs, each, self.durability, &work);
            thread::scope(|scope| {
                let talker = thread::current();
                for _ in 0..at_once.min(jobs.len()) {
                    round.come();
                    let talker = talker.clone();
                    let worker = || round.worker(talker);
                    if thread::Builder::new().spawn_scoped(scope, worker).is_err() {
                        round.workers.fetch_sub(1, Ordering::AcqRel);
                    }
                }
                if round.nobody() && !jobs.is_empty() {
                    // Where the system gives no thread, this one does it all.
                    round.come();
                    round.worker(talker);
                }
                self.watch(&round, &mut tally, &mut end).inspect_err(|_| round.stop())
            })?;
            tally.before += round.bytes.into_inner();
        }
        match interrupt::requested() {
            true => Err(Failure::interrupted_among(tally.done, tally.all, self.advice)),
            false => Ok(()),
        }
    }

    /// Tells what happens until all is done.
    fn watch<W>(
        &self,
        round: &Round<'_, W>,
        tally: &mut Tally,
        end: &mut impl FnMut(&Job, Done) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        loop {
            // Asked first: who leaves has put everything down before.
            let last = round.nobody();
            let ended = std::mem::take(&mut *round.ended());
            if !ended.is_empty() {
                tally.bar.aside(|| {
                    ended.into_iter().try_for_each(|(at, result)| {
                        tally.done += usize::from(self.ended(result, |done| end(round.jobs[at], done))?);
                        Ok(())
                    })
                })?;
            }
            tally.show(round.bytes.load(Ordering::Relaxed));
            if last {
                return Ok(());
            }
            thread::park_timeout(GLANCE);
        }
    }

    /// Tells how a job ended, and whether it is done. An error: nobody listens any more.
    fn ended(
        &self,
        result: Result<Done, Failure>,
        end: impl FnOnce(Done) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        match result.and_then(end) {
            Ok(()) => return Ok(true),
            Err(failure) if failure.kind() == Kind::ReaderLeft => return Err(failure),
            // It is said once, when all have stopped.
            Err(failure) if failure.kind() == Kind::Interrupted => {}
            Err(failure) => self.console.fail(&failure),
        }
        Ok(false)
    }
}

/// Jobs that are done by some threads, and what these share with the one that talks.
struct Round<'a, W> {
    jobs: &'a [&'a Job],
    /// Threads for each of them.
    each: usize,
    durability: Durability,
    work: &'a W,
    next: AtomicUsize,
    bytes: AtomicU64,
    workers: AtomicUsize,
    ended: Mutex<Vec<(usize, Result<Done, Failure>)>>,
}

impl<'a, W> Round<'a, W> {
    fn new(jobs: &'a [&'a Job], each: usize, durability: Durability, work: &'a W) -> Self {
        let (next, bytes, workers, ended) = Default::default();
        Self { jobs, each, durability, work, next, bytes, workers, ended }
    }

    fn come(&self) {
        self.workers.fetch_add(1, Ordering::AcqRel);
    }

    fn nobody(&self) -> bool {
        self.workers.load(Ordering::Acquire) == 0
    }

    /// No further job is begun.
    fn stop(&self) {
        self.next.fetch_add(self.jobs.len(), Ordering::Relaxed);
    }

    fn ended(&self) -> MutexGuard<'_, Vec<(usize, Result<Done, Failure>)>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A worker that leaves, whatever the reason, is not waited for.
struct Leaving<'a>(&'a AtomicUsize, Thread);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
        self.1.unpark();
    }
}

impl<W: Fn(&Job, Options<'_>) -> Result<(), Error>> Round<'_, W> {
    fn worker(&self, talker: Thread) {
        let _left = Leaving(&self.workers, talker);
        while !interrupt::requested() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(at) else { break };
            let result = self.one(job);
            self.ended().push((at, result));
        }
    }

    fn one(&self, job: &Job) -> Result<Done, Failure> {
        let began = Instant::now();
        let mut bytes = 0;
        let mut heard = |done: u64, _| {
            self.bytes.fetch_add(done.saturating_sub(bytes), Ordering::Relaxed);
            bytes = bytes.max(done);
            if interrupt::requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = Options {
            threads: NonZeroUsize::new(self.each),
            progress: Some(&mut heard),
            durability: self.durability,
        };
        let result = (self.work)(job, options);
        // What was counted is plaintext, and the bar is about what is read.
        self.bytes.fetch_add(job.seen.len().saturating_sub(bytes), Ordering::Relaxed);
        match result {
            Ok(()) => Ok(Done { bytes, seconds: began.elapsed().as_secs_f64() }),
            Err(error) => Err(Failure::about(&name(&job.source), error)),
        }
    }
}

/// What is shown while they work.
struct Tally {
    all: usize,
    done: usize,
    /// Bytes of earlier rounds.
    before: u64,
    bar: Bar,
}

impl Tally {
    fn show(&mut self, bytes: u64) {
        self.bar.rename(format!("{} of {} files", self.done, self.all));
        // Whether to stop is asked elsewhere.
        let _ = self.bar.at(self.before + bytes);
    }
}
