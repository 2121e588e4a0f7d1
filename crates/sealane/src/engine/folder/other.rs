//! Folders by their paths, on systems without file descriptors of folders.

use super::entry::{Entry, Listed};
use crate::engine::file_id::FileId;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// A folder, which is looked up by its path at each call.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        match path.metadata()?.is_dir() {
            true => Ok(Self(path.to_owned())),
            false => Err(ErrorKind::NotADirectory.into()),
        }
    }

    /// Lists the folder at a path, in no order.
    pub(crate) fn list(path: &Path) -> io::Result<Vec<Listed>> {
        let listed = |entry: fs::DirEntry| (entry.file_name(), entry.file_type().map(Into::into));
        fs::read_dir(path)?.map(|entry| entry.map(listed)).collect()
    }

    pub(crate) fn open_below(&self, relative: &Path) -> io::Result<Self> {
        Self::open(&self.0.join(relative))
    }

    pub(crate) fn create_below(&self, relative: &Path, _: u32) -> io::Result<()> {
        fs::create_dir_all(self.0.join(relative))
    }

    pub(crate) fn as_file(&self) -> io::Result<File> {
        File::open(&self.0)
    }

    pub(crate) fn set_mode(&self, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(fs::read_link(self.0.join(name))?.into_os_string())
    }

    /// Links have a type on Windows, which the path in them does not tell.
    pub(crate) fn create_link(&self, _: &Path, _: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn replicate_link(&self, _: &OsStr, _: &Metadata) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    pub(crate) fn entry(&self, name: &OsStr) -> io::Result<Option<Entry>> {
        match self.0.join(name).symlink_metadata() {
            Ok(found) => Ok(Some(entry(&found))),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn entry_behind(&self, name: &OsStr) -> io::Result<Entry> {
        Ok(entry(&self.0.join(name).metadata()?))
    }

    pub(crate) fn open_special(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.0.join(name))
    }

    pub(crate) fn open_replaced(&self, name: &OsStr) -> io::Result<Option<(File, Metadata)>> {
        match File::open(self.0.join(name)).and_then(|file| file.metadata().map(|found| (file, found))) {
            Ok(opened) => Ok(Some(opened)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    pub(crate) fn check_writable(&self, _: &OsStr) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn create_new(&self, name: &OsStr, _: u32) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    pub(crate) fn create_unnamed(&self, _: u32) -> io::Result<Option<File>> {
        Ok(None)
    }

    pub(crate) fn link_unnamed(&self, _: &File, _: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// A hard link fails if the name is taken, and always on file systems without hard links.
    pub(crate) fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), self.0.join(to))?;
        self.remove(from)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

fn entry(found: &Metadata) -> Entry {
    Entry { kind: found.file_type().into(), id: FileId::of(found), read_only: found.permissions().readonly() }
}
