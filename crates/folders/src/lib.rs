//! Many files: trees, names, manifests, replicas, inventories, and the jobs that process them.
#![forbid(unsafe_code)]

pub mod bulk;
mod described;
mod description;
mod exclude;
mod identifier;
mod inventory;
pub mod job;
#[doc(hidden)]
pub mod jobs;
mod manifest;
mod name;
mod names;
mod prelude;
mod removal;
mod replica;
mod tree;
mod writer;

pub use described::{DescribedFolder, FOR_IDENTITIES, NewFolder};
pub use description::Description;
pub use exclude::Exclude;
pub use inventory::{
    Difference, Finding, Inventory, InventoryDraft, InventoryKeys, compare_inventory, write_inventory,
};
pub use job::{decrypt_file, encrypt_file, rewrap_file, salvage_file, salvage_opened};
pub use manifest::{FileFingerprint, Manifest};
pub use names::NameKey;
#[doc(hidden)]
pub use names::resolved;
pub use removal::{Removal, Stale};
#[doc(hidden)]
pub use tree::is_unfinished;
pub use tree::{Link, Links, Suffix, Tree, TreeOptions};
pub use writer::Writer;
