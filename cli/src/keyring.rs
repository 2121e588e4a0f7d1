//! The file of a keyring that a command changes.

use crate::args;
use crate::error::{Failure, name};
use crate::keys::{Inputs, Loader, as_keyring, recipients};
use crate::passphrase;
use crate::tui::Console;
use sealane::age::Recipient;
use sealane::keys::{Existing, KeyFile, Keyring, LoadOptions, Reference};
use sealane::{Error, Misuse};
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A keyring with its file, which no other command changes meanwhile.
pub(crate) struct OpenKeyring {
    pub(crate) ring: Keyring,
    path: PathBuf,
    protection: Protection,
    /// The open file, whose lock ends with it.
    _locked: File,
}

/// The protection of a key file, which stays the same when it is written again.
enum Protection {
    None,
    Passphrase(Zeroizing<String>),
    Recipients(Vec<Recipient>),
}

impl OpenKeyring {
    /// Reads a keyring to change it.
    pub(crate) fn open(args: &args::KeyringFile, console: &Console) -> Result<Self, Failure> {
        let shown = name(&args.ring);
        let reference =
            Reference::parse(args.ring.as_os_str()).map_err(|error| Failure::about(&shown, error))?;
        let Some(path) = reference.path() else {
            return Err(Failure::misuse(format!(
                "{shown}: expected the file of a keyring, found a reference"
            )));
        };
        let locked = lock(path).map_err(|error| match error {
            TryLockError::Error(error) => Failure::io(&shown, &error),
            TryLockError::WouldBlock => {
                Failure::misuse(format!("{shown}: another command is changing this keyring; try again"))
            }
        })?;
        let mut loader = Loader::new(&args.asked, Inputs::default(), console);
        let (content, _) = loader.read(&args.ring, "the keyring")?;
        let about = |error| Failure::about(&shown, error);
        let options = LoadOptions::default();
        let (found, protection) = match KeyFile::parse(&content, options) {
            Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
                let text = passphrase::ask(&args.asked, &shown)?;
                let found = KeyFile::parse(&content, LoadOptions { passphrase: Some(&text), ..options });
                (found.map_err(about)?, Protection::Passphrase(text))
            }
            Err(Error::Misuse(Misuse::KeyIdentityRequired)) => {
                let identities = loader.identities(&args.identities)?;
                let found =
                    KeyFile::parse(&content, LoadOptions { identities: Some(&identities), ..options });
                let recipients = recipients(&args.recipients, &args.recipients_files, console)?;
                if args.identities.is_empty() || recipients.is_empty() {
                    return Err(Failure::misuse(format!(
                        "{shown}: it is encrypted for recipients; give an identity (-i), and all recipients again (-r, -R)"
                    )));
                }
                (found.map_err(about)?, Protection::Recipients(recipients))
            }
            found => (found.map_err(about)?, Protection::None),
        };
        let names_recipients = !args.recipients.is_empty() || !args.recipients_files.is_empty();
        if names_recipients && !matches!(protection, Protection::Recipients(_)) {
            return Err(Failure::misuse(format!(
                "{shown}: -r and -R need a keyring that is encrypted for recipients"
            )));
        }
        let ring = as_keyring(found, &shown)?;
        Ok(Self { ring, path: path.to_owned(), protection, _locked: locked })
    }

    /// Replaces the file.
    pub(crate) fn save(&self) -> Result<(), Failure> {
        let (ring, path) = (&self.ring, &self.path);
        match &self.protection {
            Protection::None => ring.save(path, None, Existing::Replace),
            Protection::Passphrase(text) => ring.save(path, Some(text), Existing::Replace),
            Protection::Recipients(recipients) => ring.save_for(path, recipients, Existing::Replace),
        }
        .map_err(|error| Failure::about(&name(path), error))
    }
}

/// Opens the file at a path and locks it, so that of two commands that change it neither loses the keys of the other.
fn lock(path: &Path) -> Result<File, TryLockError> {
    loop {
        let file = File::open(path).map_err(TryLockError::Error)?;
        file.try_lock()?;
        // Another command may have replaced the file before it was locked.
        if is_at(&file, path).map_err(TryLockError::Error)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (open, found) = (file.metadata()?, path.metadata()?);
    Ok((open.dev(), open.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}
