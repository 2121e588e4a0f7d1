//! Files of Unix.

pub(crate) mod folder;
pub(crate) mod rights;

use crate::file_id::FileId;
use crate::prelude::*;
use base::interrupt;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};

impl FileId {
    /// Returns the identity of an open file with this metadata. `None` for a device or a pipe on
    /// Windows.
    pub fn of(_: &File, found: &Metadata) -> Option<Self> {
        Some(Self::of_metadata(found))
    }

    /// Returns the identity of the file at a path, following links.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        Ok(Some(Self::of_metadata(&path.metadata()?)))
    }

    /// Returns the identity of the file or link at a path.
    pub fn of_name(path: &Path) -> io::Result<Option<Self>> {
        Ok(Some(Self::of_metadata(&path.symlink_metadata()?)))
    }

    fn of_metadata(found: &Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

/// Writes out what the operating system still holds of a file, as closing it does. NFS and quotas
/// may report a full disk only on close, and dropping a [`File`] ignores that error.
///
/// Closes a second descriptor: the first is still needed to give the file its name.
///
/// # Errors
/// Returns the system's error for the close.
pub fn flush(file: &File) -> io::Result<()> {
    loop {
        match nix::unistd::close(file.try_clone()?) {
            // The descriptor is closed, but we cannot know whether everything was written.
            Err(nix::errno::Errno::EINTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Repeats a system call that a signal ended, unless the check of this thread cancels: the other
/// end of a pipe may never come. The standard library repeats it without asking.
fn retried<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) if interrupt::check().is_ok() => {}
            done => return done,
        }
    }
}

/// Returns whether the path of a folder is known to have no links, by one call instead of one for
/// each name.
pub fn is_without_links(folder: &Path) -> bool {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{CWD, ResolveFlags, openat2};
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).is_ok()
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    {
        let _ = folder;
        false
    }
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    Ok(retried(|| rustix::fs::open(path, flags, Mode::empty()))?.into())
}

/// Lets a pipe be opened for reading that has no writer yet.
pub(crate) fn never_wait(options: &mut OpenOptions) {
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits() as _);
}

/// Returns whether a file is no pipe and no device, as far as its metadata does not tell it.
pub(crate) fn is_on_disk(_: &File) -> io::Result<bool> {
    Ok(true)
}

pub(crate) fn read_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    file.read_at(into, offset)
}

pub(crate) fn write_all_at(file: &File, offset: u64, from: &[u8]) -> io::Result<()> {
    file.write_all_at(from, offset)
}
