//! A file that appears under its name whole, or not at all.
//!
//! On Linux the bytes first go to a file without a name, so that even a killed process leaves nothing behind.
//! Elsewhere, and on file systems that know no such files, they go to a hidden neighbour that is removed on failure.

use crate::Error;
use crate::engine::options::Durability;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::OnceLock;

/// Who may read the new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Whoever the process lets read its new files; where a file is replaced, whoever could read that one.
    Usual,
    /// Its owner alone.
    Owner,
}

/// What becomes of a file that already has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// It is gone once the new file is whole.
    Replace,
    /// It stays, and the new file is an error.
    Refuse,
}

/// The new file, not yet under its name.
pub(crate) struct Staged {
    file: File,
    /// The name it has for now, where it has one.
    interim: Option<PathBuf>,
    target: PathBuf,
}

impl Staged {
    /// An empty file that may become `target`. Where `target` is a symbolic link, what it points to is meant.
    pub(crate) fn new(target: &Path, access: Access) -> Result<Self, Error> {
        Self::over(target, target.symlink_metadata().ok().as_ref(), access)
    }

    /// The same where it is known what has the name `target`, the link itself where it is one; `None`: nothing.
    pub(crate) fn over(target: &Path, found: Option<&Metadata>, access: Access) -> Result<Self, Error> {
        let about = |e| Error::io(target, e);
        let link = found.is_some_and(Metadata::is_symlink);
        let target = if link { fs::canonicalize(target).map_err(about)? } else { target.to_owned() };
        let replaced = found.and_then(|_| target.metadata().ok());
        if replaced.is_some() {
            writable(&target).map_err(about)?;
        }
        let (file, interim) = create(&target, access).map_err(about)?;
        if let (Some(replaced), Access::Usual) = (replaced, access) {
            inherit(&file, &replaced).map_err(about)?;
        }
        Ok(Self { file, interim, target })
    }

    /// Where the bytes go.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Takes `len` bytes on the disk now: a full disk is found before work is done, and several threads can write
    /// at once (without it each write extends the file under the inode's lock: 5 instead of 11 GB/s, measured).
    pub(crate) fn allocate(&self, len: u64) -> Result<(), Error> {
        allocate(&self.file, len).map_err(|e| Error::io(&self.target, e))
    }

    /// Gives the file its name.
    pub(crate) fn commit(mut self, existing: Existing, durability: Durability) -> Result<(), Error> {
        if durability == Durability::Synced {
            self.file.sync_all().map_err(|e| Error::io(&self.target, e))?;
        }
        let result = match (&self.interim, existing) {
            (None, _) => link_unnamed(&self.file, &self.target, existing),
            (Some(interim), Existing::Replace) => fs::rename(interim, &self.target),
            (Some(interim), Existing::Refuse) => rename_to_new(interim, &self.target),
        };
        result.map_err(|e| Error::io(&self.target, e))?;
        self.interim = None;
        #[cfg(unix)]
        if durability == Durability::Synced {
            // The name is on the disk when its folder is.
            let folder = directory(&self.target);
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| Error::io(folder, e))?;
        }
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(interim) = &self.interim {
            let _ = fs::remove_file(interim);
        }
    }
}

/// A name beside `target` that nobody has.
fn neighbour(target: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    crate::random::fill(&mut random)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // File names end at 255 bytes on most systems.
    let name: String = name.chars().take(48).collect();
    Ok(directory(target).join(format!(".{name}.{:016x}.part", u64::from_le_bytes(random))))
}

fn directory(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

fn create(target: &Path, access: Access) -> io::Result<(File, Option<PathBuf>)> {
    if target.file_name().is_none() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    match create_unnamed(target, access)? {
        Some(unnamed) => Ok((unnamed, None)),
        None => create_neighbour(target, access).map(|(file, interim)| (file, Some(interim))),
    }
}

fn create_neighbour(target: &Path, access: Access) -> io::Result<(File, PathBuf)> {
    let interim = neighbour(target)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode(access));
    Ok((options.open(&interim)?, interim))
}

#[cfg(unix)]
fn mode(access: Access) -> u32 {
    match access {
        Access::Usual => 0o666,
        Access::Owner => 0o600,
    }
}

