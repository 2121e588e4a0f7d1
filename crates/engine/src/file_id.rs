//! Identity of a file on its disk.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

/// Device and inode of a file: equal through all links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId {
    pub device: u64,
    pub inode: u64,
}

#[cfg(unix)]
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
        use std::os::unix::fs::MetadataExt;
        Self { device: found.dev(), inode: found.ino() }
    }
}

#[cfg(windows)]
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
        use std::os::windows::fs::OpenOptionsExt;
        // Asks for no right to the content, so that a file that another process has opened
        // exclusively can be opened too.
        let file = File::options().access_mode(0).custom_flags(flags).open(path)?;
        Ok(Self::of(&file, &file.metadata()?))
    }
}
