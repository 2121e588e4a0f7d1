//! Vaults of Cryptomator, formats 7 and 8.
//!
//! Each folder has an identifier, which is the associated data of the names in it; that of the root
//! is empty. The files of all folders lie below `d`:
//!
//! ```text
//! d/XX/YYYY…              a folder: base32 of SHA-1 of AES-SIV(identifier)
//!     NAME.c9r            a file; NAME is AES-SIV(name, identifier) in base64
//!     NAME.c9r/dir.c9r    a folder: its identifier
//!     NAME.c9r/symlink.c9r  a link: its text, as an encrypted file
//!     HASH.c9s/name.c9s   a name that is too long; HASH is SHA-1 of NAME.c9r in base64
//!     HASH.c9s/contents.c9r, dir.c9r or symlink.c9r
//! ```

mod config;
mod content;

use crate::contents::{plaintext, read_whole};
use crate::prelude::*;
use crate::tree::{Tree, TreeVault, description, link_text};
use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
pub(crate) use config::{CONFIG, MASTER_KEY};
use content::Ciphers;
use data_encoding::BASE32;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum length of an identifier in bytes; the tool writes 36.
const MAX_ID: usize = 1000;
/// Maximum length of a stored name that is too long for a file system.
const MAX_NAME: usize = 10 << 10;
const MAX_LINK: usize = 32767;

struct Cryptomator {
    storage: Arc<dyn Storage>,
    siv: raw::Siv,
    ciphers: Ciphers,
    /// Length in bytes of the longest stored name.
    threshold: usize,
    /// Where each identifier was found. Nothing authenticates which identifier a folder has:
    /// folders that share one, or have that of a folder above, would make a walk endless or
    /// exponential.
    places: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
}

/// A folder: where it is stored, and its identifier.
pub(crate) struct Folder {
    path: Vec<u8>,
    id: Vec<u8>,
}

/// Where a name is stored.
struct Stored {
    path: Vec<u8>,
    is_short: bool,
}

/// Opens a vault.
///
/// # Errors
/// Returns [`Error::WrongPassphrase`], also for damaged keys, and [`Error::InVault`] for a
/// configuration that cannot be used.
pub(crate) fn unlock(storage: Arc<dyn Storage>, passphrase: &[u8]) -> Result<Box<dyn Vault>> {
    let (keys, config) = config::unlock(&*storage, passphrase)?;
    let (siv, ciphers) = (raw::siv(&keys.siv())?, Ciphers::new(&config, &keys)?);
    Ok(Box::new(TreeVault(Cryptomator {
        storage,
        siv,
        ciphers,
        threshold: config.threshold,
        places: Mutex::default(),
    })))
}

impl Cryptomator {
    /// Encrypts a text with AES-SIV.
    fn seal(&self, headers: &[&[u8]], text: &[u8]) -> Vec<u8> {
        let mut sealed = [&[0; 16], text].concat();
        let (iv, text) = sealed.split_first_chunk_mut().expect("16 bytes");
        self.siv.seal(headers, InOut::in_place(text), iv);
        sealed
    }

