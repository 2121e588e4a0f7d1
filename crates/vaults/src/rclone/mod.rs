//! Vaults of rclone crypt.
//!
//! No file in the vault describes it: all comes from the configuration of the remote. The keys are
//!
//! ```text
//! content key[32] || name key[32] || tweak of names[16] = scrypt(password, salt, N 16384, r 8, p 1)
//! ```
//!
//! where the salt is `password2`, or one that is the same everywhere.

mod base32768;
mod config;
mod content;
mod names;

use crate::contents::{Clear, chunks, plain_len};
use crate::prelude::*;
use crate::tree::{Tree, TreeVault};
use config::{Config, Mode};
use content::{File, LAYOUT};
use engine::io::open_regular;
use keys::ScryptParams;
use names::Names;
use providers::raw::XSalsa20Poly1305;
use std::io::{self, Read};

/// The salt without a `password2`.
const SALT: [u8; 16] = *b"\xa8\x0d\xf4\x3a\x8f\xbd\x03\x08\xa7\xca\xb8\x3e\x58\x1f\x86\xb1";

/// Maximum length of a configuration in bytes. A remote takes some hundreds.
const MAX_CONFIG_LEN: u64 = 1 << 20;

/// A crypt remote of rclone: the options and passwords of a vault.
///
/// # Example
/// ```no_run
/// use sealane::vault::{LocalFolder, Rclone, Vault};
/// use std::sync::Arc;
///
/// let text = std::fs::read_to_string("rclone.conf").unwrap();
/// let remote = Rclone::from_config(&text, "secret")?;
/// let folder = LocalFolder::open(remote.folder().expect("a local folder"))?;
/// for entry in remote.open(Arc::new(folder))?.list(b"")?.entries {
///     println!("{:?}: {} bytes", String::from_utf8_lossy(&entry.name), entry.len);
/// }
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Rclone(Config);

debug_fields!(Rclone; |it| remote: it.0.remote);

/// Reads the user's configuration of rclone: `$RCLONE_CONFIG`, or the first that exists of
/// `$XDG_CONFIG_HOME/rclone/rclone.conf`, `~/.config/rclone/rclone.conf` and `~/.rclone.conf`.
/// Returns its path and text.
///
/// # Errors
/// Returns [`Error::KeyNotFound`] for a user without a home, and [`Error::Io`] with the path, also
/// for a file of more than 1 MiB and one that is not text.
pub fn rclone_config() -> Result<(PathBuf, Zeroizing<String>)> {
    let path = config_path()?;
    let mut content = Zeroizing::new(Vec::new());
    let mut file = open_regular(&path)?.take(MAX_CONFIG_LEN + 1);
    file.read_to_end(&mut content).map_err(|e| Error::io(&path, e))?;
    let refused = |text| Error::io(&path, io::Error::new(ErrorKind::InvalidData, text));
    let text = match std::str::from_utf8(&content) {
        _ if content.len() as u64 > MAX_CONFIG_LEN => Err("expected at most 1 MiB, found a longer file"),
        // Where the invalid byte is does not help.
        found => found.map_err(|_| "expected a text in UTF-8, found other bytes"),
    };
    let text = Zeroizing::new(text.map_err(refused)?.to_owned());
    Ok((path, text))
}

fn config_path() -> Result<PathBuf> {
    if let Some(path) = std::env::var_os("RCLONE_CONFIG").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    let set = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = std::env::home_dir();
    // As rclone does, the first that exists.
    let paths = [
        set.map(|set| set.join("rclone/rclone.conf")),
        home.as_ref().map(|home| home.join(".config/rclone/rclone.conf")),
        home.map(|home| home.join(".rclone.conf")),
    ];
    let mut paths = paths.into_iter().flatten().peekable();
    let first = paths.peek().cloned();
    let none = "expected RCLONE_CONFIG or a home with .config/rclone/rclone.conf, found none";
    paths.find(|path| path.exists()).or(first).ok_or_else(|| Error::KeyNotFound(none.into()))
}

impl Rclone {
    /// Reads the remote `name` of a configuration, the text of an `rclone.conf`.
    ///
    /// # Errors
    /// Returns [`Error::KeyNotFound`] if there is no such remote, [`Error::Line`] for a value that
    /// rclone does not have and for a configuration that is encrypted, and [`Error::Format`] if the
    /// password is missing or empty.
    pub fn from_config(text: &str, name: &str) -> Result<Self> {
        Config::parse(text, name).map(Self)
    }

    /// Returns the remote with the encrypted files, as the configuration names it.
    pub fn remote(&self) -> &str {
        &self.0.remote
    }

    /// Returns the folder with the encrypted files; `None` if they are not on this machine.
    pub fn folder(&self) -> Option<&Path> {
        self.0.folder.as_deref()
    }

