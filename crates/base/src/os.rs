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
use std::path::PathBuf;

pub use system::{bytes_of_path, from_bytes, mode, others_can_change, to_bytes, without_signals};

/// Returns the name or path with these bytes, for messages.
pub fn shown(bytes: &[u8]) -> OsString {
    from_bytes(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned().into())
}

/// Returns [`shown`] as a path.
pub fn path_of(bytes: &[u8]) -> PathBuf {
    shown(bytes).into()
}
