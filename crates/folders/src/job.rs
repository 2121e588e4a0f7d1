//! Jobs over many files: folders, or pairs of files.
//!
//! [`Job::new`] lists the files and refuses what cannot work. [`Job::run`] then takes these steps,
//! each complete before the next begins, and sends an [`Event`] for everything that happens:
//!
//! 1. with `delete`, refuse a source without most of the encrypted files;
//! 1. clear the places of targets whose source has become a folder, or is no longer one;
//! 1. create folders and process files, except those finished according to the manifest;
//! 2. copy symbolic links;
//! 3. remove encrypted files whose source is gone;
//! 4. give folders the attributes of their sources (late, because each new or removed name changes
//!    a folder's time);
//! 5. write the inventory, or compare with it;
//! 6. sync the manifest to disk, if requested.
//!
//! [`Job::run`] processes the files on threads. Other executors run batches: [`Job::plan`],
//! [`Job::start`], [`Job::next_batch`] and [`Job::record`] per batch, and [`Job::finish`].
//!
//! ```
//! use sealane::Key;
//! use sealane::file::EncryptWith;
//! use sealane::file::bulk::Operation;
//! use sealane::file::job::{Event, Job, JobKeys, JobOptions};
//! use std::ops::ControlFlow;
//!
//! let root = std::env::temp_dir().join(format!("sealane-job-{}", std::process::id()));
//! let [from, to] = ["from", "to"].map(|name| root.join(name));
//! std::fs::create_dir_all(&from)?;
//! std::fs::write(from.join("a.txt"), "hello")?;
//!
//! let (inputs, output, suffix) = (vec![from], Some(to.clone()), ".sealed".into());
//! let mut job = Job::new(JobOptions { inputs, output, suffix, ..JobOptions::default() })?;
//! let operation = Operation::Encrypt(EncryptWith::key(&Key::generate(32)?, b""));
//! let keys = JobKeys { operation: &operation, inventory: None, compare: None };
//! let done = job.run(&keys, &|| false, &mut |events| {
//!     for event in events {
//!         if let Event::Failed { path, error, .. } = event {
//!             eprintln!("{}: {error}", path.display());
//!         }
//!     }
//!     ControlFlow::Continue(())
//! });
//! assert!(done.is_ok() && to.join("a.txt.sealed").exists());
//! # std::fs::remove_dir_all(&root)?;
//! # Ok::<(), sealane::Error>(())
//! ```

mod collisions;
mod events;
mod forgotten;
mod inventory;
mod kinds;
mod listing;
mod options;
mod removals;
mod tally;

#[doc(hidden)]
pub use collisions::folded;
#[doc(hidden)]
pub use events::send;
pub use events::{Action, Event, JobError, JobResult, Listener, Pair, Summary};
#[doc(hidden)]
pub use forgotten::{check_folder, check_sources, check_target, may_lack_description};
#[doc(hidden)]
pub use forgotten::{decrypt_file, encrypt_file, rewrap_file, salvage_file, salvage_opened};
#[doc(hidden)]
pub use listing::leads_out;
pub use options::{JobKeys, JobOptions};
pub use tally::JobFile;

use super::description::Description;
use super::inventory::InventoryDraft;
use super::manifest::{FileFingerprint, Manifest, State};
use super::tree::{Tree, TreeOptions};
use crate::jobs::{Done, Schedule};
use crate::prelude::*;
use base::threads::PARALLEL_FILE_LEN;
use engine::folder::{create_all, refuse_url};
use engine::io::regular;
use inventory::{Inventories, NewInventory};
use std::sync::{Mutex, PoisonError};
use tally::Tally;

/// A job over many files. Nothing is written before [`Self::run`] or [`Self::start`].
#[derive(Debug)]
pub struct Job {
    options: JobOptions,
    tree: Tree,
    /// Whether to create the folder of each target, because the job has no target folder.
    makes_parents: bool,
    /// Whether the job has created the target folder.
    made_root: bool,
    /// The files to process.
    files: Vec<JobFile>,
    /// Sources and targets of files that are already finished.
    finished: Vec<(PathBuf, PathBuf)>,
    /// Targets of finished files that were written again or moved. Their marks decide.
    touched: BTreeSet<PathBuf>,
    /// Marks of finished files that were read, because the manifest does not show them.
    read: BTreeMap<PathBuf, FileMark>,
    /// The inputs when they were listed, to notice that a disk is gone.
    roots: Vec<Option<FileId>>,
    tally: Tally,
    /// Index of the next file to put in a batch.
    next: usize,
    /// The batch under construction, and its length in bytes.
    batch: (Vec<usize>, u64),
}

