//! Rights of a new file: never more, for any user, than the replaced file gave. On Windows a file
//! has its folder's access control list, because the standard library sets no others.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{inherit, of_new_files, replicate};
#[cfg(windows)]
pub(crate) use windows::{inherit, of_new_files, replicate};
