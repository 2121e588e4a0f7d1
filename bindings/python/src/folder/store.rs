//! The encrypted files of a folder on a store, through `sealane/fs/_stored.py`.

use crate::prelude::*;
use pyo3::exceptions::{PyFileNotFoundError, PyNotADirectoryError};
use sealane::file::{Concurrency, ReadAt};
use sealane::os;
use sealane::vault::{Entry, EntryKind, Storage};
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

/// Files up to this length are fetched whole: one request instead of three.
const WHOLE: u64 = 128 << 10;
/// Bytes fetched at once from a file that is read in order.
const WINDOW: u64 = 4 << 20;

/// A Python object with the methods `list`, `size` and `read`. Every answer of a store may be a
/// lie: the vault verifies what it reads.
pub(crate) struct Store(pub(crate) Arc<Py<PyAny>>);

/// A file, and the encrypted bytes that were fetched last.
struct StoredFile {
    store: Arc<Py<PyAny>>,
    path: OsString,
    len: u64,
    /// Never locked while Python code runs: that may read the same file.
    window: Mutex<(u64, Vec<u8>)>,
}

impl Storage for Store {
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>> {
        type Found = Vec<(OsString, String, u64, Option<f64>)>;
        let found: Found = ask(|py| self.0.call_method1(py, "list", (os::shown(folder),))?.extract(py))
            .map_err(|source| about(folder, source))?;
        let entry = |(name, kind, len, modified): (OsString, String, u64, Option<f64>)| Entry {
            name: name.into_encoded_bytes(),
            kind: match &*kind {
                "file" => EntryKind::File,
                "folder" => EntryKind::Folder,
                "link" => EntryKind::Link,
                _ => EntryKind::Special,
            },
            len,
            modified: modified
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .and_then(|since| UNIX_EPOCH.checked_add(since)),
        };
        Ok(found.into_iter().map(entry).collect())
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>> {
        let name = os::shown(path);
        let len = ask(|py| self.0.call_method1(py, "size", (&name,))?.extract(py));
        let len = len.map_err(|source| about(path, source))?;
        Ok(Box::new(StoredFile { store: self.0.clone(), path: name, len, window: Mutex::default() }))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>> {
        let text = "expected a file or folder, found a link, which is not read from a store";
        Err(about(path, io::Error::new(ErrorKind::Unsupported, text)))
    }
}

impl ReadAt for StoredFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let wanted = (into.len() as u64).min(self.len.saturating_sub(offset));
        let locked = || self.window.lock().unwrap_or_else(PoisonError::into_inner);
        let mut window = std::mem::take(&mut *locked());
        let end = window.0 + window.1.len() as u64;
        if wanted == 0 || !(window.0..end).contains(&offset) {
            let (start, len) = match () {
                () if wanted == 0 => return Ok(0),
                () if self.len <= WHOLE => (0, self.len),
                () if offset == end => (offset, wanted.max(WINDOW).min(self.len - offset)),
                () => (offset, wanted),
            };
            let bytes = ask(|py| {
                let found = self.store.call_method1(py, "read", (&self.path, start, start + len))?;
                Ok(found.bind(py).cast::<PyBytes>()?.as_bytes().to_vec())
            })?;
            if bytes.len() as u64 != len {
                let found = bytes.len();
                return Err(io::Error::other(format!("expected {len} bytes of the store, found {found}")));
            }
            window = (start, bytes);
        }
        let known = &window.1[(offset - window.0) as usize..];
        let n = known.len().min(wanted as usize);
        into[..n].copy_from_slice(&known[..n]);
        *locked() = window;
        Ok(n)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.len)
    }

    fn concurrency(&self) -> Concurrency {
        Concurrency::Serialized
    }
}

/// Calls the store. Its exceptions pass through the core unchanged, except for those that say that
/// nothing is there: the core names what was asked for.
fn ask<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> io::Result<T> {
    Python::attach(|py| {
        call(py).map_err(|error| match () {
            () if error.is_instance_of::<PyFileNotFoundError>(py) => ErrorKind::NotFound.into(),
            () if error.is_instance_of::<PyNotADirectoryError>(py) => ErrorKind::NotADirectory.into(),
            () => io::Error::other(error),
        })
    })
}

fn about(path: &[u8], source: io::Error) -> Error {
    Error::Io { path: Some(os::path_of(path)), source }
}

/// Returns an error with the text of a Python exception, for the program.
pub(super) fn shown(error: PyErr) -> io::Error {
    io::Error::other(Python::attach(|py| error.value(py).to_string()))
}

/// A Python object with the methods `write`, `commit` and `discard`.
pub(super) struct Upload(pub(super) Py<PyAny>);

impl io::Write for Upload {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let written = Python::attach(|py| self.0.call_method1(py, "write", (piece,))?.extract(py));
        written.map_err(shown)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl cli::Upload for Upload {
    fn commit(self: Box<Self>) -> Result<()> {
        Ok(Python::attach(|py| self.0.call_method0(py, "commit").map(drop)).map_err(shown)?)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        // After `commit` this does nothing. An error came with another one, which is reported.
        let _ = Python::attach(|py| self.0.call_method0(py, "discard"));
    }
}
