//! `--recursive`: whole folders, as a bulk job of the core.

use crate::args::{Effort, Folders, Transfer};
use crate::error::{Failure, name};
use crate::interrupt::{self, Watch};
use crate::keys::Inputs;
use crate::signal;
use crate::tui::Console;
use sealane::file::bulk::{self, Done, Job, Operation, Plan, Schedule};
use sealane::file::{Durability, Manifest, Suffix, Tree};
use serde_json::json;
use std::ffi::OsStr;
use std::fs;
use std::mem;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Number of files from which a warning says that a passphrase takes about one second for each file.
const MANY_PASSPHRASE_FILES: usize = 10;

/// Number of results that are printed at once, while the progress bar is removed from the terminal.
const BATCH: usize = 64;

/// The warning of `rewrap`, whose new files do not exclude a former recipient.
pub(super) const SAME_FILE_KEYS: &str = "the file keys are still the same: anyone who could decrypt the files before can \
    decrypt old copies, and the new files with the file keys of old copies; to exclude them, decrypt and encrypt again";

/// A bulk job, as the options of the command line request it.
pub(super) struct Recursive<'a> {
    inputs: &'a [PathBuf],
    /// The target folder; `None` for files that are verified.
    output: Option<&'a Path>,
    suffix: Suffix<'a>,
    manifest: Option<&'a Path>,
    threads: Option<NonZeroUsize>,
    durability: Durability,
    /// Whether each file is its own target.
    in_place: bool,
    console: &'a Console,
}

impl<'a> Recursive<'a> {
    /// Returns the job of `encrypt` and `decrypt`, which needs a folder as its output.
    pub(super) fn transfer(
        args: &'a Transfer,
        suffix: Suffix<'a>,
        console: &'a Console,
    ) -> Result<Self, Failure> {
        let output = args.output.as_deref().filter(|output| *output != Path::new("-"));
        let missing = || Failure::misuse("--recursive writes to a folder; name it with -o");
        Ok(Self {
            inputs: &args.inputs,
            output: Some(output.ok_or_else(missing)?),
            suffix,
            manifest: args.manifest.as_deref(),
            threads: args.effort.threads,
            durability: args.durability(),
            in_place: false,
            console,
        })
    }

    /// Returns the job of `rewrap` and `rotate`, which replaces the files unless it has an output.
    pub(super) fn replacing(
        inputs: &'a [PathBuf],
        output: Option<&'a Path>,
        manifest: Option<&'a Path>,
        effort: &Effort,
        durability: Durability,
        console: &'a Console,
    ) -> Self {
        Self {
            inputs,
            output,
            suffix: Suffix::Add(OsStr::new("")),
            manifest,
            threads: effort.threads,
            durability,
            in_place: output.is_none(),
            console,
        }
    }

    /// Returns the job of `verify`, which has neither an output nor a manifest.
    pub(super) fn verify(
        inputs: &'a [PathBuf],
        folders: &'a Folders,
        effort: &Effort,
        console: &'a Console,
    ) -> Self {
        Self {
            inputs,
            output: None,
            suffix: Suffix::Remove(folders.suffix()),
            manifest: None,
            threads: effort.threads,
            durability: Durability::Cached,
            in_place: false,
            console,
        }
    }

    /// Processes every file below the inputs, also after one has failed.
    pub(super) fn run(
        &self,
        operation: impl FnOnce(Inputs) -> Result<Operation, Failure>,
        passphrase: bool,
    ) -> Result<(), Failure> {
        let _watch = Watch::begin(self.console);
        if self.inputs.is_empty() || self.inputs.iter().any(|input| input == Path::new("-")) {
            return Err(Failure::misuse("--recursive reads folders; name one as IN, not standard input"));
        }
        let about = |error| Failure::about("--recursive", error);
        let mut tree = Tree::walk(self.inputs, self.output, self.suffix).map_err(about)?;
        let files = self.manifest.iter().map(|path| path.to_path_buf()).collect();
        let operation = operation(Inputs { files, stdin: false })?;
        let mut manifest = self.manifest.map(|path| self.open_manifest(path, &tree)).transpose()?;
        let mut pairs = mem::take(&mut tree.pairs);
        if self.in_place {
            pairs.iter_mut().for_each(|(source, target)| target.clone_from(source));
        }
        let mut plan = Plan::new(pairs, &operation, manifest.as_ref()).map_err(about)?;
        if let Some(root) = &tree.root {
            plan = plan.below(root);
        }
        for (path, error) in tree.create_folders() {
            self.console.fail(&Failure::about(&name(&path), error));
        }
        let mut failed = 0;
        for (path, error) in tree.problems.into_iter().chain(plan.problems) {
            self.console.fail(&Failure::about(&name(&path), error));
            failed += 1;
        }
        if self.console.json() {
            for (source, target) in &plan.finished {
                let (source, target) = (name(source), name(target));
                self.console.result(|| json!({"source": source, "target": target, "skipped": true}), "")?;
            }
        }
        if passphrase && plan.jobs.len() >= MANY_PASSPHRASE_FILES {
            self.console.warn(&format!(
                "a passphrase takes about one second for each of the {} files; a key (-k) or recipients (-r) do not",
                plan.jobs.len()
            ));
        }
        let done = self.process(&plan.jobs, &operation, manifest.as_mut())?;
        if matches!(operation, Operation::Rotate(_)) {
            failed += plan.jobs.len() - done;
            self.report_rotated(done, plan.finished.len(), failed)?;
        }
        match manifest {
            Some(manifest) => manifest.sync().map_err(|e| Failure::about(&name(manifest.path()), e)),
            None => Ok(()),
        }
    }

