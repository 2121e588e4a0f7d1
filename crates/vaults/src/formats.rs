//! The formats of other tools.

use crate::contents::read_whole;
use crate::prelude::*;
use crate::{cryptomator, gocryptfs};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

/// A format whose vaults are recognized by a file in them, and opened with a passphrase.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name of the tool, such as `"gocryptfs"`.
    pub name: &'static str,
    /// Files in the vault's own folder. A vault has at least one.
    marks: &'static [&'static str],
    /// Paths that show a vault that has lost its marks. A name of `?` is any of its length; `*`,
    /// at the start of a name, any bytes.
    remains: &'static [&'static str],
    /// What such a vault has lost, for errors.
    lost: &'static str,
    /// What these files say about the vault: members of their JSON.
    facts: &'static [&'static str],
    unlock: Unlock,
}

type Unlock = fn(Arc<dyn Storage>, &[u8]) -> Result<Box<dyn Vault>>;

const FORMATS: &[Format] = &[
    Format {
        name: "gocryptfs",
        marks: &[gocryptfs::CONFIG],
        remains: &["gocryptfs.diriv"],
        lost: "gocryptfs.conf is missing, and with it the keys of this vault of gocryptfs; take the file from a backup",
        facts: &["Version", "FeatureFlags", "Creator"],
        unlock: gocryptfs::unlock,
    },
    Format {
        name: "Cryptomator",
        marks: &[cryptomator::CONFIG, cryptomator::MASTER_KEY],
        remains: &["d/??/??????????????????????????????/*.c9r"],
        lost: "masterkey.cryptomator and vault.cryptomator are missing, and with them the keys of this vault of Cryptomator; take the files from a backup, such as those that end with .bkup",
        facts: &["format", "cipherCombo", "shorteningThreshold", "version"],
        unlock: cryptomator::unlock,
    },
];

impl Format {
    /// Returns what the first file that describes a vault says about it, as names and values. It is
    /// public, and not authentic before the vault is opened.
    ///
    /// # Errors
    /// Returns [`Error::InVault`] for a file that is not JSON or a JSON Web Token, and the errors
    /// of the storage.
    pub fn describe(&self, storage: &dyn Storage) -> Result<Vec<(&'static str, String)>> {
        for mark in self.marks {
            let text = match read_whole(storage, mark.as_bytes(), 1 << 16) {
                Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => continue,
                found => found?,
            };
            // The payload of a token is between two dots.
            let payload = text.split(|byte| *byte == b'.').nth(1);
            let payload = payload.and_then(|part| URL_SAFE_NO_PAD.decode(part).ok()).unwrap_or(text);
            let Ok(Value::Object(fields)) = serde_json::from_slice(&payload) else {
                return Err(in_vault(mark.as_bytes(), Error::Header("expected JSON or a JSON Web Token")));
            };
            let fact = |name: &&'static str| Some((*name, fields.get(*name)?.to_string()));
            return Ok(self.facts.iter().filter_map(fact).collect());
        }
        Ok(Vec::new())
    }
}

/// Returns the names of the files that show that a folder is a vault.
pub fn marks() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().flat_map(|format| format.marks.iter().copied())
}

/// Returns the format of the vault in a storage, or `None` if no file there tells.
///
/// # Errors
/// Returns the errors of the storage and of [`check_remains`].
pub fn detect(storage: &dyn Storage) -> Result<Option<Format>> {
    let names = storage.list(b"")?;
    let has =
        |mark: &str| names.iter().any(|entry| entry.kind == EntryKind::File && entry.name == mark.as_bytes());
    match FORMATS.iter().find(|format| format.marks.iter().any(|mark| has(mark))) {
        Some(format) => Ok(Some(*format)),
        None => check_remains(storage).map(|()| None),
    }
}

/// Refuses a folder that is a vault without the files that tell its format. Lists nothing in most
/// folders that are none.
///
/// # Errors
/// Returns [`Error::Format`].
pub fn check_remains(storage: &dyn Storage) -> Result<()> {
    let remains = |format: &&Format| format.remains.iter().any(|path| holds(storage, b"", path));
    FORMATS.iter().find(remains).map_or(Ok(()), |format| Err(Error::Format(format.lost)))
}

/// Returns whether a folder holds a file at a path of patterns.
fn holds(storage: &dyn Storage, folder: &[u8], path: &str) -> bool {
    let (name, rest) = path.split_once('/').map_or((path, None), |(name, rest)| (name, Some(rest)));
    if !name.contains(['?', '*']) {
        let below = join(folder, name.as_bytes());
        return rest.map_or_else(|| storage.open(&below).is_ok(), |rest| holds(storage, &below, rest));
    }
    let is_name = |found: &[u8]| match name.strip_prefix('*') {
        Some(end) => found.ends_with(end.as_bytes()),
        None => found.len() == name.len(),
    };
    let entries = storage.list(folder).unwrap_or_default();
    entries.iter().filter(|entry| is_name(&entry.name)).any(|entry| match rest {
        Some(rest) => entry.kind == EntryKind::Folder && holds(storage, &join(folder, &entry.name), rest),
        None => entry.kind == EntryKind::File,
    })
}

/// Opens the vault in a storage with its passphrase.
///
/// # Errors
/// Returns [`Error::Format`] if no file there tells the format, [`Error::WrongPassphrase`] for a
/// wrong passphrase or damaged keys, [`Error::InVault`] for a description that cannot be used, and
/// the errors of the storage.
///
/// # Example
/// ```no_run
/// use sealane::vault::{LocalFolder, Vault, unlock};
/// use std::sync::Arc;
///
/// let vault = unlock(Arc::new(LocalFolder::open("photos".as_ref())?), b"passphrase")?;
/// for entry in vault.list(b"")?.entries {
///     println!("{:?}: {} bytes", String::from_utf8_lossy(&entry.name), entry.len);
/// }
/// let mut start = [0; 16];
/// let len = vault.open(b"2026/cat.jpg")?.read_at(0, &mut start)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn unlock(storage: Arc<dyn Storage>, passphrase: &[u8]) -> Result<Box<dyn Vault>> {
    let format = detect(&*storage)?.ok_or(Error::Format(
        "expected a vault of gocryptfs or Cryptomator: its configuration in gocryptfs.conf or vault.cryptomator",
    ))?;
    (format.unlock)(storage, passphrase)
}
