//! One encrypted file as a vault.

use crate::prelude::*;
use crate::walk::find;
use engine::io::open_regular;
use files::{DecryptWith, Reader};
use std::time::SystemTime;

/// An encrypted file as a vault that contains it alone, under its name without `.sealed` or `.age`.
pub struct SingleFile {
    entry: Entry,
    contents: Arc<dyn Contents>,
}

impl SingleFile {
    /// Opens the file at `path`. Its end is verified.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path, and the errors of [`Reader::new`].
    pub fn open(path: &Path, with: &DecryptWith) -> Result<Self> {
        let file = open_regular(path)?;
        let modified = file.metadata().and_then(|found| found.modified()).ok();
        Ok(Self::new(path, Reader::new(file, with)?, modified))
    }

    /// Opens the file with the name `name` at the top of a storage. Its end is verified.
    ///
    /// # Errors
    /// Returns the errors of the storage, and of [`Reader::new`].
    pub fn stored(storage: &dyn Storage, name: &[u8], with: &DecryptWith) -> Result<Self> {
        Ok(Self::new(&path_of(name), Reader::new(storage.open(name)?, with)?, None))
    }

    /// Opens a file of a vault, alone.
    ///
    /// # Errors
    /// Returns the errors of [`find`] and [`Vault::open`].
    pub fn of(vault: &dyn Vault, path: &[u8]) -> Result<Self> {
        Ok(Self { entry: find(vault, path)?, contents: vault.open(path)?.into() })
    }

    fn new<S: ReadAt + 'static>(path: &Path, contents: Reader<S>, modified: Option<SystemTime>) -> Self {
        let is_ours = path.extension().is_some_and(|end| end == "sealed" || end == "age");
        let name = if is_ours { path.file_stem() } else { path.file_name() };
        let name = name.unwrap_or_default().as_encoded_bytes().to_vec();
        let entry = Entry { name, kind: EntryKind::File, len: contents.size(), modified };
        Self { entry, contents: Arc::new(contents) }
    }

    /// Returns the name of the file in this vault.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.entry.name
    }
}

impl Vault for SingleFile {
    fn list(&self, folder: &[u8]) -> Result<Listing> {
        let entries = vec![self.entry.clone()];
        if folder.is_empty() { Ok(Listing { entries, ..Listing::default() }) } else { Err(missing()) }
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn Contents>> {
        if path == self.entry.name { Ok(Box::new(self.contents.clone())) } else { Err(missing()) }
    }

    fn read_link(&self, _: &[u8]) -> Result<Vec<u8>> {
        Err(missing())
    }
}

fn missing() -> Error {
    std::io::Error::from(ErrorKind::NotFound).into()
}

impl<S: ReadAt> Contents for Reader<S> {
    fn size(&self) -> u64 {
        self.size()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        self.read_at(offset, into).inspect_err(|_| into.fill(0))
    }
}

impl<C: Contents + ?Sized> Contents for Arc<C> {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize> {
        (**self).read_at(offset, into)
    }
}

debug_fields!(SingleFile; |it| entry: it.entry);
