//! The formats of other tools.

use crate::storage::{EntryKind, Storage};
use crate::vault::Vault;
use crate::{cryptomator, gocryptfs};
use base::Error;
use std::sync::Arc;

/// A format whose vaults are recognized by a file in them, and opened with a passphrase.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// The name of the tool, such as `"gocryptfs"`.
    pub name: &'static str,
    /// Files in the vault's own folder. A vault has at least one.
    marks: &'static [&'static str],
    unlock: Unlock,
}

type Unlock = fn(Arc<dyn Storage>, &[u8]) -> Result<Box<dyn Vault>, Error>;

const FORMATS: &[Format] = &[
    Format { name: "gocryptfs", marks: &[gocryptfs::CONFIG], unlock: gocryptfs::unlock },
    Format {
        name: "Cryptomator",
        marks: &[cryptomator::CONFIG, cryptomator::MASTER_KEY],
        unlock: cryptomator::unlock,
    },
];

/// Returns the format of the vault in a storage, or `None` if no file there tells.
///
/// # Errors
/// Returns the errors of the storage.
pub fn detect(storage: &dyn Storage) -> Result<Option<Format>, Error> {
    let names = storage.list(b"")?;
    let has =
        |mark: &str| names.iter().any(|entry| entry.kind == EntryKind::File && entry.name == mark.as_bytes());
    Ok(FORMATS.iter().find(|format| format.marks.iter().any(|mark| has(mark))).copied())
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
/// for entry in vault.list(b"")? {
///     println!("{:?}: {} bytes", String::from_utf8_lossy(&entry.name), entry.len);
/// }
/// let mut start = [0; 16];
/// let len = vault.open(b"2026/cat.jpg")?.read_at(0, &mut start)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub fn unlock(storage: Arc<dyn Storage>, passphrase: &[u8]) -> Result<Box<dyn Vault>, Error> {
    let format = detect(&*storage)?.ok_or(Error::Format(
        "expected a vault of gocryptfs or Cryptomator: its configuration in gocryptfs.conf or vault.cryptomator",
    ))?;
    (format.unlock)(storage, passphrase)
}
