//! The names in a folder.

use crate::engine::file_id::FileId;
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
