//! A keyring's file, locked while a command changes it.

use crate::args;
use crate::keys::{Inputs, Loader, as_keyring, check_pin, recipients};
use crate::os;
use crate::passphrase;
use crate::prelude::*;
use sealane::Misuse;
use sealane::age::Recipient;
use sealane::keys::{Existing, KeyFile, Keyring, LoadOptions, PinnedReference};
use std::fs::TryLockError;

/// A keyring and its locked file.
pub(crate) struct OpenKeyring {
    pub(crate) ring: Keyring,
    path: PathBuf,
    protection: Protection,
    /// The open file that is locked, or is the lock. Closing it releases the lock.
    _locked: File,
}

/// How a key file is protected. Writing it again keeps that.
enum Protection {
    None,
    Passphrase(Zeroizing<String>),
    Recipients(Vec<Recipient>),
}

impl OpenKeyring {
    /// Reads a keyring to change it.
    pub(crate) fn open(args: &args::KeyringFile, console: &Console) -> Result<Self> {
        let shown = name(&args.ring);
        let pinned =
            PinnedReference::parse(args.ring.as_os_str()).map_err(|error| Failure::about(&shown, error))?;
        let Some(path) = pinned.reference.path() else {
            return Err(Failure::misuse(format!(
                "{shown}: expected the file of a keyring, found a reference"
            )));
        };
        let locked = os::lock(path).map_err(|error| match error {
            TryLockError::Error(error) => Failure::io(&shown, &error),
            TryLockError::WouldBlock => {
                Failure::misuse(format!("{shown}: another command is changing this keyring; try again"))
            }
        })?;
        let mut loader = Loader::new(&args.asked, Inputs::default(), console);
        let (content, _) = loader.read_pinned(&args.ring, "the keyring")?;
        let about = |error| Failure::about(&shown, error);
        let (text, identities);
        let mut options = LoadOptions::default();
        let (found, protection) = match KeyFile::parse(&content, options) {
            Err(Error::Misuse(Misuse::KeyPassphraseRequired)) => {
                text = passphrase::ask(&args.asked, &shown)?;
                options.passphrase = Some(&text);
                (KeyFile::parse(&content, options).map_err(about)?, Protection::Passphrase(text.clone()))
            }
            Err(Error::Misuse(Misuse::KeyIdentityRequired)) => {
                identities = loader.identities(&args.identities, &[])?;
                options.identities = Some(&identities);
                let found = KeyFile::parse(&content, options);
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
        args.asked.refuse_unused(&shown)?;
        let names_recipients = !args.recipients.is_empty() || !args.recipients_files.is_empty();
        if names_recipients && !matches!(protection, Protection::Recipients(_)) {
            return Err(Failure::misuse(format!(
                "{shown}: -r and -R need a keyring that is encrypted for recipients"
            )));
        }
        check_pin(Some(&pinned), &found, options, console).map_err(about)?;
        let ring = as_keyring(found, &shown)?;
        Ok(Self { ring, path: path.to_owned(), protection, _locked: locked })
    }

    /// Replaces the file. Returns the new reference that pins a keyring for recipients.
    pub(crate) fn save(&self) -> Result<Option<String>> {
        let (ring, path) = (&self.ring, &self.path);
        match &self.protection {
            Protection::None => ring.save(path, None, Existing::Replace).map(|()| None),
            Protection::Passphrase(text) => ring.save(path, Some(text), Existing::Replace).map(|()| None),
            Protection::Recipients(recipients) => {
                ring.save_for(path, recipients, Existing::Replace).map(|pinned| Some(pinned.to_string()))
            }
        }
        .map_err(|error| Failure::about(&name(path), error))
    }
}
