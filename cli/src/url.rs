//! Files and folders at URLs such as S3's: the Python package can reach them, this crate cannot.

use crate::prelude::*;
use crate::signal;
use sealane::file::{ReadAt, Rewrap};
pub(crate) use sealane::os::url_of as of;
use sealane::vault::{OwnFolder, Storage};
use std::io::ErrorKind;
use std::sync::OnceLock;

/// Rewraps the age file at a URL, in place or to another URL. Calls `cancelled` between requests
/// and returns [`Error::Cancelled`] once it returns true.
pub type RewrapUrl = fn(from: &str, to: &str, with: &Rewrap, cancelled: fn() -> bool) -> Result<(), Error>;

/// The files of a folder, and the name of its description in the user's file of known keys.
type Opened = (Arc<dyn Storage>, PathBuf);

/// Opens the folder at a URL.
pub type OpenUrl = fn(url: &str) -> Result<Opened, Error>;

/// A new file at a URL. It appears complete when committed; dropped earlier, it leaves nothing.
pub trait Upload: Write {
    /// Gives the file its name.
    ///
    /// # Errors
    /// Returns the errors of the server; nothing was replaced then.
    fn commit(self: Box<Self>) -> Result<(), Error>;
}

/// Begins a new file at a URL.
pub type CreateUrl = fn(url: &str) -> Result<Box<dyn Upload>, Error>;

static FUNCTIONS: OnceLock<(RewrapUrl, OpenUrl, CreateUrl)> = OnceLock::new();

/// Sets the functions for URLs. Only the first call counts; returns whether this was it.
pub fn set_url_functions(rewrap: RewrapUrl, open: OpenUrl, create: CreateUrl) -> bool {
    FUNCTIONS.set((rewrap, open, create)).is_ok()
}

/// Rewraps the age file at a URL.
pub(crate) fn rewrap(from: &str, to: &str, with: &Rewrap) -> Result<()> {
    functions(from)?.0(from, to, with, signal::requested).map_err(|error| Failure::about(from, error))
}

/// Opens the folder at a URL.
pub(crate) fn open(url: &str) -> Result<Opened> {
    functions(url)?.1(url).map_err(|error| Failure::about(url, error))
}

/// Like [`open`]. Returns `None` if the URL is of a local path that is no folder.
pub(crate) fn find(url: &str) -> Result<Option<Opened>> {
    let is_none = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    match functions(url)?.1(url) {
        Err(Error::Io { source, .. }) if is_none(source.kind()) => Ok(None),
        found => found.map(Some).map_err(|error| Failure::about(url, error)),
    }
}

/// Opens the file at a URL.
pub(crate) fn file(url: &str) -> Result<Box<dyn ReadAt>> {
    let (folder, file) = url.rsplit_once('/').unwrap_or(("", url));
    open(folder)?.0.open(file.as_bytes()).map_err(|error| Failure::about(url, error))
}

/// Begins a new file at a URL. Refuses one inside a folder that describes itself, because its files
/// have other keys and names.
pub(crate) fn create(url: &str) -> Result<Box<dyn Upload>> {
    for folder in above(url) {
        let Some((storage, description)) = find(folder)? else { continue };
        if OwnFolder::description(&*storage, &description).is_ok() {
            return Err(Failure::misuse(format!(
                "{url}: {folder} is a folder that describes itself, which is only written to on disk; encrypt to a \
                 local copy, and upload that"
            )));
        }
    }
    functions(url)?.2(url).map_err(|error| Failure::about(url, error))
}

/// Returns a URL without a slash at its end, and the folders above it, the closest first.
pub(crate) fn above(url: &str) -> impl Iterator<Item = &str> {
    let url = url.trim_end_matches('/');
    let host = url.find("://").map_or(0, |at| at + "://".len());
    // Without a host, the first slash is the root.
    let ends = url[host..].match_indices('/').map(move |(at, _)| host + at.max(1));
    ends.chain([url.len()]).rev().map(move |end| &url[..end])
}

/// Refuses a URL where a command writes to a path of this machine only.
pub(crate) fn refuse<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    match paths.into_iter().find(|path| of(path).is_some()) {
        None => Ok(()),
        Some(found) => Err(Failure::misuse(format!(
            "{}: expected a path, found a URL; at URLs, sealane writes single encrypted files ('encrypt -o URL', \
             'rewrap URL') and nothing else; write to a path and copy it with the tool of the store, or pipe one file to \
             it, as in 'sealane decrypt notes.age | aws s3 cp - s3://bucket/notes'; in Python, sealane.fs encrypts \
             folders there",
            name(found)
        ))),
    }
}

fn functions(url: &str) -> Result<(RewrapUrl, OpenUrl, CreateUrl)> {
    FUNCTIONS.get().copied().ok_or_else(|| {
        Failure::misuse(format!(
            "{url}: this program reads files only; for URLs use the program of the Python package, and install the \
             package of the filesystem, for example s3fs"
        ))
    })
}
