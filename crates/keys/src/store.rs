//! Key files: written completely or not at all, replaced only on request. Only its owner can read a
//! secret one.

use super::Existing;
use crate::prelude::*;
use base::interrupt;
use engine::file_id::FileId;
use engine::io::open;
use engine::options::Durability;
use engine::place::stream;
use engine::staged::{Access, StagedFile};
use std::fs::File;
use std::io::{Read, Write};

/// Maximum length of a key file in bytes: a longer file was named by mistake.
pub(super) const MAX_LEN: usize = 1 << 18;

/// Writes the text of a key file that only its owner can read, even if it replaces a file with
/// other permissions.
///
/// # Errors
/// Returns [`Error::Io`], also if `path` exists and `existing` forbids replacing it.
pub fn save_secret(path: &Path, text: &str, existing: Existing) -> Result<()> {
    write(path, text.as_bytes(), Access::OwnerOnly, existing)
}

/// Writes a public file, such as a signature, with the usual permissions.
///
/// # Errors
/// Returns [`Error::Io`], also if `path` exists and `existing` forbids replacing it.
pub fn save_public(path: &Path, content: &[u8], existing: Existing) -> Result<()> {
    write(path, content, Access::Inherited, existing)
}

fn write(path: &Path, content: &[u8], access: Access, existing: Existing) -> Result<()> {
    let about = |e| Error::io(path, e);
    if let Some(mut file) = stream(path).map_err(about)? {
        // A shorter key would leave the end of the old one.
        let replaces_key = existing == Existing::Replace && access == Access::OwnerOnly;
        if replaces_key && file.metadata().map_err(about)?.is_file() {
            let text = "an open descriptor is not replaced; name the file";
            return Err(about(io::Error::new(io::ErrorKind::Unsupported, text)));
        }
        return write_stream(&mut file, content, path);
    }
    let staged = StagedFile::new(path, access)?;
    staged.file().write_all(content).map_err(about)?;
    // Synced, because losing a key makes all its files unreadable.
    staged.commit(existing, Durability::Synced)
}

/// Writes to a stream. Unlike `write_all`, stops at Ctrl-C while a pipe is full.
fn write_stream(file: &mut File, mut rest: &[u8], name: &Path) -> Result<()> {
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(0) => return Err(Error::io(name, io::ErrorKind::WriteZero.into())),
            Ok(written) => rest = &rest[written..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => interrupt::check()?,
            Err(e) => return Err(Error::io(name, e)),
        }
    }
    Ok(())
}

/// Refuses a new key file that would replace one of `inputs`, through links too: the file with the
/// public key that it is encrypted for, for example.
///
/// # Errors
/// Returns [`Misuse::OutputIsInput`].
pub fn refuse_replacing(path: &Path, inputs: &[PathBuf]) -> Result<()> {
    let id = |path: &Path| FileId::at(path).ok().flatten();
    let Some(output) = id(path) else { return Ok(()) };
    let Some(input) = inputs.iter().find(|input| id(input) == Some(output)) else { return Ok(()) };
    Err(Misuse::OutputIsInput { output: path.to_owned(), input: input.clone() }.into())
}

/// Reads a key file into memory that is wiped on drop.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read, and [`Error::Format`] if it is too long for a
/// key.
pub(super) fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>> {
    read_content(open(path).map_err(|e| Error::io(path, e))?, path)
}

/// Reads the content of a key file from an open source, for [`super::KeyFile::parse`]. Errors call
/// it `name`.
///
/// # Errors
/// Returns [`Error::Io`] if the source cannot be read, and [`Error::Format`] if it is too long for
/// a key.
pub fn read_content(mut from: impl Read, name: &Path) -> Result<Zeroizing<Vec<u8>>> {
    // Allocated at full length: a growing vector leaves copies behind.
    let mut content = Zeroizing::new(vec![0; MAX_LEN + 1]);
    let mut len = 0;
    while let Some(rest) = content.get_mut(len..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(read) => len += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => interrupt::check()?,
            Err(e) => return Err(Error::io(name, e)),
        }
    }
    if len > MAX_LEN {
        return Err(Error::Format("expected a key file, found a file of more than 256 KiB"));
    }
    content.truncate(len);
    Ok(content)
}
