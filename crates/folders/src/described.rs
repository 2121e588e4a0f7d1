//! A folder that describes itself, with its keys.

use crate::description::{Description, Document};
use crate::identifier::new_identifier;
use crate::job::JobOptions;
use crate::names::NameKey;
use crate::prelude::*;
use crate::tree::{Links, Suffix, Tree, TreeOptions};
use engine::folder::{create_all, private_folders};
use engine::staged::{Access, Existing, StagedFile};
use files::file_keys::{DecryptParams, EncryptParams};
use files::rotate::Rotation;
use keys::age::Identity;
use keys::age::Recipient;
use keys::signature::SigningKey;
use keys::{
    Fingerprint, FolderKeys, FolderLock, TokenKey, accept_key, check_key, forget_earlier_keys, known_line,
    remember_key,
};
use std::fs::{File, TryLockError};
use std::io::Write;
use std::sync::Arc;

/// The options of a new folder that describes itself.
#[derive(Clone, Debug, Default)]
pub struct NewFolder<'a> {
    /// Suffix of encrypted files; may be empty.
    pub suffix: &'a str,
    /// Whether to encrypt names of files and folders.
    pub names: bool,
    /// Whether to keep modes, times and links.
    pub preserve: bool,
    /// Whether to encrypt each file for the recipients alone, so that who writes cannot read.
    pub write_only: bool,
    /// The key that signs the description, with `write_only`.
    pub sign_key: Option<&'a SigningKey>,
}

/// A folder that describes itself, with its keys.
///
/// ```
/// use sealane::Key;
/// use sealane::file::{DescribedFolder, Description, NewFolder};
/// use sealane::keys::FolderLock;
///
/// let path = std::env::temp_dir().join(format!("sealane-described-{}", std::process::id()));
/// let lock = FolderLock::key(&Key::generate(32)?)?;
/// DescribedFolder::create(&path, &NewFolder { names: true, ..NewFolder::default() }, &lock)?;
/// let found = Description::find(&path)?.expect("just created");
/// let (folder, _) = found.open(&lock, None)?;
/// assert!(folder.name_key()?.is_some());
/// # std::fs::remove_dir_all(&path)?;
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Debug)]
pub struct DescribedFolder {
    description: Description,
    /// `None` if each file is for the recipients of the description.
    keys: Option<FolderKeys>,
    /// They decrypt files for recipients. Writing needs none.
    identities: Vec<Identity>,
    /// Keeps other jobs out while the keys change.
    reserved: Option<Arc<File>>,
}

impl Description {
    /// Unwraps the keys and authenticates the description. The keys are checked by the `expected`
    /// fingerprint, or by the user's file of known keys: others could have made both if the key
    /// only decrypts, and an older description may have retired keys. Returns the warning of the
    /// check, if only the file would tell.
    ///
    /// # Errors
    /// Returns [`FolderError::FolderKey`] or [`Error::NoMatchingKey`] for another key,
    /// [`FolderError::DescriptionChanged`], also for a write-only description in place of one with
    /// a key, [`Misuse::InvalidRecipients`] for a key where identities decrypt, the errors of
    /// [`FolderKeys::unwrap`] and [`check_key`].
    pub fn open(
        self,
        lock: &FolderLock,
        expected: Option<&Fingerprint>,
    ) -> Result<(DescribedFolder, Option<String>)> {
        let (keys, identities) = match (self.is_write_only(), lock) {
            // A folder with a key of this user does not become one that anybody can write to.
            (true, _) if known_line(&self.path, Some("age:")).is_some() => {
                return Err(FolderError::DescriptionChanged(self.path).into());
            }
            (true, FolderLock::Identities(identities)) => (None, identities.clone()),
            (true, _) => return Err(Misuse::InvalidRecipients(FOR_IDENTITIES).into()),
            (false, lock) => (Some(self.unlock(lock)?), Vec::new()),
        };
        let opened = DescribedFolder { description: self, keys, identities, reserved: None };
        let (place, key) = (place(opened.description.path(), lock), opened.fingerprint()?);
        let checked = check_key(&place, expected, &key).inspect(|_| forget_earlier_keys(&place, &key));
        let warning = match (checked, lock) {
            // A job may have replaced the key since the description was read.
            (Err(error @ Error::OtherKey { .. }), _) => {
                return Err(opened.check_unchanged().err().unwrap_or(error));
            }
            (_, FolderLock::Keyring(_) | FolderLock::Passphrase(_)) => None,
            (checked, _) => checked?,
        };
        Ok((opened, warning))
    }

