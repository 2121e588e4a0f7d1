//! Output files, written in order, that appear complete.

use crate::prelude::*;
use engine::attributes::Attributes;
use engine::folder::{Entry, EntryKind};
use engine::options::Durability;
use engine::os;
use engine::place::{Output, Place};
use engine::staged::{Access, Existing, StagedFile};
use std::io::Write;

/// A new file that gets its name in [`OutputFile::finish`]. If dropped earlier, it leaves nothing
/// on disk.
///
/// A pipe, a device or a descriptor such as `/dev/fd/3` cannot be replaced, so bytes go straight to
/// it.
pub struct OutputFile(Sink);

enum Sink {
    Staged(StagedFile, Existing),
    Stream(File),
}

/// Path of an output, and the kinds of file accepted there.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Target<'a> {
    /// A file, a pipe or a device. Links are followed.
    Any(&'a Path),
    /// A regular file (opening a pipe would wait for its reader). Links are followed.
    File(&'a Path),
    /// A regular file below the folder `root`. Links are followed only on the way to `root`.
    Below { root: &'a Path, path: &'a Path },
    /// A file below the folder `root` that gets its source's attributes. Replaces a link or a
    /// read-only file.
    Replica {
        root: &'a Path,
        path: &'a Path,
        /// Whether the source is not trusted, see [`Attributes::limited`].
        limited: bool,
    },
}

impl<'a> Target<'a> {
    pub(super) fn path(self) -> &'a Path {
        match self {
            Self::Any(path) | Self::File(path) => path,
            Self::Below { path, .. } | Self::Replica { path, .. } => path,
        }
    }

    fn place(self) -> io::Result<Output> {
        match self {
            Self::Any(path) | Self::File(path) => Output::of(path),
            Self::Below { root, path } => Place::below(root, path).map(Output::Place),
            Self::Replica { root, path, .. } => Place::name_below(root, path).map(Output::Place),
        }
    }

    fn access(self) -> Access {
        if matches!(self, Self::Replica { .. }) { Access::Replicated } else { Access::Inherited }
    }
}

impl OutputFile {
    /// Creates a file that becomes `path` when finished. An existing file stays unchanged until
    /// then.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path if it is a folder or not writable, among others.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_checked(Target::Any(path), |_| Ok(()))
    }

    /// Like [`Self::create`], for the plaintext of a file decrypted with `with`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::create`];
    /// [`Misuse::OutputIsInput`].
    pub fn create_for(path: &Path, with: &DecryptWith) -> Result<Self> {
        Self::create_checked(Target::Any(path), |found| Ok(with.protected().check(found.id, path)?))
    }

    /// Like [`Self::create`], for a file encrypted with `with`.
    #[doc(hidden)]
    pub fn create_for_encrypted(path: &Path, with: &EncryptWith) -> Result<Self> {
        Self::create_checked(Target::File(path), |found| Ok(with.protected().check(found.id, path)?))
    }

    /// Creates a new file at `path`. It must not exist now or at [`OutputFile::finish`].
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path; its kind is [`io::ErrorKind::AlreadyExists`] if `path`
    /// exists.
    pub fn create_new(path: &Path) -> Result<Self> {
        let place = Place::of_name(path).map_err(|e| Error::io(path, e))?;
        if place.found.is_some() {
            return Err(Error::io(path, io::ErrorKind::AlreadyExists.into()));
        }
        Ok(Self(Sink::Staged(StagedFile::at(place, Access::Inherited)?, Existing::Refuse)))
    }

    /// Creates the file at `target` if `check` accepts the file it replaces, or the one that is
    /// open as a descriptor. That one has the kind [`EntryKind::Special`]: it is not replaced.
    #[doc(hidden)]
    pub fn create_checked(target: Target<'_>, check: impl FnOnce(&Entry) -> Result<()>) -> Result<Self> {
        let about = |e| Error::io(target.path(), e);
        let place = match target.place().map_err(about)? {
            Output::Place(place) => place,
            Output::Descriptor(file) => {
                let found = file.metadata().map_err(about)?;
                if found.is_file() {
                    let (kind, id) = (EntryKind::Special, FileId::of(&file, &found));
                    let (len, modified) = (found.len(), found.modified().ok());
                    check(&Entry { kind, id, read_only: false, len, modified })?;
                }
                return Ok(Self(Sink::Stream(file)));
            }
        };
        match (&place.found, target) {
            (Some(Entry { kind: EntryKind::Special, .. }), Target::Any(_)) => {
                return Ok(Self(Sink::Stream(place.folder.open_special(&place.name).map_err(about)?)));
            }
            (Some(found), _) => check(found)?,
            (None, _) => {}
        }
        Ok(Self(Sink::Staged(StagedFile::at(place, target.access())?, Existing::Replace)))
    }

    /// Gives the file its name. Replaces a file of that name, except after [`Self::create_new`].
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path if the file cannot be stored, closed or named.
    pub fn finish(self, durability: Durability) -> Result<()> {
        match self.0 {
            Sink::Staged(staged, existing) => staged.commit(existing, durability),
            Sink::Stream(file) => Ok(os::flush(&file)?),
        }
    }

    /// Sets the attributes that the named file gets. A pipe or a device keeps its own.
    pub(super) fn set_attributes(&mut self, attributes: Attributes) {
        if let Sink::Staged(staged, _) = &mut self.0 {
            staged.set_attributes(attributes);
        }
    }

    /// Returns the staged file, writable at any position; `None` for a pipe or a device.
    pub(crate) fn staged(&self) -> Option<&StagedFile> {
        if let Sink::Staged(staged, _) = &self.0 { Some(staged) } else { None }
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

debug_fields!(OutputFile);
