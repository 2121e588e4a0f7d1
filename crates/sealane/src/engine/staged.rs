//! Output files that appear under their name complete or not at all.
//!
//! On Linux the bytes first go to an unnamed file (`O_TMPFILE`), so that even a killed process leaves nothing behind.
//! Only when an existing file is replaced, the complete file has a temporary name until it is renamed. On other
//! systems, and on file systems without unnamed files, the bytes go to a hidden temporary file in the same folder, for
//! example `.report.pdf.0123456789abcdef.part`, which is removed on failure.

use crate::engine::options::Durability;
use crate::{Error, ForkGuard};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::sync::OnceLock;

/// The access rights that the new file has at its target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// The mode and owner of the replaced file, or the defaults of the process for a new file.
    Inherited,
    /// Access for the owner of the file alone. It has an effect on Unix only.
    OwnerOnly,
}

/// The treatment of a file that already has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The complete new file replaces the existing file with the same name.
    Replace,
    /// The existing file stays, and writing the new file fails.
    Refuse,
}

/// A new file that does not have its name yet.
pub(crate) struct StagedFile {
    file: File,
    /// Path of the temporary file; `None` for an unnamed file.
    temporary: Option<PathBuf>,
    target: PathBuf,
    /// A forked child shares the file with its parent, so it neither completes nor removes it.
    guard: ForkGuard,
}

impl StagedFile {
    /// Creates an empty file that can become `target`. If `target` is a symbolic link, the file that it points to is
    /// replaced.
    pub(crate) fn new(target: &Path, access: Access) -> Result<Self, Error> {
        Self::with_metadata(target, target.symlink_metadata().ok().as_ref(), access)
    }

