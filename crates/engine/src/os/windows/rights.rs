//! Attributes of files and folders. Each keeps the access control list inherited from its folder.

use super::folder::Folder;
use crate::prelude::*;

/// Gives `new` the attributes of the file it replaces (read-only, hidden).
pub(crate) fn inherit(new: &File, _: &File, old: &Metadata) -> io::Result<()> {
    new.set_permissions(old.permissions())
}

/// Gives `new` the attributes of a file or folder (read-only, hidden).
pub(crate) fn replicate(new: &File, from: &Metadata, _: u32) -> io::Result<()> {
    new.set_permissions(from.permissions())
}

/// Returns no rights: there is no mode.
pub(crate) fn of_new_files(_: &Folder) -> io::Result<u32> {
    Ok(0)
}