    fn places(&self) -> MutexGuard<'_, BTreeMap<Vec<u8>, Vec<u8>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the folder with an identifier.
    fn folder(&self, id: Vec<u8>) -> Folder {
        let hash = BASE32.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, &self.seal(&[], &id)).as_ref());
        let (first, rest) = hash.split_at(2);
        Folder { path: format!("d/{first}/{rest}").into_bytes(), id }
    }

    fn stored(&self, folder: &Folder, name: &[u8]) -> Stored {
        let mut stored = URL_SAFE.encode(self.seal(&[&folder.id], name)) + ".c9r";
        let is_short = stored.len() <= self.threshold;
        if !is_short {
            stored = shortened(stored.as_bytes());
        }
        Stored { path: join(&folder.path, stored.as_bytes()), is_short }
    }

    /// Returns the plaintext of the stored name `name` with its ending.
    fn name(&self, folder: &Folder, name: &[u8]) -> Result<Vec<u8>> {
        let decoded = name.strip_suffix(b".c9r").and_then(|text| URL_SAFE.decode(text).ok());
        let mut sealed = decoded.ok_or(FolderError::NameNotAuthentic)?;
        let Some((iv, text)) = sealed.split_first_chunk_mut() else {
            return Err(FolderError::NameNotAuthentic.into());
        };
        // The only error is a wrong synthetic IV.
        let opened = self.siv.open(&[&folder.id], InOut::in_place(text), iv);
        opened.map_err(|_| FolderError::NameNotAuthentic)?;
        if str::from_utf8(text).is_ok() { Ok(text.to_vec()) } else { Err(FolderError::NameInvalid.into()) }
    }

    /// Returns the plaintext entry of a stored one, or `None` if it is none of the vault.
    fn entry(&self, folder: &Folder, entry: &Entry, path: &[u8]) -> Result<Option<Entry>> {
        let is_folder = entry.kind == EntryKind::Folder;
        let ends = |ending: &[u8]| entry.name.ends_with(ending);
        let name = match () {
            // The folder's own identifier.
            () if entry.name == b"dirid.c9r" => return Ok(None),
            () if ends(b".c9r") && entry.kind != EntryKind::Link => self.name(folder, &entry.name)?,
            () if ends(b".c9s") && is_folder => {
                let long = description(&*self.storage, path, "name.c9s", MAX_NAME)?;
                if long.len() <= self.threshold || shortened(&long).as_bytes() != entry.name {
                    return Err(FolderError::NameNotAuthentic.into());
                }
                self.name(folder, &long)?
            }
            // A service that synchronizes folders may have renamed it, or another program made it.
            () => return Err(FolderError::NameNotAuthentic.into()),
        };
        let mut found = Entry { name, ..entry.clone() };
        if is_folder {
            let parts = self.storage.list(path)?;
            let part = |name: &str| parts.iter().find(|part| part.name == name.as_bytes());
            match (part("dir.c9r"), part("symlink.c9r"), part("contents.c9r")) {
                (Some(_), ..) => found.kind = EntryKind::Folder,
                (_, Some(_), _) => found.kind = EntryKind::Link,
                (.., Some(contents)) if ends(b".c9s") => {
                    found = Entry { name: found.name, ..contents.clone() };
                }
                _ => {
                    return Err(Error::Header(
                        "expected dir.c9r, symlink.c9r or, for a long name, contents.c9r in the folder",
                    ));
                }
            }
        }
        found.len = if found.kind == EntryKind::File { self.ciphers.combo.plain_len(found.len) } else { 0 };
        Ok(Some(found))
    }
}

/// Returns the name of the folder that stands for a name that is too long.
fn shortened(name: &[u8]) -> String {
    URL_SAFE.encode(digest(&SHA1_FOR_LEGACY_USE_ONLY, name)) + ".c9s"
}

impl Tree for Cryptomator {
    type Folder = Folder;

    fn root(&self) -> Result<Folder> {
        Ok(self.folder(Vec::new()))
    }

    fn enter(&self, folder: &Folder, name: &[u8]) -> Result<Folder> {
        let path = join(&self.stored(folder, name).path, b"dir.c9r");
        let id = read_whole(&*self.storage, &path, MAX_ID)?;
        let problem = |problem| Err(in_vault(&path, Error::Header(problem)));
        if id.is_empty() {
            return problem("expected the identifier of a folder, found that of the vault itself");
        }
        let known = self.places().entry(id.clone()).or_insert_with(|| path.clone()).clone();
        if known != path {
            // Unless the folder was moved since then.
            if read_whole(&*self.storage, &known, MAX_ID).is_ok_and(|found| found == id) {
                return problem(
                    "expected the identifier of one folder, found that of another folder or of one above",
                );
            }
            self.places().insert(id.clone(), path);
        }
        Ok(self.folder(id))
    }

    fn entries(&self, folder: &Folder) -> Result<Vec<Found>> {
        let found = |entry: Entry| {
            let path = join(&folder.path, &entry.name);
            let found = self.entry(folder, &entry, &path);
            (path, found)
        };
        Ok(self.storage.list(&folder.path)?.into_iter().map(found).collect())
    }

    fn open(&self, folder: &Folder, name: &[u8]) -> Result<Box<dyn Contents>> {
        let Stored { mut path, is_short } = self.stored(folder, name);
        if !is_short {
            path = join(&path, b"contents.c9r");
        }
        self.ciphers.open(&*self.storage, &path)
    }

    fn read_link(&self, folder: &Folder, name: &[u8]) -> Result<Vec<u8>> {
        let path = join(&self.stored(folder, name).path, b"symlink.c9r");
        let file = self.ciphers.open(&*self.storage, &path)?;
        let text = plaintext(&path, &*file, MAX_LINK)?;
        link_text(text.to_vec()).map_err(|error| in_vault(&path, error))
    }
}
