//! Places of outputs: found once, used until the output has its name.

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::file_id::FileId;
use super::folder::{Entry, EntryKind, Folder, check_name, refused_link, resolve, temporary_name};
use crate::prelude::*;

/// Where an output goes: an open folder, a name in it, and the file that has the name now.
pub struct Place {
    pub folder: Folder,
    pub name: OsString,
    pub found: Option<Entry>,
    /// The path as the caller gave it, for error messages.
    pub path: PathBuf,
}

const CHANGED: &str = "the link was changed while it was followed; try again";

impl Place {
    /// Finds the place of `path`, or of the file behind it if it is a link.
    pub fn of(path: &Path) -> io::Result<Self> {
        let place = Self::of_name(path)?;
        if place.is_link() { place.followed() } else { Ok(place) }
    }

    /// Finds the place of `path` itself, even if it is a link.
    pub fn of_name(path: &Path) -> io::Result<Self> {
        let name = file_name(path)?;
        Self::within(Folder::open(parent(path))?, name.to_owned(), path)
    }

    /// Finds the place of `path`, below `root`. Links are followed on the way to `root` and refused
    /// below it.
    pub fn below(root: &Path, path: &Path) -> io::Result<Self> {
        let place = Self::name_below(root, path)?;
        if place.is_link() { Err(refused_link()) } else { Ok(place) }
    }

    /// Like [`Self::below`], but finds the place of `path` itself, even if it is a link.
    pub fn name_below(root: &Path, path: &Path) -> io::Result<Self> {
        // The standard library's error does not name the root.
        let relative = path.strip_prefix(root).map_err(|_| outside(root))?;
        let name = file_name(relative)?;
        let folder = Folder::open(or_current(root))?;
        let folder = match parent(relative) {
            parent if parent == Path::new(".") => folder,
            parent => folder.open_below(parent)?,
        };
        Self::within(folder, name.to_owned(), path)
    }

    /// Creates a symbolic link here, which replaces a link or a file. `prepare` gets its temporary
    /// name first.
    pub fn create_link(&self, text: &Path, prepare: impl Fn(&OsStr) -> io::Result<()>) -> io::Result<()> {
        let temporary = temporary_name(OsStr::new("link"))?;
        self.folder.create_link(text, &temporary)?;
        let named = prepare(&temporary).and_then(|()| self.folder.rename(&temporary, &self.name));
        named.inspect_err(|_| {
            let _ = self.folder.remove(&temporary);
        })
    }

    fn is_link(&self) -> bool {
        matches!(self.found, Some(Entry { kind: EntryKind::Link, .. }))
    }

    fn within(folder: Folder, name: OsString, path: &Path) -> io::Result<Self> {
        check_name(&name)?;
        let found = folder.entry(&name)?;
        Ok(Self { folder, name, found, path: path.to_owned() })
    }

    /// Follows a link as the operating system does. The system refuses some, such as other users'
    /// links in `/tmp` (`fs.protected_symlinks`).
    fn followed(self) -> io::Result<Self> {
        // Reading the link's path skips that check, so the file that the system reached must be the
        // one at that path.
        let reached = self.folder.entry_behind(&self.name)?;
        if reached.kind != EntryKind::File {
            return Ok(Self { found: Some(reached), ..self });
        }
        let real = resolve(&self.path)?;
        let place = Self::of_name(&real)?;
        match place.found {
            Some(found) if found.kind == EntryKind::File && found.id == reached.id => {
                Ok(Self { path: self.path, ..place })
            }
            _ => Err(io::Error::new(ErrorKind::ResourceBusy, CHANGED)),
        }
    }
}

/// Where an output goes: a place, or an open file.
pub enum Output {
    Place(Place),
    Descriptor(File),
}

impl Output {
    /// Finds what a path names, or leads to if it is a link.
    pub fn of(path: &Path) -> io::Result<Self> {
        let place = Place::of_name(path)?;
        // Most outputs are no links. On other systems, descriptors are none either.
        if cfg!(any(target_os = "linux", target_os = "android")) && !place.is_link() {
            return Ok(Self::Place(place));
        }
        match descriptor(path)? {
            Some(file) => Ok(Self::Descriptor(file)),
            None if place.is_link() => place.followed().map(Self::Place),
            None => Ok(Self::Place(place)),
        }
    }
}

/// Opens what a path names if it cannot be replaced: a descriptor, a pipe or a device. `None` for
/// any other path.
pub fn stream(path: &Path) -> io::Result<Option<File>> {
    let place = match Output::of(path)? {
        Output::Place(place) => place,
        Output::Descriptor(file) => return Ok(Some(file)),
    };
    let special = place.found.filter(|found| found.kind == EntryKind::Special);
    special.map(|_| place.folder.open_special(&place.name)).transpose()
}

