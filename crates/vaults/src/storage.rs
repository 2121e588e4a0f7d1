//! Where the encrypted files of a vault lie.

use crate::prelude::*;
pub use engine::folder::EntryKind;
use std::time::SystemTime;

/// Where the encrypted files of a vault lie.
pub trait Storage: Send + Sync {
    /// Returns what a folder contains, in no order. Lengths are those of the encrypted files.
    ///
    /// # Errors
    /// Returns the errors of the storage.
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>>;

    /// Opens a file.
    ///
    /// # Errors
    /// Returns the errors of the storage.
    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>>;

    /// Returns the text of a link.
    ///
    /// # Errors
    /// Returns the errors of the storage.
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>>;
}

/// A name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// One name, without `/`.
    pub name: Vec<u8>,
    /// What the name stands for.
    pub kind: EntryKind,
    /// Length in bytes of a file; 0 for others.
    pub len: u64,
    /// When the file was changed last, as the storage tells.
    pub modified: Option<SystemTime>,
}

/// Returns whether an error says that the storage has nothing there.
pub(crate) fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}
