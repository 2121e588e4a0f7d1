//! `--recursive`: whole folders, as a job of the core. Maps the options and prints the events.

use crate::args::{Effort, Folders, ReadInventory, Selection, Transfer, Writing};
use crate::console::Bar;
use crate::described::Described;
use crate::interrupt;
use crate::keys::{self, Inputs, Names};
use crate::prelude::*;
use crate::signal;
use crate::vault;
use sealane::file::bulk::Operation;
use sealane::file::job::{
    Action, Event, Job, JobError, JobKeys, JobOptions, Listener, Pair, Summary, check_folder,
};
use sealane::file::{DecryptWith, Durability, Inventory, InventoryKeys};
use sealane::os::{path_of, to_bytes};
use sealane::signature::Signers;
use sealane::vault::{EntryKind, VaultJob};
use std::mem;
use std::ops::ControlFlow;

/// Number of files from which a warning says that a passphrase takes about one second for each
/// file.
const MANY_PASSPHRASE_FILES: usize = 10;

/// The warning of `rewrap`, whose new files do not exclude a former recipient.
pub(crate) const SAME_FILE_KEYS: &str = "the file keys are still the same: anyone who could decrypt the files before can \
    decrypt old copies, and the new files with the file keys of old copies; to exclude them, decrypt and encrypt again";

/// The warning about an inventory of version 1.
const FIRST_VERSION: &str = "an inventory of version 1 does not prove which folder it lists, nor that holders of the keys \
    changed no file; the next 'encrypt --inventory' or 'write_inventory' writes version 2";

/// What a job does: the verb and its participle, for messages.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Verb(&'static str, &'static str);

const DECRYPT: Verb = Verb("decrypt", "decrypted");
const VERIFY: Verb = Verb("verify", "verified");
const REWRAP: Verb = Verb("rewrap", "rewrapped");
const ROTATE: Verb = Verb("rotate", "encrypted again");

impl From<&Operation> for Verb {
    fn from(operation: &Operation) -> Self {
        match operation {
            Operation::Encrypt(_) => Self("encrypt", "encrypted"),
            Operation::Decrypt(_) => DECRYPT,
            Operation::Verify(_) => VERIFY,
            Operation::Rewrap(_) => REWRAP,
            Operation::Rotate(_) => ROTATE,
        }
    }
}

/// A job, as the options of the command line request it.
pub(crate) struct Recursive<'a> {
    pub(crate) options: JobOptions,
    /// Files that the command reads besides the manifest. No output may replace them.
    files: Vec<PathBuf>,
    /// The inventory to write.
    inventory: Option<InventoryKeys<'a>>,
    /// The inventory to compare the files with.
    compare: Option<&'a ReadInventory>,
    console: &'a Console,
}

impl<'a> Recursive<'a> {
    fn new(
        inputs: &[PathBuf],
        manifest: Option<&PathBuf>,
        effort: &Effort,
        durability: Durability,
        console: &'a Console,
    ) -> Self {
        let (inputs, manifest, threads) = (inputs.to_vec(), manifest.cloned(), effort.threads);
        let options = JobOptions { inputs, manifest, threads, durability, ..JobOptions::default() };
        Self { options, files: Vec::new(), inventory: None, compare: None, console }
    }

    fn selecting(mut self, selection: &Selection) -> Result<Self> {
        self.options.exclude = selection.patterns()?;
        self.options.preserve = selection.preserve;
        self.files.extend(selection.exclude_from.iter().cloned());
        Ok(self)
    }