/// Returns the open file behind a path that names a descriptor, such as `/dev/fd/3`,
/// `/proc/self/fd/3`, `/dev/stdout` or a link to one; `None` for any other path.
///
/// The file that is open there may have another name, or none, so it is written to and not
/// replaced. It shares its position with the caller: what both write comes one after the other.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn descriptor(path: &Path) -> io::Result<Option<File>> {
    /// As many as the system follows.
    const MAX_LINKS: usize = 40;
    if !path.is_symlink() {
        return Ok(None);
    }
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(name) = file_name(&path) else { return Ok(None) };
        let Ok(folder) = Folder::open(parent(&path)) else { return Ok(None) };
        match folder.entry(name) {
            Ok(Some(Entry { kind: EntryKind::Link, .. })) => {}
            _ => return Ok(None),
        }
        // The system refuses to follow some links: the caller gets that error from `Place::of`.
        let Ok(reached) = folder.entry_behind(name) else { return Ok(None) };
        if let Some((process, number)) = descriptor_numbers(&resolve(parent(&path))?, name) {
            // A pipe or a device has no position to share.
            if let Some(Ok(file)) = (reached.kind == EntryKind::Special).then(|| folder.open_special(name)) {
                return Ok(Some(file));
            }
            return shared(process, number, &reached).map(Some);
        }
        let text = folder.read_link(name)?;
        path = parent(&path).join(text);
    }
    Ok(None)
}

/// Opening such a path on other Unix systems returns the caller's open file.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn descriptor(path: &Path) -> io::Result<Option<File>> {
    let named =
        parent(path) == Path::new("/dev/fd") || ["/dev/stdout", "/dev/stderr"].map(Path::new).contains(&path);
    named.then(|| File::options().write(true).open(path)).transpose()
}

/// Returns process and number of the descriptor `name` in the folder `/proc/PID/fd` or
/// `/proc/PID/task/TID/fd`, given without links.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn descriptor_numbers(folder: &Path, name: &OsStr) -> Option<(i32, i32)> {
    let mut parts = folder.strip_prefix("/proc").ok()?.iter();
    let process = parts.next()?.to_str()?.parse().ok()?;
    let number = name.to_str()?.parse().ok()?;
    (parts.next_back()? == "fd").then_some((process, number))
}

/// Returns an open file of a process, with the position and the modes that it has there.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn shared(process: i32, number: i32, expected: &Entry) -> io::Result<File> {
    let file = duplicated(process, number).map_err(|e| {
        let text = format!("the open file cannot be shared with this process ({e}); use standard output");
        io::Error::new(ErrorKind::Unsupported, text)
    })?;
    match FileId::of(&file, &file.metadata()?) == expected.id {
        true => Ok(file),
        // `/proc` of another container, for example.
        false => Err(io::Error::new(ErrorKind::ResourceBusy, CHANGED)),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn duplicated(process: i32, number: i32) -> io::Result<File> {
    use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
    use std::os::fd::AsFd;
    let own = process == std::process::id() as i32;
    let opened = match number {
        // Some sandboxes refuse the system call below.
        0 if own => io::stdin().as_fd().try_clone_to_owned()?,
        1 if own => io::stdout().as_fd().try_clone_to_owned()?,
        2 if own => io::stderr().as_fd().try_clone_to_owned()?,
        _ => {
            let process = Pid::from_raw(process).ok_or(rustix::io::Errno::SRCH)?;
            pidfd_getfd(pidfd_open(process, PidfdFlags::empty())?, number, PidfdGetfdFlags::empty())?
        }
    };
    Ok(opened.into())
}

/// Returns an open file of this process, which shares its position: what was read from it before
/// is not read again.
///
/// # Errors
/// Returns the system's error; [`ErrorKind::NotFound`] if the descriptor is not open.
pub fn own_descriptor(number: u32) -> io::Result<File> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Ok(file) = duplicated(std::process::id() as i32, number as i32) {
        return Ok(file);
    }
    let file = File::open(format!("/dev/fd/{number}"))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    seek_like(&file, number)?;
    Ok(file)
}

/// Moves a file that was opened again to the position of a descriptor that cannot be shared.
/// Reading does not move the descriptor itself, so a second reader would get the same bytes.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn seek_like(mut file: &File, number: u32) -> io::Result<()> {
    use std::collections::BTreeSet;
    use std::io::{Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};
    static READ: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());
    if !file.metadata()?.is_file() {
        return Ok(()); // A pipe or a device has no position.
    }
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{number}"))?;
    let position = text.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok());
    let is_new = READ.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
    let Some(position) = position.filter(|_| is_new) else {
        let text = "the open file cannot be shared here, so it can be read once only; use a pipe";
        return Err(io::Error::new(ErrorKind::Unsupported, text));
    };
    file.seek(SeekFrom::Start(position)).map(drop)
}

fn outside(root: &Path) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("expected a path below {}", root.display()))
}

/// Returns the last part of a path. `..` and paths with a trailing slash have none.
fn file_name(path: &Path) -> io::Result<&OsStr> {
    let ends = |name: &&OsStr| path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes());
    let missing = || if path.exists() { ErrorKind::IsADirectory } else { ErrorKind::NotFound };
    Ok(path.file_name().filter(ends).ok_or_else(missing)?)
}

/// Returns the folder of a path; "." for a bare name.
pub fn parent(path: &Path) -> &Path {
    or_current(path.parent().unwrap_or(Path::new("")))
}

fn or_current(path: &Path) -> &Path {
    if path == Path::new("") { Path::new(".") } else { path }
}
