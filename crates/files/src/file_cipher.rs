//! The interface of a file format: what a format implements, so that everything else works with all formats.

use base::Error;
use engine::pipeline::ChunkCipher;
use engine::plan::Layout;
use engine::prefix::{Parsed, Prefix};
use keys::age::Armor;
use std::fmt::Debug;

/// The chunk cipher of one file, with its key.
pub(super) type FileCipher = Box<dyn ChunkCipher>;

/// The keys that create files of one format.
pub(super) trait CreateFile: Debug + Send + Sync {
    /// Generates the cipher and the header of a new file.
    fn create_file(&self) -> Result<(FileCipher, Vec<u8>), Error>;
}

/// The keys that open files of one format.
pub(super) trait OpenFile: Debug + Send + Sync {
    /// Derives the cipher of the file that begins with `prefix`.
    fn open_file(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<FileCipher>, Error>;

    /// Derives a cipher with each key for the file that begins with `prefix` and has a damaged header, as far as the format
    /// allows that. Nothing about the ciphers is verified until a chunk is.
    fn open_damaged(&self, prefix: &[u8], extent: Prefix) -> Result<Parsed<Vec<FileCipher>>, Error>;

    /// Returns whether a file that begins with `prefix` is armored; `None` if the prefix is too short to tell.
    fn detect_armor(&self, _prefix: &[u8]) -> Option<Armor> {
        Some(Armor::Binary)
    }

    /// Returns whether the header has a fixed length, so that [`super::RangeDecryptor`] can read the file.
    fn supports_ranges(&self) -> bool {
        false
    }
}

/// A symmetric key, which both creates and opens files.
pub(super) trait SymmetricFile: CreateFile + OpenFile {}

impl<T: CreateFile + OpenFile> SymmetricFile for T {}

/// The public facts about an encrypted file, which are known without a key.
pub(super) struct Description {
    pub(super) layout: Layout,
    pub(super) armor: Armor,
    /// Size of the encrypted file in bytes, without its armor.
    pub(super) sealed_len: u64,
    /// Kinds of the recipients, in the terms of the format.
    pub(super) recipients: Vec<String>,
}

impl Description {
    /// Describes a binary file that has no recipients, because it uses a symmetric key.
    pub(super) fn binary(layout: Layout, sealed_len: u64) -> Self {
        Self { layout, armor: Armor::Binary, sealed_len, recipients: Vec::new() }
    }
}