    fn unlock(&self, lock: &FolderLock) -> Result<FolderKeys> {
        let keys = FolderKeys::unwrap(&self.document.keyset, lock).map_err(|error| match error {
            Error::Authentication => FolderError::FolderKey(self.path.clone()).into(),
            other => other,
        })?;
        let Document { names, mac, .. } = &self.document;
        match keys.names().is_some() == *names && keys.verifies(self.document.unsigned().as_bytes(), mac)? {
            true => Ok(keys),
            false => Err(FolderError::DescriptionChanged(self.path.clone()).into()),
        }
    }
}

impl DescribedFolder {
    /// Creates a folder, or takes an empty one, and writes its description with new keys. The
    /// description is on disk when this returns.
    ///
    /// # Errors
    /// Returns [`FolderError::DescriptionExists`], [`FolderError::NotEmpty`],
    /// [`Misuse::InvalidSuffix`], [`Misuse::InvalidRecipients`] for `write_only` without recipients
    /// or with `names`, and for `sign_key` without it, the errors of [`FolderKeys::wrap`], and
    /// [`Error::Io`].
    pub fn create(folder: &Path, new: &NewFolder<'_>, lock: &FolderLock) -> Result<Self> {
        let path = folder.join(Description::NAME);
        Suffix::Add(OsStr::new(new.suffix)).check()?;
        let absolute = std::path::absolute(folder).map_err(|e| Error::io(folder, e))?;
        if let Some((above, _)) = Description::find_above(parent(&absolute))? {
            return Err(FolderError::DescriptionExists(above.path().to_owned()).into());
        }
        match Folder::list(folder) {
            Ok(_) if path.symlink_metadata().is_ok() => {
                return Err(FolderError::DescriptionExists(path).into());
            }
            Ok(found) => {
                if let Some((name, _)) = found.into_iter().next() {
                    return Err(FolderError::NotEmpty { folder: folder.to_owned(), found: name }.into());
                }
            }
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => return Err(Error::io(folder, e)),
        }
        if new.write_only && new.names {
            return Err(Misuse::InvalidRecipients(NAMES).into());
        }
        if new.sign_key.is_some() && !new.write_only {
            return Err(Misuse::InvalidRecipients(SIGN_KEY).into());
        }
        let keys = if new.write_only { None } else { Some(FolderKeys::generate(new.names)?) };
        let document = Document {
            sealane: "folder".into(),
            version: if new.write_only { 2 } else { 1 },
            folder: new_identifier()?,
            suffix: new.suffix.into(),
            names: new.names,
            preserve: new.preserve,
            ..Document::default()
        };
        let description = Description { path, document };
        let mut made = Self { description, keys, identities: Vec::new(), reserved: None };
        made.seal(lock, new.sign_key)?;
        create_all(folder).map_err(|e| Error::io(folder, e))?;
        made.save(lock, Existing::Refuse)?;
        Ok(made)
    }

    /// Returns the description.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// Returns the fingerprint of the keys, to pin them; without any, of the description.
    ///
    /// # Errors
    /// Returns the errors of [`FolderKeys::fingerprint`].
    pub fn fingerprint(&self) -> Result<Fingerprint> {
        match &self.keys {
            Some(keys) => keys.fingerprint(),
            None => Fingerprint::of_text(&self.description.document.to_json()),
        }
    }

    /// Returns the keyring for the contents of files.
    ///
    /// # Errors
    /// Returns [`Misuse::InvalidRecipients`] for a write-only folder, which has none.
    pub fn content_keys(&self) -> Result<keys::Keyring> {
        let keys = self.keys.as_ref().ok_or(Misuse::InvalidRecipients(WRITE_ONLY))?;
        Ok(keys.content())
    }

    /// Returns the keys that encrypt files, never over one of `inputs`.
    ///
    /// # Errors
    /// Returns the errors of [`EncryptParams::build`].
    pub fn encrypt_with(&self, inputs: &[PathBuf]) -> Result<EncryptWith> {
        let (inputs, key) = (&self.kept(inputs), self.keys.as_ref().map(|keys| keys.content().into()));
        let recipients = if key.is_none() { Some(self.recipients()?) } else { None };
        EncryptParams { key, recipients, inputs, ..EncryptParams::default() }.build()
    }

    /// Returns whether files can be read: not if a write-only folder has just been created.
    pub fn is_readable(&self) -> bool {
        self.keys.is_some() || !self.identities.is_empty()
    }

    /// Returns the keys that decrypt files, never over one of `inputs`.
    ///
    /// # Errors
    /// Returns [`Misuse::InvalidRecipients`] unless [`Self::is_readable`], and the errors of
    /// [`DecryptParams::build`].
    pub fn decrypt_with(&self, inputs: &[PathBuf]) -> Result<DecryptWith> {
        if !self.is_readable() {
            return Err(Misuse::InvalidRecipients(FOR_IDENTITIES).into());
        }
        let (inputs, key) = (&self.kept(inputs), self.keys.as_ref().map(|keys| keys.content().into()));
        let identities = key.is_none().then(|| self.identities.clone());
        DecryptParams { key, identities, inputs, ..DecryptParams::default() }.build()
    }

