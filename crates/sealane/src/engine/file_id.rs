//! The identity of a file on its disk.

use std::fs::Metadata;

/// The number of a file and of its disk, which are the same through all links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileId {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

impl FileId {
    /// Returns the identity of an open file, or `None` on systems that do not report one. An output replaces a file by
    /// renaming there, which these systems refuse while the file is open.
    #[cfg(unix)]
    pub(crate) fn of(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        Some(Self { device: found.dev(), inode: found.ino() })
    }

    #[cfg(not(unix))]
    pub(crate) fn of(_: &Metadata) -> Option<Self> {
        None
    }
}
