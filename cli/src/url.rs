//! Files and folders at URLs such as S3's: the Python package can reach them, this crate cannot.

use crate::error::{Failure, name};
use crate::signal;
use sealane::Error;
use sealane::file::Rewrap;
use sealane::vault::Storage;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Rewraps the age file at a URL, in place or to another URL. Calls `cancelled` between requests
/// and returns [`Error::Cancelled`] once it returns true.
pub type RewrapUrl = fn(from: &str, to: &str, with: &Rewrap, cancelled: fn() -> bool) -> Result<(), Error>;

/// Returns the files of the folder at a URL, and the name of its description in the user's file of
/// known keys.
pub type OpenUrl = fn(url: &str) -> Result<(Arc<dyn Storage>, PathBuf), Error>;

static FUNCTIONS: OnceLock<(RewrapUrl, OpenUrl)> = OnceLock::new();

/// Sets the functions for URLs. Only the first call counts; returns whether this was it.
pub fn set_url_functions(rewrap: RewrapUrl, open: OpenUrl) -> bool {
    FUNCTIONS.set((rewrap, open)).is_ok()
}

/// Returns the path's text if it is a URL, such as `s3://bucket/file.age`.
pub(crate) fn of(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(text)
}

/// Rewraps the age file at a URL.
pub(crate) fn rewrap(from: &str, to: &str, with: &Rewrap) -> Result<(), Failure> {
    functions(from)?.0(from, to, with, signal::requested).map_err(|error| Failure::about(from, error))
}

/// Opens the folder at a URL.
pub(crate) fn open(url: &str) -> Result<(Arc<dyn Storage>, PathBuf), Failure> {
    functions(url)?.1(url).map_err(|error| Failure::about(url, error))
}

/// Refuses a URL where only a path of this machine is of use.
pub(crate) fn refuse<'a>(paths: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), Failure> {
    match paths.into_iter().find(|path| of(path).is_some()) {
        None => Ok(()),
        Some(found) => Err(Failure::misuse(format!(
            "{}: expected a path, found a URL, which this command does not write or encrypt; in Python, fsspec.open\
             (\"sealane::URL\", \"wb\", sealane={{\"key\": \"file:key.jwk\"}}) writes an encrypted file",
            name(found)
        ))),
    }
}

fn functions(url: &str) -> Result<(RewrapUrl, OpenUrl), Failure> {
    FUNCTIONS.get().copied().ok_or_else(|| {
        Failure::misuse(format!(
            "{url}: this program reads files only; for URLs use the program of the Python package, and install the \
             package of the filesystem, for example s3fs"
        ))
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn urls_begin_with_a_scheme() {
        for (text, is) in [
            ("s3://bucket/file", true),
            ("memory://x", true),
            ("a+b.c-d://x", true),
            ("file", false),
            ("/s3://x", false),
            ("./s3://x", false),
            ("://x", false),
            ("3s://x", false),
            ("s3:/x", false),
        ] {
            assert_eq!(of(Path::new(text)).is_some(), is, "{text}");
        }
    }
}
