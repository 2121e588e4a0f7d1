//! Decrypts or verifies all files of a vault, as a job over folders.

use crate::prelude::*;
use crate::walk::{Walk, find, split};
use base::Misuse;
use base::error::FolderError;
use base::memory::Wiped;
use base::os;
use engine::file_id::FileId;
use engine::folder::{Folder, check_name, create_all};
use engine::io::{Discard, WriteAt};
use engine::options::Options;
use engine::pipeline::run_reporting;
use engine::place::Place;
use engine::staged::{Access, Existing, StagedFile};
use folders::job::{
    Action, Event, JobError, JobOptions, JobResult, Listener, Pair, Summary, folded, leads_out, send,
};
use folders::jobs::Schedule;
use folders::resolved;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;

/// Plaintext bytes that a thread decrypts at once: many chunks of every format.
const PIECE_LEN: u64 = 1 << 20;

/// Decrypts the files of a vault to a folder, or verifies them.
#[derive(Clone, Copy)]
pub struct VaultJob<'a> {
    /// The vault.
    pub vault: &'a dyn Vault,
    /// Where the vault lies: events name files by their plaintext paths below it.
    pub root: &'a Path,
    /// The folder or file of the vault to process; empty for all of it.
    pub below: &'a [u8],
    /// The name of the output for the file `below`. Default: the file's own name.
    pub rename: Option<&'a Path>,
    /// The output, or `None` to verify; what to leave out, to preserve and not to replace; how to
    /// run. The others do not apply to vaults.
    pub options: &'a JobOptions,
}

/// A file or a link of the vault, with its place below the output.
struct Item {
    path: Vec<u8>,
    entry: Entry,
    source: PathBuf,
    target: PathBuf,
}

impl VaultJob<'_> {
    /// Runs the job. Files appear complete and verified, or not at all. A link is restored if it
    /// stays inside the output, or with [`JobOptions::preserve_all`]. With
    /// [`JobOptions::preserve`], files and folders keep their modification times.
    ///
    /// # Errors
    /// Returns [`Error::Cancelled`] if `cancelled` returned true or the listener stopped the job,
    /// [`Misuse::TargetInsideSource`] for an output inside the vault, and [`Error::Io`] for one
    /// that cannot be created. Errors of files are events.
    pub fn run(&self, cancelled: &(dyn Fn() -> bool + Sync), listen: &mut Listener<'_>) -> JobResult {
        let mut run = Run { job: *self, summary: Summary::default(), problems: Vec::new() };
        let [folders, files, links] = run.items(cancelled)?;
        for (path, error) in std::mem::take(&mut run.problems) {
            send(listen, vec![run.failed(&path, error)])?;
        }
        let made = self.options.output.as_ref().filter(|output| !output.exists());
        run.create(&folders, listen)?;
        run.files(&files, cancelled, listen)?;
        for link in &links {
            let pair = Pair { source: &link.source, target: &link.target };
            let event = match (run.link(link), self.options.dry_run) {
                (Err(error), _) => run.failed(&link.source, error),
                (Ok(()), true) => Event::Planned(Action::Link, pair),
                (Ok(()), false) => Event::Linked(pair),
            };
            run.summary.links += usize::from(!matches!(event, Event::Failed { .. }));
            send(listen, vec![event])?;
        }
        // Late, because each new name changes a folder's time; the deepest first.
        for folder in folders.iter().rev() {
            if made.is_some() && run.summary.is_failure() {
                // Something may be in it.
                let _ = fs::remove_dir(&folder.target);
            } else if let Err(error) = run.keep_time(folder) {
                send(listen, vec![run.failed(&folder.target, error)])?;
            }
        }
        if let Some(output) = made.filter(|_| run.summary.is_failure()) {
            let _ = fs::remove_dir(output);
        }
        send(listen, vec![Event::Ended(run.summary)])
    }

    fn process(&self, item: &Item, options: Options<'_>) -> Result<()> {
        let contents = self.vault.open(&item.path)?;
        let Some(output) = &self.options.output else { return copy(&*contents, &Discard, options) };
        let about = |e| Error::io(&item.target, e);
        let durability = options.durability;
        let place = Place::below(output, &item.target).map_err(about)?;
        let staged = StagedFile::at(place, Access::Inherited)?;
        staged.allocate(contents.size())?;
        copy(&*contents, staged.file(), options)?;
        if let Some(modified) = item.entry.modified.filter(|_| self.options.preserve) {
            staged.file().set_modified(modified).map_err(about)?;
        }
        staged.commit(Existing::Replace, durability)
    }
}

