//! `--recursive`: whole folders, several small files at a time.

use crate::args::{Transfer, Verify};
use crate::error::{Failure, Kind, name};
use crate::interrupt::{self, Watch};
use crate::keys;
use crate::tui::{Bar, Console};
use sealane::Error;
use sealane::file::{self, Durability, Manifest, Options, Stamp, Suffix, Tree};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// From here on a file is worth all threads; of smaller ones each thread has its own.
const LARGE: u64 = 8 << 20;

/// How often the one thread that talks looks what the others did.
const GLANCE: Duration = Duration::from_millis(20);

/// A passphrase makes each file cost a second. From here on that is said.
const PATIENT: usize = 10;

type Work<L> = fn(&Path, &Path, &L, Options<'_>) -> Result<(), Error>;

/// What `encrypt` and `decrypt` do differently.
pub(super) struct Ways<L> {
    pub(super) suffix: for<'a> fn(&'a OsStr) -> Suffix<'a>,
    pub(super) work: Work<L>,
}

/// Encrypts or decrypts every file below the inputs; one that fails does not keep the others from being done.
pub(super) fn transfer<L: Sync>(
    args: &Transfer,
    ways: &Ways<L>,
    lock: impl FnOnce() -> Result<L, Failure>,
    passphrase: bool,
    console: &Console,
) -> Result<(), Failure> {
    let _watch = Watch::begin(console);
    let output = args.output.as_deref().filter(|output| *output != Path::new("-"));
    let output = output.ok_or_else(|| Failure::misuse("--recursive needs a folder for the results: -o"))?;
    let suffix = args.folders.suffix.clone().unwrap_or_default();
    let tree = walk(&args.inputs, Some(output), (ways.suffix)(&suffix))?;
    let lock = lock()?;
    let manifest = args.manifest.as_deref().map(|path| manifest(path, &args.inputs, &tree)).transpose()?;
    make(&tree, console);
    let durability = if args.sync { Durability::Synced } else { Durability::Cached };
    let crew = Crew { threads: args.effort.threads, durability, goes_on: manifest.is_some(), console };
    let mut list = List::new(tree, manifest, console)?;
    if passphrase && list.jobs.len() >= PATIENT {
        console.warn(&format!(
            "a passphrase costs each of the {} files about a second; a key (-k) or recipients (-r) would not",
            list.jobs.len()
        ));
    }
    let (jobs, mut manifest) = (std::mem::take(&mut list.jobs), list.manifest.take());
    let work = |job: &Job, options: Options<'_>| (ways.work)(&job.source, &job.target, &lock, options);
    crew.all(&jobs, work, |job, done| {
        if let Some(manifest) = &mut manifest {
            manifest
                .add(&job.source, job.seen, &job.target)
                .map_err(|error| Failure::about(&name(&job.target), error))?;
        }
        match console.json() {
            true => console.result(|| document(job, done), ""),
            false => Ok(()),
        }
    })?;
    match (manifest, args.manifest.as_deref()) {
        (Some(manifest), Some(path)) => manifest.sync().map_err(|e| Failure::about(&name(path), e)),
        _ => Ok(()),
    }
}

/// Verifies every file below the inputs.
pub(super) fn verify(args: &Verify, console: &Console) -> Result<(), Failure> {
    let suffix = args.folders.suffix.clone().unwrap_or_default();
    let tree = walk(&args.inputs, None, Suffix::TakeOff(&suffix))?;
    let unlock = keys::unlock(&args.unlock, console)?;
    let crew = Crew { threads: args.effort.threads, durability: Durability::Cached, goes_on: false, console };
    let list = List::new(tree, None, console)?;
    let work = |job: &Job, options: Options<'_>| file::verify_file(&job.source, &unlock, options);
    crew.all(&list.jobs, work, |job, Done { bytes, .. }| {
        let name = name(&job.source);
        console.result(
            || json!({"file": name, "verified": true, "bytes": bytes}),
            &format!("{name}: verified, {bytes} bytes"),
        )
    })
}