    /// Creates the file as [`Self::new`] does, with the known metadata of `target`, which is that of the link if it is
    /// one; `None` if no such file exists.
    pub(crate) fn with_metadata(
        target: &Path,
        found: Option<&Metadata>,
        access: Access,
    ) -> Result<Self, Error> {
        let about = |e| Error::io(target, e);
        let link = found.is_some_and(Metadata::is_symlink);
        let target = if link { fs::canonicalize(target).map_err(about)? } else { target.to_owned() };
        let replaced = found.and_then(|_| target.metadata().ok());
        if replaced.is_some() {
            check_writable(&target).map_err(about)?;
        }
        let (file, temporary) = create(&target, access).map_err(about)?;
        if let (Some(replaced), Access::Inherited) = (replaced, access) {
            inherit(&file, &replaced).map_err(about)?;
        }
        Ok(Self { file, temporary, target, guard: ForkGuard::new()? })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Checks that this process created the file.
    ///
    /// # Errors
    /// Returns [`crate::Misuse::Forked`] in a forked child.
    pub(crate) fn check_process(&self) -> Result<(), Error> {
        self.guard.check()
    }

    /// Allocates `len` bytes on the disk, or sets the length only where the system cannot allocate. A full disk is
    /// found before any work is done, and several threads can write at once. Without allocation each write extends the
    /// file under the lock of the inode: 5 instead of 11 GB/s (measured).
    pub(crate) fn allocate(&self, len: u64) -> Result<(), Error> {
        allocate(&self.file, len).map_err(|e| Error::io(&self.target, e))
    }

    /// Gives the file its name, so that it appears complete at its target or not at all.
    pub(crate) fn commit(mut self, existing: Existing, durability: Durability) -> Result<(), Error> {
        self.check_process()?;
        if durability == Durability::Synced {
            self.file.sync_all().map_err(|e| Error::io(&self.target, e))?;
        }
        let result = match (&self.temporary, existing) {
            (None, _) => link_unnamed(&self.file, &self.target, existing),
            (Some(temporary), Existing::Replace) => fs::rename(temporary, &self.target),
            (Some(temporary), Existing::Refuse) => rename_to_new(temporary, &self.target),
        };
        result.map_err(|e| Error::io(&self.target, e))?;
        self.temporary = None;
        #[cfg(unix)]
        if durability == Durability::Synced {
            // The name is on the disk once its folder is.
            let folder = directory(&self.target);
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(|e| Error::io(folder, e))?;
        }
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let (Some(temporary), Ok(())) = (&self.temporary, self.check_process()) {
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Returns an unused path in the folder of `target`.
fn temporary_path(target: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    crate::random::fill(&mut random)?;
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    // Most systems limit file names to 255 bytes, so the name is shortened first.
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
        None => create_temporary(target, access).map(|(file, path)| (file, Some(path))),
    }
}

fn create_temporary(target: &Path, access: Access) -> io::Result<(File, PathBuf)> {
    let path = temporary_path(target)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode(access));
    Ok((options.open(&path)?, path))
}

#[cfg(unix)]
fn mode(access: Access) -> u32 {
    match access {
        Access::Inherited => 0o666,
        Access::OwnerOnly => 0o600,
    }
}

/// Creates an unnamed file, or returns `None` if the file system has no unnamed files.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn create_unnamed(target: &Path, access: Access) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags};
    use rustix::io::Errno;
    // `link_unnamed` needs this folder later, so its presence is checked first.
    static PROC_MOUNTED: OnceLock<bool> = OnceLock::new();
    if !PROC_MOUNTED.get_or_init(|| Path::new("/proc/self/fd").exists()) {
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

/// Gives an unnamed file its name by linking it into the target folder.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn link_unnamed(file: &File, target: &Path, existing: Existing) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD};
    use std::os::fd::AsRawFd;
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let link = |to: &Path| rustix::fs::linkat(CWD, path.as_str(), CWD, to, AtFlags::SYMLINK_FOLLOW);
    match (link(target), existing) {
        (Err(rustix::io::Errno::EXIST), Existing::Replace) => {
            let temporary = temporary_path(target)?;
            link(&temporary)?;
            fs::rename(&temporary, target).inspect_err(|_| {
                let _ = fs::remove_file(&temporary);
            })
        }
        (result, _) => Ok(result?),
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn link_unnamed(_: &File, _: &Path, _: Existing) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames a file unless the new name is taken.
fn rename_to_new(temporary: &Path, target: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, temporary, CWD, target, RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            other => return Ok(other?),
        }
    }
    // A hard link fails if the name is taken, and always on file systems without hard links.
    fs::hard_link(temporary, target).and_then(|()| fs::remove_file(temporary))
}

/// Checks write permission for the target, because renaming over a file does not need that permission. A read-only file
/// is refused even to root.
fn check_writable(target: &Path) -> io::Result<()> {
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

/// Copies mode and owner of the replaced file.
#[cfg(unix)]
fn inherit(file: &File, replaced: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (replaced.uid(), replaced.gid()) {
        // Only root may change the owner. For any other user the file belongs to the user, as a new file does.
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    // Without the set-uid, set-gid and sticky bits, which were granted to the old content.
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
        // On file systems without allocation, set the size only.
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

    /// Stages a file as on file systems without unnamed files.
    fn staged_in_temporary(target: &Path) -> StagedFile {
        let (file, path) = create_temporary(target, Access::OwnerOnly).unwrap();
        StagedFile {
            file,
            temporary: Some(path),
            target: target.to_owned(),
            guard: ForkGuard::new().unwrap(),
        }
    }

    #[test]
    fn temporary_file_is_renamed_or_removed() {
        let folder = folder("temporary");
        let target = folder.join("target");
        let count = || fs::read_dir(&folder).unwrap().count();

        drop(staged_in_temporary(&target));
        assert_eq!(count(), 0);

        let staged = staged_in_temporary(&target);
        staged.file().write_all(b"first").unwrap();
        assert_eq!(count(), 1);
        staged.commit(Existing::Refuse, Durability::Synced).unwrap();
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"first".to_vec()));

        let staged = staged_in_temporary(&target);
        staged.file().write_all(b"second").unwrap();
        let taken = staged.commit(Existing::Refuse, Durability::Cached);
        assert!(
            matches!(taken, Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists)
        );
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"first".to_vec()));

        let staged = staged_in_temporary(&target);
        staged.file().write_all(b"third").unwrap();
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"third".to_vec()));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn accepts_long_and_unusual_names() {
        let folder = folder("names");
        for name in ["x".repeat(255), "é".repeat(127), " ".into(), "-".into()] {
            for existing in [Existing::Refuse, Existing::Replace] {
                let staged = StagedFile::new(&folder.join(&name), Access::Inherited).unwrap();
                staged.commit(existing, Durability::Cached).unwrap();
            }
            let staged = staged_in_temporary(&folder.join(&name));
            staged.commit(Existing::Replace, Durability::Cached).unwrap();
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
        fs::remove_dir_all(&folder).unwrap();
    }
}
