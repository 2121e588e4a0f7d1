//! An encrypted file that is written in pieces and appears whole.

use super::{Durability, EncryptWith, Encryptor, Output};
use crate::Error;
use std::path::{Path, PathBuf};

/// An encrypted file in the making. It gets its name at [`Writer::finish`]; dropped before, it never existed.
#[derive(Debug)]
pub struct Writer {
    encryptor: Encryptor<Output>,
    path: PathBuf,
}

impl Writer {
    /// Begins a file that is to become `path`.
    ///
    /// # Errors
    /// [`Error::Io`], [`crate::Misuse::KeyLength`].
    pub fn create(path: &Path, lock: &EncryptWith) -> Result<Self, Error> {
        Self::new(Output::create(path)?, path, lock)
    }

    /// Begins a new file at `path`, which must not exist, neither now nor at [`Writer::finish`].
    ///
    /// # Errors
    /// As for [`Writer::create`]; [`Error::Io`] of the kind [`std::io::ErrorKind::AlreadyExists`] if `path` exists.
    pub fn create_new(path: &Path, lock: &EncryptWith) -> Result<Self, Error> {
        Self::new(Output::create_new(path)?, path, lock)
    }

    fn new(output: Output, path: &Path, lock: &EncryptWith) -> Result<Self, Error> {
        let encryptor = Encryptor::new(output, lock).map_err(|e| e.about(path))?;
        Ok(Self { encryptor, path: path.to_owned() })
    }

    /// Encrypts a piece.
    ///
    /// # Errors
    /// Those of [`Encryptor::push`].
    pub fn push(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.encryptor.push(piece).map_err(|e| e.about(&self.path))
    }

    /// Writes the rest and gives the file its name.
    ///
    /// # Errors
    /// Those of [`Encryptor::finish`].
    pub fn finish(self, durability: Durability) -> Result<(), Error> {
        let output = self.encryptor.finish().map_err(|e| e.about(&self.path))?;
        output.finish(durability)
    }
}