    fn kept(&self, inputs: &[PathBuf]) -> Vec<PathBuf> {
        [inputs, std::slice::from_ref(&self.description.path)].concat()
    }

    /// Returns the key of the names, if names are encrypted.
    ///
    /// # Errors
    /// Returns the errors of [`NameKey::keyring`].
    pub fn name_key(&self) -> Result<Option<NameKey>> {
        let ring = self.keys.as_ref().and_then(FolderKeys::names);
        ring.map(|ring| NameKey::keyring(&ring)).transpose()
    }

    /// Returns the default place of a manifest: the user's folder for state. A manifest has
    /// plaintext names and is believed, and others may be able to read or change the folder itself.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the user has no such folder, or it cannot be created.
    pub fn manifest(&self) -> Result<PathBuf> {
        let state = keys::state_folder()
            .map_err(|why| io::Error::other(format!("no place for a manifest: {why}")))?;
        let folder = state.join("manifests");
        private_folders().recursive(true).create(&folder).map_err(|e| Error::io(&folder, e))?;
        Ok(folder.join(self.description.identifier()))
    }

    /// Returns whether all files of the folder are under the primary key, so that no rotation is
    /// unfinished. Files that cannot be read are left to the job.
    ///
    /// # Errors
    /// Returns the errors of [`Tree::walk`](crate::Tree::walk) and
    /// [`Rotation::new`](files::Rotation::new).
    pub fn is_rotated(&self) -> Result<bool> {
        let path = &self.description.path;
        let links = if self.description.preserve() { Links::Keep } else { Links::Follow };
        let unfinished = self.description.unfinished();
        let options = TreeOptions { links, description: Some(path), unfinished, ..TreeOptions::default() };
        let tree = Tree::walk(&[parent(path)], None, Suffix::Remove(OsStr::new("")), options)?;
        let with = Rotation::new(&self.content_keys()?, b"", &[])?;
        Ok(tree.pairs.iter().all(|(file, _)| with.is_current(file).unwrap_or(true)))
    }

    /// Sets the options of a job that the description determines.
    ///
    /// # Errors
    /// Returns the errors of [`Self::name_key`], and those of [`Self::reserve`] while another value
    /// has reserved the folder.
    pub fn configure(&self, options: &mut JobOptions) -> Result<()> {
        let Description { path, document } = &self.description;
        options.suffix = OsString::from(&document.suffix);
        options.preserve = document.preserve;
        options.names = self.name_key()?;
        options.description = Some(path.clone());
        options.unfinished = self.description.unfinished().map(OsStr::to_owned);
        options.in_use = self.locked(File::try_lock_shared)?;
        Ok(())
    }

    /// Reserves the folder until this value is dropped: of two jobs that change the keys, one would
    /// lose the other's, and with them the files.
    ///
    /// # Errors
    /// Returns [`Error::Io`] of the kind [`ErrorKind::ResourceBusy`] while other jobs use the
    /// folder, and if one has changed the keys since this value was opened.
    pub fn reserve(&mut self) -> Result<()> {
        self.reserved = self.locked(File::try_lock)?;
        Ok(())
    }

    /// Locks the folder, unless it is reserved or the system cannot lock folders.
    fn locked(&self, lock: fn(&File) -> Result<(), TryLockError>) -> Result<Option<Arc<File>>> {
        if self.reserved.is_some() {
            return Ok(self.reserved.clone());
        }
        let path = &self.description.path;
        let Ok(folder) = File::open(parent(path)) else { return Ok(None) };
        if matches!(lock(&folder), Err(TryLockError::WouldBlock)) {
            let text = "another job uses this folder or changes its keys; try again when it has ended";
            return Err(Error::io(path, io::Error::new(ErrorKind::ResourceBusy, text)));
        }
        self.check_unchanged()?;
        Ok(Some(Arc::new(folder)))
    }

    fn check_unchanged(&self) -> Result<()> {
        let Description { path, document } = &self.description;
        match Description::find(parent(path))? {
            Some(found) if found.document.to_json() != document.to_json() => {
                let text = "another job has changed this file since it was read; open the folder again";
                Err(Error::io(path, io::Error::new(ErrorKind::ResourceBusy, text)))
            }
            _ => Ok(()),
        }
    }

