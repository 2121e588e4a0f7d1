//! Our own folders that describe themselves.

use crate::prelude::*;
use crate::tree::about;
use base::Misuse;
use base::os;
use files::{DecryptWith, Format, Reader, inspect_source, plain_len};
use folders::{DescribedFolder, Description, FOR_IDENTITIES, NameKey, is_unfinished};
use std::ffi::{OsStr, OsString};

/// A folder with a description, see [`DescribedFolder`], as a vault.
pub struct OwnFolder {
    storage: Arc<dyn Storage>,
    suffix: String,
    /// See [`Description::unfinished`].
    unfinished: Option<OsString>,
    names: Option<NameKey>,
    /// `None` for a write-only folder without an identity, which can be listed.
    with: Option<DecryptWith>,
    /// Whether the files are of age, with headers of any length.
    is_age: bool,
}

impl OwnFolder {
    /// Opens the folder in `storage`; `folder` is its description with the keys.
    ///
    /// # Errors
    /// Returns the errors of [`DescribedFolder::name_key`] and [`DescribedFolder::decrypt_with`].
    pub fn new(storage: Arc<dyn Storage>, folder: &DescribedFolder) -> Result<Self> {
        let names = folder.name_key()?;
        let with = folder.is_readable().then(|| folder.decrypt_with(&[])).transpose()?;
        let about = folder.description();
        let (suffix, unfinished) = (about.suffix().to_owned(), about.unfinished().map(OsStr::to_owned));
        Ok(Self { storage, suffix, unfinished, names, with, is_age: about.is_write_only() })
    }

    /// Reads the description of the folder in `storage`; `path` names it in errors and in the
    /// user's file of known keys.
    ///
    /// # Errors
    /// Returns the errors of [`Description::parse`] and of the storage.
    pub fn description(storage: &dyn Storage, path: &Path) -> Result<Description> {
        let source = storage.open(Description::NAME.as_bytes())?;
        // One byte more than a description may have, which `parse` refuses.
        let len = source.size().map_err(|e| Error::io(path, e))?.min(Description::MAX_LEN as u64 + 1);
        let mut content = vec![0; len as usize];
        source.read_exact_at(0, &mut content).map_err(|e| Error::io(path, e))?;
        Description::parse(path, &content)
    }

    /// Returns the plaintext name of a stored one in `folder`, a plaintext path; `None` for a file
    /// without the suffix.
    fn plain(&self, stored: &Entry, folder: &Path) -> Result<Option<Vec<u8>>> {
        let suffix = if stored.kind == EntryKind::Folder { "" } else { &self.suffix };
        let Some(name) = stored.name.strip_suffix(suffix.as_bytes()) else { return Ok(None) };
        Ok(Some(match &self.names {
            None => name.to_vec(),
            Some(key) => os::bytes_of_path(key.decrypt(path_of(name).as_os_str(), folder)?),
        }))
    }

    /// Returns where the file, link or folder with a plaintext path is stored.
    fn stored(&self, path: &[u8], suffix: &str) -> Result<Vec<u8>> {
        let (path, mut plain, mut stored) = (path_of(path), PathBuf::new(), PathBuf::new());
        let mut parts = path.iter().peekable();
        while let Some(name) = parts.next() {
            let suffix = OsStr::new(if parts.peek().is_none() { suffix } else { "" });
            stored.push(match &self.names {
                Some(key) => key.encrypt(name, &plain, suffix)?,
                None => [name, suffix].into_iter().collect::<OsString>(),
            });
            plain.push(name);
        }
        Ok(os::bytes_of_path(stored.into_os_string()))
    }

    fn about(path: &[u8], error: Error) -> Error {
        Error::InVault { path: path_of(path), source: Box::new(error) }
    }
}

