//! The key file.

use crate::error::{Failure, name};
use crate::tui::Console;
use sealane::Key;
use sealane::keys::Secret;
use std::path::Path;

/// Reads the key and makes sure that it can be used, before any other file is touched.
pub(crate) fn load(path: &Path, console: &Console) -> Result<Key, Failure> {
    if path == Path::new("-") {
        return Err(Failure::misuse("-k -: standard input carries the data; name a key file"));
    }
    let about = |error| Failure::about(&name(path), error);
    let key = Secret::load(path, None).and_then(Secret::into_symmetric).map_err(about)?;
    // The format knows which keys it takes: ask it to encrypt nothing.
    sealane::file::encrypt(b"", &sealane::file::Lock::key(&key, b"")).map_err(about)?;
    if others_can_read(path) {
        let name = name(path);
        console.warn(&format!("{name}: others can read this key; 'chmod 600 {name}' keeps it yours"));
    }
    Ok(key)
}

/// Of plain files only: what a pipe carries is gone once read.
#[cfg(unix)]
fn others_can_read(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o044 != 0)
}

#[cfg(not(unix))]
fn others_can_read(_: &Path) -> bool {
    false
}
