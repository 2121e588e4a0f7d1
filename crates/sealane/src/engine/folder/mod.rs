//! Open folders, in which files are found by their names.
//!
//! The path of an output is resolved once, when its folder is opened. Every later system call is relative to the open
//! folder, so a link that another user puts into the path meanwhile is not followed.

mod entry;
#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

pub(crate) use entry::{Entry, EntryKind, Listed, refused_link};
#[cfg(not(unix))]
pub(crate) use other::Folder;
#[cfg(unix)]
pub(crate) use unix::Folder;
