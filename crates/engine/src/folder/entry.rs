//! Names in a folder.

use crate::file_id::FileId;
use crate::prelude::*;
use std::fs::FileType;
use std::time::SystemTime;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device. It cannot be replaced.
    Special,
}

impl From<FileType> for EntryKind {
    fn from(kind: FileType) -> Self {
        match kind {
            kind if kind.is_file() => Self::File,
            kind if kind.is_dir() => Self::Folder,
            kind if kind.is_symlink() => Self::Link,
            _ => Self::Special,
        }
    }
}

/// A name in a listed folder. Some file systems do not list types, and asking for one can fail.
pub type Listed = (OsString, io::Result<EntryKind>);

/// A taken name in a folder.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub kind: EntryKind,
    pub id: Option<FileId>,
    /// Whether the mode lets no class write.
    pub read_only: bool,
    pub len: u64,
    pub modified: Option<SystemTime>,
}

/// Error for an output that is a link, or lies behind one, where links are not followed.
const LINK: &str = "is a link, and results are not written through links";

pub fn refused_link() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, LINK)
}
