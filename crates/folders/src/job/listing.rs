//! Lists the files of a job in an inventory, or compares them with one.

use super::Job;
use super::events::{Event, JobResult, Listener, send};
use super::inventory::{Inventories, NewInventory};
use super::options::JobOptions;
use super::tally::JobFile;
use crate::bulk::Replica;
use crate::inventory::{FolderContent, Inventory, InventoryDraft};
use crate::manifest::FileFingerprint;
use crate::prelude::*;
use crate::tree::Link;
use std::path::Component;

impl Job {
    /// Puts finished files that are not the version of the previous inventory among the files to
    /// process: only encrypting the source again proves the version. An interrupted job and one
    /// without an inventory leave such files; others may have put an older version there. Reads the
    /// files whose marks the manifest does not show.
    pub(super) fn compare_finished(
        &mut self,
        draft: &mut InventoryDraft,
        cancelled: &(dyn Fn() -> bool + Sync),
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let Self { options, tree, files, finished, touched, read, tally, .. } = self;
        let Some(root) = tree.root.as_deref() else { return Ok(()) };
        let known = |target: &Path| tally.manifest.as_ref().and_then(|manifest| manifest.mark(target));
        let targets = finished.iter().map(|(_, target)| target);
        let unknown = |target: &&PathBuf| touched.contains(*target) || known(target).is_none();
        let mut content = FolderContent::default();
        content.add_files(targets.filter(unknown).cloned().collect(), true, options.threads, cancelled)?;
        // An unreadable file has no mark.
        read.extend(content.files);
        let mut exchanged = Vec::new();
        for (source, target) in mem::take(finished) {
            let written = known(&target);
            let is_touched = touched.contains(&target);
            let mark = read.get(&target).or(written.as_ref().filter(|_| !is_touched));
            let is_other = match (mark, draft.listed(root, &target)) {
                (None, _) => true,
                (Some(mark), Some(_)) => draft.differs(root, &target, mark)?,
                (Some(mark), None) => written.as_ref().is_some_and(|written| written != mark),
            };
            match FileFingerprint::of(&source) {
                Ok(fingerprint) if is_other => {
                    // What our own job wrote last was not exchanged.
                    exchanged.extend(is_touched.then(|| target.clone()));
                    read.remove(&target);
                    tally.ended = tally.ended.saturating_sub(fingerprint.len());
                    files.push(JobFile { source, target, fingerprint });
                }
                Err(error) if is_other => tree.problems.push((source, error)),
                _ => finished.push((source, target)),
            }
        }
        tally.summary.skipped = finished.len();
        tally.summary.failed += exchanged.len();
        send(listen, exchanged.iter().map(|path| Event::Exchanged(path)).collect())
    }

    /// Adds the files and links of the job to the inventory. Reads processed files without a known
    /// mark.
    pub(super) fn list(
        &mut self,
        NewInventory { draft, .. }: &mut NewInventory<'_>,
        inventories: &Inventories<'_>,
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let Self { options, tree, files, finished, read: compared, tally, .. } = self;
        let Some(root) = tree.root.as_deref() else { return Ok(()) };
        let has_failed = |at: usize| tally.failed_files.contains(&at);
        let unknown = |(at, file): (usize, &JobFile)| {
            (inventories.mark(at).is_none() && !has_failed(at)).then(|| file.target.clone())
        };
        let unread: Vec<_> = files.iter().enumerate().filter_map(unknown).collect();
        let mut content = FolderContent::default();
        content.add_files(unread, true, options.threads, inventories.cancelled)?;
        let (read, mut problems): (BTreeMap<_, _>, _) =
            (content.files.into_iter().collect(), content.problems);
        for (at, JobFile { target, .. }) in files.iter().enumerate() {
            let added = match inventories.mark(at).or_else(|| read.get(target)) {
                Some(mark) if !has_failed(at) => draft.add(root, target, mark.clone()),
                _ => draft.add_failed(root, target),
            };
            problems.extend(added.err().map(|error| (target.clone(), error)));
        }
        for (source, target) in &*finished {
            let found = compared.get(target);
            let known = || tally.manifest.as_ref().and_then(|manifest| manifest.mark(target));
            let added = match found.cloned().or_else(known) {
                Some(mark) => draft.add(root, target, mark),
                None => draft.add_failed(root, target),
            };
            let noted = match (found, &mut tally.manifest) {
                (Some(_), Some(manifest)) => {
                    FileFingerprint::of(source).and_then(|before| manifest.add(source, before, target, found))
                }
                _ => Ok(()),
            };
            problems.extend(added.and(noted).err().map(|error| (target.clone(), error)));
        }
        for Link { target, text, .. } in &tree.links {
            let added = draft.add_link(root, target, text);
            problems.extend(added.err().map(|error| (target.clone(), error)));
        }
        tally.summary.failed += problems.len();
        send(listen, problems.iter_mut().map(failed).collect())
    }

