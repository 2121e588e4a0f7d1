//! Open folders, and files found in them by name.
//!
//! The path of an output is resolved once, when its folder is opened. All later system calls are
//! relative to the open folder, so a link that another user puts into the path is not followed.
//! Windows has no such calls: there, each call gets the folder's resolved path.

mod entry;
mod names;

pub use crate::os::{Folder, private_folders, resolve};
use crate::prelude::*;
pub use entry::{Entry, EntryKind, Listed, refused_link};
pub use names::{check_name, is_part_of_name, is_temporary_name, temporary_name};

/// Creates a folder that the caller named, and those above it.
///
/// # Errors
/// Returns the errors of [`refuse_url`] and of the system.
pub fn create_all(folder: &Path) -> io::Result<()> {
    refuse_url(folder)?;
    fs::create_dir_all(folder)
}

/// Refuses a URL as the path of a new folder: nothing would be uploaded, and the caller would
/// believe that it was.
///
/// # Errors
/// Returns [`io::ErrorKind::InvalidInput`].
pub fn refuse_url(path: &Path) -> io::Result<()> {
    base::os::url_of(path).map_or(Ok(()), |_| Err(io::Error::new(ErrorKind::InvalidInput, URL)))
}

const URL: &str = "expected a path, found a URL; write to a folder of this machine, and upload that";
