//! A file that is written in order and appears whole.

use crate::Error;
use crate::engine::options::Durability;
use crate::engine::staged::{Access, Existing, StagedFile};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// A file in the making. It gets its name at [`Output::finish`]; dropped before, it never existed.
///
/// A pipe or a device cannot be replaced, so it is written to as it is.
pub struct Output(Sink);

enum Sink {
    Staged(StagedFile, Existing),
    Stream(File),
}

impl Output {
    /// Begins what is to become `path`.
    ///
    /// # Errors
    /// [`Error::Io`] with the path: a folder, no such folder, not to be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::unless(path, |_| Ok(()))
    }

    /// Begins a new file at `path`, which must not exist, neither now nor at [`Output::finish`].
    ///
    /// # Errors
    /// [`Error::Io`] with the path; of the kind [`io::ErrorKind::AlreadyExists`] if `path` exists.
    pub fn create_new(path: &Path) -> Result<Self, Error> {
        if path.symlink_metadata().is_ok() {
            return Err(Error::io(path, io::ErrorKind::AlreadyExists.into()));
        }
        let staged = StagedFile::with_metadata(path, None, Access::Inherited)?;
        Ok(Self(Sink::Staged(staged, Existing::Refuse)))
    }

    /// The same, unless `refuse` objects to the plain file that is there.
    pub(crate) fn unless(
        path: &Path,
        refuse: impl FnOnce(&Metadata) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let about = |e| Error::io(path, e);
        // Most names are new, and one question tells.
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
            Ok(found) => refuse(&found)?,
            // No such file, or another answer that making it gives again.
            Err(_) => {}
        }
        let staged = StagedFile::with_metadata(path, own.as_ref(), Access::Inherited)?;
        Ok(Self(Sink::Staged(staged, Existing::Replace)))
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(self, durability: Durability) -> Result<(), Error> {
        match self.0 {
            Sink::Staged(staged, existing) => staged.commit(existing, durability),
            Sink::Stream(_) => Ok(()),
        }
    }

    /// What can be written at any position.
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

impl Write for Output {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.file().write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for Output {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Output")
    }
}
