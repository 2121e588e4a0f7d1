//! Output files that appear under their name complete or not at all.
//!
//! On Linux the bytes first go to an unnamed file (`O_TMPFILE`), so even a killed process leaves
//! nothing behind. If the complete file is to replace another, it briefly gets a temporary name and
//! is renamed. On other systems, and on file systems without unnamed files, the bytes go to a
//! hidden temporary file in the same folder, such as `.report.pdf.0123456789abcdef.part`, which is
//! removed on failure.

use super::attributes::Attributes;
use super::folder::{Entry, EntryKind, Folder, temporary_name};
use super::os::{self, rights};
use super::place::Place;
use crate::options::Durability;
use crate::prelude::*;
use std::io::Seek;
use std::sync::atomic::{AtomicBool, Ordering};

/// Access rights of the new file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The rights of the replaced file; for a new file, the defaults of process and folder.
    Inherited,
    /// Access for the file's owner only. Applies to Unix only.
    OwnerOnly,
    /// The rights set by [`StagedFile::set_attributes`]. Replaces even a read-only file or a link:
    /// it got its attributes from an earlier source.
    Replicated,
}

/// What happens to a file that already has the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// The complete new file replaces it.
    Replace,
    /// It stays, and writing the new file fails.
    Refuse,
}

/// A new file without its name yet.
pub struct StagedFile {
    file: File,
    folder: Folder,
    name: OsString,
    /// Name of the temporary file; `None` if unnamed.
    temporary: Option<OsString>,
    /// Whether a file had the name when we began.
    replaces: bool,
    access: Access,
    attributes: Option<Box<Attributes>>,
    /// The target as the caller gave it, for error messages.
    path: PathBuf,
    /// A forked child shares the file with its parent, so it must neither complete nor remove it.
    guard: ForkGuard,
}

/// Whether naming an unnamed file was refused. Later files then get a temporary name from the
/// start.
static NAMES_REFUSED: AtomicBool = AtomicBool::new(false);

const ANY: u32 = 0o666;
const OWNER_ONLY: u32 = 0o600;

impl StagedFile {
    /// Creates an empty file that can become `target`. If `target` is a symbolic link, the file
    /// behind it is replaced.
    #[doc(hidden)]
    pub fn new(target: &Path, access: Access) -> Result<Self> {
        Self::at(Place::of(target).map_err(|e| Error::io(target, e))?, access)
    }

    /// Creates an empty file that can become `place`: a free name or a regular file.
    #[doc(hidden)]
    pub fn at(place: Place, access: Access) -> Result<Self> {
        let Place { folder, name, found, path } = place;
        let about = |e| Error::io(&path, e);
        if let Some(found) = &found {
            check_replaceable(&folder, &name, found, access).map_err(about)?;
        }
        let guard = ForkGuard::new()?;
        let (file, temporary) = create(&folder, &name, access).map_err(about)?;
        let (replaces, attributes) = (found.is_some(), None);
        Ok(Self { file, folder, name, temporary, replaces, access, attributes, path, guard })
    }

    /// Sets the attributes that the named file gets.
    pub fn set_attributes(&mut self, attributes: Attributes) {
        self.attributes = Some(Box::new(attributes));
    }

    #[doc(hidden)]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Checks that this process created the file.
    ///
    /// # Errors
    /// Returns [`Misuse::Forked`](base::Misuse::Forked) in a forked child.
    pub fn check_process(&self) -> Result<()> {
        self.guard.check()
    }

    /// Allocates `len` bytes on disk; where the system cannot, sets only the length. A full disk is
    /// found before any work is done, and threads can write in parallel. Without allocation each
    /// write extends the file under the inode's lock: 5 instead of 11 GB/s (measured).
    #[doc(hidden)]
    pub fn allocate(&self, len: u64) -> Result<()> {
        allocate(&self.file, len).map_err(|e| Error::io(&self.path, e))
    }

    /// Gives the file its name: it appears complete at its target or not at all.
    #[doc(hidden)]
    pub fn commit(mut self, existing: Existing, durability: Durability) -> Result<()> {
        self.check_process()?;
        self.give_name(existing, durability).map_err(|e| Error::io(&self.path, e))
    }

