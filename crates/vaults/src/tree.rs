//! Folders and names, common to all formats.

use crate::contents::read_whole;
use crate::listing::checked;
use crate::prelude::*;
use crate::storage::is_missing;

/// Maximum number of names in a path. A vault whose folders contain themselves has no end.
const MAX_DEPTH: usize = 512;

/// How a format stores names: what differs between vaults with encrypted names.
pub(crate) trait Tree: Send + Sync {
    /// A folder: where it is stored, and what its names depend on.
    type Folder;

    /// Opens the vault's own folder.
    fn root(&self) -> Result<Self::Folder>;

    /// Opens a folder in a folder.
    fn enter(&self, folder: &Self::Folder, name: &[u8]) -> Result<Self::Folder>;

    /// Returns what a folder contains, by its plaintext names in any order.
    fn entries(&self, folder: &Self::Folder) -> Result<Vec<Found>>;

    /// Opens a file in a folder.
    fn open(&self, folder: &Self::Folder, name: &[u8]) -> Result<Box<dyn Contents>>;

    /// Returns the decrypted text of a link in a folder.
    fn read_link(&self, folder: &Self::Folder, name: &[u8]) -> Result<Vec<u8>>;
}

/// A vault with a tree of names.
pub(crate) struct TreeVault<T>(pub(crate) T);

impl<T: Tree> TreeVault<T> {
    /// Opens one folder after the other.
    fn folder(&self, path: &[u8]) -> Result<T::Folder> {
        let mut folder = self.0.root()?;
        let names = path.split(|byte| *byte == b'/').filter(|_| !path.is_empty());
        for (depth, name) in names.enumerate() {
            if depth == MAX_DEPTH {
                return Err(Error::LimitExceeded("a path of a vault has at most 512 names"));
            }
            folder = self.0.enter(&folder, checked(name)?)?;
        }
        Ok(folder)
    }

    /// Calls `work` with the folder that contains `path`, and with its last name.
    fn within<R>(&self, path: &[u8], work: impl FnOnce(&T::Folder, &[u8]) -> Result<R>) -> Result<R> {
        let (folder, name) = match path.iter().rposition(|byte| *byte == b'/') {
            Some(0) | None => (&[][..], path),
            Some(at) => (&path[..at], &path[at + 1..]),
        };
        self.folder(folder)
            .and_then(|folder| work(&folder, checked(name)?))
            .map_err(|error| about(path, error))
    }
}

impl<T: Tree> Vault for TreeVault<T> {
    fn list(&self, folder: &[u8]) -> Result<Listing> {
        let entries = self.folder(folder).and_then(|folder| self.0.entries(&folder));
        entries.map(Listing::new).map_err(|error| about(folder, error))
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn Contents>> {
        self.within(path, |folder, name| self.0.open(folder, name))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        self.within(path, |folder, name| self.0.read_link(folder, name))
    }
}

/// Returns the text of a link.
///
/// # Errors
/// Returns [`FolderError::NameInvalid`] for a text that no link has.
pub(crate) fn link_text(text: Vec<u8>) -> Result<Vec<u8>> {
    if text.is_empty() || text.contains(&0) { Err(FolderError::NameInvalid.into()) } else { Ok(text) }
}

/// Reads the file `name`, which each stored folder has, and which describes it.
///
/// # Errors
/// Returns the storage's error about the folder if it does not exist, and [`Error::Header`] if only
/// the file does not.
pub(crate) fn description(storage: &dyn Storage, folder: &[u8], name: &str, max: usize) -> Result<Vec<u8>> {
    let path = join(folder, name.as_bytes());
    match read_whole(storage, &path, max) {
        Err(Error::Io { source, .. }) if is_missing(&source) => {
            storage.list(folder)?;
            Err(in_vault(
                &path,
                Error::Header("the file is missing, and its folder cannot be read without it"),
            ))
        }
        found => found,
    }
}

/// Names what the caller asked for in an error that says that it is not there. All other errors
/// name the stored file.
pub(crate) fn about(path: &[u8], error: Error) -> Error {
    match error {
        Error::Io { source, .. } if is_missing(&source) => Error::io(&path_of(path), source),
        error => in_vault(path, error),
    }
}
