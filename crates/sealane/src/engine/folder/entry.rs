//! The names in a folder.

use crate::engine::file_id::FileId;
use std::ffi::OsString;
use std::fs::FileType;
use std::io::{self, ErrorKind};

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket or a device, which cannot be replaced.
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

/// A name in a listed folder. Some file systems do not list types, and then asking for one can fail.
pub(crate) type Listed = (OsString, io::Result<EntryKind>);

/// A name in a folder that is taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) kind: EntryKind,
    pub(crate) id: Option<FileId>,
    /// Whether the mode gives no class the right to write to it.
    pub(crate) read_only: bool,
}

/// The text of the error for an output that is a link, or lies behind one, where links are not followed.
const LINK: &str = "is a link, and results are not written through links";

pub(crate) fn refused_link() -> io::Error {
    io::Error::new(ErrorKind::Unsupported, LINK)
}
