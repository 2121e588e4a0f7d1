//! The inventories of a job: the one that it writes, and the one that it compares a folder with.

use super::events::{Event, JobError};
use super::options::JobOptions;
use crate::bulk::Operation;
use crate::inventory::{Inventory, InventoryDraft, InventoryKeys};
use crate::tree::{Link, Tree};
use base::Error;
use base::error::FolderError;
use files::file_keys::EncryptWith;
use files::mark::FileMark;
use std::fs;
use std::path::Path;

/// The inventory that a job writes at its end.
pub(super) struct NewInventory<'a> {
    keys: &'a InventoryKeys<'a>,
    with: &'a EncryptWith,
    draft: InventoryDraft,
}

/// What became of a target.
pub(super) enum Written {
    /// It was written. The mark is unknown for an armored file and one that was read like a pipe.
    Now(Option<FileMark>),
    /// An earlier job wrote it.
    Before,
    /// It could not be written.
    Failed,
}

impl<'a> NewInventory<'a> {
    /// Reads the previous inventory. One that is damaged is replaced, because the job lists every file again, and the reason is
    /// returned; one that another key signed or encrypted is refused.
    pub(super) fn begin(
        keys: &'a InventoryKeys<'a>,
        operation: &'a Operation,
    ) -> Result<(Option<Self>, Option<Error>), JobError> {
        let Operation::Encrypt(with) = operation else { return Ok((None, None)) };
        let (previous, damaged) = match keys.previous(with) {
            Err(
                error
                @ Error::Folder(FolderError::SignatureMissing(_) | FolderError::SignatureInvalid { .. }),
            ) => (None, Some(error)),
            found => (found.map_err(JobError::about(keys.path))?, None),
        };
        Ok((Some(Self { keys, with, draft: InventoryDraft::after(previous) }), damaged))
    }

    /// Adds a target below `root`. Returns an event if it was exchanged or cannot be read.
    pub(super) fn add<'e>(&mut self, root: &Path, target: &'e Path, written: Written) -> Option<Event<'e>> {
        let mark = || FileMark::of(target);
        let added = match written {
            Written::Failed => self.draft.add_failed(root, target).map(|()| true),
            Written::Now(known) => {
                known.map_or_else(mark, Ok).and_then(|mark| self.draft.add(root, target, mark)).map(|()| true)
            }
            Written::Before => mark().and_then(|mark| self.draft.add_unchanged(root, target, mark)),
        };
        match added {
            Ok(true) => None,
            Ok(false) => Some(Event::Exchanged(target)),
            Err(error) => Some(failed(target, error)),
        }
    }

    pub(super) fn add_link<'e>(&mut self, root: &Path, link: &'e Link) -> Option<Event<'e>> {
        let added = self.draft.add_link(root, &link.target, &link.text);
        added.err().map(|error| failed(&link.target, error))
    }

    pub(super) fn save(self, root: &Path, options: &JobOptions) -> Result<(), JobError> {
        let saved = self.keys.save(self.draft, root, options.delete, self.with, options.durability);
        saved.map(drop).map_err(JobError::about(self.keys.path))
    }
}

fn failed(path: &Path, error: Error) -> Event<'_> {
    Event::Failed { path, subject: path.to_owned(), error }
}

/// Compares the files and links of `tree`, which is the folder `root`, with an inventory. Returns an event for each difference, and
/// for each file that cannot be read.
pub(super) fn differences<'e>(
    listed: &Inventory,
    root: &Path,
    tree: &'e Tree,
    options: &JobOptions,
) -> Result<Vec<Event<'e>>, Error> {
    let mut events = Vec::new();
    let mut files = Vec::new();
    for (path, _) in &tree.pairs {
        match FileMark::of(path) {
            Ok(mark) => files.push((path.clone(), mark)),
            Err(error) => events.push(failed(path, error)),
        }
    }
    let mut links = Vec::new();
    for link in &tree.links {
        // The text of the link is decrypted if names are.
        let text = fs::read_link(&link.source).map_err(|e| Error::io(&link.source, e))?;
        links.push((link.source.clone(), text));
    }
    let findings = listed.compare(root, files, links, |path| is_excluded(options, path))?;
    let differs = |finding: crate::inventory::Finding| Event::Differs {
        path: root.join(finding.path),
        difference: finding.difference,
    };
    events.extend(findings.into_iter().map(differs));
    Ok(events)
}

/// Returns whether a pattern matches a path below the encrypted folder. Patterns apply to decrypted names.
fn is_excluded(options: &JobOptions, path: &Path) -> bool {
    let Some(exclude) = &options.exclude else { return false };
    let Some(key) = &options.names else { return exclude.matches_below(path) };
    let plain = options.suffix().applied_to_path(path).and_then(|path| key.decrypt_path(&path));
    plain.is_ok_and(|plain| exclude.matches_below(&plain))
}
