//! Inventories in files: encrypted, with a signature beside them.

use super::Inventory;
use super::draft::{Absent, InventoryDraft};
use crate::identifier::{check_identifier, new_identifier};
use crate::prelude::*;
use base::memory::append;
use base::os::with_suffix;
use engine::io::open_regular;
use engine::place::descriptor;
use files::memory;
use files::output::OutputFile;
use keys::signature::{MAX_SIGNATURE_LEN, Rejection, Signers, SigningKey};
use std::io::{Read, Write};

/// The file of an inventory and the key to sign it.
#[derive(Debug)]
pub struct InventoryKeys<'a> {
    /// Path of the encrypted inventory.
    pub path: &'a Path,
    /// The private signing key.
    pub key: &'a SigningKey,
    /// The identifier that the folder must have, see [`Inventory::folder`]. `None` keeps that of
    /// the previous inventory. Recipients cannot read it, so they need this to keep it.
    pub folder: Option<&'a str>,
}

impl Inventory {
    /// Reads an inventory after verifying its signature. `min_counter` is the smallest accepted
    /// counter, such as the largest seen so far: only this check detects an older inventory with an
    /// older folder. `folder` is the identifier that the inventory must have, see [`Self::folder`]:
    /// only this check detects another folder of the same signer with its inventory.
    ///
    /// # Errors
    /// Returns [`FolderError::SignatureMissing`], [`FolderError::OtherSigner`],
    /// [`FolderError::SignatureInvalid`], [`Error::Signature`] for a key that may not sign
    /// inventories or not now, [`FolderError::OldInventory`] and
    /// [`FolderError::OtherFolder`], [`FolderError::InvalidIdentifier`], [`Error::Format`] and
    /// [`FolderError::InventoryName`] for content that is not an inventory, the errors of
    /// [`decrypt`](files::decrypt), and [`Error::Io`] with the path.
    pub fn open(
        path: &Path,
        with: &DecryptWith,
        signers: &Signers,
        min_counter: u64,
        folder: Option<&str>,
    ) -> Result<Self> {
        check_identifier(folder)?;
        let sealed = read_signed(path, signers)?;
        let inventory = Self::parse(&memory::decrypt(&sealed, with)?)?;
        if let Some(expected) = folder.filter(|folder| Some(*folder) != inventory.folder()) {
            let (found, expected) = (inventory.folder.clone(), expected.to_owned());
            return Err(FolderError::OtherFolder { path: path.to_owned(), found, expected }.into());
        }
        match inventory.counter < min_counter {
            true => Err(FolderError::OldInventory {
                path: path.to_owned(),
                found: inventory.counter,
                expected: min_counter,
            }
            .into()),
            false => Ok(inventory),
        }
    }
}

impl InventoryKeys<'_> {
    /// Reads the previous inventory, if there is one and `with` can decrypt it. Recipients cannot,
    /// so their inventories have no former versions.
    ///
    /// # Errors
    /// Returns the errors of [`Inventory::open`], [`FolderError::OtherFolder`] and
    /// [`FolderError::InvalidIdentifier`].
    pub fn previous(&self, with: &EncryptWith) -> Result<Option<Inventory>> {
        // Before a job writes anything.
        check_identifier(self.folder)?;
        let about = |error| Error::io(self.path, error);
        if descriptor(self.path).map_err(about)?.is_some() {
            let text = "the inventory is an open descriptor, and has no place for the signature beside it; name a file";
            return Err(about(io::Error::new(ErrorKind::Unsupported, text)));
        }
        let exists = self.path.try_exists().map_err(|e| Error::io(self.path, e))?;
        match with.to_decrypt().filter(|_| exists) {
            Some(with) => {
                let found = Inventory::open(self.path, with, &Signers::from(self.key), 0, None)?;
                match (self.folder, found.folder.clone()) {
                    (Some(expected), Some(other)) if expected != other => {
                        let (path, expected) = (self.path.to_owned(), expected.to_owned());
                        Err(FolderError::OtherFolder { path, found: Some(other), expected }.into())
                    }
                    _ => Ok(Some(found)),
                }
            }
            None if exists => read_signed(self.path, &Signers::from(self.key)).map(|_| None),
            None => {
                let there = |suffix| Some(with_suffix(self.path, suffix)).filter(|path| path.exists());
                let signature = Signers::SUFFIXES.into_iter().find_map(there);
                signature.map_or(Ok(None), |path| Err(Error::io(&path, io::Error::other(LOST))))
            }
        }
    }

    /// Encrypts, signs, writes and returns a new inventory of the folder `root`. With `removed`,
    /// files of the previous inventory that neither the job nor the folder has count as removed.
    /// The two files replace the old ones once both are complete.
    ///
    /// # Errors
    /// Returns the errors of [`encrypt`](files::encrypt) and of the signature,
    /// [`Misuse::OutputIsInput`](base::Misuse::OutputIsInput), and [`Error::Io`] with the path; the
    /// old files stay.
    pub fn save(
        &self,
        draft: InventoryDraft,
        root: &Path,
        removed: bool,
        with: &EncryptWith,
        durability: Durability,
    ) -> Result<Inventory> {
        let mut inventory = draft.complete(root, if removed { Absent::Removed } else { Absent::Stay });
        if inventory.folder.is_none() {
            let given = self.folder.map(str::to_owned);
            inventory.folder = Some(given.map_or_else(new_identifier, Ok)?);
        }
        let sealed = memory::encrypt(inventory.to_json().as_bytes(), with)?;
        let comment = format!("sealane inventory, counter {}", inventory.counter);
        let signature = self.key.sign(&sealed, &comment)?;
        let signature_path = with_suffix(self.path, self.key.suffix());
        let mut files = Vec::new();
        for (path, content) in [(signature_path.as_path(), signature.as_bytes()), (self.path, &sealed)] {
            let mut file = OutputFile::create_for_encrypted(path, with)?;
            file.write_all(content).map_err(|e| Error::from(e).about(path))?;
            files.push(file);
        }
        files.into_iter().try_for_each(|file| file.finish(durability))?;
        Ok(inventory)
    }

    /// Checks that the inventory lies outside the folders of its job, where it would be taken for
    /// one of their files.
    ///
    /// # Errors
    /// Returns [`FolderError::InventoryInside`].
    pub fn check_outside(&self, folders: &[impl AsRef<Path>]) -> Result<()> {
        // A missing folder is found when the inventory is written.
        let Ok(folder) = fs::canonicalize(parent(self.path)) else { return Ok(()) };
        let inside = |other: &Path| fs::canonicalize(other).is_ok_and(|other| folder.starts_with(other));
        match folders.iter().any(|other| inside(other.as_ref())) {
            true => Err(FolderError::InventoryInside(self.path.to_owned()).into()),
            false => Ok(()),
        }
    }

    /// Returns the paths that a job writes, so that no other output replaces them: the inventory
    /// and its signature.
    pub fn paths(&self) -> [PathBuf; 2] {
        [self.path.to_owned(), with_suffix(self.path, self.key.suffix())]
    }
}

