//! Files of Windows.

pub(crate) mod folder;
pub(crate) mod rights;

use crate::file_id::FileId;
use crate::prelude::*;
use std::os::windows::fs::{FileExt, OpenOptionsExt};

impl FileId {
    /// `FILE_FLAG_BACKUP_SEMANTICS`, needed to open folders.
    const FOLDERS_TOO: u32 = 0x0200_0000;
    /// `FILE_FLAG_OPEN_REPARSE_POINT`, needed to open a link itself.
    const LINKS_TOO: u32 = 0x0020_0000;

    /// Returns the identity of an open file, or `None` for a device or a pipe.
    pub fn of(file: &File, _: &Metadata) -> Option<Self> {
        let found = winapi_util::file::information(file).ok()?;
        Some(Self { device: found.volume_serial_number(), inode: found.file_index() })
    }

    /// Returns the identity of the file at a path, following links.
    pub fn at(path: &Path) -> io::Result<Option<Self>> {
        Self::opened(path, Self::FOLDERS_TOO)
    }

    /// Returns the identity of the file or link at a path.
    pub fn of_name(path: &Path) -> io::Result<Option<Self>> {
        Self::opened(path, Self::FOLDERS_TOO | Self::LINKS_TOO)
    }

    fn opened(path: &Path, flags: u32) -> io::Result<Option<Self>> {
        // Asks for no right to the content, so that a file that another process has opened
        // exclusively can be opened too.
        let file = File::options().access_mode(0).custom_flags(flags).open(path)?;
        Ok(Self::of(&file, &file.metadata()?))
    }
}

/// Does nothing: this system reports all errors when data is written.
///
/// # Errors
/// Never.
pub fn flush(_: &File) -> io::Result<()> {
    Ok(())
}

/// Returns false: this system has no call that tells.
pub fn is_without_links(_: &Path) -> bool {
    false
}

/// Opens a file for reading.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Does nothing: a pipe of this system has no path among files.
pub(crate) fn never_wait(_: &mut OpenOptions) {}

pub(crate) fn is_on_disk(file: &File) -> io::Result<bool> {
    Ok(winapi_util::file::typ(file)?.is_disk())
}

pub(crate) fn read_at(file: &File, offset: u64, into: &mut [u8]) -> io::Result<usize> {
    file.seek_read(into, offset)
}

pub(crate) fn write_all_at(file: &File, mut offset: u64, mut from: &[u8]) -> io::Result<()> {
    while !from.is_empty() {
        let n = file.seek_write(from, offset)?;
        if n == 0 {
            return Err(ErrorKind::WriteZero.into());
        }
        offset += n as u64;
        from = &from[n..];
    }
    Ok(())
}
