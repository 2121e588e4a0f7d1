//! Encrypted names of files and folders.
//!
//! ```text
//! name on disk  = base32hex(AES-SIV(name, folder)) || suffix     suffix: only for files and links
//! path in link  = base32hex(AES-SIV(path, link || "/"))
//! folder, link  = path below the top, as in the source, with "/" between names; empty for the top
//! ```
//!
//! AES-SIV is RFC 5297 with one associated data, or a Tink keyset. base32hex is RFC 4648, section
//! 7, in lower case and without padding: names stay different on file systems that ignore case. A
//! folder's path does not end with a slash, so a link's encrypted path is not a valid name in any
//! folder.

use crate::prelude::*;
use base::os;
use data_encoding::BASE32_DNSSEC as BASE32HEX;
use keys::Keyring;
use keys::KeyringDeterministicAead;
use messages::{DeterministicAead, DeterministicAlgorithm, Key};
use std::path::Component;
use std::sync::Arc;

/// Maximum bytes per name, on almost every file system.
const MAX_NAME_LEN: usize = 255;
/// Maximum bytes in a link's path, on Linux.
const MAX_LINK_LEN: usize = 4095;

/// The key that encrypts names of files and folders. Cheap to clone.
///
/// Encryption is deterministic: in one folder, a name always encrypts to the same name, so an
/// encrypted folder can be updated. Equal names in two folders differ. Lengths of names and the
/// shape of the tree stay visible.
///
/// ```
/// use sealane::Key;
/// use sealane::file::NameKey;
/// use std::path::Path;
///
/// let names = NameKey::new(&Key::generate(64)?)?;
/// let work = Path::new("home/work");
/// let encrypted = names.encrypt("letter.txt".as_ref(), work, ".sealed".as_ref())?;
/// let (encrypted, _) = encrypted.to_str().unwrap().split_once('.').unwrap();
/// assert_eq!(names.decrypt(encrypted.as_ref(), work)?, "letter.txt");
/// assert!(names.decrypt(encrypted.as_ref(), Path::new("home")).is_err());
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct NameKey(Arc<DeterministicAead>);

