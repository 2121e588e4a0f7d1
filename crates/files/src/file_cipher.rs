//! What a file format implements, so that everything else works with all formats.

use crate::prelude::*;
use std::fmt::Debug;

/// The chunk cipher of one file, with its key.
pub(super) type FileCipher = Box<dyn ChunkCipher>;

/// Keys that create files of one format.
pub(super) trait CreateFile: Debug + Send + Sync {
    /// Generates the cipher and the header of a new file.
    fn create_file(&self) -> Result<(FileCipher, Vec<u8>)>;
}

/// Keys that open files of one format.
pub(super) trait OpenFile: Debug + Send + Sync {
    /// Derives the cipher of the file that begins with `prefix`.
    fn open_file(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<FileCipher>>;

    /// Derives a cipher with each key, where the format allows it, for a file that begins with
    /// `prefix` and has a damaged header. Nothing about the ciphers is verified until a chunk is.
    fn open_damaged(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<Vec<FileCipher>>>;

    /// Returns whether a file that begins with `prefix` is armored; `None` if the prefix is too
    /// short to tell.
    fn detect_armor(&self, _prefix: &[u8]) -> Option<Armor> {
        Some(Armor::Binary)
    }

    /// Returns whether [`super::RangeDecryptor`] can read the file. It knows only the layout of
    /// chunked-encryption@v1.
    fn supports_ranges(&self) -> bool {
        false
    }
}

/// A symmetric key: both creates and opens files.
pub(super) trait SymmetricFile: CreateFile + OpenFile {}

impl<T: CreateFile + OpenFile> SymmetricFile for T {}

/// Public facts about an encrypted file, known without a key.
pub(super) struct Description {
    pub(super) layout: Layout,
    pub(super) armor: Armor,
    /// Size of the encrypted file in bytes, without its armor.
    pub(super) sealed_len: u64,
    /// Recipient kinds, in the format's terms.
    pub(super) recipients: Vec<String>,
}

impl Description {
    /// Describes a binary file with a symmetric key, and so without recipients.
    pub(super) fn binary(layout: Layout, sealed_len: u64) -> Self {
        Self { layout, armor: Armor::Binary, sealed_len, recipients: Vec::new() }
    }
}
