//! Where operating systems differ: open folders, the identity and rights of files, positions.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use system::folder::{Folder, private_folders, resolve};
pub use system::{flush, is_without_links};
pub(crate) use system::{is_on_disk, never_wait, open, read_at, rights, write_all_at};

/// Whether opening a folder as a file is an error without a kind of its own.
pub(crate) const REFUSES_FOLDERS: bool = cfg!(windows);

/// Whether names can have any bytes but `/` and zero.
pub(crate) const ANY_NAME: bool = !cfg!(windows);
