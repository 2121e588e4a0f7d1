//! An encrypted folder with its keys.

use crate::prelude::*;

/// An encrypted folder with its keys.
pub trait Vault: Send + Sync {
    /// Returns what a folder contains. Lengths are those of the plaintext. The storage claims them;
    /// only reading a file to its end verifies its length. A file that cannot be whole has length
    /// 0, and opening it is an error.
    ///
    /// # Errors
    /// Returns the errors of the storage, and of a folder that cannot be read at all.
    fn list(&self, folder: &[u8]) -> Result<Listing>;

    /// Opens a file by its plaintext path.
    ///
    /// # Errors
    /// Returns the errors of the storage, and of a file that is not one of this vault.
    fn open(&self, path: &[u8]) -> Result<Box<dyn Contents>>;

    /// Returns the text of a link, decrypted.
    ///
    /// # Errors
    /// As [`Self::open`].
    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>>;

    /// Returns where the file with a plaintext path is stored, if it is a file of its own that
    /// other functions read.
    fn stored_path(&self, _path: &[u8]) -> Option<Vec<u8>> {
        None
    }

    /// Returns the plaintext path of a file or folder that is named by its stored path; `None` if
    /// nothing is stored there, or if it could be a plaintext path.
    fn plain_path(&self, _stored: &[u8]) -> Option<Vec<u8>> {
        None
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
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize>;
}
