//! Output files that are written in order and appear complete.

use crate::Error;
use crate::engine::options::Durability;
use crate::engine::staged::{Access, Existing, StagedFile};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A new file that gets its name at [`OutputFile::finish`]. If it is dropped earlier, nothing remains on disk.
///
/// A pipe or a device cannot be replaced, so the bytes go to it directly.
pub struct OutputFile(Sink);

enum Sink {
    Staged(StagedFile, Existing),
    Stream(File),
}

impl OutputFile {
    /// Creates a file that becomes `path` when it is finished. An existing file stays unchanged until then.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path, for example if it is a folder or not writable.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::create_checked(path, |_| Ok(()))
    }

    /// Creates a new file at `path`, which must not exist now or at [`OutputFile::finish`].
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path; of the kind [`io::ErrorKind::AlreadyExists`] if `path` exists.
    pub fn create_new(path: &Path) -> Result<Self, Error> {
        if path.symlink_metadata().is_ok() {
            return Err(Error::io(path, io::ErrorKind::AlreadyExists.into()));
        }
        let staged = StagedFile::with_metadata(path, None, Access::Inherited)?;
        Ok(Self(Sink::Staged(staged, Existing::Refuse)))
    }

    /// Does the same as [`Self::create`] if `check` accepts the regular file at `path`.
    pub(crate) fn create_checked(
        path: &Path,
        check: impl FnOnce(&Metadata) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let about = |e| Error::io(path, e);
        // One system call is enough for a new name, which is the most frequent case.
        let own = path.symlink_metadata().ok();
        let found = match &own {
            Some(own) if own.is_symlink() => path.metadata(),
            Some(own) => Ok(own.clone()),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        match found {
            Ok(found) if found.is_dir() => return Err(about(io::ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => {
                return Ok(Self(Sink::Stream(OpenOptions::new().write(true).open(path).map_err(about)?)));
            }
            Ok(found) => check(&found)?,
            // The file does not exist, or creating it returns the same error again.
            Err(_) => {}
        }
        let staged = StagedFile::with_metadata(path, own.as_ref(), Access::Inherited)?;
        Ok(Self(Sink::Staged(staged, Existing::Replace)))
    }

    /// Gives the file its name. A file that already has the name is replaced, except after [`Self::create_new`].
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path if the file cannot be stored or cannot get its name.
    pub fn finish(self, durability: Durability) -> Result<(), Error> {
        match self.0 {
            Sink::Staged(staged, existing) => staged.commit(existing, durability),
            Sink::Stream(_) => Ok(()),
        }
    }

    /// Returns the staged file, which can be written at any position; `None` for a pipe or a device.
    pub(crate) fn staged(&self) -> Option<&StagedFile> {
        match &self.0 {
            Sink::Staged(staged, _) => Some(staged),
            Sink::Stream(_) => None,
        }
    }

    pub(crate) fn file(&self) -> &File {
        match &self.0 {
            Sink::Staged(staged, _) => staged.file(),
            Sink::Stream(file) => file,
        }
    }
}

impl Write for OutputFile {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if let Some(staged) = self.staged() {
            staged.check_process().map_err(Error::into_io)?;
        }
        self.file().write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for OutputFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OutputFile")
    }
}