    /// Returns the job of `encrypt` and `decrypt`, which needs a folder as its output.
    pub(crate) fn transfer(args: &'a Transfer, removes_suffix: bool, console: &'a Console) -> Result<Self> {
        let output = args.output.as_ref().filter(|output| *output != Path::new("-"));
        let missing = || {
            let what = if args.folders.recursive { "--recursive writes" } else { "a folder is decrypted" };
            Failure::misuse(format!("{what} to a folder; name it with -o"))
        };
        let output = Some(output.ok_or_else(missing)?.clone());
        let manifest = args.manifest.as_ref().and_then(Option::as_ref);
        let (effort, durability) = (&args.writing.effort, args.writing.durability());
        let mut new =
            Self::new(&args.inputs, manifest, effort, durability, console).selecting(&args.selection)?;
        let (suffix, dry_run) = (args.folders.suffix().to_owned(), args.dry_run);
        let keeps_names = args.folders.keeps_names();
        new.options = JobOptions { output, suffix, removes_suffix, dry_run, keeps_names, ..new.options };
        Ok(new)
    }

    /// Returns the job of `rewrap` and `rotate`, which replaces the files unless it has an output.
    pub(crate) fn replacing(
        inputs: &'a [PathBuf],
        output: Option<&Path>,
        manifest: Option<&PathBuf>,
        writing: &Writing,
        console: &'a Console,
    ) -> Self {
        let mut new = Self::new(inputs, manifest, &writing.effort, writing.durability(), console);
        (new.options.output, new.options.in_place) = (output.map(Path::to_owned), output.is_none());
        new
    }

    /// Returns the job of `verify`, which has neither an output nor a manifest.
    pub(crate) fn verify(
        inputs: &'a [PathBuf],
        folders: &'a Folders,
        selection: &'a Selection,
        effort: &Effort,
        console: &'a Console,
    ) -> Result<Self> {
        let mut new = Self::new(inputs, None, effort, Durability::Cached, console).selecting(selection)?;
        (new.options.suffix, new.options.removes_suffix) = (folders.suffix().to_owned(), true);
        Ok(new)
    }

    /// Encrypts or decrypts names with this key, which may be in a file.
    pub(crate) fn naming(mut self, names: Option<Names>) -> Self {
        let (key, file) = names.unzip();
        self.options.names = key;
        self.files.extend(file.flatten());
        self
    }

    /// Takes the options of a folder's description, and its default manifest if that is requested.
    pub(crate) fn described(mut self, found: &Described, manifest: Option<&Option<PathBuf>>) -> Result<Self> {
        found.folder.configure(&mut self.options).map_err(|error| found.about(error))?;
        if let Some(None) = manifest {
            let place = found.folder.manifest().map_err(|error| Failure::about("--manifest", error))?;
            self.options.manifest = Some(place);
        }
        self.files.extend(found.files.iter().cloned());
        Ok(self)
    }

    /// Keeps all attributes, even those that only a trusted folder should decide.
    pub(crate) fn preserving_all(mut self, all: bool) -> Self {
        self.options.preserve |= all;
        self.options.preserve_all = all;
        self
    }

    /// Compares the files of the only input, a folder, with an inventory.
    pub(crate) fn comparing(mut self, args: &'a ReadInventory) -> Result<Self> {
        match &*self.options.inputs {
            _ if args.inventory.is_none() => {}
            [folder] if folder.is_dir() => {
                // An inventory lists links as links, and a folder without links in its inventory
                // has none.
                (self.compare, self.options.preserve) = (Some(args), true);
            }
            _ => return Err(Failure::misuse("--inventory compares one folder; name it as FILE")),
        }
        Ok(self)
    }

    /// Writes an inventory at the end of the job, which the key in the file `sign_key` signs.
    pub(crate) fn with_inventory(mut self, keys: InventoryKeys<'a>, sign_key: Option<&Path>) -> Result<Self> {
        let folders: Vec<_> = self.options.inputs.iter().chain(&self.options.output).collect();
        keys.check_outside(&folders).map_err(|error| Failure::about("--inventory", error))?;
        self.files.extend(sign_key.map(Path::to_owned));
        Ok(Self { inventory: Some(keys), ..self })
    }

