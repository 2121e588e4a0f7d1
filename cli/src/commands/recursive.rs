//! `--recursive`: whole folders, as a bulk job of the core.

use super::inventory::{self, NewInventory};
use crate::args::{Effort, Folders, ReadInventory, Selection, Transfer};
use crate::console::Console;
use crate::error::{Failure, name};
use crate::interrupt::{self, Watch};
use crate::keys::{Inputs, Names};
use crate::signal;
use sealane::file::bulk::{self, Done, Job, Operation, Plan, Schedule};
use sealane::file::{
    Durability, Exclude, FileMark, InventoryKeys, Links, Manifest, NameKey, Stale, Suffix, Tree, TreeOptions,
};
use sealane::{Error, FolderError};
use serde_json::json;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::mem;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Number of files from which a warning says that a passphrase takes about one second for each file.
const MANY_PASSPHRASE_FILES: usize = 10;

/// Number of results that are printed at once, while the progress bar is removed from the terminal.
const BATCH: usize = 64;

/// The warning of `rewrap`, whose new files do not exclude a former recipient.
pub(super) const SAME_FILE_KEYS: &str = "the file keys are still the same: anyone who could decrypt the files before can \
    decrypt old copies, and the new files with the file keys of old copies; to exclude them, decrypt and encrypt again";

/// The numbers of files and bytes of a job.
#[derive(Default)]
struct Sums {
    done: usize,
    skipped: usize,
    links: usize,
    excluded: usize,
    removed: usize,
    failed: usize,
    bytes: u64,
    /// The indexes of the jobs that failed.
    failed_jobs: BTreeSet<usize>,
}