    fn give_name(&mut self, existing: Existing, durability: Durability) -> io::Result<()> {
        if let Some(attributes) = &self.attributes {
            attributes.apply(&self.file, &self.folder)?;
        } else if self.access == Access::Inherited && (self.replaces || self.temporary.is_some()) {
            self.set_rights(existing)?;
        }
        if durability == Durability::Synced {
            self.file.sync_all()?;
        }
        // Before the file gets its name: some file systems report a full disk only here.
        os::flush(&self.file)?;
        match (&self.temporary, existing) {
            (None, _) => match self.link_unnamed(existing) {
                Err(e) if e.kind() != ErrorKind::AlreadyExists && self.copy_to_temporary().is_ok() => {
                    return self.give_name(existing, durability);
                }
                linked => linked?,
            },
            (Some(temporary), Existing::Replace) => self.folder.rename(temporary, &self.name)?,
            (Some(temporary), Existing::Refuse) => self.folder.rename_to_new(temporary, &self.name)?,
        }
        self.temporary = None;
        match durability {
            // The name is on disk once its folder is.
            Durability::Synced => self.folder.sync(),
            Durability::Cached => Ok(()),
        }
    }

    /// Sets the rights of the named file. Until now a temporary file was open to its owner only,
    /// because others can open it by name.
    fn set_rights(&self, existing: Existing) -> io::Result<()> {
        let replaced = match existing {
            Existing::Replace => self.folder.open_replaced(&self.name)?,
            Existing::Refuse => None,
        };
        match replaced {
            Some((replaced, found)) => rights::inherit(&self.file, &replaced, &found),
            None if self.temporary.is_some() => self.set_default_rights(),
            None => Ok(()),
        }
    }

    /// Gives a temporary file the mode of any new file in this folder; the process and the folder
    /// decide it. We create an empty file to see that mode: there is no other thread-safe way to
    /// ask.
    fn set_default_rights(&self) -> io::Result<()> {
        let name = temporary_name(&self.name)?;
        let example = self.folder.create_new(&name, ANY)?;
        let found = example.metadata();
        self.folder.remove(&name)?;
        self.file.set_permissions(found?.permissions())
    }

    /// Names an unnamed file. Only renaming can replace a file, so if the name is taken, the new
    /// file gets a temporary name first. A process killed between these two system calls leaves the
    /// complete temporary file.
    fn link_unnamed(&self, existing: Existing) -> io::Result<()> {
        let link = |name: &OsStr| self.folder.link_unnamed(&self.file, name);
        if !(self.replaces && existing == Existing::Replace) {
            match link(&self.name) {
                Err(e) if e.kind() == ErrorKind::AlreadyExists && existing == Existing::Replace => {
                    // The file appeared after we began.
                    if self.access == Access::Inherited {
                        self.set_rights(existing)?;
                    }
                }
                result => return result,
            }
        }
        let temporary = temporary_name(&self.name)?;
        link(&temporary)?;
        self.folder.rename(&temporary, &self.name).inspect_err(|_| {
            let _ = self.folder.remove(&temporary);
        })
    }

    /// Moves the content of an unnamed file to a temporary one. Some file systems and sandboxes
    /// have unnamed files and refuse to name them.
    fn copy_to_temporary(&mut self) -> io::Result<()> {
        NAMES_REFUSED.store(true, Ordering::Relaxed);
        let (mut file, name) = create_temporary(&self.folder, &self.name)?;
        self.temporary = Some(name);
        self.file.rewind()?;
        io::copy(&mut &self.file, &mut file)?;
        self.file = file;
        Ok(())
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let (Some(temporary), Ok(())) = (&self.temporary, self.check_process()) {
            let _ = self.folder.remove(temporary);
        }
    }
}

fn create(folder: &Folder, name: &OsStr, access: Access) -> io::Result<(File, Option<OsString>)> {
    // Nobody else can open an unnamed file, so it can have its final rights from the start.
    let mode = if access == Access::Inherited { ANY } else { OWNER_ONLY };
    let unnamed = if NAMES_REFUSED.load(Ordering::Relaxed) { None } else { folder.create_unnamed(mode)? };
    match unnamed {
        Some(unnamed) => Ok((unnamed, None)),
        None => create_temporary(folder, name).map(|(file, name)| (file, Some(name))),
    }
}

fn create_temporary(folder: &Folder, name: &OsStr) -> io::Result<(File, OsString)> {
    let name = temporary_name(name)?;
    Ok((folder.create_new(&name, OWNER_ONLY)?, name))
}