    /// Processes every file below the inputs, also after one has failed.
    pub(crate) fn run(
        self,
        operation: impl FnOnce(Inputs) -> Result<Operation>,
        passphrase: bool,
    ) -> Result<()> {
        let Self { options, mut files, inventory, compare, console } = self;
        if let ([input], Some(output)) = (&*options.inputs, &options.output)
            && input.is_file()
            && !(output.is_dir() || output.as_os_str().as_encoded_bytes().ends_with(b"/"))
        {
            // `cp -r` would make a file of this name.
            return Err(Failure::misuse(format!(
                "{}: expected an existing folder for a file with --recursive; for a file of this name, leave --recursive out",
                name(output)
            )));
        }
        if options.inputs.is_empty() || options.inputs.iter().any(|input| input == Path::new("-")) {
            let is_taken = options.manifest.is_some_and(|path| path.is_dir());
            let why = if is_taken { "; --manifest took it: write IN before --manifest" } else { "" };
            let found = if options.inputs.is_empty() { "none" } else { "standard input" };
            return Err(Failure::misuse(format!("expected folders or files as IN, found {found}{why}")));
        }
        files.extend(options.manifest.clone());
        let mut job = Job::new(options).map_err(|error| failure(error.into()))?;
        let operation = operation(Inputs { files, stdin: false })?;
        let listed = match (compare, &operation) {
            (Some(args), Operation::Verify(with)) => open_inventory(args, with, console)?,
            _ => None,
        };
        let mut printer = Printer::new((&operation).into(), job.options(), console);
        printer.passphrase = passphrase;
        let keys = JobKeys { operation: &operation, inventory: inventory.as_ref(), compare: listed.as_ref() };
        printer.print_job(|listen| job.run(&keys, &signal::requested, listen))
    }

    /// Decrypts or verifies the files of a vault.
    pub(crate) fn run_vault(self, place: &vault::Place, folders: &Folders) -> Result<()> {
        let Self { mut options, compare, console, .. } = self;
        let is_named = !folders.suffix().is_empty() || folders.encrypt_names.is_some();
        if is_named || options.manifest.is_some() || compare.is_some() {
            return Err(Failure::misuse(format!(
                "{}: --manifest, --suffix, --encrypt-names and --inventory do not apply to vaults; leave them out",
                place.name()
            )));
        }
        let verb = if options.output.is_some() { DECRYPT } else { VERIFY };
        if let Some(output) = &options.output {
            check_folder(output, output).map_err(|error| Failure::about(&name(output), error))?;
        }
        let mut rename = None;
        // As for files on disk, -o names the file, unless it is a folder.
        let kind = place.kind()?;
        options.kept = place.own.iter().flat_map(|own| own.files.clone()).collect();
        if let Some(output) = options.output.clone().filter(|output| !output.is_dir())
            && kind == EntryKind::File
        {
            rename = output.file_name().map(PathBuf::from);
            options.output = Some(vault::parent(&output).to_owned());
        }
        let rename = rename.as_deref();
        let (vault, root, below) = (&*place.vault, &*place.root, &*place.path);
        let job = VaultJob { vault, root, below, rename, options: &options };
        Printer::new(verb, &options, console).print_job(|listen| job.run(&signal::requested, listen))
    }
}

/// Opens the inventory of `verify` after its signature is verified.
fn open_inventory(args: &ReadInventory, with: &DecryptWith, console: &Console) -> Result<Option<Inventory>> {
    let (Some(path), Some(signer)) = (&args.inventory, &args.signer) else { return Ok(None) };
    let signers = keys::signers(signer, Signers::parse)?;
    let opened = Inventory::open(path, with, &signers, args.min_counter, args.folder.as_deref())
        .map_err(|error| Failure::about(&name(path), error))?;
    if opened.folder().is_none() {
        console.warn(&format!("{}: {FIRST_VERSION}", name(path)));
    }
    Ok(Some(opened))
}

fn failure(JobError { subject, error }: JobError) -> Failure {
    Failure::about(&subject.as_deref().map_or("--recursive".into(), name), error)
}