/// Returns the verb of an operation and its participle, for messages.
fn verbs(operation: &Operation) -> (&'static str, &'static str) {
    match operation {
        Operation::Encrypt(_) => ("encrypt", "encrypted"),
        Operation::Decrypt(_) => ("decrypt", "decrypted"),
        Operation::Verify(_) => ("verify", "verified"),
        Operation::Rewrap(_) => ("rewrap", "rewrapped"),
        Operation::Rotate(_) => ("rotate", "encrypted again"),
    }
}

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
    exclude: Option<Exclude>,
    /// Files with patterns, which no output may replace.
    exclude_files: &'a [PathBuf],
    /// The key of the names, and its file, which no output may replace.
    names: Option<Names>,
    /// Whether targets get the attributes of their sources, and links are kept.
    preserve: bool,
    /// Whether nothing is written.
    dry_run: bool,
    /// The suffix of encrypted files that are removed if their source is gone.
    delete: Option<&'a OsStr>,
    /// The inventory that is written at the end.
    inventory: Option<InventoryKeys<'a>>,
    sign_key: Option<&'a Path>,
    /// The inventory that the files are compared with.
    compare: Option<&'a ReadInventory>,
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
            exclude: args.selection.patterns()?,
            exclude_files: &args.selection.exclude_from,
            names: None,
            preserve: args.selection.preserve,
            dry_run: args.dry_run,
            delete: None,
            inventory: None,
            sign_key: None,
            compare: None,
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
            exclude: None,
            exclude_files: &[],
            names: None,
            preserve: false,
            dry_run: false,
            delete: None,
            inventory: None,
            sign_key: None,
            compare: None,
            console,
        }
    }

    /// Returns the job of `verify`, which has neither an output nor a manifest.
    pub(super) fn verify(
        inputs: &'a [PathBuf],
        folders: &'a Folders,
        selection: &'a Selection,
        effort: &Effort,
        console: &'a Console,
    ) -> Result<Self, Failure> {
        Ok(Self {
            inputs,
            output: None,
            suffix: Suffix::Remove(folders.suffix()),
            manifest: None,
            threads: effort.threads,
            durability: Durability::Cached,
            in_place: false,
            exclude: selection.patterns()?,
            exclude_files: &selection.exclude_from,
            names: None,
            preserve: selection.preserve,
            dry_run: false,
            delete: None,
            inventory: None,
            sign_key: None,
            compare: None,
            console,
        })
    }

    /// Encrypts or decrypts names with this key, which may be in a file.
    pub(super) fn naming(self, names: Option<Names>) -> Self {
        Self { names, ..self }
    }

    /// Removes encrypted files with this suffix whose source is gone, at the end of the job.
    pub(super) fn deleting(self, suffix: &'a OsStr) -> Self {
        Self { delete: Some(suffix), ..self }
    }

    /// Compares the files of the only input, a folder, with an inventory.
    pub(super) fn comparing(self, args: &'a ReadInventory) -> Result<Self, Failure> {
        match self.inputs {
            _ if args.file.is_none() => Ok(self),
            // An inventory lists links as links, and a folder without links in its inventory has none.
            [folder] if folder.is_dir() => Ok(Self { compare: Some(args), preserve: true, ..self }),
            _ => Err(Failure::misuse("--inventory compares one folder; name it as FILE")),
        }
    }

    /// Writes an inventory at the end of the job, which `sign_key` signs.
    pub(super) fn with_inventory(
        self,
        keys: InventoryKeys<'a>,
        sign_key: Option<&'a Path>,
    ) -> Result<Self, Failure> {
        let mut folders = self.inputs.to_vec();
        folders.extend(self.output.map(Path::to_owned));
        keys.check_outside(&folders).map_err(|error| Failure::about("--inventory", error))?;
        Ok(Self { inventory: Some(keys), sign_key, ..self })
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
        let links = if self.preserve { Links::Keep } else { Links::Follow };
        let names = self.names.as_ref().map(|(key, _)| key);
        let options = TreeOptions { exclude: self.exclude.as_ref(), links, names };
        let mut tree = Tree::walk_with(self.inputs, self.output, self.suffix, options).map_err(about)?;
        let mut files: Vec<_> = self.manifest.iter().map(|path| path.to_path_buf()).collect();
        files.extend(self.exclude_files.iter().cloned());
        files.extend(self.sign_key.map(Path::to_owned));
        files.extend(self.names.iter().filter_map(|(_, file)| file.clone()));
        let operation = operation(Inputs { files, stdin: false })?;
        let mut new_inventory = match &self.inventory {
            Some(keys) => Some(NewInventory::begin(keys, &operation, self.console)?),
            None => None,
        };
        let listed = match (self.compare, &operation) {
            (Some(args), Operation::Verify(with)) => inventory::open(args, with)?,
            _ => None,
        };
        let manifest = self.manifest.filter(|path| !self.dry_run || path.exists());
        let mut manifest = manifest.map(|path| self.open_manifest(path, &tree)).transpose()?;
        let mut pairs = tree.pairs.clone();
        if self.in_place {
            pairs.iter_mut().for_each(|(source, target)| target.clone_from(source));
        }
        let mut plan = Plan::new(pairs, &operation, manifest.as_ref()).map_err(about)?;
        if let Some(root) = &tree.root {
            plan = plan.below(root);
        }
        if self.preserve {
            plan = plan.replicas();
        }
        let mut sums = Sums { skipped: plan.finished.len(), excluded: tree.excluded, ..Sums::default() };
        self.fail_all(mem::take(&mut tree.problems), &mut sums);
        self.fail_all(mem::take(&mut plan.problems), &mut sums);
        if self.dry_run {
            return self.show(&tree, &plan, &operation, manifest.as_ref(), sums);
        }
        let folders = if self.preserve { tree.create_replica_folders() } else { tree.create_folders() };
        self.fail_all(folders, &mut sums);
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
        let marks: Vec<_> =
            plan.jobs.iter().filter(|_| new_inventory.is_some()).map(|_| OnceLock::new()).collect();
        self.process(&plan.jobs, &operation, manifest.as_mut(), &marks, &mut sums)?;
        self.copy_links(&tree, &operation, manifest.as_mut(), &mut sums)?;
        if let Some(inventory) = &mut new_inventory {
            sums.failed += inventory.add_all(&tree, &plan, marks, &sums.failed_jobs, self.console);
        }
        self.remove_stale(&tree, &operation, manifest.as_ref(), &mut sums)?;
        if self.preserve {
            self.fail_all(tree.replicate_folders(), &mut sums);
        }
        if let Some(inventory) = new_inventory {
            inventory.save(&tree, self.delete.is_some(), self.durability)?;
        }
        if let Some(listed) = listed {
            let is_excluded = |path: &Path| self.excludes_encrypted(path);
            sums.failed += inventory::compare(&listed, &self.inputs[0], &tree, is_excluded, self.console)?;
        }
        self.report_sums(&operation, &sums)?;
        match manifest {
            Some(manifest) => manifest.sync().map_err(|e| Failure::about(&name(manifest.path()), e)),
            None => Ok(()),
        }
    }

    /// Returns whether a pattern matches a path below the encrypted folder. With encrypted names it is matched decrypted.
    fn excludes_encrypted(&self, path: &Path) -> bool {
        let Some(exclude) = &self.exclude else { return false };
        match &self.names {
            None => exclude.matches_below(path),
            Some((key, _)) => {
                let plain = self.suffix.applied_to_path(path).and_then(|path| key.decrypt_path(&path));
                plain.is_ok_and(|plain| exclude.matches_below(&plain))
            }
        }
    }

    fn fail_all(&self, problems: Vec<(PathBuf, Error)>, sums: &mut Sums) {
        for (path, error) in problems {
            self.console.fail(&Failure::about(&name(&path), error));
            sums.failed += 1;
        }
    }

    /// Prints what the job would do.
    fn show(
        &self,
        tree: &Tree,
        plan: &Plan,
        operation: &Operation,
        manifest: Option<&Manifest>,
        mut sums: Sums,
    ) -> Result<(), Failure> {
        let show = |action: &str, source: &Path, target: &Path| {
            let (source, target) = (name(source), name(target));
            let document = || json!({"action": action, "source": source, "target": target, "dry_run": true});
            self.console.result(document, &format!("{action} {source} -> {target}"))
        };
        let (verb, _) = verbs(operation);
        for job in &plan.jobs {
            show(verb, &job.source, &job.target)?;
            sums.done += 1;
            sums.bytes += job.fingerprint.len();
        }
        for link in tree.links.iter().filter(|_| self.output.is_some()) {
            show("link", &link.source, &link.target)?;
            sums.links += 1;
        }
        if let Some(stale) = self.stale(tree, operation, manifest, &mut sums) {
            for removal in &stale.removals {
                show("remove", &removal.source, &removal.path)?;
                sums.removed += 1;
            }
        }
        self.report_sums(operation, &sums)
    }

    fn copy_links(
        &self,
        tree: &Tree,
        operation: &Operation,
        mut manifest: Option<&mut Manifest>,
        sums: &mut Sums,
    ) -> Result<(), Failure> {
        let Some(root) = &tree.root else { return Ok(()) };
        for link in &tree.links {
            let (source, target) = (&link.source, &link.target);
            let copied = operation.replicate_link(root, link).and_then(|()| match &mut manifest {
                Some(manifest) => manifest.add_link(source, target),
                None => Ok(()),
            });
            match copied {
                Ok(()) if self.console.json() => {
                    let (source, target) = (name(source), name(target));
                    self.console.result(|| json!({"source": source, "target": target, "link": true}), "")?;
                    sums.links += 1;
                }
                Ok(()) => sums.links += 1,
                Err(error) => {
                    self.console.fail(&Failure::about(&name(source), error));
                    sums.failed += 1;
                }
            }
        }
        Ok(())
    }

    /// Finds the encrypted files whose source is gone. A failure leaves all of them.
    fn stale(
        &self,
        tree: &Tree,
        operation: &Operation,
        manifest: Option<&Manifest>,
        sums: &mut Sums,
    ) -> Option<Stale> {
        let suffix = self.delete?;
        let found = match sums.failed {
            0 => Stale::find(tree, self.inputs, suffix, operation, manifest),
            problems => Err(FolderError::IncompleteListing { problems }.into()),
        };
        match found {
            Ok(stale) => {
                for path in &stale.unproven {
                    self.console.warn(&format!(
                        "{}: its source is gone, but neither the manifest nor the key shows that sealane wrote it, so it stays",
                        name(path)
                    ));
                }
                for path in &stale.unknown {
                    self.console.warn(&format!(
                        "{}: its name does not decrypt with the key of the names, so it stays",
                        name(path)
                    ));
                }
                Some(stale)
            }
            Err(error) => {
                self.console.fail(&Failure::about("--delete", error));
                None
            }
        }
    }

    fn remove_stale(
        &self,
        tree: &Tree,
        operation: &Operation,
        manifest: Option<&Manifest>,
        sums: &mut Sums,
    ) -> Result<(), Failure> {
        let Some(stale) = self.stale(tree, operation, manifest, sums) else { return Ok(()) };
        for (removal, result) in stale.removals.iter().zip(stale.remove(tree, self.inputs)) {
            match result {
                Ok(()) => {
                    let (source, target) = (name(&removal.source), name(&removal.path));
                    sums.removed += 1;
                    if self.console.json() {
                        let document = || json!({"source": source, "target": target, "removed": true});
                        self.console.result(document, "")?;
                    }
                }
                Err(error) => {
                    self.console.fail(&Failure::about(&name(&removal.path), error));
                    sums.failed += 1;
                }
            }
        }
        Ok(())
    }

    /// Prints one line at the end with the numbers of files.
    fn report_sums(&self, operation: &Operation, sums: &Sums) -> Result<(), Failure> {
        if matches!(operation, Operation::Rotate(_)) {
            return self.report_rotated(sums.done, sums.skipped, sums.failed);
        }
        let Sums { done, skipped, links, excluded, removed, failed, bytes, .. } = *sums;
        let (verb, participle) = verbs(operation);
        let would = if self.dry_run { "would be " } else { "" };
        let files = |count: usize| format!("{count} {}", if count == 1 { "file" } else { "files" });
        let mut text = format!("{} {would}{participle}, {bytes} bytes", files(done));
        let more = [
            (skipped, "unchanged"),
            (links, if links == 1 { "link" } else { "links" }),
            (removed, "removed"),
            (excluded, "excluded"),
        ];
        for (count, label) in more.into_iter().filter(|(count, _)| *count > 0) {
            text += &format!(", {count} {label}");
        }
        text += &format!(", {failed} failed");
        let document = || {
            json!({
                "summary": true, "operation": verb, "dry_run": self.dry_run, "done": done, "skipped": skipped,
                "links": links, "excluded": excluded, "removed": removed, "failed": failed, "bytes": bytes,
            })
        };
        self.console.result(document, &text)
    }

    fn process(
        &self,
        jobs: &[Job],
        operation: &Operation,
        manifest: Option<&mut Manifest>,
        marks: &[OnceLock<FileMark>],
        sums: &mut Sums,
    ) -> Result<(), Failure> {
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
        let schedule = Schedule {
            threads: self.threads,
            durability: self.durability,
            batch: BATCH,
            cancelled: &signal::requested,
        };
        bulk::run_with_marks(jobs, operation, manifest, &schedule, marks, |report| {
            if !report.ended.is_empty() {
                bar.suspend(|| {
                    report.ended.into_iter().try_for_each(|(at, result)| match result {
                        Ok(result) => {
                            sums.done += 1;
                            sums.bytes += result.bytes;
                            self.report(operation, &jobs[at], result)
                        }
                        Err(error) => {
                            sums.failed += 1;
                            sums.failed_jobs.insert(at);
                            self.console.fail(&Failure::about(&name(&jobs[at].source), error));
                            Ok(())
                        }
                    })
                })?;
            }
            bar.rename(format!("{} of {} files", sums.done, jobs.len()));
            // The result says whether to stop, which the workers learn from `signal::requested`.
            let _ = bar.at(report.bytes);
            Ok(())
        })?;
        if sums.done > 0 && matches!(operation, Operation::Rewrap(_)) {
            self.console.warn(SAME_FILE_KEYS);
        }
        match signal::requested() {
            true => Err(Failure::interrupted_among(sums.done, jobs.len(), advice)),
            false => Ok(()),
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
        // Decryption reads names from its inputs, which contain no manifest.
        if let (Some(_), Suffix::Add(_), Some(output)) = (&self.names, self.suffix, self.output) {
            NameKey::check_manifest(path, output).map_err(|error| Failure::about(&name(path), error))?;
        }
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
