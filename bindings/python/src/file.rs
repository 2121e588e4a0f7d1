//! `sealane.encrypt_file` and its kin, and what `sealane.open` stands on. The file objects themselves are Python, in
//! `sealane/_file.py`.

use crate::buffer::{Slot, fresh};
use crate::error::{raise, raise_about};
use crate::file_keys::{self, DecryptWith, EncryptWith};
use crate::place::{Object, Place, Sink, path};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::Error;
use sealane::age::Armor;
use sealane::file::{self, Durability, Opening, Options, Sealing};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A large read stops here and there to let a pending signal through.
const BETWEEN_SIGNALS: usize = 64 << 20;

type Callback = Option<Py<PyAny>>;

/// Encrypts the file ``src`` to the file ``dst``. Paths only; see ``sealane.encrypt_file``.
#[pyfunction]
pub(crate) fn encrypt_path(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    lock: &EncryptWith,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
) -> PyResult<()> {
    with_options(py, threads, progress, durable, &src, |options| {
        file::encrypt_file(&src, &dst, lock.core(), options)
    })
}

/// Decrypts the file ``src`` to the file ``dst``. Paths only; see ``sealane.decrypt_file``.
#[pyfunction]
pub(crate) fn decrypt_path(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    unlock: &DecryptWith,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
) -> PyResult<()> {
    with_options(py, threads, progress, durable, &src, |options| {
        file::decrypt_file(&src, &dst, unlock.core(), options)
    })
}

/// Verifies the file ``src``. Paths only; see ``sealane.verify_file``.
#[pyfunction]
pub(crate) fn verify_path(
    py: Python<'_>,
    src: PathBuf,
    unlock: &DecryptWith,
    threads: Option<usize>,
    progress: Callback,
) -> PyResult<()> {
    with_options(py, threads, progress, false, &src, |options| {
        file::verify_file(&src, unlock.core(), options)
    })
}

/// What can be told of an encrypted file without a key. Nothing of it is verified.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct FileInfo {
    format: &'static str,
    /// Whether the file is text.
    armor: bool,
    /// The kinds of those who can read it, in their order, as the format names them. Of age files only.
    recipients: Vec<String>,
    /// Bytes of the file.
    file_len: u64,
    /// Bytes of plaintext, if the file is whole.
    plaintext_len: u64,
    chunks: u64,
    /// Bytes of plaintext in a full chunk.
    chunk_len: u64,
}

#[pymethods]
impl FileInfo {
    fn __repr__(&self) -> String {
        let Self { format, plaintext_len, chunks, .. } = self;
        format!("<{format}: {plaintext_len} bytes of plaintext in {chunks} chunks>")
    }
}

/// Tells what a file and its size say. Paths only; see ``sealane.inspect``.
#[pyfunction]
pub(crate) fn inspect_path(py: Python<'_>, src: PathBuf, format: Option<&str>) -> PyResult<FileInfo> {
    let format = file_keys::named(format)?;
    let info = py.detach(|| file::inspect(&src, format)).map_err(|e| raise_about(&src, e))?;
    let file::Info { format, armor, recipients, file_len, plaintext_len, chunks, chunk_len, .. } = info;
    let armor = armor == Armor::Ascii;
    Ok(FileInfo { format, armor, recipients, file_len, plaintext_len, chunks, chunk_len })
}

/// The bytes of an encrypted file with the plaintext ``data``. See ``sealane.encrypt``.
#[pyfunction]
pub(crate) fn encrypt_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    lock: &EncryptWith,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    let sealing = py.detach(|| Sealing::new(data, lock.core())).map_err(raise)?;
    fresh(py, sealing.len(), |out| py.detach(|| sealing.write_into(out)).map_err(raise))
}

/// The plaintext of the bytes of an encrypted file. See ``sealane.decrypt``.
#[pyfunction]
pub(crate) fn decrypt_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    unlock: &DecryptWith,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    let opening = py.detach(|| Opening::new(data, unlock.core())).map_err(raise)?;
    fresh(py, opening.len(), |out| py.detach(|| opening.read_into(out)).map_err(raise))
}

/// An encrypted file that can be read anywhere. Safe to share between threads.
///
/// Always detached while it works: two threads that wait for each other, one for the interpreter and one for the lock
/// inside, would wait forever.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Reader {
    core: file::Reader<Place>,
}

#[pymethods]
impl Reader {
    /// Verifies the header and the last chunk of ``src``, a path or a seekable binary file object.
    #[new]
    fn new(py: Python<'_>, src: &Bound<'_, PyAny>, unlock: &DecryptWith) -> PyResult<Self> {
        let place = Place::new(src)?;
        let path = place.path();
        let core =
            py.detach(|| file::Reader::new(place, unlock.core())).map_err(|e| raise_named(&path, e))?;
        Ok(Self { core })
    }

    /// Exactly ``n`` bytes from ``offset`` on, or those up to the end.
    fn read_at<'py>(&self, py: Python<'py>, offset: u64, n: usize) -> PyResult<Bound<'py, PyBytes>> {
        let rest = usize::try_from(self.core.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        fresh(py, n.min(rest), |out| self.fill(py, offset, out).map(drop))
    }

    /// Fills ``into`` from ``offset`` on; returns the number of bytes.
    fn readinto_at<'py>(&self, py: Python<'py>, offset: u64, into: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        self.fill(py, offset, slot.write(into)?.bytes())
    }

    /// Bytes of plaintext.
    #[getter]
    fn size(&self) -> u64 {
        self.core.size()
    }
}

