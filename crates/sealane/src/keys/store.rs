//! Key files: readable by their owner alone, written whole or not at all, never written over.

use super::{from_jwk, to_jwk};
use crate::engine::options::Durability;
use crate::engine::staged::{Access, Existing, Staged};
use crate::{Error, Key};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// No key file is longer; whatever is, is something else that was named by mistake.
const LONGEST: u64 = 1 << 16;

/// Writes `key` to a new file that only its owner can read.
///
/// # Errors
/// [`Error::Io`], also where `path` exists.
pub fn save(key: &Key, path: &Path) -> Result<(), Error> {
    let staged = Staged::new(path, Access::Owner)?;
    staged.file().write_all(to_jwk(key).as_bytes()).map_err(|e| Error::io(path, e))?;
    // A key that is lost takes its files along.
    staged.commit(Existing::Refuse, Durability::Synced)
}

/// Reads a key file.
///
/// # Errors
/// [`Error::Io`], [`Error::Format`].
pub fn load(path: &Path) -> Result<Key, Error> {
    let mut text = Zeroizing::new(String::with_capacity(256));
    File::open(path).and_then(|file| file.take(LONGEST).read_to_string(&mut text)).map_err(|e| {
        match e.kind() {
            io::ErrorKind::InvalidData => Error::Format("a key file: it is not text"),
            _ => Error::io(path, e),
        }
    })?;
    from_jwk(&text)
}