    /// Replaces the keys for contents: what is encrypted from now on is under a new one. The old
    /// ones stay, until [`Self::retire`].
    ///
    /// # Errors
    /// Returns [`Misuse::InvalidRecipients`] with identities for a description without recipients,
    /// and the errors of [`Self::rewrap`].
    pub fn rotate(&mut self, lock: &FolderLock) -> Result<()> {
        self.keys.as_mut().map_or(Ok(()), FolderKeys::rotate)?;
        self.rewrap(&self.same(lock)?)
    }

    /// Disables the keys that [`Self::rotate`] replaced, once all files are under the new one.
    ///
    /// # Errors
    /// As [`Self::rotate`].
    pub fn retire(&mut self, lock: &FolderLock) -> Result<()> {
        self.keys.iter_mut().for_each(FolderKeys::retire);
        self.rewrap(&self.same(lock)?)
    }

    /// Wraps the keys with another lock, and replaces the description. The files stay as they are.
    ///
    /// # Errors
    /// Returns the errors of [`Self::content_keys`], [`Self::reserve`] and [`FolderKeys::wrap`],
    /// and [`Error::Io`]; then the old description remains.
    pub fn rewrap(&mut self, lock: &FolderLock) -> Result<()> {
        self.content_keys()?;
        let _lock = self.locked(File::try_lock)?;
        self.check_unchanged()?;
        self.seal(lock, None)?;
        self.save(lock, Existing::Replace)
    }

    /// Returns what wraps the keys for those who could unwrap them before.
    fn same(&self, lock: &FolderLock) -> Result<FolderLock> {
        if !matches!(lock, FolderLock::Identities(_)) {
            return Ok(lock.clone());
        }
        match self.recipients()? {
            none if none.is_empty() => Err(Misuse::InvalidRecipients(NO_RECIPIENTS).into()),
            recipients => Ok(FolderLock::Recipients(recipients)),
        }
    }

    fn recipients(&self) -> Result<Vec<Recipient>> {
        self.description.document.recipients.iter().map(|text| text.parse()).collect()
    }

    fn seal(&mut self, lock: &FolderLock, sign_key: Option<&SigningKey>) -> Result<()> {
        let document = &mut self.description.document;
        document.recipients = match lock {
            FolderLock::Recipients(recipients) => recipients.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        if let Some(keys) = &self.keys {
            document.keyset = keys.wrap(lock)?;
            document.mac = keys.mac(document.unsigned().as_bytes())?;
        } else if document.recipients.is_empty() {
            return Err(Misuse::InvalidRecipients(WRITE_ONLY).into());
        } else if let Some(key) = sign_key {
            document.mac = key.sign(document.unsigned().as_bytes(), &document.folder)?;
        }
        Ok(())
    }

    fn save(&self, lock: &FolderLock, existing: Existing) -> Result<()> {
        let Description { path, document } = &self.description;
        let text = document.to_json();
        if text.len() > Description::MAX_LEN {
            return Err(Error::LimitExceeded(
                "the description of a folder is limited to 256 KiB; name fewer recipients",
            ));
        }
        let staged = StagedFile::new(path, Access::Inherited)?;
        staged.file().write_all(text.as_bytes()).map_err(|e| Error::io(path, e))?;
        let (place, key) = (place(path, lock), self.fingerprint()?);
        accept_key(&place, &key)?;
        staged.commit(existing, Durability::Synced)?;
        remember_key(&place, &key);
        Ok(())
    }
}

/// Why a write-only folder is not read without an identity.
pub const FOR_IDENTITIES: &str =
    "the files are for recipients; give an identity (-i) to read them; writing needs no key";
const SIGN_KEY: &str =
    "a signing key signs the description of a write-only folder; others are authenticated by their keys";
const NAMES: &str = "encrypted names need a key that the writer holds, and a write-only folder has none; leave out --encrypt-names, or use 'encrypt --recursive -r' with --encrypt-names NAMEKEY";
const WRITE_ONLY: &str = "each file of a write-only folder is for its recipients (-r or -R), and there are no keys to change; make another folder with 'sealane init --write-only'";
const NO_RECIPIENTS: &str = "the description names no recipients, so changed keys can't be encrypted for them; run 'sealane rewrap' first";

/// Returns the name of the keys in the user's file of known keys.
fn place(path: &Path, lock: &FolderLock) -> String {
    let is_url = path.to_string_lossy().contains("://");
    let path = if is_url { path.to_owned() } else { std::path::absolute(path).unwrap_or(path.to_owned()) };
    match lock {
        FolderLock::Service(name) => format!("{}#{}", TokenKey::without_pin(name), path.display()),
        FolderLock::Keyring(_) => format!("key:{}", path.display()),
        _ => format!("age:{}", path.display()),
    }
}

#[cfg(test)]
mod test;
