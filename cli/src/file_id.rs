//! Identity of a regular file on its disk.

use std::fs::File;
use std::io;
use std::path::Path;

/// Disk and number of a regular file: equal through all links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileId {
    disk: u64,
    number: u64,
}

#[cfg(unix)]
impl FileId {
    /// Returns the identity of an open file; `None` if it is not a regular file.
    pub(crate) fn of(file: &File) -> io::Result<Option<Self>> {
        Ok(Self::of_metadata(&file.metadata()?))
    }

    /// Returns the identity of the file at a path, as [`Self::of`] does, following links.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        Ok(Self::of_metadata(&path.metadata()?))
    }

    fn of_metadata(found: &std::fs::Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        found.is_file().then(|| Self { disk: found.dev(), number: found.ino() })
    }
}

#[cfg(windows)]
impl FileId {
    /// Returns the identity of an open file; `None` if it is not a regular file.
    pub(crate) fn of(file: &File) -> io::Result<Option<Self>> {
        // Consoles and pipes have no such information.
        if !winapi_util::file::typ(file)?.is_disk() {
            return Ok(None);
        }
        let found = winapi_util::file::information(file)?;
        let is_file = !file.metadata()?.is_dir();
        Ok(is_file.then(|| Self { disk: found.volume_serial_number(), number: found.file_index() }))
    }

    /// Returns the identity of the file at a path, as [`Self::of`] does, following links.
    pub(crate) fn at(path: &Path) -> io::Result<Option<Self>> {
        use std::os::windows::fs::OpenOptionsExt;
        /// `FILE_FLAG_BACKUP_SEMANTICS`, needed to open folders.
        const FOLDERS_TOO: u32 = 0x0200_0000;
        // Asks for no right to the content, so that a file that another process has opened
        // exclusively can be opened too.
        Self::of(&File::options().access_mode(0).custom_flags(FOLDERS_TOO).open(path)?)
    }
}
