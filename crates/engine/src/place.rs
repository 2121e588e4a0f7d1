//! Places of outputs: found once, used until the output has its name.

use super::folder::{Entry, EntryKind, Folder, check_name, refused_link, resolve};
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

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
        match place.found {
            Some(Entry { kind: EntryKind::Link, .. }) => place.followed(),
            _ => Ok(place),
        }
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
        match place.found {
            Some(Entry { kind: EntryKind::Link, .. }) => Err(refused_link()),
            _ => Ok(place),
        }
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

fn outside(root: &Path) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, format!("expected a path below {}", root.display()))
}

/// Returns the last part of a path. `..` and paths with a trailing slash have none.
fn file_name(path: &Path) -> io::Result<&OsStr> {
    let ends = |name: &&OsStr| path.as_os_str().as_encoded_bytes().ends_with(name.as_encoded_bytes());
    Ok(path.file_name().filter(ends).ok_or(ErrorKind::IsADirectory)?)
}

/// Returns the folder of a path; "." for a bare name.
fn parent(path: &Path) -> &Path {
    or_current(path.parent().unwrap_or(Path::new("")))
}

fn or_current(path: &Path) -> &Path {
    if path == Path::new("") { Path::new(".") } else { path }
}