impl Reader {
    fn fill(&self, py: Python<'_>, offset: u64, out: &mut [u8]) -> PyResult<usize> {
        let mut done = 0;
        for piece in out.chunks_mut(BETWEEN_SIGNALS) {
            let wanted = piece.len();
            let n = py
                .detach(|| self.core.read_at(offset + done as u64, piece))
                .map_err(|e| raise_named(&self.core.source().path(), e))?;
            done += n;
            if n < wanted {
                break;
            }
            if wanted == BETWEEN_SIGNALS {
                py.check_signals()?;
            }
        }
        Ok(done)
    }
}

/// Encrypts pieces on their way to a file.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Writer(Mutex<Option<Box<Making>>>);

enum Making {
    Path(file::Writer),
    Object(file::Encryptor<Object>),
}

#[pymethods]
impl Writer {
    /// Begins a file at ``dst``, a path or a binary file object.
    #[new]
    fn new(py: Python<'_>, dst: &Bound<'_, PyAny>, lock: &EncryptWith) -> PyResult<Self> {
        let making = match path(dst)? {
            Some(path) => py.detach(|| file::Writer::create(&path, lock.core())).map(Making::Path),
            None => {
                let object = Object::new(dst);
                py.detach(|| file::Encryptor::new(object, lock.core())).map(Making::Object)
            }
        };
        Ok(Self(Mutex::new(Some(Box::new(making.map_err(raise)?)))))
    }

    /// Encrypts a piece; returns its length. After a failure the file is lost.
    fn write<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        let push = |making: &mut Making| match making {
            Making::Path(writer) => writer.push(piece),
            Making::Object(encryptor) => encryptor.push(piece),
        };
        py.detach(|| pushed(&self.0, push))?.map_err(raise)?;
        Ok(piece.len())
    }

    /// Writes the rest; a path gets its file now.
    fn finish(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        let making = py.detach(|| take(&self.0)).ok_or_else(lost)?;
        py.detach(|| match *making {
            Making::Path(writer) => writer.finish(durability(durable)),
            Making::Object(encryptor) => encryptor.finish().map(drop),
        })
        .map_err(raise)
    }

    /// Forgets the file: a path never gets it, and a file object is left without the end that makes it whole.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(take(&self.0)));
    }
}

/// Decrypts pieces on their way to a path or a binary file object, or verifies them on their way to nowhere.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Decryptor {
    making: Mutex<Option<Box<file::Decryptor<Sink>>>>,
    /// What an answer of the operating system is about.
    path: Option<PathBuf>,
}

#[pymethods]
impl Decryptor {
    #[new]
    fn new(py: Python<'_>, dst: Option<&Bound<'_, PyAny>>, unlock: &DecryptWith) -> PyResult<Self> {
        let sink = dst.map_or(Ok(Sink::Nowhere), |dst| Sink::new(py, dst))?;
        let path = dst.map_or(Ok(None), path)?;
        Ok(Self { making: Mutex::new(Some(Box::new(file::Decryptor::new(sink, unlock.core())))), path })
    }

    /// Decrypts a piece; returns its length.
    fn write<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        py.detach(|| pushed(&self.making, |decryptor| decryptor.push(piece)))?
            .map_err(|e| raise_named(&self.path, e))?;
        Ok(piece.len())
    }

    /// Verifies that the end was the end; a path gets its file now.
    fn finish(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        let decryptor = py.detach(|| take(&self.making)).ok_or_else(lost)?;
        py.detach(|| decryptor.finish().and_then(|sink| sink.finish(durability(durable))))
            .map_err(|e| raise_named(&self.path, e))
    }

    /// Forgets what was decrypted: a path never gets a file.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(take(&self.making)));
    }
}

/// Pushes to what is in the making. A failed push may have written a part, so what it failed on is thrown away: going
/// on would seal other bytes under the same nonce.
fn pushed<T>(
    making: &Mutex<Option<Box<T>>>,
    push: impl FnOnce(&mut T) -> Result<(), Error>,
) -> PyResult<Result<(), Error>> {
    let mut making = making.lock().unwrap_or_else(PoisonError::into_inner);
    let result = push(making.as_mut().ok_or_else(lost)?);
    if result.is_err() {
        *making = None;
    }
    Ok(result)
}

fn take<T>(making: &Mutex<Option<T>>) -> Option<T> {
    making.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cold]
fn lost() -> PyErr {
    PyValueError::new_err("the file was finished before, or lost by an earlier failure")
}

/// Runs `work` detached, with a hook that lets signals through and reports progress, both on the calling thread.
fn with_options(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
    about: &Path,
    work: impl FnOnce(Options<'_>) -> Result<(), Error> + Send,
) -> PyResult<()> {
    let threads = match threads.map(NonZeroUsize::new) {
        Some(None) => return Err(PyValueError::new_err("threads must be at least 1")),
        Some(some) => some,
        None => None,
    };
    let mut raised = None;
    let result = py.detach(|| {
        let mut hook = |done: u64, total: Option<u64>| {
            let said = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
            });
            match said {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        work(Options { threads, progress: Some(&mut hook), durability: durability(durable) })
    });
    match raised {
        Some(error) => Err(error),
        None => result.map_err(|e| raise_about(about, e)),
    }
}

pub(crate) fn durability(durable: bool) -> Durability {
    if durable { Durability::Synced } else { Durability::Cached }
}

fn raise_named(path: &Option<PathBuf>, error: Error) -> PyErr {
    match path {
        Some(path) => raise_about(path, error),
        None => raise(error),
    }
}