/// Returns what to do after an interruption.
fn advice(options: &JobOptions, verb: Verb) -> &'static str {
    match (&options.manifest, &options.output) {
        _ if verb == ROTATE => "run the same command again to continue",
        _ if options.in_place => {
            "run the same command again to continue, with an identity (-i) for the finished files too"
        }
        (Some(_), _) => "run the same command again to continue",
        (None, Some(_)) => "run the same command again to start over; with --manifest FILE it would continue",
        (None, None) => "run the same command again to start over",
    }
}

/// Returns the text of an error that a wrong key causes.
fn refusal(error: &Error) -> Option<String> {
    match error {
        Error::InVault { source, .. } => refusal(source),
        Error::Authentication | Error::Format(_) | Error::NoMatchingKey => Some(error.to_string()),
        Error::WrongPassphrase | Error::PassphraseRequired | Error::IdentityRequired => {
            Some(error.to_string())
        }
        _ => None,
    }
}

/// Prints the events of a job.
struct Printer<'a> {
    verb: Verb,
    dry_run: bool,
    passphrase: bool,
    advice: &'static str,
    console: &'a Console,
    /// The job's options, if its sources have encrypted names.
    named: Option<JobOptions>,
    /// The only input, while no file has opened.
    unopened: Option<PathBuf>,
    /// The files that the key does not open, all with the same error.
    refused: Vec<(PathBuf, Error)>,
    bar: Option<Bar>,
    files: usize,
    done: usize,
}

impl<'a> Printer<'a> {
    fn new(verb: Verb, options: &JobOptions, console: &'a Console) -> Self {
        let (advice, dry_run) = (advice(options, verb), options.dry_run);
        let named =
            Some(options).filter(|it| it.names.is_some() && (it.removes_suffix || it.in_place)).cloned();
        // A program expects an error for each file.
        let decrypts = options.removes_suffix || options.in_place;
        let only = if let [input] = &*options.inputs { Some(input) } else { None };
        let unopened = only.filter(|_| decrypts && !console.json).cloned();
        let (passphrase, refused, bar, files, done) = (false, Vec::new(), None, 0, 0);
        Self { verb, dry_run, passphrase, advice, console, named, unopened, refused, bar, files, done }
    }

    /// Returns the plaintext path of a file whose name is encrypted.
    fn plain(&self, path: &Path) -> Option<PathBuf> {
        let JobOptions { inputs, suffix, names, .. } = self.named.as_ref()?;
        let top = inputs.iter().find(|top| path.starts_with(top))?;
        let below = to_bytes(path.strip_prefix(top).ok()?.as_os_str())?;
        let below = path_of(below.strip_suffix(to_bytes(suffix)?)?);
        Some(top.join(names.as_ref()?.decrypt_path(&below).ok()?))
    }

    /// Returns the name of a file for messages, with its plaintext path if that is encrypted.
    fn name(&self, path: &Path) -> String {
        let plain = self.plain(path);
        plain.map_or_else(|| name(path), |plain| format!("{}, stored in {}", name(&plain), name(path)))
    }