/// `None` where the system or the file system knows no unnamed files.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn create_unnamed(target: &Path, access: Access) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    // A name is given through this folder later.
    static NAMES: OnceLock<bool> = OnceLock::new();
    if !NAMES.get_or_init(|| Path::new("/proc/self/fd").exists()) {
        return Ok(None);
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match rustix::fs::open(directory(target), flags, Mode::from_raw_mode(mode(access))) {
        Ok(file) => Ok(Some(file.into())),
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn create_unnamed(_: &Path, _: Access) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn link_unnamed(file: &File, target: &Path, existing: Existing) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |to: &Path| rustix::fs::linkat(CWD, path.as_str(), CWD, to, AtFlags::SYMLINK_FOLLOW);
    match (link(target), existing) {
        (Err(rustix::io::Errno::EXIST), Existing::Replace) => {
            let interim = neighbour(target)?;
            link(&interim)?;
            fs::rename(&interim, target).inspect_err(|_| {
                let _ = fs::remove_file(&interim);
            })
        }
        (result, _) => Ok(result?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn link_unnamed(_: &File, _: &Path, _: Existing) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames, unless the new name is taken.
fn rename_to_new(interim: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, interim, CWD, target, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            other => return Ok(other?),
        }
    }
    // A second name for the file fails where the name is taken, and everywhere on file systems without hard links.
    fs::hard_link(interim, target).and_then(|()| fs::remove_file(interim))
}

/// Renaming over a file needs no right to write it, so that right is asked for here. A file whose mode lets nobody
/// write is left alone even where the user, being root, could.
fn writable(target: &Path) -> io::Result<()> {
    let found = target.metadata()?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if found.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    #[cfg(unix)]
    rustix::fs::access(target, rustix::fs::Access::WRITE_OK)?;
    Ok(())
}

/// Mode and owner of the file that is replaced.
#[cfg(unix)]
fn inherit(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
        // Only root may; for anybody else the file becomes theirs, as a new file would.
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    // Without set-uid and its kin: they were given to the old content.
    file.set_permissions(PermissionsExt::from_mode(replaced.mode() & 0o777))
}

#[cfg(not(unix))]
fn inherit(file: &File, replaced: &Metadata) -> io::Result<()> {
    file.set_permissions(replaced.permissions())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn allocate(file: &File, len: u64) -> io::Result<()> {
    use rustix::io::Errno;
    if len == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len) {
        // Some file systems cannot; there the size alone is set.
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => file.set_len(len),
        other => Ok(other?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn allocate(file: &File, len: u64) -> io::Result<()> {
    file.set_len(len)
}

#[cfg(test)]
mod test {
    use super::*;
    use std::io::Write;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sealane-staged-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// As on file systems without unnamed files.
    fn neighbouring(target: &Path) -> Staged {
        let (file, interim) = create_neighbour(target, Access::Owner).unwrap();
        Staged { file, interim: Some(interim), target: target.to_owned() }
    }

    #[test]
    fn a_neighbour_is_renamed_or_removed() {
        let folder = folder("neighbour");
        let target = folder.join("target");
        let count = || fs::read_dir(&folder).unwrap().count();

        drop(neighbouring(&target));
        assert_eq!(count(), 0);

        let staged = neighbouring(&target);
        staged.file().write_all(b"first").unwrap();
        assert_eq!(count(), 1);
        staged.commit(Existing::Refuse, Durability::Synced).unwrap();
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"first".to_vec()));

        let staged = neighbouring(&target);
        staged.file().write_all(b"second").unwrap();
        let taken = staged.commit(Existing::Refuse, Durability::Cached);
        assert!(
            matches!(taken, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists)
        );
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"first".to_vec()));

        let staged = neighbouring(&target);
        staged.file().write_all(b"third").unwrap();
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"third".to_vec()));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn long_and_strange_names() {
        let folder = folder("names");
        for name in ["x".repeat(255), "é".repeat(127), " ".into(), "-".into()] {
            for existing in [Existing::Refuse, Existing::Replace] {
                let staged = Staged::new(&folder.join(&name), Access::Usual).unwrap();
                staged.commit(existing, Durability::Cached).unwrap();
            }
            let staged = neighbouring(&folder.join(&name));
            staged.commit(Existing::Replace, Durability::Cached).unwrap();
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
        fs::remove_dir_all(&folder).unwrap();
    }
}
