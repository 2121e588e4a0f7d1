//! What a [job](super::job) does with each of its files.

use crate::prelude::*;
use engine::io::open_regular;
use files::output::Target;
use files::paths::{Source, decrypt, encrypt_marked, verify, verify_file};
use files::protected::Protected;
use files::reader::Reader;
use files::rewrap::{Rewrap, rewrap};
use files::rotate::{Rotation, rotate};

/// What a job does with each file.
#[derive(Clone, Debug)]
pub enum Operation {
    /// Encrypts the source to the target with a key, a passphrase or recipients.
    Encrypt(EncryptWith),
    /// Decrypts the source to the target with a key, a passphrase or identities.
    Decrypt(DecryptWith),
    /// Verifies the source; ignores the target.
    Verify(DecryptWith),
    /// Rewraps the age file of the source to the target for other recipients, see
    /// [`rewrap_file`](files::rewrap_file).
    Rewrap(Rewrap),
    /// Encrypts the file anew, in place, unless it is under the primary key of a keyring; see
    /// [`rotate_file`](files::rotate_file).
    Rotate(Rotation),
}

/// Which attributes of its source a target gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replica {
    /// None.
    #[default]
    No,
    /// Owner, group, mode and modification time, where permitted. Anyone who can write to the
    /// encrypted folder chooses them, so a decrypted file gets no set-uid, set-gid or sticky bit,
    /// and no right that a new file of this process does not have (umask). Links out of the folder
    /// are refused.
    Limited,
    /// All, even from an encrypted folder.
    Whole,
}

impl Operation {
    /// Returns the other inputs of the call, so that no output replaces them; `None` if the
    /// operation has none here.
    pub(super) fn protected(&self) -> Option<&Protected> {
        match self {
            Self::Encrypt(with) => Some(with.protected()),
            Self::Decrypt(with) | Self::Verify(with) => Some(with.protected()),
            Self::Rewrap(_) | Self::Rotate(_) => None,
        }
    }

    /// Returns whether the key of [`Self::Encrypt`] opens a file, which proves that this key
    /// encrypted it. Reads the header and the last chunk.
    pub(super) fn opens(&self, path: &Path) -> bool {
        let Self::Encrypt(with) = self else { return false };
        let file = with.to_decrypt().and_then(|with| Some((open_regular(path).ok()?, with)));
        file.is_some_and(|(file, with)| Reader::new(file, with).is_ok())
    }

    /// Processes one file. Returns once its target is complete. `path` is the target, below the
    /// folder `root`, if there is one. Links below it are not followed: one can appear in a shared
    /// folder after the job listed its files. A `replica` gets the attributes of its source, and
    /// replaces a link or a read-only file. Stores the mark of a file that was encrypted or
    /// verified, unless it is armored.
    ///
    /// # Errors
    /// Returns the errors of [`encrypt_file`](files::encrypt_file),
    /// [`decrypt_file`](files::decrypt_file) and [`verify_file`], and [`Error::Io`] for a target
    /// that is a pipe, a socket or a device (opening a pipe would wait for its reader), and for a
    /// link below `root`.
    pub fn run(
        &self,
        root: Option<&Path>,
        replica: Replica,
        source: &Path,
        path: &Path,
        options: Options<'_>,
        mark: Option<&OnceLock<FileMark>>,
    ) -> Result<()> {
        let target = match root {
            Some(root) if replica != Replica::No => {
                let limited = matches!(self, Self::Decrypt(_)) && replica == Replica::Limited;
                Target::Replica { root, path, limited }
            }
            Some(root) => Target::Below { root, path },
            // A file that is replaced keeps its attributes.
            None if replica != Replica::No && matches!(self, Self::Rotate(_)) => {
                Target::Replica { root: parent(path), path, limited: false }
            }
            None => Target::File(path),
        };
        match self {
            Self::Encrypt(with) => encrypt_marked(&Source::open(source)?, target, with, options, mark),
            Self::Decrypt(with) => decrypt(&Source::open(source)?, target, with, options),
            Self::Verify(with) => verify(&Source::open(source)?, with, options, mark),
            Self::Rewrap(with) => rewrap(Source::open(source)?, target, with, options),
            Self::Rotate(with) => rotate(Source::open(source)?, target, with, options).map(drop),
        }
    }

    /// Reads a target of [`Self::Encrypt`] back and verifies it. Other operations check nothing.
    ///
    /// # Errors
    /// Returns the errors of [`verify_file`], and [`Error::IdentityRequired`] for files encrypted
    /// for recipients.
    pub fn read_back(&self, target: &Path, options: Options<'_>) -> Result<()> {
        let Self::Encrypt(with) = self else { return Ok(()) };
        verify_file(target, with.to_decrypt().ok_or(Error::IdentityRequired)?, options)
    }

    /// Returns whether a file needs no work: [`Self::Rotate`] finds it under the primary key. Other
    /// operations process every file.
    ///
    /// # Errors
    /// Returns the errors of [`Rotation::is_current`].
    pub fn is_current(&self, source: &Path) -> Result<bool> {
        let Self::Rotate(with) = self else { return Ok(false) };
        with.is_current(source)
    }

    /// Checks that the key of [`Self::Encrypt`] opens `target`, a finished file in `manifest`: one
    /// tree has one key. Reads the header and the last chunk. Checks nothing for recipients and
    /// other operations.
    ///
    /// # Errors
    /// Returns [`Error::KeyMismatch`] if the key does not open it, and [`Error::Io`] if it cannot
    /// be read.
    pub fn check_finished(&self, manifest: &Path, target: &Path) -> Result<()> {
        let Self::Encrypt(with) = self else { return Ok(()) };
        let Some(with) = with.to_decrypt() else { return Ok(()) };
        let file = open_regular(target)?;
        match Reader::new(file, with) {
            Ok(_) => Ok(()),
            Err(error @ Error::Io { .. }) => Err(error.about(target)),
            Err(_) => Err(Error::KeyMismatch { manifest: manifest.into(), target: target.into() }),
        }
    }
}