impl NameKey {
    /// Expands a key of 64 bytes.
    ///
    /// # Errors
    /// Returns the errors of [`DeterministicAead::new`].
    pub fn new(key: &Key) -> Result<Self> {
        let key = DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, key)?;
        Ok(Self(Arc::new(key)))
    }

    /// Expands a keyring's keys. The primary key encrypts, each enabled key decrypts.
    ///
    /// # Errors
    /// Returns the errors of [`KeyringDeterministicAead::new`].
    pub fn keyring(keyring: &Keyring) -> Result<Self> {
        Ok(Self(Arc::new(KeyringDeterministicAead::new(keyring)?.into())))
    }

    /// Returns the encrypted name of a file or folder in `folder`, followed by `suffix`. `folder`
    /// is the folder's unencrypted path below the top.
    ///
    /// # Errors
    /// Returns [`FolderError::NameTooLong`] for a name that does not fit;
    /// [`FolderError::NameInvalid`] for one that is not Unicode, on systems where names are not
    /// bytes.
    pub fn encrypt(&self, name: &OsStr, folder: &Path, suffix: &OsStr) -> Result<OsString> {
        let (name, space) = (bytes(name)?, MAX_NAME_LEN.saturating_sub(suffix.len()));
        match (name.len(), self.max_len(space)) {
            (found, max) if found > max => Err(FolderError::NameTooLong { found, max }.into()),
            _ => Ok([self.sealed(name, &joined(folder)?)?.as_ref(), suffix].into_iter().collect()),
        }
    }

    /// Decrypts a name, without its suffix, encrypted by [`Self::encrypt`] in the same folder.
    ///
    /// # Errors
    /// Returns [`FolderError::NameNotAuthentic`]; [`FolderError::NameInvalid`] if the result is not
    /// a file name (`..`, for example).
    pub fn decrypt(&self, name: &OsStr, folder: &Path) -> Result<OsString> {
        let name = os_string(&self.opened(name, &joined(folder)?)?)?;
        let path = Path::new(&name);
        let mut parts = path.components();
        let single = matches!(parts.next(), Some(Component::Normal(part)) if part == name);
        match single && parts.next().is_none() && !name.as_encoded_bytes().contains(&0) {
            true => Ok(name),
            false => Err(FolderError::NameInvalid.into()),
        }
    }

    /// Decrypts each name of a path below the top. The path has no suffix.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`].
    pub fn decrypt_path(&self, path: &Path) -> Result<PathBuf> {
        let mut plain = PathBuf::new();
        for name in path {
            let name = self.decrypt(name, &plain)?;
            plain.push(name);
        }
        Ok(plain)
    }

    /// Encrypts `text`, the path in a symbolic link. `link` is the link's unencrypted path below
    /// the top.
    ///
    /// # Errors
    /// Returns [`FolderError::LinkTooLong`] for a path that does not fit; the errors of
    /// [`Self::encrypt`].
    pub fn encrypt_link(&self, text: &Path, link: &Path) -> Result<PathBuf> {
        let text = bytes(text.as_os_str())?;
        match (text.len(), self.max_len(MAX_LINK_LEN)) {
            (found, max) if found > max => Err(FolderError::LinkTooLong { found, max }.into()),
            _ => self.sealed(text, &of_link(link)?).map(PathBuf::from),
        }
    }

    /// Decrypts a path encrypted by [`Self::encrypt_link`] for the same link.
    ///
    /// # Errors
    /// Returns [`FolderError::NameNotAuthentic`]; [`FolderError::NameInvalid`] for an empty path or
    /// a zero byte.
    pub fn decrypt_link(&self, text: &Path, link: &Path) -> Result<PathBuf> {
        let text = self.opened(text.as_os_str(), &of_link(link)?)?;
        match text.is_empty() || text.contains(&0) {
            true => Err(FolderError::NameInvalid.into()),
            false => os_string(&text).map(PathBuf::from),
        }
    }

    /// Checks that a manifest is outside the encrypted folder: it lists unencrypted names.
    ///
    /// # Errors
    /// Returns [`FolderError::ManifestReveals`].
    pub fn check_manifest(manifest: &Path, encrypted: &Path) -> Result<()> {
        match (resolved(manifest), resolved(encrypted)) {
            (Some(file), Some(top)) if file.starts_with(&top) => {
                Err(FolderError::ManifestReveals(manifest.to_owned()).into())
            }
            _ => Ok(()),
        }
    }

    /// Returns how many bytes can be encrypted into `space` characters of 5 bits each.
    fn max_len(&self, space: usize) -> usize {
        (space * 5 / 8).saturating_sub(self.0.overhead())
    }

    fn sealed(&self, plain: &[u8], aad: &[u8]) -> Result<OsString> {
        Ok(BASE32HEX.encode(&self.0.encrypt(plain, aad)?).into())
    }

    fn opened(&self, text: &OsStr, aad: &[u8]) -> Result<Vec<u8>> {
        const REFUSED: Error = Error::Folder(FolderError::NameNotAuthentic);
        let text = text.to_str().filter(|text| text.len() <= MAX_LINK_LEN).ok_or(REFUSED)?;
        // Where the invalid character is does not help.
        let sealed = BASE32HEX.decode(text.as_bytes()).map_err(|_| REFUSED)?;
        // The decoder accepts upper case. That would give a file several names.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(REFUSED);
        }
        self.0
            .decrypt(&sealed, aad)
            .map_err(|error| if matches!(error, Error::Authentication) { REFUSED } else { error })
    }
}

/// Resolves the links of a path, or of its existing part.
pub fn resolved(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    if !path.components().any(|part| part == Component::ParentDir) && engine::os::is_without_links(&path) {
        return Some(path);
    }
    path.ancestors().find_map(|existing| {
        let mut real = fs::canonicalize(existing).ok()?;
        for part in path.strip_prefix(existing).ok()? {
            match part == ".." {
                true => drop(real.pop()),
                false => real.push(part),
            }
        }
        Some(real)
    })
}

/// Returns the associated data of names in a folder: the folder's path with "/" between names, on
/// every system.
fn joined(folder: &Path) -> Result<Vec<u8>> {
    let names = folder.iter().map(bytes).collect::<Result<Vec<_>, _>>()?;
    Ok(names.join(&b'/'))
}

/// Returns the associated data of a link's path.
fn of_link(link: &Path) -> Result<Vec<u8>> {
    let mut path = joined(link)?;
    path.push(b'/');
    Ok(path)
}

fn bytes(name: &OsStr) -> Result<&[u8]> {
    os::to_bytes(name).ok_or(Error::Folder(FolderError::NameInvalid))
}

fn os_string(name: &[u8]) -> Result<OsString> {
    os::from_bytes(name).ok_or(Error::Folder(FolderError::NameInvalid))
}