    /// Prints what a job reports.
    fn print_job(mut self, run: impl FnOnce(&mut Listener<'_>) -> Result<(), JobError>) -> Result<()> {
        let mut not_printed = None;
        let result = run(&mut |events| match self.hear(events) {
            Ok(()) => ControlFlow::Continue(()),
            Err(failure) => {
                not_printed = Some(failure);
                ControlFlow::Break(())
            }
        });
        self.fail_refused();
        match (not_printed, result) {
            (Some(failure), _) => Err(failure),
            (None, Err(JobError { error: Error::Cancelled, .. })) => {
                let Self { done, files, advice, .. } = self;
                Err(Failure::new(
                    Kind::INTERRUPTED,
                    format!(
                        "interrupted; {done} of {files} files are done, and no incomplete file is left; {advice}"
                    ),
                ))
            }
            (None, result) => result.map_err(failure),
        }
    }

    fn hear(&mut self, events: Vec<Event<'_>>) -> Result<()> {
        match events[..] {
            // Each report of progress that prints nothing leaves the bar on the terminal.
            [Event::Progress { bytes, .. }] => self.progress(bytes),
            [Event::Begun { files, bytes }] => self.begin(files, bytes),
            [Event::FilesEnded] => self.end_files(),
            _ => match self.bar.take() {
                Some(bar) => {
                    let printed = bar.suspend(|| self.print_all(events));
                    self.bar = Some(bar);
                    self.progress(printed?);
                }
                None => drop(self.print_all(events)?),
            },
        }
        Ok(())
    }

    /// Prints events, and returns the number of bytes read so far.
    fn print_all(&mut self, events: Vec<Event<'_>>) -> Result<u64> {
        let mut read = 0;
        for event in events {
            match event {
                Event::Progress { bytes, .. } => read = bytes,
                event => self.print(event)?,
            }
        }
        Ok(read)
    }

    fn progress(&mut self, bytes: u64) {
        let Some(bar) = &mut self.bar else { return };
        bar.rename(format!("{} of {} files", self.done, self.files));
        // The result says whether to stop, which the workers learn from `signal::requested`.
        let _ = bar.at(bytes);
    }

    fn begin(&mut self, files: usize, bytes: u64) {
        if self.passphrase && files >= MANY_PASSPHRASE_FILES {
            self.console.warn(&format!(
                "a passphrase takes about one second for each of the {files} files; a key (-k) or recipients (-r) do not"
            ));
        }
        self.files = files;
        interrupt::advise(Some(self.advice));
        self.bar = Some(self.console.bar("", Some(bytes)));
    }

    fn end_files(&mut self) {
        self.bar = None;
        if self.done > 0 && self.verb == REWRAP {
            self.console.warn(SAME_FILE_KEYS);
        }
    }

    /// Returns whether the key does not open a file, with the same error as for those before.
    fn is_refused(&self, error: &Error) -> bool {
        let (found, first) = (refusal(error), self.refused.first().map(|(_, first)| refusal(first)));
        found.is_some() && first.is_none_or(|first| first == found)
    }

    /// Prints the errors of the files that the key does not open: one, if it opens none.
    fn fail_refused(&mut self) {
        let count = self.refused.len();
        for (path, error) in mem::take(&mut self.refused) {
            let Some(input) = self.unopened.take_if(|_| count > 1) else {
                self.console.fail(&Failure::about(&self.name(&path), error));
                continue;
            };
            let error = if let Error::InVault { source, .. } = error { *source } else { error };
            let failure = Failure::about(&name(&input), error);
            return self.console.fail(&failure.and(&format!("the same for all {count} files")));
        }
    }

    fn print(&mut self, event: Event<'_>) -> Result<()> {
        match event {
            Event::Failed { path, error, .. } if self.unopened.is_some() && self.is_refused(&error) => {
                self.refused.push((path.to_owned(), error));
                return Ok(());
            }
            Event::Listed { .. } | Event::Compared { .. } | Event::Ended(_) => {}
            _ => self.unopened = None,
        }
        self.fail_refused();
        let console = self.console;
        let fail = |path: &Path, error| console.fail(&Failure::about(&self.name(path), error));
        let differs = |path: &Path, how: &str| {
            console.fail(&Failure::new(Kind::AUTHENTICATION, format!("{}: {how}", self.name(path))));
        };
        match event {
            Event::Planned(action, pair) => return self.planned(action, pair),
            Event::Failed { path, error, .. } => fail(path, error),
            Event::Done { pair, bytes, seconds } => {
                self.done += 1;
                if self.verb == VERIFY {
                    let plain = self.plain(pair.source);
                    return report_verified(console, &name(plain.as_deref().unwrap_or(pair.source)), bytes);
                }
                return self.pair(pair, |pair| {
                    pair["bytes"] = bytes.into();
                    pair["seconds"] = seconds.into();
                });
            }
            Event::Skipped(pair) => return self.pair(pair, |pair| pair["skipped"] = true.into()),
            Event::Linked(pair) => return self.pair(pair, |pair| pair["link"] = true.into()),
            Event::Removed(pair) => return self.pair(pair, |pair| pair["removed"] = true.into()),
            Event::InventoryReplaced(error) => {
                console.warn(&format!("{error}; a new inventory without former versions begins"));
            }
            Event::Exchanged(path) => differs(
                path,
                "expected the version of the last inventory, found another, so its source is encrypted again",
            ),
            Event::Unproven(path) => console.warn(&format!(
                "{}: its source is gone, but neither the manifest nor the key shows that sealane wrote it, so it stays",
                name(path)
            )),
            Event::Unknown(path) => console.warn(&format!(
                "{}: its name does not decrypt with the key of the names, so it stays",
                name(path)
            )),
            Event::NothingRemoved(error) => console.fail(&Failure::about("--delete", error)),
            Event::Differs { path, difference } => differs(&path, &difference.to_string()),
            Event::Listed { folder, counter, files, unread } => {
                if unread {
                    console.warn(&format!(
                        "recipients cannot read the previous inventory, so the folder has the new identifier {folder}; keep one with --folder"
                    ));
                }
                return console.result(
                    || json!({"inventory": true, "folder": folder, "counter": counter, "files": files}),
                    &format!("inventory with counter {counter} of folder {folder}: {files} files listed"),
                );
            }
            Event::Compared { folder, counter, files, differences } => {
                let of = folder.map(|folder| format!(" of folder {folder}")).unwrap_or_default();
                let text = format!(
                    "inventory with counter {counter}{of}: {files} files listed, {differences} differences"
                );
                return console.result(
                    || {
                        json!({
                            "inventory": true, "folder": folder, "counter": counter, "files": files,
                            "differences": differences,
                        })
                    },
                    &text,
                );
            }
            Event::Ended(summary) => return self.summary(&summary),
            // The caller has shown these.
            Event::Begun { .. } | Event::Progress { .. } | Event::FilesEnded => {}
        }
        Ok(())
    }

    /// Prints a document with source and target, with `--json` only.
    fn pair(&self, pair: Pair<'_>, add: impl FnOnce(&mut Value)) -> Result<()> {
        self.console.document(|| {
            let mut document = json!({"source": name(pair.source), "target": name(pair.target)});
            add(&mut document);
            document
        })
    }

    fn planned(&self, action: Action, pair: Pair<'_>) -> Result<()> {
        let action = match action {
            Action::Process => self.verb.0,
            Action::Link => "link",
            Action::Remove => "remove",
        };
        let (source, target) = (name(pair.source), name(pair.target));
        let document = || json!({"action": action, "source": source, "target": target, "dry_run": true});
        self.console.result(document, &format!("{action} {source} -> {target}"))
    }

    /// Prints one line at the end with the numbers of files.
    fn summary(&self, summary: &Summary) -> Result<()> {
        let Summary { done, skipped, links, excluded, removed, failed, bytes, .. } = *summary;
        let files = |count: usize| format!("{count} {}", if count == 1 { "file" } else { "files" });
        if self.verb == ROTATE {
            let (rotated, current) = (files(done), files(skipped));
            let text = format!(
                "{rotated} encrypted again, {current} already under the primary key, {failed} failed"
            );
            let document = || json!({"rotated": done, "current": skipped, "failed": failed});
            return self.console.result(document, &text);
        }
        let Verb(verb, participle) = self.verb;
        let would = if self.dry_run { "would be " } else { "" };
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
}

/// Prints the result for a verified file, with the length of its plaintext.
pub(crate) fn report_verified(console: &Console, name: &str, bytes: u64) -> Result<()> {
    console.result(
        || json!({"file": name, "verified": true, "bytes": bytes}),
        &format!("{name}: verified, {bytes} bytes"),
    )
}