impl Vault for OwnFolder {
    fn list(&self, folder: &[u8]) -> Result<Listing> {
        let stored = self.stored(folder, "")?;
        let plain = path_of(folder);
        let is_description = |entry: &Entry| folder.is_empty() && entry.name == Description::NAME.as_bytes();
        let is_left = |entry: &Entry| {
            let is_named = |suffix| is_unfinished(path_of(&entry.name).as_os_str(), suffix);
            entry.kind == EntryKind::File && self.unfinished.as_deref().is_some_and(is_named)
        };
        let found = |entry: Entry| {
            let found = self.plain(&entry, &plain).and_then(|name| {
                let expected = "expected a name that ends with the suffix of the folder; another program may have made it";
                let name = name.ok_or(Error::Format(expected))?;
                let len = match entry.kind {
                    EntryKind::File if self.is_age => {
                        let file = self.storage.open(&join(&stored, &entry.name))?;
                        inspect_source(&file, entry.len, Some(Format::Age)).map(|found| found.plaintext_len)
                    }
                    EntryKind::File => plain_len(entry.len),
                    _ => Ok(0),
                };
                // A file that is not whole is an error when it is opened.
                let len = len.unwrap_or(0);
                Ok(Some(Entry { name, len, ..entry.clone() }))
            });
            (join(&stored, &entry.name), found)
        };
        let entries = self
            .storage
            .list(&stored)
            .map_err(|error| about(folder, error))?
            .into_iter()
            .filter(|entry| !is_description(entry) && !is_left(entry));
        Ok(Listing::new(entries.map(found)))
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn Contents>> {
        let stored = self.stored(path, &self.suffix)?;
        let file = self.storage.open(&stored).map_err(|error| about(path, error))?;
        let with = self.with.as_ref().ok_or(Misuse::InvalidRecipients(FOR_IDENTITIES))?;
        let reader = Reader::new(file, with);
        Ok(Box::new(OwnFile(reader.map_err(|error| Self::about(&stored, error))?, stored)))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        let stored = self.stored(path, &self.suffix)?;
        let text = self.storage.read_link(&stored).map_err(|error| about(path, error))?;
        let Some(key) = &self.names else { return Ok(text) };
        let text = key.decrypt_link(&path_of(&text), &path_of(path));
        text.map(|text| os::bytes_of_path(text.into_os_string())).map_err(|error| Self::about(&stored, error))
    }

    fn stored_path(&self, path: &[u8]) -> Option<Vec<u8>> {
        self.stored(path, &self.suffix).ok()
    }

    fn plain_path(&self, stored: &[u8]) -> Option<Vec<u8>> {
        let bare = stored.strip_suffix(self.suffix.as_bytes());
        let Some(key) = &self.names else {
            let is_file = |path: &[u8]| self.storage.open(path).is_ok();
            let is_plain = || is_file(&[stored, self.suffix.as_bytes()].concat());
            return bare.filter(|_| !is_plain() && is_file(stored)).map(<[u8]>::to_vec);
        };
        let plain = |path: &[u8]| key.decrypt_path(&path_of(path)).ok();
        // The names of folders have no suffix.
        let found = bare.and_then(plain).or_else(|| plain(stored));
        found.map(|path| os::bytes_of_path(path.into_os_string()))
    }
}

debug_fields!(OwnFolder; |it| suffix: it.suffix);

/// An encrypted file, and where it is stored.
struct OwnFile(Reader<Box<dyn ReadAt>>, Vec<u8>);

impl Contents for OwnFile {
    fn size(&self) -> u64 {
        self.0.size()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        self.0.read_at(offset, into).map_err(|error| {
            into.fill(0);
            OwnFolder::about(&self.1, error)
        })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod test {
    use super::*;
    use crate::LocalFolder;
    use folders::NewFolder;
    use folders::bulk::Operation;
    use folders::job::{Job, JobKeys, JobOptions};
    use keys::{FolderLock, Key};
    use std::fs;
    use std::ops::ControlFlow;

    /// A described folder is read by its plaintext paths, and every changed name or file is found.
    #[test]
    fn described_folders() {
        let root = std::env::temp_dir().join(format!("sealane-own-{}", std::process::id()));
        let [data, folder] = ["data", "folder"].map(|name| root.join(name));
        fs::create_dir_all(data.join("sub/deep")).unwrap();
        fs::write(data.join("sub/deep/file.txt"), b"hello").unwrap();
        fs::write(data.join("empty"), b"").unwrap();
        std::os::unix::fs::symlink("sub/deep", data.join("link")).unwrap();
        let lock = FolderLock::key(&Key::generate(32).unwrap()).unwrap();
        for names in [false, true] {
            let new = NewFolder { suffix: ".x", names, preserve: true, ..Default::default() };
            let described = DescribedFolder::create(&folder, &new, &lock).unwrap();
            let mut options =
                JobOptions { inputs: vec![data.clone()], output: Some(folder.clone()), ..Default::default() };
            described.configure(&mut options).unwrap();
            let operation = Operation::Encrypt(described.encrypt_with(&[]).unwrap());
            let keys = JobKeys { operation: &operation, inventory: None, compare: None };
            let run = Job::new(options).unwrap().run(&keys, &|| false, &mut |_| ControlFlow::Continue(()));
            run.unwrap();
            let storage = Arc::new(LocalFolder::open(&folder).unwrap());
            let (again, _) = OwnFolder::description(&*storage, &folder.join(".sealane"))
                .unwrap()
                .open(&lock, None)
                .unwrap();
            let vault = OwnFolder::new(storage, &again).unwrap();
            let listed: Vec<_> = vault
                .list(b"")
                .unwrap()
                .whole()
                .unwrap()
                .into_iter()
                .map(|it| (it.name, it.kind, it.len))
                .collect();
            assert_eq!(
                listed,
                [
                    (b"empty".to_vec(), EntryKind::File, 0),
                    (b"link".to_vec(), EntryKind::Link, 0),
                    (b"sub".to_vec(), EntryKind::Folder, 0),
                ]
            );
            assert_eq!(vault.read_link(b"link").unwrap(), b"sub/deep");
            assert_eq!(vault.list(b"sub/deep").unwrap().entries[0].len, 5);
            let contents = vault.open(b"sub/deep/file.txt").unwrap();
            let mut read = [1; 9];
            assert_eq!((contents.size(), contents.read_at(1, &mut read).unwrap()), (5, 4));
            assert_eq!(&read[..4], b"ello");
            assert!(vault.open(b"sub/none").is_err() && vault.list(b"none").is_err());
            for path in [&b"sub/deep/file.txt"[..], b"empty"] {
                let stored = vault.stored_path(path).unwrap();
                assert!(folder.join(path_of(&stored)).is_file());
                assert_eq!(vault.plain_path(&stored).as_deref(), Some(path));
                assert_eq!(vault.plain_path(path), None);
            }
            fs::write(folder.join(".a.x.0123456789abcdef.part"), b"x").unwrap();
            assert_eq!(vault.list(b"").unwrap().whole().unwrap().len(), 3);
            fs::write(folder.join("odd"), b"x").unwrap();
            let listing = vault.list(b"").unwrap();
            assert_eq!((listing.entries.len(), &listing.problems[0].0[..]), (3, &b"odd"[..]));
            assert!(matches!(listing.whole(), Err(Error::InVault { .. })));
            fs::remove_dir_all(&folder).unwrap();
        }
        fs::remove_dir_all(&root).unwrap();
    }
}
