//! The options of a job.

use crate::bulk::Replica;
use crate::exclude::Exclude;
use crate::inventory::{Inventory, InventoryKeys};
use crate::names::NameKey;
use crate::prelude::*;
use crate::tree::{Links, Suffix};
use std::fs::File;
use std::sync::Arc;

/// The options of a [`Job`](super::Job).
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// Files or folders to process.
    pub inputs: Vec<PathBuf>,
    /// The target folder; `None` to verify files or replace them.
    pub output: Option<PathBuf>,
    /// Suffix of encrypted files; may be empty.
    pub suffix: OsString,
    /// Whether to remove the suffix from names, as in decryption and verification, instead of
    /// appending it.
    pub removes_suffix: bool,
    /// Whether to replace each file.
    pub in_place: bool,
    /// Files and folders to leave out.
    pub exclude: Option<Exclude>,
    /// The key for encrypted names.
    pub names: Option<NameKey>,
    /// Path of the description of the encrypted folder, see
    /// [`DescribedFolder::configure`](crate::DescribedFolder::configure): neither a source nor a
    /// target.
    pub description: Option<PathBuf>,
    /// The suffix of an encrypted folder in which names like `.NAME.0123456789abcdef.part` are of
    /// unfinished files. They are no sources, and encryption removes those of killed jobs.
    pub unfinished: Option<OsString>,
    /// The encrypted folder, locked while a job uses its keys.
    #[doc(hidden)]
    pub in_use: Option<Arc<File>>,
    /// Whether names that look encrypted, or end with a suffix, are restored as they are.
    pub keeps_names: bool,
    /// Whether to give targets the attributes of their sources, and to copy links as links.
    pub preserve: bool,
    /// With `preserve`: whether [`Operation::Decrypt`] keeps all, see [`Replica::Whole`].
    pub preserve_all: bool,
    /// Path of the list of finished files.
    pub manifest: Option<PathBuf>,
    /// Whether the manifest may lie below an input; it is not processed. Otherwise, this is an
    /// error.
    pub manifest_below_inputs: bool,
    /// Files that no target may replace, besides the operation's key files.
    pub kept: Vec<PathBuf>,
    /// Whether to remove encrypted files whose source is gone.
    pub delete: bool,
    /// With `delete`: whether to remove even all or most of the files.
    pub delete_all: bool,
    /// Whether to write nothing.
    pub dry_run: bool,
    /// Whether to read back and verify each encrypted file before it counts as finished.
    pub read_back: bool,
    /// Number of threads, at most 256. Default: one per core, at most 8.
    pub threads: Option<NonZeroUsize>,
    /// Whether to sync each file before it gets its name, and the manifest at the end.
    pub durability: Durability,
    /// Maximum files in a batch, and finished files before threads wait for the listener. Default:
    /// 64.
    pub batch: Option<NonZeroUsize>,
}

/// The keys of a job, loaded after its files are listed.
#[derive(Clone, Copy, Debug)]
pub struct JobKeys<'a> {
    /// What to do with each file.
    pub operation: &'a Operation,
    /// The inventory to write with [`Operation::Encrypt`].
    pub inventory: Option<&'a InventoryKeys<'a>>,
    /// The inventory to compare the only input with.
    pub compare: Option<&'a Inventory>,
}

impl JobOptions {
    pub(super) fn replica(&self) -> Replica {
        // Only decryption and verification remove a suffix.
        match (self.preserve, self.preserve_all || !self.removes_suffix) {
            (false, _) => Replica::No,
            (true, false) => Replica::Limited,
            (true, true) => Replica::Whole,
        }
    }

    /// Returns the identities of the inputs now.
    pub(super) fn roots(&self) -> Vec<Option<FileId>> {
        self.inputs.iter().map(|input| FileId::at(input).ok().flatten()).collect()
    }

    pub(super) fn links(&self) -> Links {
        if self.preserve { Links::Keep } else { Links::Follow }
    }

    /// Returns whether the job writes into an encrypted folder, instead of reading one.
    pub(super) fn encrypts(&self) -> bool {
        !self.removes_suffix && !self.in_place
    }

    #[doc(hidden)]
    pub fn batch(&self) -> usize {
        self.batch.map_or(64, NonZeroUsize::get)
    }

    pub(super) fn suffix(&self) -> Suffix<'_> {
        if self.removes_suffix { Suffix::Remove(&self.suffix) } else { Suffix::Add(&self.suffix) }
    }
}