struct Run<'a> {
    job: VaultJob<'a>,
    summary: Summary,
    problems: Vec<(PathBuf, Error)>,
}

impl Run<'_> {
    /// Lists folders, files and links. The names in a vault are not trusted: two of them may mean
    /// one file, or a file of the vault itself.
    fn items(&mut self, cancelled: &dyn Fn() -> bool) -> Result<[Vec<Item>; 3], JobError> {
        let VaultJob { vault, root, below, rename, options } = self.job;
        let mut items = [const { Vec::new() }; 3];
        let own = resolved(root);
        let output = options.output.as_ref().map(|output| (output, resolved(output).unwrap_or_default()));
        if let (Some(own), Some((output, real))) = (&own, &output)
            && real.starts_with(own)
        {
            return Err(Error::from(Misuse::TargetInsideSource(output.to_path_buf())).into());
        }
        let id = |path: &Path| FileId::at(path).ok().flatten();
        let kept: Vec<_> = options.kept.iter().filter_map(|path| Some((id(path)?, path))).collect();
        let mut taken = BTreeSet::new();
        let about = |error| JobError { subject: Some(root.join(path_of(below))), error };
        let mut walk = Walk::new(vault, below).map_err(about)?;
        // The content of a folder goes directly into the output, as in jobs over folders.
        let skipped = match find(vault, below).map_err(about)?.kind {
            EntryKind::Folder => below.len(),
            _ => split(below).0.len(),
        };
        while let Some((path, found)) = walk.next() {
            if cancelled() {
                return Err(Error::Cancelled.into());
            }
            let mut item = |entry: Entry| {
                let relative = match rename {
                    Some(name) => name.to_owned(),
                    None => to_path(path[skipped..].strip_prefix(b"/").unwrap_or(&path[skipped..]))?,
                };
                let target = output.as_ref().map(|(output, _)| output.join(&relative)).unwrap_or_default();
                if let Some((_, real)) = &output {
                    let real = real.join(&relative);
                    if own
                        .as_ref()
                        .is_some_and(|own| entry.kind != EntryKind::Folder && real.starts_with(own))
                    {
                        return Err(Misuse::SameFile(target).into());
                    }
                    if !taken.insert(folded(&real)) {
                        return Err(Misuse::DuplicateTarget(target).into());
                    }
                }
                let there = if kept.is_empty() { None } else { id(&target) };
                if let Some((_, input)) = kept.iter().find(|(id, _)| Some(*id) == there) {
                    return Err(Misuse::OutputIsInput { output: target, input: (*input).clone() }.into());
                }
                let is_folder = entry.kind == EntryKind::Folder;
                let excluded = options.exclude.as_ref().is_some_and(|it| it.matches(&relative, is_folder));
                let source = root.join(path_of(&path));
                Ok((excluded, Item { path: path.clone(), entry, source, target }))
            };
            match found.and_then(&mut item) {
                Err(error) => self.problems.push((root.join(path_of(&path)), error)),
                Ok((true, _)) => {
                    self.summary.excluded += 1;
                    walk.skip_content();
                }
                Ok((false, item)) => items[item.entry.kind as usize].push(item),
            }
        }
        let [files, folders, links] = items;
        Ok([folders, files, links])
    }

    fn create(&mut self, folders: &[Item], listen: &mut Listener<'_>) -> JobResult {
        let JobOptions { output: Some(output), dry_run: false, .. } = self.job.options else { return Ok(()) };
        let root = create_all(output).and_then(|()| Folder::open(output));
        let root = root.map_err(|e| Error::io(output, e))?;
        for Item { target, .. } in folders {
            let below = target.strip_prefix(output).unwrap_or(target);
            if let Err(e) = root.create_below(below, 0o777) {
                send(listen, vec![self.failed(target, Error::io(target, e))])?;
            }
        }
        Ok(())
    }

    fn files(
        &mut self,
        files: &[Item],
        cancelled: &(dyn Fn() -> bool + Sync),
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let job = self.job;
        let sizes: Vec<_> = files.iter().map(|file| file.entry.len).collect();
        let total = sizes.iter().sum();
        if job.options.dry_run {
            (self.summary.done, self.summary.bytes, self.summary.source_bytes) = (files.len(), total, total);
            for Item { source, target, .. } in files {
                send(listen, vec![Event::Planned(Action::Process, Pair { source, target })])?;
            }
            return Ok(());
        }
        send(listen, vec![Event::Begun { files: files.len(), bytes: total }])?;
        let (threads, durability) = (job.options.threads, job.options.durability);
        let schedule = Schedule { threads, durability, batch: job.options.batch(), cancelled };
        let (mut ended, mut stopped) = (0, false);
        schedule.run(
            &sizes,
            |at, options| job.process(&files[at], options),
            |report| {
                let mut events = Vec::new();
                for (at, result) in report.ended {
                    let Item { source, target, .. } = &files[at];
                    ended += sizes[at];
                    events.push(match result {
                        Ok(done) => {
                            self.summary.done += 1;
                            self.summary.bytes += done.bytes;
                            self.summary.source_bytes += sizes[at];
                            let pair = Pair { source, target };
                            Event::Done { pair, bytes: done.bytes, seconds: done.seconds }
                        }
                        Err(error) => self.failed(source, error),
                    });
                }
                events.push(Event::Progress { bytes: report.bytes, ended, total });
                // Files in progress are still reported after the listener has stopped the job.
                let sent = if stopped { Ok(()) } else { send(listen, events) };
                stopped |= sent.is_err();
                sent
            },
        )?;
        send(listen, vec![Event::FilesEnded])?;
        if cancelled() { Err(Error::Cancelled.into()) } else { Ok(()) }
    }

    /// Restores a link; without an output, reads it.
    fn link(&self, Item { path, target, .. }: &Item) -> Result<()> {
        let VaultJob { vault, options, .. } = self.job;
        let text = PathBuf::from(to_os(&vault.read_link(path)?)?);
        let Some(output) = &options.output else { return Ok(()) };
        let place = target.strip_prefix(output).unwrap_or(target);
        if !options.preserve_all && leads_out(place, &text) {
            return Err(FolderError::LinkLeadsOut(text).into());
        }
        if options.dry_run {
            return Ok(());
        }
        let about = |e| Error::io(target, e);
        let place = Place::name_below(output, target).map_err(about)?;
        if place.found.is_some_and(|found| !matches!(found.kind, EntryKind::Link | EntryKind::File)) {
            return Err(about(ErrorKind::IsADirectory.into()));
        }
        place.create_link(&text, |_| Ok(())).map_err(about)
    }

    fn keep_time(&self, Item { target, entry, .. }: &Item) -> Result<()> {
        let JobOptions { output: Some(output), preserve: true, dry_run: false, .. } = self.job.options else {
            return Ok(());
        };
        let Some(modified) = entry.modified else { return Ok(()) };
        let below = target.strip_prefix(output).unwrap_or(target);
        let folder = Folder::open(output).and_then(|root| root.open_below(below));
        folder.and_then(|folder| folder.as_file()?.set_modified(modified)).map_err(|e| Error::io(target, e))
    }

    fn failed<'e>(&mut self, path: &'e Path, error: Error) -> Event<'e> {
        self.summary.failed += 1;
        Event::Failed { path, subject: path.to_owned(), error }
    }
}

/// Copies the whole plaintext, on the threads of `options`.
fn copy(contents: &dyn Contents, to: &impl WriteAt, mut options: Options<'_>) -> Result<()> {
    let size = contents.size();
    let buffer = || Ok(Wiped(memory::zeroed(size.min(PIECE_LEN) as usize)?));
    run_reporting(size.div_ceil(PIECE_LEN), size, &mut options, buffer, |at, piece| {
        let start = at * PIECE_LEN;
        let len = (size - start).min(PIECE_LEN) as usize;
        let piece = &mut piece[..len];
        if contents.read_at(start, piece)? < len {
            return Err(Error::Truncated);
        }
        to.write_all_at(start, piece)?;
        Ok(len)
    })
}

/// Returns the path below an output that a path in a vault stands for, if this system has it.
fn to_path(path: &[u8]) -> Result<PathBuf> {
    let name = |name: &[u8]| {
        let name = to_os(name)?;
        check_name(&name).map(|()| name).map_err(|e| Error::io(&path_of(path), e))
    };
    path.split(|byte| *byte == b'/').map(name).collect()
}

fn to_os(text: &[u8]) -> Result<OsString> {
    os::from_bytes(text).ok_or(FolderError::NameInvalid.into())
}
