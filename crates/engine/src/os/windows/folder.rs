//! Folders by path: on Windows the standard library opens files only by path.

use crate::file_id::FileId;
use crate::folder::{Entry, EntryKind, Listed, check_name, refused_link};
use crate::prelude::*;
use std::fs::DirBuilder;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Component, Prefix};

/// A folder, looked up by path on each call. The path begins with `\\?\`: all links on the way were
/// resolved when the folder was opened, and names below it can be as long as the file system
/// allows.
pub struct Folder(PathBuf);

/// Rights to read and write attributes (`FILE_READ_ATTRIBUTES`, `FILE_WRITE_ATTRIBUTES`).
const ATTRIBUTES: u32 = 0x80 | 0x100;
/// `FILE_FLAG_BACKUP_SEMANTICS`, needed to open folders.
const FOLDERS_TOO: u32 = 0x0200_0000;

/// Returns the path of an existing file or folder, without links. It begins with `\\?\`.
///
/// Some disk drivers report no such paths, and Wine 8.0 none of more than 260 characters. There,
/// the path keeps its links.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path).or_else(|_| {
        path.metadata()?;
        let absolute = std::path::absolute(path)?;
        match absolute.components().next() {
            Some(Component::Prefix(prefix)) if matches!(prefix.kind(), Prefix::Disk(_)) => {
                let mut verbatim = OsString::from(r"\\?\");
                verbatim.push(absolute);
                Ok(verbatim.into())
            }
            _ => Ok(absolute),
        }
    })
}

/// Returns a builder of folders that inherit their rights.
pub fn private_folders() -> DirBuilder {
    DirBuilder::new()
}

impl Folder {
    /// Opens the folder at a path, following all links.
    pub fn open(path: &Path) -> io::Result<Self> {
        let real = resolve(path)?;
        if real.metadata()?.is_dir() { Ok(Self(real)) } else { Err(ErrorKind::NotADirectory.into()) }
    }

    /// Lists the folder at a path, in no particular order.
    pub fn list(path: &Path) -> io::Result<Vec<Listed>> {
        let listed = |entry: fs::DirEntry| (entry.file_name(), entry.file_type().map(Into::into));
        fs::read_dir(path)?.map(|entry| entry.map(listed)).collect()
    }