/// Checks that a file can be replaced. A read-only file is refused even to root.
fn check_replaceable(folder: &Folder, name: &OsStr, found: &Entry, access: Access) -> io::Result<()> {
    match found.kind {
        EntryKind::File | EntryKind::Link if access == Access::Replicated => Ok(()),
        EntryKind::File if found.read_only => Err(ErrorKind::PermissionDenied.into()),
        EntryKind::File => folder.check_writable(name),
        EntryKind::Folder => Err(ErrorKind::IsADirectory.into()),
        EntryKind::Link | EntryKind::Special => Err(io::Error::new(
            ErrorKind::Unsupported,
            "expected a regular file or none, found a pipe, a socket or a device",
        )),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn allocate(file: &File, len: u64) -> io::Result<()> {
    use rustix::io::Errno;
    if len == 0 {
        return Ok(());
    }
    let allocate = || rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, len);
    match rustix::io::retry_on_intr(allocate) {
        // Without allocation, only set the length.
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
    use std::fs;
    use std::io::Write;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sealane-staged-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Stages a file as on file systems without unnamed files.
    fn staged_in_temporary(target: &Path) -> StagedFile {
        let Place { folder, name, found, path } = Place::of(target).unwrap();
        let (file, temporary) = create_temporary(&folder, &name).unwrap();
        let (temporary, replaces, access) = (Some(temporary), found.is_some(), Access::Inherited);
        let guard = ForkGuard::new().unwrap();
        StagedFile { file, folder, name, temporary, replaces, access, attributes: None, path, guard }
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
        assert!(matches!(taken, Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists));
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"first".to_vec()));

        let staged = staged_in_temporary(&target);
        staged.file().write_all(b"third").unwrap();
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        assert_eq!((count(), fs::read(&target).unwrap()), (1, b"third".to_vec()));
        fs::remove_dir_all(&folder).unwrap();
    }

    /// As with a file system or a sandbox that refuses `linkat`.
    #[test]
    #[cfg(target_os = "linux")]
    fn a_file_that_gets_no_name_is_copied() {
        let folder = folder("refused");
        for (existing, old) in
            [(Existing::Refuse, None), (Existing::Replace, None), (Existing::Replace, Some("old"))]
        {
            let target = folder.join("target");
            let _ = fs::remove_file(&target);
            if let Some(old) = old {
                fs::write(&target, old).unwrap();
            }
            let mut staged = StagedFile::new(&target, Access::Inherited).unwrap();
            staged.file().write_all(b"all the work").unwrap();
            staged.copy_to_temporary().unwrap();
            NAMES_REFUSED.store(false, Ordering::Relaxed);
            staged.commit(existing, Durability::Synced).unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"all the work");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A temporary file is open to its owner only; a complete file has the rights of any new file.
    #[test]
    #[cfg(unix)]
    fn new_files_have_the_mode_of_any_new_file() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = folder("mode");
        let mode = |name: &str| folder.join(name).metadata().unwrap().mode();
        fs::write(folder.join("any"), b"").unwrap();
        let staged = staged_in_temporary(&folder.join("named"));
        assert_eq!(staged.file().metadata().unwrap().mode() & 0o777, OWNER_ONLY);
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        let staged = StagedFile::new(&folder.join("unnamed"), Access::Inherited).unwrap();
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        let staged = StagedFile::new(&folder.join("private"), Access::OwnerOnly).unwrap();
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        assert_eq!([mode("named"), mode("unnamed")], [mode("any"); 2]);
        assert_eq!(mode("private") & 0o777, OWNER_ONLY);

        // A file that appears after we began is replaced and passes on its rights, or stays.
        for existing in [Existing::Replace, Existing::Refuse] {
            let target = folder.join(format!("{existing:?}"));
            let staged = StagedFile::new(&target, Access::Inherited).unwrap();
            staged.file().write_all(b"new").unwrap();
            fs::write(&target, b"appeared").unwrap();
            fs::set_permissions(&target, fs::Permissions::from_mode(0o604)).unwrap();
            let result = staged.commit(existing, Durability::Cached);
            assert_eq!(result.is_ok(), existing == Existing::Replace, "{result:?}");
            let content: &[u8] = if result.is_ok() { b"new" } else { b"appeared" };
            assert_eq!(fs::read(&target).unwrap(), content);
            assert_eq!(target.metadata().unwrap().mode() & 0o777, 0o604);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn accepts_long_and_unusual_names() {
        let folder = folder("names");
        let unusual = if cfg!(windows) { " x" } else { " " };
        for name in ["x".repeat(255), "é".repeat(127), unusual.into(), "-".into()] {
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

    /// A file that another process has open is replaced, or stays. Windows replaces it if it was
    /// opened with the right to delete (as the standard library does) and the file system is NTFS.
    /// Wine never does.
    #[test]
    fn an_open_file_is_replaced_or_stays() {
        let folder = folder("open");
        let target = folder.join("target");
        fs::write(&target, b"old").unwrap();
        let open = File::open(&target).unwrap();
        let staged = StagedFile::new(&target, Access::Inherited).unwrap();
        staged.file().write_all(b"new").unwrap();
        let result = staged.commit(Existing::Replace, Durability::Synced);
        match &result {
            Ok(()) => assert_eq!(fs::read(&target).unwrap(), b"new"),
            Err(Error::Io { path: Some(path), source }) if cfg!(windows) => {
                assert_eq!((path, source.kind()), (&target, ErrorKind::PermissionDenied));
                assert_eq!(fs::read(&target).unwrap(), b"old");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        drop(open);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// A file that another process has opened exclusively stays, and nothing else remains.
    #[test]
    #[cfg(windows)]
    fn a_file_that_is_not_shared_stays() {
        use std::os::windows::fs::OpenOptionsExt;
        let folder = folder("unshared");
        let target = folder.join("target");
        fs::write(&target, b"old").unwrap();
        let open = File::options().read(true).share_mode(0).open(&target).unwrap();
        let staged = StagedFile::new(&target, Access::Inherited).unwrap();
        let refused = staged.commit(Existing::Replace, Durability::Cached);
        assert!(matches!(refused, Err(Error::Io { path: Some(path), .. }) if path == target));
        drop(open);
        assert_eq!(fs::read(&target).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_read_only_file_is_replaced_by_a_replica_only() {
        let folder = folder("read-only");
        let target = folder.join("target");
        fs::write(&target, b"old").unwrap();
        let mut read_only = target.metadata().unwrap().permissions();
        read_only.set_readonly(true);
        fs::set_permissions(&target, read_only).unwrap();
        let refused = StagedFile::new(&target, Access::Inherited).map(drop);
        assert!(
            matches!(refused, Err(Error::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied)
        );
        let mut staged = StagedFile::new(&target, Access::Replicated).unwrap();
        staged.file().write_all(b"new").unwrap();
        staged.set_attributes(Attributes::new(&target.metadata().unwrap(), false));
        staged.commit(Existing::Replace, Durability::Cached).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert!(target.metadata().unwrap().permissions().readonly());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let parent = Folder::open(&folder).unwrap();
        parent.remove("target".as_ref()).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Devices, names that Windows changes, and streams of other files.
    #[test]
    #[cfg(windows)]
    fn names_that_windows_does_not_keep_are_refused() {
        let folder = folder("reserved");
        fs::write(folder.join("a"), b"old").unwrap();
        for name in ["con", "NUL", "aux.txt", "a.", "a ", "ab:stream", "a?", "COM1.tar"] {
            let path = folder.join(name);
            let refused = StagedFile::new(&path, Access::Inherited).map(drop);
            let Err(Error::Io { path: Some(found), source }) = refused else { panic!("{name}: {refused:?}") };
            assert_eq!((found, source.kind()), (path, ErrorKind::InvalidFilename), "{name}");
        }
        assert_eq!(fs::read(folder.join("a")).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Windows limits paths to 260 characters unless they begin with `\\?\`.
    #[test]
    fn paths_of_more_than_260_characters() {
        let root = folder("long");
        let folder = root.join("a".repeat(150)).join("b".repeat(150));
        fs::create_dir_all(&folder).unwrap();
        let target = folder.join("c".repeat(150));
        for existing in [Existing::Refuse, Existing::Replace] {
            let staged = StagedFile::new(&target, Access::Inherited).unwrap();
            staged.file().write_all(format!("{existing:?}").as_bytes()).unwrap();
            staged.commit(existing, Durability::Synced).unwrap();
            assert_eq!(fs::read(&target).unwrap(), format!("{existing:?}").as_bytes());
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&root).unwrap();
    }
}