fn document(job: &Job, done: Done) -> Value {
    let Done { bytes, seconds } = done;
    json!({"source": name(&job.source), "target": name(&job.target), "bytes": bytes, "seconds": seconds})
}

fn walk(inputs: &[PathBuf], output: Option<&Path>, suffix: Suffix<'_>) -> Result<Tree, Failure> {
    if inputs.is_empty() || inputs.iter().any(|input| input == Path::new("-")) {
        return Err(Failure::misuse("--recursive needs folders to read, and standard input is none"));
    }
    let about = |error| Failure::about("--recursive", error);
    Tree::walk(inputs, output, suffix).map_err(about)
}

/// Neither among the data, where it would change while it is read, nor where a result is to be.
fn manifest(path: &Path, inputs: &[PathBuf], tree: &Tree) -> Result<Manifest, Failure> {
    let real = |path: &Path| {
        let folder = match path.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    };
    if let Some(own) = real(path) {
        let read =
            inputs.iter().filter_map(|input| fs::canonicalize(input).ok()).any(|it| own.starts_with(it));
        let named = |target: &Path| target.file_name() == path.file_name();
        let written = tree.pairs.iter().any(|(_, to)| named(to) && real(to).as_ref() == Some(&own));
        if read || written {
            return Err(Failure::misuse(format!(
                "{}: lies among the data; choose another place for the manifest",
                name(path)
            )));
        }
    }
    Manifest::open(path).map_err(|error| Failure::about(&name(path), error))
}

/// Empty folders too.
fn make(tree: &Tree, console: &Console) {
    for folder in &tree.folders {
        if let Err(e) = fs::create_dir_all(folder) {
            console.fail(&Failure::io(&name(folder), &e));
        }
    }
}

/// One file.
struct Job {
    source: PathBuf,
    target: PathBuf,
    /// As it was before it was read.
    seen: Stamp,
}

/// What came of it.
#[derive(Clone, Copy)]
struct Done {
    /// Of plaintext.
    bytes: u64,
    seconds: f64,
}

/// What is left to be done.
struct List {
    jobs: Vec<Job>,
    manifest: Option<Manifest>,
}

impl List {
    /// Tells what cannot be done, and leaves out what was done before.
    fn new(tree: Tree, manifest: Option<Manifest>, console: &Console) -> Result<Self, Failure> {
        for (path, error) in tree.problems {
            console.fail(&Failure::about(&name(&path), error));
        }
        let mut jobs = Vec::new();
        for (source, target) in tree.pairs {
            let seen = match Stamp::of(&source) {
                Ok(seen) => seen,
                Err(error) => {
                    console.fail(&Failure::about(&name(&source), error));
                    continue;
                }
            };
            if manifest.as_ref().is_some_and(|manifest| manifest.finished(&source, &target)) {
                if console.json() {
                    let (source, target) = (name(&source), name(&target));
                    console.result(|| json!({"source": source, "target": target, "skipped": true}), "")?;
                }
                continue;
            }
            jobs.push(Job { source, target, seen });
        }
        Ok(Self { jobs, manifest })
    }
}

/// How the work is done.
struct Crew<'a> {
    threads: Option<NonZeroUsize>,
    durability: Durability,
    /// Whether the job can be taken up again.
    goes_on: bool,
    console: &'a Console,
}

impl Crew<'_> {
    /// Does all jobs; `end` hears of each that is done, on the calling thread.
    fn all(
        &self,
        jobs: &[Job],
        work: impl Fn(&Job, Options<'_>) -> Result<(), Error> + Sync,
        mut end: impl FnMut(&Job, Done) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
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
                        round.leave();
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
            true => Err(Failure::interrupted_among(tally.done, tally.all, self.goes_on)),
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

    fn leave(&self) {
        self.workers.fetch_sub(1, Ordering::AcqRel);
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

impl<W: Fn(&Job, Options<'_>) -> Result<(), Error>> Round<'_, W> {
    fn worker(&self, talker: Thread) {
        while !interrupt::requested() {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(at) else { break };
            let result = self.one(job);
            self.ended().push((at, result));
        }
        self.leave();
        talker.unpark();
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
