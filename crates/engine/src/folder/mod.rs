//! Open folders, in which files are found by their names.
//!
//! The path of an output is resolved once, when its folder is opened. Every later system call is relative to the open
//! folder, so a link that another user puts into the path meanwhile is not followed. Windows has no such calls: there, each call
//! has the resolved path of the folder.

mod entry;
mod names;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

pub use entry::{Entry, EntryKind, Listed, refused_link};
pub use names::{check_name, is_part_of_name};
#[cfg(unix)]
pub use unix::{Folder, resolve};
#[cfg(windows)]
pub use windows::{Folder, resolve};
