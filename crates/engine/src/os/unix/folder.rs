//! Open folders by file descriptors.

use super::retried;
use crate::file_id::FileId;
use crate::folder::{Entry, EntryKind, Listed, refused_link};
use crate::prelude::*;
use rustix::fs::{Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::DirBuilder;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::Component;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::OnceLock;
use std::time::{Duration, UNIX_EPOCH};

/// An open folder. Names are looked up in it without its path.
pub struct Folder(OwnedFd);

/// `O_PATH` needs no right to list the folder.
#[cfg(any(target_os = "linux", target_os = "android"))]
const OPEN_FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const OPEN_FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Returns the path of an existing file or folder without links.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Returns a builder of folders that only their owner can list.
pub fn private_folders() -> DirBuilder {
    let mut folders = DirBuilder::new();
    folders.mode(0o700);
    folders
}

impl Folder {
    /// Opens the folder at a path, following all links.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(retried(|| rustix::fs::open(path, OPEN_FOLDER, Mode::empty()))?))
    }

    /// Lists the folder at a path, in no particular order. `std::fs::read_dir` would panic if
    /// closing the folder failed.
    pub fn list(path: &Path) -> io::Result<Vec<Listed>> {
        Self::list_while(path, |_| true)
    }

    /// Lists a folder up to the first name that `goes_on` refuses, which is the last in the list.
    pub fn list_while(path: &Path, goes_on: impl Fn(&OsStr) -> bool) -> io::Result<Vec<Listed>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = retried(|| rustix::fs::open(path, flags, Mode::empty()))?;
        let mut listed = Vec::new();
        for entry in Dir::new(opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => path.join(name).symlink_metadata().map(|found| found.file_type().into()),
                known => Ok(kind(known)),
            };
            listed.push((name.to_owned(), kind));
            if !goes_on(name) {
                break;
            }
        }
        Ok(listed)
    }

    /// Returns the names in the folder, in no particular order.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(OwnedFd::from(self.as_file()?))? {
            match entry?.file_name().to_bytes() {
                b"." | b".." => {}
                name => names.push(OsStr::from_bytes(name).to_owned()),
            }
        }
        Ok(names)
    }

    /// Opens a folder below this one. A link on the way is an error.
    pub fn open_below(&self, relative: &Path) -> io::Result<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{ResolveFlags, openat2};
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            // Never empty, as the folder's own path is.
            let path = Path::new(".").join(relative);
            let open = || openat2(&self.0, &path, OPEN_FOLDER, Mode::empty(), resolve);
            match retried(open) {
                // Linux before 5.6 does not have the system call; some sandboxes return EPERM.
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {}
                Err(Errno::LOOP) => return Err(refused_link()),
                other => return Ok(Self(other?)),
            }
        }
        self.each_below(relative, |_, _| Ok(()))
    }

    /// Creates a folder below this one, and missing folders on the way. A link on the way is an
    /// error.
    pub fn create_below(&self, relative: &Path, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as _);
        let create = |folder: &Self, name: &OsStr| match rustix::fs::mkdirat(&folder.0, name, mode) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(e) => Err(e.into()),
        };
        self.each_below(relative, create).map(drop)
    }

    /// Opens the folder itself as a file, to change its attributes.
    pub fn as_file(&self) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(retried(|| rustix::fs::openat(&self.0, ".", flags, Mode::empty()))?.into())
    }

    /// Sets the mode of the folder, even if this user may not list it now.
    pub fn set_mode(&self, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode as _);
        Ok(retried(|| rustix::fs::chmodat(&self.0, ".", mode, AtFlags::empty()))?)
    }

    /// Returns the path stored in a link of this folder.
    pub fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        let text = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(OsString::from_vec(text.into_bytes()))
    }

    /// Creates a link to the path `text`. The name must be free.
    pub fn create_link(&self, text: &Path, name: &OsStr) -> io::Result<()> {
        Ok(retried(|| rustix::fs::symlinkat(text, &self.0, name))?)
    }

    /// Copies owner, group and modification time from another link, where permitted.
    pub fn replicate_link(&self, name: &OsStr, from: &Metadata) -> io::Result<()> {
        use rustix::fs::{Gid, Timespec, Timestamps, UTIME_OMIT, Uid, chownat, utimensat};
        use std::os::unix::fs::MetadataExt;
        let (uid, gid) = (Some(Uid::from_raw(from.uid())), Some(Gid::from_raw(from.gid())));
        if chownat(&self.0, name, uid, gid, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            let _ = chownat(&self.0, name, None, gid, AtFlags::SYMLINK_NOFOLLOW);
        }
        let times = Timestamps {
            last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
            last_modification: Timespec { tv_sec: from.mtime(), tv_nsec: from.mtime_nsec() as _ },
        };
        match utimensat(&self.0, name, &times, AtFlags::SYMLINK_NOFOLLOW) {
            // Some file systems store no times for links.
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            result => Ok(result?),
        }
    }

    /// Removes an empty folder of this folder.
    pub fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(retried(|| rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR))?)
    }

    /// Opens one folder after the other, following no links. Before each, calls `before` with the
    /// open folder and the next name.
    fn each_below(
        &self,
        relative: &Path,
        before: impl Fn(&Self, &OsStr) -> io::Result<()>,
    ) -> io::Result<Self> {
        let mut folder = self.at(OsStr::new("."))?;
        for part in relative.components() {
            match part {
                Component::Normal(name) => {
                    before(&folder, name)?;
                    folder = folder.at(name)?;
                }
                Component::CurDir => {}
                _ => return Err(ErrorKind::InvalidInput.into()),
            }
        }
        Ok(folder)
    }

    /// Opens a folder in this folder. A link is an error.
    fn at(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OPEN_FOLDER | OFlags::NOFOLLOW;
        match retried(|| rustix::fs::openat(&self.0, name, flags, Mode::empty())) {
            Ok(folder) => Ok(Self(folder)),
            Err(Errno::LOOP | Errno::NOTDIR) if self.is_link(name) => Err(refused_link()),
            Err(e) => Err(e.into()),
        }
    }

    fn is_link(&self, name: &OsStr) -> bool {
        matches!(self.entry(name), Ok(Some(Entry { kind: EntryKind::Link, .. })))
    }

    /// Returns the entry of a name, even of a link; `None` if the name is free.
    pub fn entry(&self, name: &OsStr) -> io::Result<Option<Entry>> {
        match rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(entry(&found))),
            Err(Errno::NOENT) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Returns the file behind a link. The system decides whether to follow the link.
    pub fn entry_behind(&self, name: &OsStr) -> io::Result<Entry> {
        Ok(entry(&rustix::fs::statat(&self.0, name, AtFlags::empty())?))
    }

    /// Opens a pipe or a device for writing. A regular file is an error: it was put there after the
    /// place was found. Regular files are replaced, never written to.
    pub fn open_special(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = File::from(retried(|| rustix::fs::openat(&self.0, name, flags, Mode::empty()))?);
        match file.metadata()?.is_file() {
            true => Err(io::Error::new(ErrorKind::ResourceBusy, "the file was changed while it was opened")),
            false => Ok(file),
        }
    }

    /// Opens a regular file of this folder for reading. A link is an error.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file = match retried(|| rustix::fs::openat(&self.0, name, flags, Mode::empty())) {
            Err(Errno::LOOP) => return Err(refused_link()),
            opened => File::from(opened?),
        };
        match file.metadata()?.file_type().into() {
            EntryKind::File => Ok(file),
            EntryKind::Folder => Err(ErrorKind::IsADirectory.into()),
            _ => Err(io::Error::new(ErrorKind::Unsupported, "expected a regular file")),
        }
    }

    /// Opens a regular file and returns it with its metadata; `None` if the name is free.
    pub fn open_replaced(&self, name: &OsStr) -> io::Result<Option<(File, Metadata)>> {
        // Never waits, even if the name has become a pipe. We are about to replace the file, so if
        // we may not read it, we open it for writing.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let open = |access| retried(|| rustix::fs::openat(&self.0, name, access | flags, Mode::empty()));
        let found = match open(OFlags::RDONLY) {
            Err(Errno::ACCESS) => open(OFlags::WRONLY),
            found => found,
        };
        let file = match found {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(refused_link()),
            Err(e) => return Err(e.into()),
        };
        let found = file.metadata()?;
        match found.is_file() {
            true => Ok(Some((file, found))),
            false => Err(io::Error::new(ErrorKind::Unsupported, "expected a regular file")),
        }
    }

    /// Checks the right to write to a file: renaming over it would not need that right.
    pub fn check_writable(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::accessat(&self.0, name, Access::WRITE_OK, AtFlags::empty())?)
    }

    /// Creates a file. It must not exist.
    pub fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode as _);
        Ok(retried(|| rustix::fs::openat(&self.0, name, flags, mode))?.into())
    }

    /// Creates an unnamed file; `None` if the file system does not support that.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn create_unnamed(&self, mode: u32) -> io::Result<Option<File>> {
        // `link_unnamed` needs this folder later, so we check first.
        static PROC_MOUNTED: OnceLock<bool> = OnceLock::new();
        if !PROC_MOUNTED.get_or_init(|| Path::new("/proc/self/fd").exists()) {
            return Ok(None);
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match retried(|| rustix::fs::openat(&self.0, ".", flags, Mode::from_raw_mode(mode))) {
            Ok(file) => Ok(Some(file.into())),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    pub fn create_unnamed(&self, _: u32) -> io::Result<Option<File>> {
        Ok(None)
    }

    /// Names an unnamed file. The name must be free.
    pub fn link_unnamed(&self, file: &File, name: &OsStr) -> io::Result<()> {
        use std::os::fd::AsRawFd;
        // Before Linux 6.10, this needs a capability. The way through /proc takes 1 us longer.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        match retried(|| rustix::fs::linkat(file, "", &self.0, name, AtFlags::EMPTY_PATH)) {
            Err(e) if e != Errno::EXIST => {}
            linked => return Ok(linked?),
        }
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let link = || rustix::fs::linkat(CWD, path.as_str(), &self.0, name, AtFlags::SYMLINK_FOLLOW);
        Ok(retried(link)?)
    }

    /// Renames a file of this folder, replacing any file with the new name.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(retried(|| rustix::fs::renameat(&self.0, from, &self.0, to))?)
    }

    /// Renames a file of this folder unless the new name is taken.
    pub fn rename_to_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            use rustix::fs::{RenameFlags, renameat_with};
            match renameat_with(&self.0, from, &self.0, to, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS) => {}
                other => return Ok(other?),
            }
        }
        // A hard link fails if the name is taken, and on every file system without hard links.
        rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?;
        self.remove(from)
    }

    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(retried(|| rustix::fs::unlinkat(&self.0, name, AtFlags::empty()))?)
    }

    /// Waits until the folder's names are on disk.
    pub fn sync(&self) -> io::Result<()> {
        self.as_file()?.sync_all()
    }
}

fn kind(found: FileType) -> EntryKind {
    match found {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    }
}

#[allow(clippy::unnecessary_cast, reason = "the types of the fields depend on the system")]
fn entry(found: &Stat) -> Entry {
    Entry {
        kind: kind(FileType::from_raw_mode(found.st_mode as _)),
        id: Some(FileId { device: found.st_dev as u64, inode: found.st_ino as u64 }),
        read_only: found.st_mode & 0o222 == 0,
        len: found.st_size as u64,
        modified: match u64::try_from(found.st_mtime) {
            Ok(seconds) => UNIX_EPOCH.checked_add(Duration::new(seconds, found.st_mtime_nsec as u32)),
            Err(_) => UNIX_EPOCH.checked_sub(Duration::from_secs(found.st_mtime.unsigned_abs())),
        },
    }
}

#[cfg(all(test, target_os = "linux"))]
mod test;
