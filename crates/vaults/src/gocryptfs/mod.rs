//! Vaults of gocryptfs, on-disk version 2.
//!
//! A folder has a random IV in `gocryptfs.diriv`, unless names are deterministic. A name is padded
//! (PKCS #7), encrypted with EME under the IV of its folder, and stored in base64. If that is
//! longer than 255 bytes, the entry is named for its hash, and a file beside it has the text:
//!
//! ```text
//! gocryptfs.longname.HASH        the file, folder or link
//! gocryptfs.longname.HASH.name   the text; HASH is its SHA-256 in base64
//! ```

mod config;
mod content;

use crate::contents::{Clear, chunks, plain_len, read_whole};
use crate::eme_name;
use crate::prelude::*;
use crate::tree::{Tree, TreeVault, description, link_text};
use base64::Engine;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use config::{Config, Flag, NAMES};
use content::{Cipher, File};
use providers::raw::Eme;
use sha2::{Digest, Sha256};

pub(crate) const CONFIG: &str = "gocryptfs.conf";
const DIR_IV: &str = "gocryptfs.diriv";
const LONG_NAME: &[u8] = b"gocryptfs.longname.";
/// Maximum length of the configuration in bytes; the tool writes less than 1 KiB.
const MAX_CONFIG: usize = 1 << 16;
/// Maximum length of an encrypted name as text: 255 bytes, padded to 256, in base64.
const MAX_TEXT: usize = 344;
/// Maximum length of a link's text on Linux, encrypted and in base64, is less than twice 4096.
const MAX_LINK: usize = 2 * 4096;

struct Gocryptfs {
    storage: Arc<dyn Storage>,
    cipher: Arc<Cipher>,
    base64: &'static GeneralPurpose,
    /// `None` if names are not encrypted.
    names: Option<Names>,
}

struct Names {
    eme: Eme,
    /// Whether each folder has an IV.
    dir_iv: bool,
    /// Length in bytes above which the text of a name is long; `None` without long names.
    max: Option<usize>,
}

/// A stored folder and its IV, which is zero in a vault without any.
pub(crate) struct Folder {
    path: Vec<u8>,
    iv: [u8; 16],
}

/// Opens a vault.
///
/// # Errors
/// Returns [`Error::WrongPassphrase`], also for a damaged key, and [`Error::InVault`] for a
/// configuration that cannot be used.
pub(crate) fn unlock(storage: Arc<dyn Storage>, passphrase: &[u8]) -> Result<Box<dyn Vault>> {
    let json = read_whole(&*storage, CONFIG.as_bytes(), MAX_CONFIG)?;
    let config = Config::parse(&json).map_err(|error| in_vault(CONFIG.as_bytes(), error))?;
    let master = config.unlock(passphrase).map_err(|error| match error {
        Error::Header(_) | Error::LimitExceeded(_) => in_vault(CONFIG.as_bytes(), error),
        error => error,
    })?;
    let names = || {
        Ok::<_, Error>(Names {
            eme: raw::eme(&master.derive(NAMES))?,
            dir_iv: config.has(Flag::DirIv),
            max: config.has(Flag::LongNames).then(|| config.long_name_max()),
        })
    };
    Ok(Box::new(TreeVault(Gocryptfs {
        storage,
        cipher: Arc::new(Cipher::new(&config, &master)?),
        base64: if config.has(Flag::Raw64) { &URL_SAFE_NO_PAD } else { &URL_SAFE },
        names: if config.has(Flag::PlaintextNames) { None } else { Some(names()?) },
    })))
}

impl Gocryptfs {
    fn folder(&self, path: Vec<u8>) -> Result<Folder> {
        let mut folder = Folder { path, iv: [0; 16] };
        if self.names.as_ref().is_some_and(|names| names.dir_iv) {
            let iv = description(&*self.storage, &folder.path, DIR_IV, 16)?;
            // The dropped error says no more.
            folder.iv = iv.try_into().unwrap_or_default();
            if folder.iv == [0; 16] {
                let problem = Error::Header("expected 16 bytes that are not all zero");
                return Err(in_vault(&join(&folder.path, DIR_IV.as_bytes()), problem));
            }
        }
        Ok(folder)
    }

