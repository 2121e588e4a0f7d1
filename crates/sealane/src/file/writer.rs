//! A file that is written in pieces and appears whole.

use super::{Durability, Encryptor};
use crate::engine::staged::{Access, Existing, Staged};
use crate::{Error, Key};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// An encrypted file in the making. It gets its name at [`Writer::finish`]; dropped before, it never existed.
#[derive(Debug)]
pub struct Writer {
    encryptor: Encryptor<StagedFile>,
    path: PathBuf,
}

struct StagedFile(Staged);

impl Writer {
    /// Begins a file that is to become `path`.
    ///
    /// # Errors
    /// [`Error::Io`], [`crate::Misuse::KeyLength`].
    pub fn create(path: &Path, key: &Key, context: &[u8]) -> Result<Self, Error> {
        let staged = Staged::new(path, Access::Usual)?;
        let encryptor = Encryptor::new(StagedFile(staged), key, context).map_err(|e| e.about(path))?;
        Ok(Self { encryptor, path: path.to_owned() })
    }

    /// Encrypts a piece.
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.encryptor.push(piece).map_err(|e| e.about(&self.path))
    }

    /// Writes the rest and gives the file its name.
    pub fn finish(self, durability: Durability) -> Result<(), Error> {
        let StagedFile(staged) = self.encryptor.finish().map_err(|e| e.about(&self.path))?;
        staged.commit(Existing::Replace, durability)
    }
}

impl Write for StagedFile {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.0.file().write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl std::fmt::Debug for StagedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("StagedFile")
    }
}