    fn process(
        &self,
        jobs: &[Job],
        operation: &Operation,
        manifest: Option<&mut Manifest>,
    ) -> Result<usize, Failure> {
        let advice = match (self.manifest, self.output) {
            _ if matches!(operation, Operation::Rotate(_)) => "run the same command again to continue",
            _ if self.in_place => {
                "run the same command again to continue, with an identity (-i) for the finished files too"
            }
            (Some(_), _) => "run the same command again to continue",
            (None, Some(_)) => {
                "run the same command again to start over; with --manifest FILE it would continue"
            }
            (None, None) => "run the same command again to start over",
        };
        interrupt::advise(Some(advice));
        let mut bar = self.console.bar("", Some(jobs.iter().map(|job| job.fingerprint.len()).sum()));
        let mut done = 0;
        let schedule = Schedule {
            threads: self.threads,
            durability: self.durability,
            batch: BATCH,
            cancelled: &signal::requested,
        };
        bulk::run(jobs, operation, manifest, &schedule, |report| {
            if !report.ended.is_empty() {
                bar.suspend(|| {
                    report.ended.into_iter().try_for_each(|(at, result)| match result {
                        Ok(result) => {
                            done += 1;
                            self.report(operation, &jobs[at], result)
                        }
                        Err(error) => {
                            self.console.fail(&Failure::about(&name(&jobs[at].source), error));
                            Ok(())
                        }
                    })
                })?;
            }
            bar.rename(format!("{done} of {} files", jobs.len()));
            // The result says whether to stop, which the workers learn from `signal::requested`.
            let _ = bar.at(report.bytes);
            Ok(())
        })?;
        if done > 0 && matches!(operation, Operation::Rewrap(_)) {
            self.console.warn(SAME_FILE_KEYS);
        }
        match signal::requested() {
            true => Err(Failure::interrupted_among(done, jobs.len(), advice)),
            false => Ok(done),
        }
    }

    /// Says at the end of `rotate` what it did.
    fn report_rotated(&self, rotated: usize, current: usize, failed: usize) -> Result<(), Failure> {
        let files = |count: usize| format!("{count} {}", if count == 1 { "file" } else { "files" });
        let text = format!(
            "{} encrypted again, {} already under the primary key, {failed} failed",
            files(rotated),
            files(current)
        );
        self.console.result(|| json!({"rotated": rotated, "current": current, "failed": failed}), &text)
    }

    fn report(&self, operation: &Operation, job: &Job, done: Done) -> Result<(), Failure> {
        let source = name(&job.source);
        let Done { bytes, seconds } = done;
        match operation {
            Operation::Verify(_) => report_verified(self.console, &source, bytes),
            _ if !self.console.json() => Ok(()),
            _ => {
                let target = name(&job.target);
                let document =
                    || json!({"source": source, "target": target, "bytes": bytes, "seconds": seconds});
                self.console.result(document, "")
            }
        }
    }

    /// Opens the manifest. Refuses one among the sources, where it would change while it is read, and one that is a
    /// target.
    fn open_manifest(&self, path: &Path, tree: &Tree) -> Result<Manifest, Failure> {
        let real = |path: &Path| {
            let folder = match path.parent() {
                Some(parent) if parent != Path::new("") => parent,
                _ => Path::new("."),
            };
            // An existing manifest may be a link.
            fs::canonicalize(path)
                .ok()
                .or_else(|| Some(fs::canonicalize(folder).ok()?.join(path.file_name()?)))
        };
        if let Some(own) = real(path) {
            let mut roots = self.inputs.iter().filter_map(|input| fs::canonicalize(input).ok());
            let named = |target: &Path| target.file_name() == own.file_name();
            if roots.any(|root| own.starts_with(root))
                || tree.pairs.iter().any(|(_, to)| named(to) && real(to).as_ref() == Some(&own))
            {
                return Err(Failure::misuse(format!(
                    "{}: the manifest is among the sources or the targets; choose another place for it",
                    name(path)
                )));
            }
        }
        Manifest::open(path).map_err(|error| Failure::about(&name(path), error))
    }
}

/// Prints the result for a verified file, with the length of its plaintext.
pub(super) fn report_verified(console: &Console, name: &str, bytes: u64) -> Result<(), Failure> {
    console.result(
        || json!({"file": name, "verified": true, "bytes": bytes}),
        &format!("{name}: verified, {bytes} bytes"),
    )
}
