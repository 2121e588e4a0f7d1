//! Age files at URLs such as S3's: the Python package can reach them, this crate cannot.

use crate::error::Failure;
use crate::signal;
use sealane::Error;
use sealane::file::Rewrap;
use std::path::Path;
use std::sync::OnceLock;

/// Rewraps the age file at a URL, in place or to another URL. Calls `cancelled` between requests
/// and returns [`Error::Cancelled`] once it returns true.
pub type RewrapUrl = fn(from: &str, to: &str, with: &Rewrap, cancelled: fn() -> bool) -> Result<(), Error>;

static REWRAP: OnceLock<RewrapUrl> = OnceLock::new();

/// Sets the function that rewraps age files at URLs. Only the first call counts; returns whether
/// this was it.
pub fn set_rewrap_url(rewrap: RewrapUrl) -> bool {
    REWRAP.set(rewrap).is_ok()
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
    let Some(rewrap) = REWRAP.get() else {
        return Err(Failure::misuse(format!(
            "{from}: this program reads files only; for URLs use the program of the Python package, and install the \
             package of the filesystem, for example s3fs"
        )));
    };
    rewrap(from, to, with, signal::requested).map_err(|error| Failure::about(from, error))
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