impl Job {
    /// Lists the files below the inputs, with their targets below the output.
    ///
    /// # Errors
    /// Returns the errors of [`Tree::walk`], [`FolderError::OutputDescribed`] for an output in
    /// a folder with another description, [`FolderError::OutputIsVault`],
    /// [`FolderError::SourceDescribed`] for files that are encrypted already,
    /// [`FolderError::NamesEncrypted`] and
    /// [`FolderError::SuffixForgotten`] unless [`JobOptions::keeps_names`],
    /// [`FolderError::ManifestAmong`], [`FolderError::ManifestReveals`], and
    /// [`Misuse::OutputIsInput`] for a target among
    /// [`JobOptions::kept`].
    pub fn new(options: JobOptions) -> Result<Self> {
        forgotten::check_output(&options)?;
        let links = options.links();
        let (exclude, names) = (options.exclude.as_ref(), options.names.as_ref());
        let (output, suffix, replaces_links) = (options.output.as_deref(), options.suffix(), options.delete);
        // Without a description, an encrypted file with this name would be taken for one.
        let reserved = output.filter(|_| options.encrypts()).map(|output| output.join(Description::NAME));
        let description = options.description.as_deref().or(reserved.as_deref());
        let unfinished = options.unfinished.as_deref().filter(|_| !options.encrypts());
        let of_tree = TreeOptions { exclude, links, names, replaces_links, description, unfinished };
        let mut tree = Tree::walk(&options.inputs, output, suffix, of_tree)?;
        forgotten::check(&options, &tree)?;
        collisions::check_tree(&options, &mut tree)?;
        Ok(Self::of(options, tree, false))
    }

    /// Creates a job that processes the first file of each pair to the second. It creates the
    /// targets' folders.
    ///
    /// # Errors
    /// Returns [`Misuse::DuplicateTarget`] if two pairs have the
    /// same target, [`Misuse::OutputIsInput`] if a target is a
    /// source, [`FolderError::ManifestAmong`], [`FolderError::SourceDescribed`] unless
    /// [`JobOptions::removes_suffix`], and [`FolderError::OutputDescribed`].
    pub fn pairs(pairs: Vec<(PathBuf, PathBuf)>, options: JobOptions) -> Result<Self> {
        collisions::check_pairs(&pairs, &options)?;
        Ok(Self::of(options, Tree { pairs, ..Tree::default() }, true))
    }

    fn of(options: JobOptions, tree: Tree, makes_parents: bool) -> Self {
        let summary = Summary { excluded: tree.excluded, ..Summary::default() };
        Self {
            roots: options.roots(),
            touched: BTreeSet::new(),
            read: BTreeMap::new(),
            options,
            tree,
            makes_parents,
            made_root: false,
            files: Vec::new(),
            finished: Vec::new(),
            tally: Tally { summary, ..Tally::default() },
            next: 0,
            batch: (Vec::new(), 0),
        }
    }

    /// Processes the files on threads, and takes all other steps. Once `cancelled` returns true,
    /// files in progress leave nothing behind and no other file is begun; complete files are in the
    /// manifest.
    ///
    /// # Errors
    /// Returns [`Error::Cancelled`] if `cancelled` returned true or the listener stopped the job,
    /// [`Error::KeyMismatch`] if the key does not open a finished file of the manifest, and the
    /// errors of [`Manifest::open`], [`InventoryKeys::previous`](super::InventoryKeys::previous)
    /// and [`InventoryKeys::save`](super::InventoryKeys::save). Errors of files are events.
    pub fn run(
        &mut self,
        keys: &JobKeys<'_>,
        cancelled: &(dyn Fn() -> bool + Sync),
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let mut new_inventory = None;
        if let Some(inventory) = keys.inventory {
            let (begun, damaged) = NewInventory::begin(inventory, keys.operation)?;
            send(listen, damaged.map(Event::InventoryReplaced).into_iter().collect())?;
            new_inventory = begun;
        }
        self.plan_after(Some(keys.operation), new_inventory.as_ref().map(|new| &new.draft), listen)?;
        if let (Some(manifest), Some(target)) = (&self.tally.manifest, self.finished_target()) {
            keys.operation.check_finished(manifest.path(), target)?;
        }
        if let Some(new) = new_inventory.as_mut().filter(|_| !self.options.dry_run) {
            self.compare_finished(&mut new.draft, cancelled, listen)?;
        }
        self.start(Some(keys.operation), listen)?;
        let hashed = new_inventory.is_some() || keys.compare.is_some_and(|listed| listed.folder().is_some());
        let marks = match (hashed, self.options.dry_run) {
            (true, false) => self.files.iter().map(|_| OnceLock::new()).collect(),
            _ => Vec::new(),
        };
        if !self.options.dry_run {
            self.process(keys.operation, &marks, cancelled, listen)?;
            send(listen, vec![Event::FilesEnded])?;
            if cancelled() {
                return Err(Error::Cancelled.into());
            }
        }
        let inventories = Inventories { new: new_inventory, compare: keys.compare, marks, cancelled };
        self.complete(Some(keys.operation), inventories, listen)
    }

