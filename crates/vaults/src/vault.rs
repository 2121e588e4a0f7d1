//! An encrypted folder with its keys.

use crate::contents::in_vault;
use crate::local::path_of;
use crate::storage::Entry;
use crate::tree::checked;
use base::{Error, FolderError};

/// An encrypted folder with its keys.
pub trait Vault: Send + Sync {
    /// Returns what a folder contains. Lengths are those of the plaintext: a claim of the storage
    /// until the end of a file was read and verified, and 0 for a file that cannot be whole.
    /// Opening such a file is an error.
    ///
    /// # Errors
    /// Returns the errors of the storage, and of a folder that cannot be read at all.
    fn list(&self, folder: &[u8]) -> Result<Listing, Error>;

    /// Opens a file by its plaintext path.
    ///
    /// # Errors
    /// Returns the errors of the storage, and of a file that is not one of this vault.
    fn open(&self, path: &[u8]) -> Result<Box<dyn Contents>, Error>;

    /// Returns the text of a link, decrypted.
    ///
    /// # Errors
    /// As [`Self::open`].
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Error>;
}

/// What a folder of a vault contains.
#[derive(Debug, Default)]
pub struct Listing {
    /// Entries, in the order of the plaintext names.
    pub entries: Vec<Entry>,
    /// Stored paths that are not listed, each with the reason: a name that does not decrypt, that
    /// no folder can contain, or that stands twice.
    pub problems: Vec<(Vec<u8>, Error)>,
}

/// A stored path, and what lies there: `None` for what is not in the vault.
pub(crate) type Found = (Vec<u8>, Result<Option<Entry>, Error>);

impl Listing {
    /// Sorts and checks what was found. Of two files with one name, none is listed, because either
    /// could be the wrong one.
    pub(crate) fn new(found: impl IntoIterator<Item = Found>) -> Self {
        let (mut listing, mut named) = (Self::default(), Vec::new());
        for (path, entry) in found {
            let checked = entry.and_then(|entry| {
                entry.iter().try_for_each(|entry| checked(&entry.name).map(|_| ()))?;
                Ok(entry)
            });
            match checked {
                Ok(entry) => named.extend(entry.map(|entry| (entry, path))),
                Err(error) => listing.problems.push((path.clone(), in_vault(&path, error))),
            }
        }
        named.sort_by(|(a, _), (b, _)| a.name.cmp(&b.name));
        for group in named.chunk_by(|(a, _), (b, _)| a.name == b.name) {
            if let [(entry, _)] = group {
                listing.entries.push(entry.clone());
            }
            for (_, path) in &group[1..] {
                let error = FolderError::DuplicateName { other: path_of(&group[0].1) }.into();
                listing.problems.push((path.clone(), in_vault(path, error)));
            }
        }
        listing
    }

    /// Returns the entries of a folder without problems.
    ///
    /// # Errors
    /// Returns the first problem.
    pub fn whole(self) -> Result<Vec<Entry>, Error> {
        self.problems.into_iter().next().map_or(Ok(self.entries), |(_, error)| Err(error))
    }
}

/// The plaintext of an encrypted file. All bytes that a caller gets are verified.
pub trait Contents: Send + Sync {
    /// Returns the length of the plaintext in bytes.
    fn size(&self) -> u64;

    /// Reads up to `into.len()` bytes from `offset` and returns how many; fewer only at the end.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] for changed bytes; the errors of the storage. Then `into`
    /// holds no plaintext.
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize, Error>;
}