    /// Compares the files and links of the only input, a folder, with an inventory. Files that were
    /// not hashed when they were verified are read.
    pub(super) fn compare(
        &mut self,
        listed: &Inventory,
        inventories: &Inventories<'_>,
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let Self { options, tree, files, tally, .. } = self;
        let [root] = &*options.inputs else { return Ok(()) };
        let mut content = FolderContent::default();
        content.add_links(&tree.links);
        let mut unread = Vec::new();
        for (at, JobFile { source, .. }) in files.iter().enumerate() {
            match inventories.mark(at) {
                Some(mark) => content.files.push((source.clone(), mark.clone())),
                None => unread.push(source.clone()),
            }
        }
        let hashed = listed.folder().is_some();
        content.add_files(unread, hashed, options.threads, inventories.cancelled)?;
        let FolderContent { files, links, mut problems } = content;
        // The job has told these already.
        let told = tally.problems.iter().filter(|problem| problem.starts_with(root));
        let is_problem = |path: &Path| {
            let below = |problem: &PathBuf| root.join(path).starts_with(problem);
            tally.problems.iter().chain(problems.iter().map(|(problem, _)| problem)).any(below)
        };
        let skips = |path: &Path| is_excluded(options, path) || is_problem(path);
        let findings = listed.compare(root, files, links, skips)?;
        let differences = findings.len() + problems.len() + told.count();
        tally.summary.failed += findings.len() + problems.len();
        let mut events: Vec<_> = problems.iter_mut().map(failed).collect();
        events.extend(
            findings.into_iter().map(|finding| Event::Differs {
                path: root.join(finding.path),
                difference: finding.difference,
            }),
        );
        let folder = listed.folder();
        events.push(Event::Compared { folder, counter: listed.counter(), files: listed.len(), differences });
        send(listen, events)
    }

    /// Returns whether a link is decrypted whose path leads out of the folder. Anyone who can
    /// write to an encrypted folder chooses it, unless names are encrypted.
    pub(super) fn leads_out(&self, operation: Option<&Operation>, link: &Link) -> bool {
        let Some(root) = &self.tree.root else { return false };
        let is_checked = matches!(operation, Some(Operation::Decrypt(_)))
            && self.options.replica() == Replica::Limited
            && self.tree.names.is_none();
        is_checked && link.target.strip_prefix(root).is_ok_and(|place| leads_out(place, &link.text))
    }
}

fn failed((path, error): &mut (PathBuf, Error)) -> Event<'_> {
    Event::Failed { path, subject: path.clone(), error: mem::replace(error, Error::Cancelled) }
}

/// Returns whether the path `text` in a link at `place` below a folder may lead out of it. `..` may
/// only come first: after a name, which may itself be a link, it can lead anywhere.
pub fn leads_out(place: &Path, text: &Path) -> bool {
    let mut parts = text.components().filter(|part| *part != Component::CurDir).peekable();
    let mut depth = place.components().count() - 1;
    while parts.next_if(|part| *part == Component::ParentDir).is_some() {
        match depth {
            0 => return true,
            _ => depth -= 1,
        }
    }
    !parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns whether a pattern matches a path below the encrypted folder. Patterns apply to decrypted
/// names.
fn is_excluded(options: &JobOptions, path: &Path) -> bool {
    let Some(exclude) = &options.exclude else { return false };
    let Some(key) = &options.names else { return exclude.matches_below(path) };
    let plain = options.suffix().applied_to_path(path).and_then(|path| key.decrypt_path(&path));
    plain.is_ok_and(|plain| exclude.matches_below(&plain))
}