    /// Opens the manifest and looks at the sources. Only [`Operation::Rotate`] is needed. Next,
    /// check that the key opens [`Self::finished_target`].
    ///
    /// # Errors
    /// Returns the errors of [`Manifest::open`].
    pub fn plan(&mut self, operation: Option<&Operation>, listen: &mut Listener<'_>) -> JobResult {
        self.plan_after(operation, None, listen)
    }

    /// Like [`Self::plan`]. A finished file with a touched target stays finished if `draft` or the
    /// manifest has its mark: [`Self::compare_finished`] compares it.
    fn plan_after(
        &mut self,
        operation: Option<&Operation>,
        draft: Option<&InventoryDraft>,
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let Self { options, tree, tally, .. } = self;
        let root = tree.root.clone().unwrap_or_default();
        if let Some(path) = options.manifest.as_deref().filter(|path| !options.dry_run || path.exists()) {
            tally.manifest = Some(Manifest::open(path).map_err(JobError::about(path))?);
        }
        for (source, target) in &tree.pairs {
            send(listen, Vec::new())?;
            let target = if options.in_place { source } else { target };
            // Opening a pipe would wait for its writer.
            let found = regular(source).and_then(|found| FileFingerprint::new(&found, source));
            let found = found.map_err(|error| tree.problems.push((source.clone(), error)));
            let Ok(fingerprint) = found else { continue };
            let (source, target) = (source.clone(), target.clone());
            match operation.map_or(Ok(false), |operation| operation.is_current(&source)) {
                Err(error) => tree.problems.push((source, error)),
                Ok(current) => {
                    tally.total += fingerprint.len();
                    let state = tally.manifest.as_ref().map_or(State::New, |it| it.state(&source, &target));
                    let has_mark = |draft: &InventoryDraft, manifest: &Manifest| {
                        draft.listed(&root, &target).is_some() || manifest.mark(&target).is_some()
                    };
                    let is_finished = match (state, &mut tally.manifest) {
                        (State::Touched, Some(manifest)) => {
                            draft.is_some_and(|draft| has_mark(draft, manifest))
                        }
                        (State::FinishedBefore, Some(manifest)) if !options.dry_run => {
                            let added = manifest.add(&source, fingerprint, &target, None);
                            added.map_err(JobError::about(manifest.path()))?;
                            true
                        }
                        (state, _) => matches!(state, State::Finished | State::FinishedBefore),
                    };
                    match current || is_finished {
                        true => {
                            self.touched.extend((state == State::Touched).then(|| target.clone()));
                            tally.ended += fingerprint.len();
                            self.finished.push((source, target));
                        }
                        false => self.files.push(JobFile { source, target, fingerprint }),
                    }
                }
            }
        }
        tally.summary.skipped = self.finished.len();
        Ok(())
    }

    /// Returns a target that is finished according to the manifest, for
    /// [`Operation::check_finished`].
    pub fn finished_target(&self) -> Option<&Path> {
        self.tally.manifest.as_ref()?;
        let mut targets = self.finished.iter().rev().map(|(_, target)| &**target);
        targets.find(|target| !self.touched.contains(*target))
    }

