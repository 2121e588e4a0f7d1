//! The inventories of a job: the one it writes, and the one it compares with.

use super::events::JobError;
use super::options::JobOptions;
use crate::inventory::{Inventory, InventoryDraft, InventoryKeys};
use crate::prelude::*;

/// The inventory written at the end of a job.
pub(super) struct NewInventory<'a> {
    keys: &'a InventoryKeys<'a>,
    with: &'a EncryptWith,
    pub(super) draft: InventoryDraft,
    /// Whether there is a previous inventory, and the keys cannot read it.
    unread: bool,
}

impl<'a> NewInventory<'a> {
    /// Reads the previous inventory. A damaged one is replaced (the job lists every file again) and
    /// the reason returned, and so is one under a retired key of a folder with a given identifier;
    /// one signed or encrypted with another key is refused.
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
            // Our own signature is valid, and the identifier of the folder stays.
            Err(Error::Authentication | Error::NoMatchingKey) if keys.folder.is_some() => {
                (None, Some(FolderError::InventoryRetired(keys.path.to_owned()).into()))
            }
            found => (found.map_err(JobError::about(keys.path))?, None),
        };
        let unread = damaged.is_none() && previous.is_none() && keys.path.exists();
        Ok((Some(Self { keys, with, draft: InventoryDraft::after(previous), unread }), damaged))
    }

    /// Saves the inventory. Returns it, and whether it has a new identifier because the keys cannot
    /// read the previous one.
    pub(super) fn save(self, root: &Path, options: &JobOptions) -> Result<(Inventory, bool), JobError> {
        let saved = self.keys.save(self.draft, root, options.delete, self.with, options.durability);
        let unread = self.unread && self.keys.folder.is_none();
        saved.map(|inventory| (inventory, unread)).map_err(JobError::about(self.keys.path))
    }
}

/// The inventories of a job, and the marks of its files: set when a file is written or verified,
/// unless it is armored, was read like a pipe or failed.
pub(super) struct Inventories<'a> {
    pub(super) new: Option<NewInventory<'a>>,
    pub(super) compare: Option<&'a Inventory>,
    pub(super) marks: Vec<OnceLock<FileMark>>,
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl Inventories<'_> {
    /// Returns the mark of the job's file with this index, if it is known.
    pub(super) fn mark(&self, at: usize) -> Option<&FileMark> {
        self.marks.get(at).and_then(OnceLock::get)
    }
}