    /// Lists a folder up to the first name that `goes_on` refuses, which is the last in the list.
    pub fn list_while(path: &Path, goes_on: impl Fn(&OsStr) -> bool) -> io::Result<Vec<Listed>> {
        let mut listed = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            listed.push((entry.file_name(), entry.file_type().map(Into::into)));
            if !goes_on(&entry.file_name()) {
                break;
            }
        }
        Ok(listed)
    }

    /// Returns the names in the folder, in no particular order.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        fs::read_dir(&self.0)?.map(|entry| Ok(entry?.file_name())).collect()
    }

    /// Opens a folder below this one. A link on the way is an error.
    pub fn open_below(&self, relative: &Path) -> io::Result<Self> {
        self.each_below(relative, |_| Ok(()))
    }

    /// Creates a folder below this one, and missing folders on the way. A link on the way is an
    /// error.
    pub fn create_below(&self, relative: &Path, _: u32) -> io::Result<()> {
        let create = |path: &Path| match fs::create_dir(path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
            created => created,
        };
        self.each_below(relative, create).map(drop)
    }

    /// Checks one folder after the other for links. Before each check, calls `before` with the
    /// path.
    fn each_below(&self, relative: &Path, before: impl Fn(&Path) -> io::Result<()>) -> io::Result<Self> {
        let mut path = self.0.clone();
        for part in relative.components() {
            match part {
                Component::Normal(name) => {
                    check_name(name)?;
                    path.push(name);
                    before(&path)?;
                    match EntryKind::from(path.symlink_metadata()?.file_type()) {
                        EntryKind::Folder => {}
                        EntryKind::Link => return Err(refused_link()),
                        _ => return Err(ErrorKind::NotADirectory.into()),
                    }
                }
                Component::CurDir => {}
                _ => return Err(ErrorKind::InvalidInput.into()),
            }
        }
        Ok(Self(path))
    }

    /// Opens the folder itself as a file, to change its attributes.
    pub fn as_file(&self) -> io::Result<File> {
        OpenOptions::new().access_mode(ATTRIBUTES).custom_flags(FOLDERS_TOO).open(&self.0)
    }

    /// Does nothing: folders have no mode here.
    pub fn set_mode(&self, _: u32) -> io::Result<()> {
        Ok(())
    }

    pub fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(fs::read_link(self.0.join(name))?.into_os_string())
    }

    /// On Windows, links have a type. The stored path does not tell it.
    pub fn create_link(&self, _: &Path, _: &OsStr) -> io::Result<()> {
        Err(io::Error::new(ErrorKind::Unsupported, "symbolic links are not created on Windows"))
    }

    pub fn replicate_link(&self, _: &OsStr, _: &Metadata) -> io::Result<()> {
        Ok(())
    }

    /// Removes an empty folder of this folder.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_dir(self.0.join(name))
    }

    /// Returns the entry of a name, even of a link; `None` if the name is free.
    pub fn entry(&self, name: &OsStr) -> io::Result<Option<Entry>> {
        let path = self.0.join(name);
        match path.symlink_metadata() {
            Ok(found) => Ok(Some(entry(&found, FileId::of_name(&path)?))),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Returns the file behind a link.
    pub fn entry_behind(&self, name: &OsStr) -> io::Result<Entry> {
        let path = self.0.join(name);
        Ok(entry(&path.metadata()?, FileId::at(&path)?))
    }

    pub fn open_special(&self, name: &OsStr) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.0.join(name))
    }

    /// Opens a regular file of this folder for reading. A link is an error.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        check_name(name)?;
        let path = self.0.join(name);
        match path.symlink_metadata()?.file_type().into() {
            EntryKind::File => File::open(path),
            EntryKind::Folder => Err(ErrorKind::IsADirectory.into()),
            EntryKind::Link => Err(refused_link()),
            EntryKind::Special => Err(io::Error::new(ErrorKind::Unsupported, "expected a regular file")),
        }
    }

    /// Opens a regular file and returns it with its attributes; `None` if the name is free.
    pub fn open_replaced(&self, name: &OsStr) -> io::Result<Option<(File, Metadata)>> {
        let opened = OpenOptions::new().access_mode(ATTRIBUTES).open(self.0.join(name));
        match opened.and_then(|file| file.metadata().map(|found| (file, found))) {
            Ok(opened) => Ok(Some(opened)),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Does nothing: the attribute already protects read-only files, and replacing the file checks
    /// all other rights.
    pub fn check_writable(&self, _: &OsStr) -> io::Result<()> {
        Ok(())
    }

    /// Creates a file. It must not exist.
    pub fn create_new(&self, name: &OsStr, _: u32) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(self.0.join(name))
    }

    pub fn create_unnamed(&self, _: u32) -> io::Result<Option<File>> {
        Ok(None)
    }

    pub fn link_unnamed(&self, _: &File, _: &OsStr) -> io::Result<()> {
        Err(ErrorKind::Unsupported.into())
    }

    /// Renames a file of this folder, replacing any file with the new name, even a read-only one.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let (from, to) = (self.0.join(from), self.0.join(to));
        also_if_read_only(&to, || fs::rename(&from, &to))
    }

    /// Renames a file of this folder unless the new name is taken: in that case, removes the
    /// (temporary) file.
    pub fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let temporary = tempfile::TempPath::try_from_path(self.0.join(from))?;
        Ok(temporary.persist_noclobber(self.0.join(to))?)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        let path = self.0.join(name);
        also_if_read_only(&path, || fs::remove_file(&path))
    }

    /// Does nothing: Windows has no call that waits for a folder's names.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }
}

/// Replaces or removes the file at `path`. Unlike Unix, Windows refuses that for a read-only file,
/// so we clear the attribute first.
fn also_if_read_only(path: &Path, change: impl Fn() -> io::Result<()>) -> io::Result<()> {
    let refused = match change() {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => e,
        result => return result,
    };
    match path.symlink_metadata() {
        Ok(found) if found.permissions().readonly() => {
            let mut writable = found.permissions();
            #[allow(clippy::permissions_set_readonly_false, reason = "an attribute on Windows, not a mode")]
            writable.set_readonly(false);
            fs::set_permissions(path, writable)?;
            change().inspect_err(|_| {
                let _ = fs::set_permissions(path, found.permissions());
            })
        }
        _ => Err(refused),
    }
}

fn entry(found: &Metadata, id: Option<FileId>) -> Entry {
    Entry {
        kind: found.file_type().into(),
        id,
        read_only: found.permissions().readonly(),
        len: found.len(),
        modified: found.modified().ok(),
    }
}

#[cfg(test)]
mod test;
