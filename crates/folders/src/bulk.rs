//! What a [job](super::job) does with each of its files.

use base::Error;
use engine::options::Options;
use files::file_keys::{DecryptWith, EncryptWith};
use files::mark::FileMark;
use files::output::Target;
use files::paths::{Source, decrypt, encrypt_marked, verify_file};
use files::protected::Protected;
use files::reader::Reader;
use files::rewrap::{Rewrap, rewrap};
use files::rotate::{Rotation, rotate};
use std::fs::File;
use std::path::Path;
use std::sync::OnceLock;

/// The operation of a job on each file.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Encrypts the source to the target with a key, a passphrase or recipients.
    Encrypt(EncryptWith),
    /// Decrypts the source to the target with a key, a passphrase or identities.
    Decrypt(DecryptWith),
    /// Verifies the source, and ignores the target of the job.
    Verify(DecryptWith),
    /// Writes the age file of the source to the target for other recipients; see
    /// [`rewrap_file`](files::rewrap_file).
    Rewrap(Rewrap),
    /// Encrypts the source to the target if it is under another key than the primary one of a
    /// keyring. Source and target are the same file; see [`rotate_file`](files::rotate_file).
    Rotate(Rotation),
}

impl Operation {
    /// Processes one file and returns after its target is complete.
    ///
    /// # Errors
    /// Returns the errors of [`encrypt_file`](files::encrypt_file),
    /// [`decrypt_file`](files::decrypt_file) and [`verify_file`]; [`Error::Io`] for a target that
    /// is a pipe, a socket or a device: opening a pipe would wait for its reader.
    pub fn run(&self, source: &Path, target: &Path, options: Options<'_>) -> Result<(), Error> {
        self.run_below(None, false, source, target, options)
    }

    /// Does the same as [`Self::run`] for a target whose path begins with the folder `root`, if
    /// there is one. No link is followed below it: one can appear in a shared folder after the job
    /// has listed its files. A `replica` gets the mode, the owner, the group and the modification
    /// time of its source, where permitted, and replaces a link or a read-only file.
    ///
    /// # Errors
    /// Returns the errors of [`Self::run`]; [`Error::Io`] for a link.
    pub fn run_below(
        &self,
        root: Option<&Path>,
        replica: bool,
        source: &Path,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        self.run_marked(root, replica, source, target, options, None)
    }

    /// Returns the other inputs of the call, which no output may replace; `None` for operations
    /// that have none here.
    pub(super) fn protected(&self) -> Option<&Protected> {
        match self {
            Self::Encrypt(with) => Some(with.protected()),
            Self::Decrypt(with) | Self::Verify(with) => Some(with.protected()),
            Self::Rewrap(_) | Self::Rotate(_) => None,
        }
    }

    /// Returns whether the key of [`Self::Encrypt`] opens a file, which proves that it was
    /// encrypted with this key. Reads the header and the last chunk.
    pub(super) fn opens(&self, path: &Path) -> bool {
        let Self::Encrypt(with) = self else { return false };
        let file = with.to_decrypt().and_then(|with| Some((File::open(path).ok()?, with)));
        file.is_some_and(|(file, with)| Reader::new(file, with).is_ok())
    }

    /// Does the same as [`Self::run_below`], and stores the mark of an encrypted file that is not
    /// armored.
    pub(super) fn run_marked(
        &self,
        root: Option<&Path>,
        replica: bool,
        source: &Path,
        path: &Path,
        options: Options<'_>,
        mark: Option<&OnceLock<FileMark>>,
    ) -> Result<(), Error> {
        let target = match root {
            Some(root) if replica => Target::Replica { root, path },
            Some(root) => Target::Below { root, path },
            None => Target::File(path),
        };
        match self {
            Self::Encrypt(with) => encrypt_marked(&Source::open(source)?, target, with, options, mark),
            Self::Decrypt(with) => decrypt(&Source::open(source)?, target, with, options),
            Self::Verify(with) => verify_file(source, with, options),
            Self::Rewrap(with) => rewrap(Source::open(source)?, target, with, options),
            Self::Rotate(with) => rotate(Source::open(source)?, target, with, options).map(drop),
        }
    }

    /// Reads a target of [`Self::Encrypt`] back and verifies it. The targets of other operations
    /// are not checked.
    ///
    /// # Errors
    /// Returns the errors of [`verify_file`]; [`Error::IdentityRequired`] for files that are
    /// encrypted for recipients.
    pub fn read_back(&self, target: &Path, options: Options<'_>) -> Result<(), Error> {
        match self {
            Self::Encrypt(with) => {
                verify_file(target, with.to_decrypt().ok_or(Error::IdentityRequired)?, options)
            }
            Self::Decrypt(_) | Self::Verify(_) | Self::Rewrap(_) | Self::Rotate(_) => Ok(()),
        }
    }

    /// Returns whether nothing is to be done about a file, because [`Self::Rotate`] finds it under
    /// the primary key. Other operations process every file.
    ///
    /// # Errors
    /// Returns the errors of [`Rotation::is_current`].
    pub fn is_current(&self, source: &Path) -> Result<bool, Error> {
        match self {
            Self::Rotate(with) => with.is_current(source),
            _ => Ok(false),
        }
    }

    /// Checks that the key of [`Self::Encrypt`] opens `target`, which `manifest` lists as finished:
    /// one tree has one key. Reads the header and the last chunk, but checks nothing for recipients
    /// and for other operations.
    ///
    /// # Errors
    /// Returns [`Error::KeyMismatch`] if the key does not open it, and [`Error::Io`] if it cannot
    /// be read.
    pub fn check_finished(&self, manifest: &Path, target: &Path) -> Result<(), Error> {
        let Self::Encrypt(with) = self else { return Ok(()) };
        let Some(with) = with.to_decrypt() else { return Ok(()) };
        let file = File::open(target).map_err(|e| Error::io(target, e))?;
        match Reader::new(file, with) {
            Ok(_) => Ok(()),
            Err(error @ Error::Io { .. }) => Err(error.about(target)),
            Err(_) => Err(Error::KeyMismatch { manifest: manifest.into(), target: target.into() }),
        }
    }
}
