//! Windows: names are text, and there are neither modes nor signals.

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;

/// Returns the name or path with these bytes; `None` if they are not UTF-8.
pub fn from_bytes(bytes: &[u8]) -> Option<OsString> {
    std::str::from_utf8(bytes).ok().map(OsString::from)
}

/// Returns the bytes of a name; `None` if it is not valid text.
pub fn to_bytes(name: &OsStr) -> Option<&[u8]> {
    name.to_str().map(str::as_bytes)
}

/// Returns the bytes of a path with "/" between its names.
pub fn bytes_of_path(path: OsString) -> Vec<u8> {
    path.to_string_lossy().replace('\\', "/").into_bytes()
}

/// Returns `None`: files have no mode.
pub fn mode(_: &Metadata) -> Option<u32> {
    None
}

/// Returns false: the access list of its folder decides.
pub fn others_can_change(_: &Metadata) -> bool {
    false
}

/// Runs `start`: there are no signals.
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    start()
}