    /// Clears the places of targets of another kind, and creates the folders. A dry run reports
    /// what it would process. Without `operation`, only the manifest shows what an earlier job
    /// wrote.
    ///
    /// # Errors
    /// Returns [`Error::Cancelled`], and with [`JobOptions::delete`] the errors of
    /// [`Stale::find`](crate::Stale::find) and [`FolderError::MostRemoved`]. Nothing is written
    /// then.
    pub fn start(&mut self, operation: Option<&Operation>, listen: &mut Listener<'_>) -> JobResult {
        let problems = mem::take(&mut self.tree.problems);
        self.fail(problems, listen)?;
        if let Some(operation) = operation.filter(|_| self.options.delete) {
            let output = self.options.output.clone().unwrap_or_default();
            self.find_stale(operation).map_err(JobError::about(&output))?;
        }
        let batch = self.options.batch();
        if self.options.dry_run {
            self.next = self.files.len();
            for files in self.files.chunks(batch) {
                let plan = files.iter().map(|JobFile { source, target, .. }| {
                    Event::Planned(Action::Process, Pair { source, target })
                });
                send(listen, plan.collect())?;
            }
            let len: u64 = self.files.iter().map(|file| file.fingerprint.len()).sum();
            let summary = &mut self.tally.summary;
            (summary.done, summary.bytes, summary.source_bytes) = (self.files.len(), len, len);
            return Ok(());
        }
        self.made_root = self.tree.root.as_ref().is_some_and(|root| !root.exists());
        self.make_way(operation, listen)?;
        let problems = match (self.makes_parents, self.options.preserve) {
            (true, _) => self.create_parents(),
            (_, true) => self.tree.create_replica_folders(),
            (_, false) => self.tree.create_folders(),
        };
        self.fail(problems, listen)?;
        self.remove_unfinished();
        for finished in self.finished.chunks(batch) {
            send(
                listen,
                finished.iter().map(|(source, target)| Event::Skipped(Pair { source, target })).collect(),
            )?;
        }
        let bytes = self.files.iter().map(|file| file.fingerprint.len()).sum();
        send(listen, vec![Event::Begun { files: self.files.len(), bytes }])
    }

    /// Creates the targets' folders. If that fails, drops their files and returns the errors.
    fn create_parents(&mut self) -> Vec<(PathBuf, Error)> {
        let mut made = BTreeSet::from([PathBuf::new()]);
        let mut problems = Vec::new();
        let tally = &mut self.tally;
        self.files.retain_mut(|JobFile { source, target, fingerprint }| {
            let folder = target.parent().unwrap_or(Path::new(""));
            if !made.contains(folder) {
                if let Err(e) = refuse_url(target).and_then(|()| create_all(folder)) {
                    problems.push((mem::take(source), Error::io(folder, e)));
                    tally.ended += fingerprint.len();
                    return false;
                }
                made.insert(folder.to_owned());
            }
            true
        });
        problems
    }

