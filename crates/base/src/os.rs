//! Where operating systems differ: names as bytes, the rights of files, and signals.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as system;
#[cfg(unix)]
use unix as system;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use system::{bytes_of_path, from_bytes, mode, others_can_change, to_bytes, without_signals};

/// Returns the name or path with these bytes, for messages.
pub fn shown(bytes: &[u8]) -> OsString {
    from_bytes(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned().into())
}

/// Returns [`shown`] as a path.
pub fn path_of(bytes: &[u8]) -> PathBuf {
    shown(bytes).into()
}

/// Returns the path with a suffix at the end of its name.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    [path.as_os_str(), suffix.as_ref()].into_iter().collect::<OsString>().into()
}

/// Returns the path's text if it is a URL, such as `s3://bucket/file.age`.
pub fn url_of(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    is_scheme.then_some(text)
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
            assert_eq!(url_of(Path::new(text)).is_some(), is, "{text}");
        }
    }
}