    /// Returns the stored path of a name.
    fn stored(&self, folder: &Folder, name: &[u8]) -> Result<Vec<u8>> {
        let Some(names) = &self.names else { return Ok(join(&folder.path, name)) };
        if name.len() > 255 {
            return Err(FolderError::NameTooLong { found: name.len(), max: 255 }.into());
        }
        let text = self.base64.encode(eme_name::encrypt(&names.eme, &folder.iv, name)?);
        Ok(match names.max {
            Some(max) if text.len() > max => join(&folder.path, &self.long_name(text.as_bytes())),
            _ => join(&folder.path, text.as_bytes()),
        })
    }

    /// Returns the stored name for a text that is too long.
    fn long_name(&self, text: &[u8]) -> Vec<u8> {
        [LONG_NAME, self.base64.encode(Sha256::digest(text)).as_bytes()].concat()
    }

    /// Returns the plaintext of a stored name, or `None` for a file that only describes others.
    fn name(&self, folder: &Folder, stored: &[u8]) -> Result<Option<Vec<u8>>> {
        let Some(names) = &self.names else {
            return Ok((!folder.path.is_empty() || stored != CONFIG.as_bytes()).then(|| stored.to_vec()));
        };
        if folder.path.is_empty() && stored == CONFIG.as_bytes()
            || names.dir_iv && stored == DIR_IV.as_bytes()
        {
            return Ok(None);
        }
        let mut text = stored.to_vec();
        if let Some(max) = names.max.filter(|_| stored.starts_with(LONG_NAME)) {
            if stored.ends_with(b".name") {
                return Ok(None);
            }
            text = read_whole(&*self.storage, &join(&folder.path, &[stored, b".name"].concat()), MAX_TEXT)?;
            if text.len() <= max || self.long_name(&text) != stored {
                return Err(FolderError::NameNotAuthentic.into());
            }
        }
        // The dropped error says where in the text it is.
        let name = self.base64.decode(text).ok();
        let name = name.and_then(|name| eme_name::decrypt(&names.eme, &folder.iv, name));
        let name = name.filter(|name| !name.is_empty());
        name.map(Some).ok_or(FolderError::NameNotAuthentic.into())
    }
}

impl Tree for Gocryptfs {
    type Folder = Folder;

    fn root(&self) -> Result<Folder> {
        self.folder(Vec::new())
    }

    fn enter(&self, folder: &Folder, name: &[u8]) -> Result<Folder> {
        self.folder(self.stored(folder, name)?)
    }

    fn entries(&self, folder: &Folder) -> Result<Vec<Found>> {
        let found = |entry: Entry| {
            let len = match entry.kind {
                EntryKind::File => plain_len(self.cipher.layout(), entry.len),
                _ => 0,
            };
            let name = self.name(folder, &entry.name);
            let path = join(&folder.path, &entry.name);
            (path, name.map(|name| Some(Entry { name: name?, len, ..entry })))
        };
        Ok(self.storage.list(&folder.path)?.into_iter().map(found).collect())
    }

    fn open(&self, folder: &Folder, name: &[u8]) -> Result<Box<dyn Contents>> {
        let path = self.stored(folder, name)?;
        let source = self.storage.open(&path)?;
        let size = source.size().map_err(|error| in_vault(&path, error.into()))?;
        if size == 0 {
            return Ok(Box::new(Clear { source, len: 0, path }));
        }
        let file = File::open(&self.cipher, &source).map_err(|error| in_vault(&path, error))?;
        chunks(&path, source, size, Box::new(file))
    }

    fn read_link(&self, folder: &Folder, name: &[u8]) -> Result<Vec<u8>> {
        let path = self.stored(folder, name)?;
        let text = self.storage.read_link(&path)?;
        if self.names.is_none() {
            return Ok(text);
        }
        let open = || {
            // The dropped error says where in the text it is.
            let block = self.base64.decode(&text).ok().filter(|_| text.len() <= MAX_LINK);
            let block = block.ok_or(Error::Authentication)?;
            let len = block.len().checked_sub(self.cipher.overhead()).ok_or(Error::Authentication)?;
            let mut plain = memory::zeroed(len)?;
            self.cipher.open(&[0; 8], &block, &mut plain)?;
            link_text(plain)
        };
        open().map_err(|error| in_vault(&path, error))
    }
}
