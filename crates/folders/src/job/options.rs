//! The options of a job.

use crate::bulk::Operation;
use crate::exclude::Exclude;
use crate::inventory::{Inventory, InventoryKeys};
use crate::names::NameKey;
use crate::tree::Suffix;
use engine::options::Durability;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The options of a [`Job`](super::Job).
#[derive(Clone, Debug, Default)]
pub struct JobOptions {
    /// Folders, or files, to process.
    pub inputs: Vec<PathBuf>,
    /// The target folder; `None` for files that are verified or replaced.
    pub output: Option<PathBuf>,
    /// Suffix of encrypted files. It may be empty.
    pub suffix: OsString,
    /// Whether the suffix is removed from names, as for files that are decrypted or verified.
    /// Otherwise it is appended.
    pub removes_suffix: bool,
    /// Whether each file is its own target.
    pub in_place: bool,
    /// Files and folders to leave out.
    pub exclude: Option<Exclude>,
    /// The key of encrypted names.
    pub names: Option<NameKey>,
    /// Whether targets get the attributes of their sources, and links stay links.
    pub preserve: bool,
    /// Path of the list of finished files.
    pub manifest: Option<PathBuf>,
    /// Whether the manifest may lie below an input, where it is left out. Otherwise that is an
    /// error.
    pub manifest_below_inputs: bool,
    /// Files that no target may replace, besides those of the keys of the operation.
    pub kept: Vec<PathBuf>,
    /// Whether encrypted files whose source is gone are removed.
    pub delete: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Whether each encrypted file is read back and verified before it counts as finished.
    pub read_back: bool,
    /// Number of threads; at most 256. Default: one per core, at most 8.
    pub threads: Option<NonZeroUsize>,
    /// Whether to wait for the disk before a file gets its name, and at the end for the manifest.
    pub durability: Durability,
    /// Largest number of files in a batch, and of ended files before threads wait for the listener.
    /// Default: 64.
    pub batch: Option<NonZeroUsize>,
}

/// The keys of a job, which are loaded after its files are listed.
#[derive(Clone, Copy, Debug)]
pub struct JobKeys<'a> {
    /// What is done with each file.
    pub operation: &'a Operation,
    /// The inventory to write, for [`Operation::Encrypt`].
    pub inventory: Option<&'a InventoryKeys<'a>>,
    /// The inventory to compare the only input with.
    pub compare: Option<&'a Inventory>,
}

impl JobOptions {
    pub(super) fn batch(&self) -> usize {
        self.batch.map_or(64, NonZeroUsize::get)
    }

    pub(super) fn suffix(&self) -> Suffix<'_> {
        if self.removes_suffix { Suffix::Remove(&self.suffix) } else { Suffix::Add(&self.suffix) }
    }
}
