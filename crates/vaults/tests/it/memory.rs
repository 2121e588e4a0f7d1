//! A storage in memory, which a test can change.

use engine::io::ReadAt;
use sealane::Error;
use sealane::vault::{Entry, EntryKind, Storage};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::{Arc, RwLock};
use vectors::Stored;

/// Stored files, folders and links by their paths.
#[derive(Clone, Debug)]
pub(crate) struct Memory(pub(crate) BTreeMap<Vec<u8>, Stored>);

impl Memory {
    pub(crate) fn new(stored: &[(Vec<u8>, Stored)]) -> Self {
        Self(stored.iter().filter(|(path, _)| !path.is_empty() && path != b".").cloned().collect())
    }

    /// Returns the paths and lengths of all files.
    pub(crate) fn files(&self) -> Vec<(Vec<u8>, usize)> {
        let file = |(path, stored): (&Vec<u8>, &Stored)| match stored {
            Stored::File(bytes) => Some((path.clone(), bytes.len())),
            _ => None,
        };
        self.0.iter().filter_map(file).collect()
    }

    /// Changes the content of a file.
    pub(crate) fn edit(&mut self, path: &[u8], edit: impl FnOnce(&mut Vec<u8>)) {
        let Some(Stored::File(bytes)) = self.0.get_mut(path) else { panic!("{path:?} is no file") };
        edit(bytes);
    }

    /// Moves a file, folder or link, with all that is in it.
    pub(crate) fn rename(&mut self, from: &[u8], to: &[u8]) {
        let inside = |path: &[u8]| path == from || path.starts_with(&[from, b"/"].concat());
        let moved: Vec<_> = self.0.keys().filter(|path| inside(path)).cloned().collect();
        for path in moved {
            let stored = self.0.remove(&path).unwrap();
            self.0.insert([to, &path[from.len()..]].concat(), stored);
        }
    }

    fn find(&self, path: &[u8]) -> Result<&Stored, Error> {
        self.0.get(path).ok_or_else(|| failed(path, ErrorKind::NotFound))
    }
}

/// A storage that a test changes below an open vault.
#[derive(Clone)]
pub(crate) struct Shared(Arc<RwLock<Memory>>);

impl Shared {
    pub(crate) fn new(vault: Memory) -> Self {
        Self(Arc::new(RwLock::new(vault)))
    }

    /// Calls `work` with a changed storage, and undoes the change.
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut Memory), work: impl FnOnce() -> T) -> T {
        let before = self.0.read().unwrap().clone();
        change(&mut self.0.write().unwrap());
        let result = work();
        *self.0.write().unwrap() = before;
        result
    }
}

impl Storage for Shared {
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>, Error> {
        self.0.read().unwrap().list(folder)
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>, Error> {
        self.0.read().unwrap().open(path)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.read().unwrap().read_link(path)
    }
}

fn failed(path: &[u8], kind: ErrorKind) -> Error {
    Error::Io { path: Some(PathBuf::from(String::from_utf8_lossy(path).into_owned())), source: kind.into() }
}

impl Storage for Memory {
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>, Error> {
        if !folder.is_empty() && *self.find(folder)? != Stored::Folder {
            return Err(failed(folder, ErrorKind::NotADirectory));
        }
        let start = if folder.is_empty() { Vec::new() } else { [folder, b"/"].concat() };
        let entry = |(path, stored): (&Vec<u8>, &Stored)| {
            let name = path.strip_prefix(&start[..])?;
            let (kind, len) = match stored {
                Stored::File(bytes) => (EntryKind::File, bytes.len() as u64),
                Stored::Folder => (EntryKind::Folder, 0),
                Stored::Link(_) => (EntryKind::Link, 0),
            };
            (!name.contains(&b'/')).then(|| Entry { name: name.to_vec(), kind, len, modified: None })
        };
        Ok(self.0.iter().filter_map(entry).collect())
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>, Error> {
        match self.find(path)? {
            Stored::File(bytes) => Ok(Box::new(Bytes(bytes.clone()))),
            Stored::Folder => Err(failed(path, ErrorKind::IsADirectory)),
            Stored::Link(_) => Err(failed(path, ErrorKind::Unsupported)),
        }
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        match self.find(path)? {
            Stored::Link(text) => Ok(text.clone()),
            _ => Err(failed(path, ErrorKind::InvalidInput)),
        }
    }
}

struct Bytes(Vec<u8>);

impl ReadAt for Bytes {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.0[..].read_at(offset, into)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }
}
