//! The inventories of a job: the one it writes, and the one it compares with.

use super::events::{Event, JobError};
use super::options::JobOptions;
use crate::bulk::Operation;
use crate::inventory::{Inventory, InventoryDraft, InventoryKeys, content};
use crate::tree::Tree;
use base::Error;
use base::error::FolderError;
use files::file_keys::EncryptWith;
use std::path::Path;

/// The inventory written at the end of a job.
pub(super) struct NewInventory<'a> {
    keys: &'a InventoryKeys<'a>,
    with: &'a EncryptWith,
    pub(super) draft: InventoryDraft,
}

impl<'a> NewInventory<'a> {
    /// Reads the previous inventory. A damaged one is replaced (the job lists every file again) and
    /// the reason returned; one signed or encrypted with another key is refused.
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

    pub(super) fn save(self, root: &Path, options: &JobOptions) -> Result<(), JobError> {
        let saved = self.keys.save(self.draft, root, options.delete, self.with, options.durability);
        saved.map(drop).map_err(JobError::about(self.keys.path))
    }
}

pub(super) fn failed(path: &Path, error: Error) -> Event<'_> {
    Event::Failed { path, subject: path.to_owned(), error }
}

/// Compares the files and links of `tree` (the folder `root`) with an inventory. Returns an event
/// per difference and per unreadable file.
pub(super) fn differences<'e>(
    listed: &Inventory,
    root: &Path,
    tree: &'e Tree,
    options: &JobOptions,
) -> Result<Vec<Event<'e>>, Error> {
    let (files, links, problems) = content(tree)?;
    let mut events: Vec<_> = problems.into_iter().map(|(path, error)| failed(path, error)).collect();
    let findings = listed.compare(root, files, links, |path| is_excluded(options, path))?;
    let differs = |finding: crate::inventory::Finding| Event::Differs {
        path: root.join(finding.path),
        difference: finding.difference,
    };
    events.extend(findings.into_iter().map(differs));
    Ok(events)
}

/// Returns whether a pattern matches a path below the encrypted folder. Patterns apply to decrypted
/// names.
fn is_excluded(options: &JobOptions, path: &Path) -> bool {
    let Some(exclude) = &options.exclude else { return false };
    let Some(key) = &options.names else { return exclude.matches_below(path) };
    let plain = options.suffix().applied_to_path(path).and_then(|path| key.decrypt_path(&path));
    plain.is_ok_and(|plain| exclude.matches_below(&plain))
}