    fn process(
        &mut self,
        operation: &Operation,
        marks: &[OnceLock<FileMark>],
        cancelled: &(dyn Fn() -> bool + Sync),
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let Self { options, tree, files, tally, .. } = self;
        let sizes: Vec<_> = files.iter().map(|file| file.fingerprint.len()).collect();
        let unverified = Mutex::new(BTreeSet::new());
        let unverified = || unverified.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |at: usize, work_options: Options<'_>| {
            let JobFile { source, target, .. } = &files[at];
            let root = tree.root.as_deref();
            operation.run(root, options.replica(), source, target, work_options, marks.get(at))?;
            if options.read_back {
                let one_thread = Options { threads: Some(NonZeroUsize::MIN), ..Options::default() };
                operation.read_back(target, one_thread).inspect_err(|_| {
                    unverified().insert(at);
                })?;
            }
            Ok(())
        };
        let schedule = Schedule {
            threads: options.threads,
            durability: options.durability,
            batch: options.batch(),
            cancelled,
        };
        let mut stopped = false;
        let files = &*files;
        schedule.run(&sizes, work, |report| {
            let ended = |(at, result): (usize, Result<_, _>)| {
                let subject = if unverified().contains(&at) { &files[at].target } else { &files[at].source };
                let mark = marks.get(at).and_then(OnceLock::get);
                tally.record(at, &files[at], mark, result.map_err(|error| (subject.clone(), error)))
            };
            let mut events: Vec<_> = report.ended.into_iter().map(ended).collect();
            events.push(tally.progress(report.bytes));
            // Once the listener has stopped the job, files are recorded but not reported.
            let sent = if stopped { Ok(()) } else { send(listen, events) };
            stopped |= sent.is_err();
            sent
        })
    }

    /// Returns the indexes in [`Self::files`] of the next batch: up to `JobOptions::batch` files
    /// of 4 MiB in all, or one large file. `None` after the last one.
    pub fn next_batch(&mut self) -> Option<Vec<usize>> {
        let (batch, size) = &mut self.batch;
        while let Some(file) = self.files.get(self.next) {
            let (at, len) = (self.next, file.fingerprint.len());
            self.next += 1;
            if len >= PARALLEL_FILE_LEN {
                return Some(vec![at]);
            }
            if batch.len() == self.options.batch() || *size + len > PARALLEL_FILE_LEN {
                *size = len;
                return Some(mem::replace(batch, vec![at]));
            }
            batch.push(at);
            *size += len;
        }
        Some(mem::take(batch)).filter(|batch| !batch.is_empty())
    }

    /// Returns the files to process.
    pub fn files(&self) -> &[JobFile] {
        &self.files
    }

    /// Returns the options of the job.
    pub fn options(&self) -> &JobOptions {
        &self.options
    }

    /// Returns the bytes of sources processed, skipped or failed, and of all sources.
    pub fn progress(&self) -> (u64, u64) {
        (self.tally.ended, self.tally.total)
    }

    /// Takes in the result of the file with this index from an executor.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the manifest cannot be written; the file then counts as failed.
    pub fn record(&mut self, at: usize, succeeded: bool) -> Result<()> {
        let Some(file) = self.files.get(at) else { return Ok(()) };
        let done = Done { bytes: file.fingerprint.len(), seconds: 0.0 };
        // The executor keeps the file's error.
        let result = if succeeded { Ok(done) } else { Err((PathBuf::new(), Error::Cancelled)) };
        match self.tally.record(at, file, None, result) {
            Event::Failed { error, .. } if succeeded => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns whether [`Self::finish`] needs the operation.
    pub fn finish_needs_operation(&self) -> bool {
        self.options.delete
            || !self.options.dry_run && self.tree.root.is_some() && !self.tree.links.is_empty()
    }

    /// Takes the steps after the files. `operation` may be `None` only if
    /// [`Self::finish_needs_operation`] returns false.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run`].
    pub fn finish(&mut self, operation: Option<&Operation>, listen: &mut Listener<'_>) -> JobResult {
        let inventories = Inventories { new: None, compare: None, marks: Vec::new(), cancelled: &|| false };
        self.complete(operation, inventories, listen)
    }

    fn complete(
        &mut self,
        operation: Option<&Operation>,
        mut inventories: Inventories<'_>,
        listen: &mut Listener<'_>,
    ) -> JobResult {
        self.copy_links(operation, listen)?;
        let mut new = inventories.new.take().filter(|_| !self.options.dry_run);
        if let Some(new) = &mut new {
            self.list(new, &inventories, listen)?;
        }
        if let Some(operation) = operation.filter(|_| self.options.delete) {
            self.remove_stale(operation, listen)?;
        }
        if self.made_root && new.is_none() && self.tally.summary.is_failure() {
            self.remove_folders();
        } else if self.options.preserve && !self.options.dry_run {
            let problems = self.tree.replicate(self.options.replica());
            self.fail(problems, listen)?;
        }
        if let (Some(new), Some(root)) = (new, &self.tree.root) {
            let (inventory, unread) = new.save(root, &self.options)?;
            let (counter, files) = (inventory.counter(), inventory.len());
            let folder = inventory.folder().unwrap_or_default();
            send(listen, vec![Event::Listed { folder, counter, files, unread }])?;
        }
        if let Some(listed) = inventories.compare {
            self.compare(listed, &inventories, listen)?;
        }
        send(listen, vec![Event::Ended(self.tally.summary)])?;
        match (&self.tally.manifest, self.options.durability == Durability::Synced) {
            (Some(manifest), true) => manifest.sync().map_err(JobError::about(manifest.path())),
            _ => Ok(()),
        }
    }

    fn copy_links(&mut self, operation: Option<&Operation>, listen: &mut Listener<'_>) -> JobResult {
        let Some(root) = &self.tree.root else { return Ok(()) };
        for link in &self.tree.links {
            let pair = Pair { source: &link.source, target: &link.target };
            let copied = match operation {
                _ if self.leads_out(operation, link) => {
                    Err(FolderError::LinkLeadsOut(link.text.clone()).into())
                }
                Some(operation) if !self.options.dry_run => operation.replicate_link(root, link),
                _ => Ok(()),
            };
            let listed = copied.and_then(|()| match &mut self.tally.manifest {
                Some(manifest) if !self.options.dry_run => manifest.add_link(pair.source, pair.target),
                _ => Ok(()),
            });
            let event = match listed {
                Ok(()) => {
                    self.tally.summary.links += 1;
                    match self.options.dry_run {
                        true => Event::Planned(Action::Link, pair),
                        false => Event::Linked(pair),
                    }
                }
                Err(error) => self.tally.failed(pair.source, error),
            };
            send(listen, vec![event])?;
        }
        Ok(())
    }

    fn fail(&mut self, problems: Vec<(PathBuf, Error)>, listen: &mut Listener<'_>) -> JobResult {
        for (path, error) in problems {
            send(listen, vec![self.tally.failed(&path, error)])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod test;
