//! What a vault contains, checked by the same rules for every format.

use crate::prelude::*;
use crate::storage::is_missing;

/// Longest path in bytes, as on Linux. It ends a vault with a folder that contains itself.
const MAX_PATH_LEN: usize = 4096;

/// Returns what a folder of a vault contains.
///
/// # Errors
/// Returns the errors of [`Vault::list`]. A path of more than 4096 bytes is a problem of the
/// listing, [`Error::LimitExceeded`].
pub fn list(vault: &dyn Vault, folder: &[u8]) -> Result<Listing> {
    let Listing { entries, problems } = vault.list(folder)?;
    let mut listing = Listing::new(entries.into_iter().map(|entry| {
        let path = join(folder, &entry.name);
        let long = "4096 bytes for a path in a vault; does a folder contain itself?";
        let found = if path.len() > MAX_PATH_LEN { Err(Error::LimitExceeded(long)) } else { Ok(Some(entry)) };
        (path, found)
    }));
    listing.problems.extend(problems);
    Ok(listing)
}

/// Returns the entry of a path in a vault. The empty path is the vault's own folder.
///
/// # Errors
/// Returns the errors of [`list`], and [`Error::Io`] if the path does not exist.
pub fn find(vault: &dyn Vault, path: &[u8]) -> Result<Entry> {
    if path.is_empty() {
        return Ok(Entry { name: Vec::new(), kind: EntryKind::Folder, len: 0, modified: None });
    }
    let (folder, name) = split(path);
    let entries = match list(vault, folder) {
        // The caller's path is missing too, and says more.
        Err(Error::Io { source, .. }) if is_missing(&source) => Vec::new(),
        found => found?.entries,
    };
    let found = entries.into_iter().find(|entry| entry.name == name);
    found.ok_or_else(|| std::io::Error::from(ErrorKind::NotFound).into())
}

/// Opens a file of a vault. Folders have no stored file, and are told apart from missing files.
///
/// # Errors
/// Returns the errors of [`Vault::open`].
pub fn open_file(vault: &dyn Vault, path: &[u8]) -> Result<Box<dyn Contents>> {
    vault.open(path).map_err(|error| match vault.list(path) {
        Ok(_) => Error::io(&path_of(path), ErrorKind::IsADirectory.into()),
        Err(_) => error,
    })
}

/// Splits a path into its folder and its name.
pub fn split(path: &[u8]) -> (&[u8], &[u8]) {
    let at = path.iter().rposition(|byte| *byte == b'/');
    at.map_or((b"", path), |at| (&path[..at], &path[at + 1..]))
}

/// Returns the path of a name in a folder.
pub fn join(folder: &[u8], name: &[u8]) -> Vec<u8> {
    if folder.is_empty() { name.to_vec() } else { [folder, name].join(&b'/') }
}

/// A place in a vault and every entry below it, with its path: a folder, then what it contains. A
/// folder that cannot be listed comes a second time, with the error. What a folder contains and
/// cannot list comes by its stored path, with the error.
pub struct Walk<'v> {
    vault: &'v dyn Vault,
    /// What comes next, the last one first.
    waiting: Vec<Step>,
}

enum Step {
    Entry(Vec<u8>, Entry),
    Content(Vec<u8>),
    Problem(Vec<u8>, Error),
}

impl<'v> Walk<'v> {
    /// Begins at a path: at what a folder contains, or at a file or a link.
    ///
    /// # Errors
    /// Returns the errors of [`find`].
    pub fn new(vault: &'v dyn Vault, path: &[u8]) -> Result<Self> {
        let entry = find(vault, path)?;
        let first = match entry.kind {
            EntryKind::Folder => Step::Content(path.to_vec()),
            _ => Step::Entry(path.to_vec(), entry),
        };
        Ok(Self { vault, waiting: vec![first] })
    }

    /// Leaves out what the last folder contains.
    pub fn skip_content(&mut self) {
        self.waiting.pop_if(|step| matches!(step, Step::Content(_)));
    }
}

impl Iterator for Walk<'_> {
    type Item = (Vec<u8>, Result<Entry>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.waiting.pop()? {
                Step::Entry(path, entry) => {
                    if entry.kind == EntryKind::Folder {
                        self.waiting.push(Step::Content(path.clone()));
                    }
                    return Some((path, Ok(entry)));
                }
                Step::Problem(path, error) => return Some((path, Err(error))),
                Step::Content(folder) => match list(self.vault, &folder) {
                    Ok(Listing { entries, problems }) => {
                        self.waiting.extend(problems.into_iter().rev().map(|(at, it)| Step::Problem(at, it)));
                        let step = |entry: Entry| Step::Entry(join(&folder, &entry.name), entry);
                        self.waiting.extend(entries.into_iter().rev().map(step));
                    }
                    Err(error) => return Some((folder, Err(error))),
                },
            }
        }
    }
}
