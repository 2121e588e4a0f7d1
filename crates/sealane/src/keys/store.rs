//! Key files: readable by their owner alone, written whole or not at all, written over only where that is asked for.

use super::Existing;
use crate::Error;
use crate::engine::options::Durability;
use crate::engine::staged::{Access, StagedFile};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// No key file is longer; whatever is, is something else that was named by mistake.
const LONGEST: usize = 1 << 18;

/// Writes a file that only its owner can read, also where it replaces one that others could.
pub(super) fn write_secret(path: &Path, content: &[u8], existing: Existing) -> Result<(), Error> {
    write(path, content, Access::OwnerOnly, existing)
}

pub(super) fn write_public(path: &Path, content: &[u8], existing: Existing) -> Result<(), Error> {
    write(path, content, Access::Inherited, existing)
}

fn write(path: &Path, content: &[u8], access: Access, existing: Existing) -> Result<(), Error> {
    let staged = StagedFile::new(path, access)?;
    staged.file().write_all(content).map_err(|e| Error::io(path, e))?;
    // A key that is lost takes its files along.
    staged.commit(existing, Durability::Synced)
}

/// The content of a key file.
///
/// # Errors
/// [`Error::Io`]; [`Error::Format`] of what is too long for a key.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Error> {
    // All the room at once: a vector that grows leaves copies behind.
    let mut content = Zeroizing::new(vec![0; LONGEST + 1]);
    let mut file = File::open(path).map_err(|e| Error::io(path, e))?;
    let mut len = 0;
    while let Some(rest) = content.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match file.read(rest) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io(path, e)),
        }
    }
    if len > LONGEST {
        return Err(Error::Format("not a key file: it is longer than any"));
    }
    content.truncate(len);
    Ok(content)
}