    /// Opens the vault whose encrypted files are in a storage. A wrong password is noticed when a
    /// name or a file is read, since nothing else verifies it.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if there is no memory for scrypt, and [`Error::Cancelled`].
    pub fn open(&self, storage: Arc<dyn Storage>) -> Result<Box<dyn Vault>> {
        let Config { mode, encoding, folders, contents, password, salt, .. } = &self.0;
        let salt = if salt.is_empty() { &SALT[..] } else { salt };
        let keys = ScryptParams::from_file(14, 8, 1)?.derive(password, salt, 80)?;
        let (content, rest) = keys.split_first_chunk().expect("80 bytes");
        let (name, tweak) = rest.split_first_chunk::<32>().expect("48 bytes");
        let names = match mode {
            Mode::Standard => Names::Standard {
                eme: raw::eme(name)?,
                tweak: tweak.try_into().expect("16 bytes"),
                encoding: *encoding,
            },
            Mode::Obfuscate => Names::Obfuscate(name.iter().copied().map(u32::from).sum()),
            Mode::Off => Names::Off(self.0.suffix.clone()),
        };
        let key = if *contents { Some(Arc::new(raw::xsalsa20_poly1305(content)?)) } else { None };
        let folders = *folders && !matches!(mode, Mode::Off);
        Ok(Box::new(TreeVault(Crypt { storage, names, folders, key })))
    }
}

/// The vault of a remote. A folder is its stored path.
struct Crypt {
    storage: Arc<dyn Storage>,
    names: Names,
    /// Whether names of folders are encrypted.
    folders: bool,
    /// The key of contents; `None` if they are not encrypted.
    key: Option<Arc<XSalsa20Poly1305>>,
}

const OTHER_SUFFIX: &str = "expected a name that ends with the suffix of the remote; another program may have made it, or 'suffix' in rclone.conf is another";

impl Crypt {
    /// Returns the stored path of a name.
    fn stored(&self, folder: &[u8], name: &[u8], versioned: bool) -> Result<Vec<u8>> {
        let too_long = FolderError::NameTooLong { found: name.len(), max: 128 * 16 - 1 };
        Ok(join(folder, &self.names.encode(name, versioned).ok_or(too_long)?))
    }

    /// Returns the plaintext of a stored name.
    fn name(&self, entry: &Entry) -> Result<Vec<u8>> {
        let is_folder = entry.kind == EntryKind::Folder;
        if is_folder && !self.folders {
            return Ok(entry.name.clone());
        }
        self.names.decode(&entry.name, is_folder).ok_or_else(|| match self.names {
            Names::Off(_) => Error::Format(OTHER_SUFFIX),
            _ => FolderError::NameNotAuthentic.into(),
        })
    }
}

impl Tree for Crypt {
    type Folder = Vec<u8>;

    fn root(&self) -> Result<Vec<u8>> {
        Ok(Vec::new())
    }

    fn enter(&self, folder: &Vec<u8>, name: &[u8]) -> Result<Vec<u8>> {
        if !self.folders {
            return Ok(join(folder, name));
        }
        // rclone encrypts the whole name of a folder that holds something. If the name ends like a
        // version, and the folder was made while it was empty, it stores the end in clear.
        let [whole, versioned] = [false, true].map(|versioned| self.stored(folder, name, versioned));
        let (whole, versioned) = (whole?, versioned?);
        let exists = |path: &[u8]| {
            let entries = self.storage.list(folder)?;
            Ok::<_, Error>(entries.iter().any(|entry| join(folder, &entry.name) == path))
        };
        Ok(if whole != versioned && !exists(&whole)? { versioned } else { whole })
    }

    fn entries(&self, folder: &Vec<u8>) -> Result<Vec<Found>> {
        let found = |entry: Entry| {
            let len = match entry.kind {
                EntryKind::File if self.key.is_some() => plain_len(LAYOUT, entry.len),
                _ => entry.len,
            };
            let path = join(folder, &entry.name);
            (path, self.name(&entry).map(|name| Some(Entry { name, len, ..entry })))
        };
        Ok(self.storage.list(folder)?.into_iter().map(found).collect())
    }

    fn open(&self, folder: &Vec<u8>, name: &[u8]) -> Result<Box<dyn Contents>> {
        let path = self.stored(folder, name, true)?;
        let source = self.storage.open(&path)?;
        let len = source.size().map_err(|error| in_vault(&path, error.into()))?;
        let Some(key) = &self.key else { return Ok(Box::new(Clear { source, len, path })) };
        let file = File::open(key, &source).map_err(|error| in_vault(&path, error))?;
        chunks(&path, source, len, Box::new(file))
    }

    /// The format has no links: rclone follows them, or writes their texts to files.
    fn read_link(&self, folder: &Vec<u8>, name: &[u8]) -> Result<Vec<u8>> {
        let path = self.stored(folder, name, true)?;
        Err(in_vault(
            &path,
            Error::Format("expected a file or folder, found a link, which rclone crypt has not"),
        ))
    }
}
