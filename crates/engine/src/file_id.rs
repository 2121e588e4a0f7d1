//! Identity of a file on its disk.

/// Device and inode of a file: equal through all links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
}
