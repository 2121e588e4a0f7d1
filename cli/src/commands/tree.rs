//! `--recursive`: whole folders.

use super::crew::{Crew, Done, Job};
use crate::args::{Transfer, Verify};
use crate::error::{Failure, name};
use crate::interrupt::Watch;
use crate::keys;
use crate::tui::Console;
use sealane::Error;
use sealane::file::{self, Durability, FileFingerprint, Manifest, Options, Suffix, Tree};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

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
    let advice = match manifest {
        Some(_) => "the same command goes on from here",
        None => "the same command begins again; with --manifest FILE it would go on",
    };
    let crew = Crew { threads: args.effort.threads, durability, advice, console };
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
    let advice = "the same command begins again";
    let crew = Crew { threads: args.effort.threads, durability: Durability::Cached, advice, console };
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
            let seen = match FileFingerprint::of(&source) {
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
