//! Open folders, and files found in them by name.
//!
//! The path of an output is resolved once, when its folder is opened. All later system calls are
//! relative to the open folder, so a link that another user puts into the path is not followed.
//! Windows has no such calls: there, each call gets the folder's resolved path.

mod entry;
mod names;

pub use crate::os::{Folder, private_folders, resolve};
pub use entry::{Entry, EntryKind, Listed, refused_link};
pub use names::{check_name, is_part_of_name, temporary_name};
