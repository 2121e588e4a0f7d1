//! Paths and the durability of writes.

use sealane::file::Durability;
use std::path::Path;

/// Returns a path from the file system's bytes, or from UTF-8 where paths are text.
pub(crate) fn path(bytes: &[u8]) -> &Path {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Path::new(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    Path::new(std::str::from_utf8(bytes).unwrap_or_default())
}

pub(crate) fn durability(synced: bool) -> Durability {
    if synced { Durability::Synced } else { Durability::Cached }
}