/// A new inventory would have another identifier, and forget what the old one promised.
const LOST: &str = "the inventory of this signature is gone; restore it, or remove the signature to begin a new inventory \
                    with a new identifier";

/// Maximum length of an inventory in bytes. A file takes about 200 bytes and its name, so this is
/// some millions of files.
const MAX_LEN: u64 = 1 << 30;

/// Reads a file of at most `max` bytes into memory that grows with what is read.
///
/// # Errors
/// Returns [`Error::LimitExceeded`] for a longer file, [`Error::OutOfMemory`], and [`Error::Io`]
/// with the path.
fn read_at_most(path: &Path, max: u64) -> Result<Vec<u8>> {
    let mut source = open_regular(path)?.take(max + 1);
    let (mut content, mut piece) = (Vec::new(), [0; 1 << 14]);
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(len) => append(&mut content, &piece[..len])?,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(Error::io(path, e)),
        }
    }
    match content.len() as u64 > max {
        true => Err(Error::LimitExceeded("an inventory is limited to 1 GiB, and its signature to 64 KiB")),
        false => Ok(content),
    }
}

/// Returns the content of a file if its signature is valid.
fn read_signed(path: &Path, signers: &Signers) -> Result<Vec<u8>> {
    let message = read_at_most(path, MAX_LEN)?;
    let mut rejected = None;
    for suffix in Signers::SUFFIXES {
        let signature_path = with_suffix(path, suffix);
        let text = match read_at_most(&signature_path, MAX_SIGNATURE_LEN as u64) {
            Ok(text) => text,
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        match signers.verify(&message, &String::from_utf8_lossy(&text)) {
            Ok(()) => return Ok(message),
            Err(rejection) => rejected = Some((signature_path, rejection)),
        }
    }
    Err(match rejected {
        None => FolderError::SignatureMissing(path.to_owned()),
        Some((signature, Rejection::OtherSigner)) => FolderError::OtherSigner(signature),
        Some((
            _,
            rejection @ (Rejection::Expired | Rejection::NotYetValid | Rejection::NamespaceNotAllowed),
        )) => return Err(rejection.into()),
        Some((signature, _)) => FolderError::SignatureInvalid { path: path.to_owned(), signature },
    }
    .into())
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn files_are_read_up_to_a_limit() {
        let path = std::env::temp_dir().join(format!("sealane-inventory-limit-{}", std::process::id()));
        fs::write(&path, vec![7; 40_000]).unwrap();
        assert_eq!(read_at_most(&path, 40_000).unwrap(), vec![7; 40_000]);
        assert!(matches!(read_at_most(&path, 39_999), Err(Error::LimitExceeded(_))));
        fs::remove_file(&path).unwrap();
        assert!(matches!(read_at_most(&path, 1), Err(Error::Io { path: Some(named), .. }) if named == path));
        // A source without end and length is not opened.
        #[cfg(unix)]
        let found = read_at_most(Path::new("/dev/zero"), 100_000);
        #[cfg(unix)]
        assert!(matches!(found, Err(Error::Io { source, .. }) if source.kind() == ErrorKind::Unsupported));
    }
}
