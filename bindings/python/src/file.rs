//! The native part of `sealane.encrypt_file` and its companions, and of the file objects in `sealane/_open.py`.

use crate::buffer::{Slot, fresh};
use crate::detach::interruptible;
use crate::error::{raise, raise_about};
use crate::file_keys::{self, DecryptWith, EncryptWith};
use crate::io::{FileSink, FileSource, PyFile, path};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::Error;
use sealane::age::Armor;
use sealane::file::{self, BufferDecryptor, BufferEncryptor, Durability, Options};
use std::io::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Number of bytes after which a large read handles pending signals.
const BYTES_BETWEEN_SIGNALS: usize = 64 << 20;

type Callback = Option<Py<PyAny>>;

/// Encrypts the file ``src`` to the file ``dst``, which are paths only; see ``sealane.encrypt_file``.
#[pyfunction]
pub(crate) fn encrypt_path(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    encryption: &EncryptWith,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
) -> PyResult<()> {
    with_options(py, threads, progress, durable, &src, |options| {
        file::encrypt_file(&src, &dst, encryption.core(), options)
    })
}

/// Decrypts the file ``src`` to the file ``dst``, which are paths only; see ``sealane.decrypt_file``.
#[pyfunction]
pub(crate) fn decrypt_path(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    decryption: &DecryptWith,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
) -> PyResult<()> {
    with_options(py, threads, progress, durable, &src, |options| {
        file::decrypt_file(&src, &dst, decryption.core(), options)
    })
}

/// Verifies the file ``src``, which is a path only; see ``sealane.verify_file``.
#[pyfunction]
pub(crate) fn verify_path(
    py: Python<'_>,
    src: PathBuf,
    decryption: &DecryptWith,
    threads: Option<usize>,
    progress: Callback,
) -> PyResult<()> {
    with_options(py, threads, progress, false, &src, |options| {
        file::verify_file(&src, decryption.core(), options)
    })
}

/// The format, the recipients and the sizes of an encrypted file, none of which is verified.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct FileInfo {
    /// Name of the specification of the format, for example "age v1" or "chunked-encryption@v1".
    format: &'static str,
    /// Whether the file is text, that is, an age file in PEM armor.
    armor: bool,
    /// The types of the recipients of an age file, in their order, for example "X25519" or "scrypt".
    recipients: Vec<String>,
    /// Size of the encrypted file in bytes, with its header and tags.
    file_len: u64,
    /// Number of plaintext bytes in the file, if the file is complete and unchanged.
    plaintext_len: u64,
    /// Number of chunks that the plaintext is divided into.
    chunks: u64,
    /// Number of plaintext bytes in each chunk except the last, which may be shorter.
    chunk_len: u64,
}

#[pymethods]
impl FileInfo {
    fn __repr__(&self) -> String {
        let Self { format, plaintext_len, chunks, .. } = self;
        format!("<{format}: {plaintext_len} bytes of plaintext in {chunks} chunks>")
    }
}

/// Inspects the file ``src``, which is a path only; see ``sealane.inspect``.
#[pyfunction]
pub(crate) fn inspect_path(py: Python<'_>, src: PathBuf, format: Option<&str>) -> PyResult<FileInfo> {
    let format = file_keys::named(format)?;
    let info = py.detach(|| file::inspect(&src, format)).map_err(|e| raise_about(&src, e))?;
    let file::Info { format, armor, recipients, file_len, plaintext_len, chunks, chunk_len, .. } = info;
    let armor = armor == Armor::Ascii;
    Ok(FileInfo { format, armor, recipients, file_len, plaintext_len, chunks, chunk_len })
}

/// Encrypts ``data`` and returns the bytes of an encrypted file; see ``sealane.encrypt``.
#[pyfunction]
pub(crate) fn encrypt_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    encryption: &EncryptWith,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    let sealing = interruptible(py, || BufferEncryptor::new(data, encryption.core()))?.map_err(raise)?;
    fresh(py, sealing.len(), |out| py.detach(|| sealing.encrypt_into(out)).map_err(raise))
}

/// Decrypts the bytes of an encrypted file and returns the plaintext; see ``sealane.decrypt``.
#[pyfunction]
pub(crate) fn decrypt_bytes<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    decryption: &DecryptWith,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    let opening = interruptible(py, || BufferDecryptor::new(data, decryption.core()))?.map_err(raise)?;
    fresh(py, opening.len(), |out| py.detach(|| opening.decrypt_into(out)).map_err(raise))
}

/// An encrypted file that is read at any position and that several threads may share.
///
/// It always works detached from the interpreter. Otherwise a thread that waits for the lock inside and a thread that
/// waits for the interpreter could form a deadlock.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Reader {
    core: file::Reader<FileSource>,
}

#[pymethods]
impl Reader {
    /// Verifies the header and the last chunk of ``src``, a path or a seekable binary file object.
    #[new]
    fn new(py: Python<'_>, src: &Bound<'_, PyAny>, decryption: &DecryptWith) -> PyResult<Self> {
        let source = FileSource::new(src)?;
        let path = source.path();
        let core = interruptible(py, || file::Reader::new(source, decryption.core()))?;
        Ok(Self { core: core.map_err(|e| raise_named(&path, e))? })
    }

    /// Reads ``n`` bytes from ``offset``, or fewer at the end of the file.
    fn read_at<'py>(&self, py: Python<'py>, offset: u64, n: usize) -> PyResult<Bound<'py, PyBytes>> {
        let rest = usize::try_from(self.core.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        fresh(py, n.min(rest), |out| self.fill(py, offset, out).map(drop))
    }

    /// Reads from ``offset`` into ``into`` and returns the number of bytes.
    fn readinto_at<'py>(&self, py: Python<'py>, offset: u64, into: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        self.fill(py, offset, slot.write(into)?.bytes())
    }

    /// Number of plaintext bytes in the whole file.
    #[getter]
    fn size(&self) -> u64 {
        self.core.size()
    }
}

impl Reader {
    fn fill(&self, py: Python<'_>, offset: u64, out: &mut [u8]) -> PyResult<usize> {
        let mut done = 0;
        for piece in out.chunks_mut(BYTES_BETWEEN_SIGNALS) {
            let wanted = piece.len();
            let n = py
                .detach(|| self.core.read_at(offset + done as u64, piece))
                .map_err(|e| raise_named(&self.core.source().path(), e))?;
            done += n;
            if n < wanted {
                break;
            }
            if wanted == BYTES_BETWEEN_SIGNALS {
                py.check_signals()?;
            }
        }
        Ok(done)
    }
}

/// Encrypts pieces of plaintext, of any length, to one new file.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Writer(Mutex<Option<Box<NewFile>>>);

enum NewFile {
    Path(file::Writer),
    Object(file::Encryptor<PyFile>),
}

#[pymethods]
impl Writer {
    /// Begins a file at ``dst``, a path or a binary file object. With ``exclusive``, a path must not exist.
    #[new]
    fn new(
        py: Python<'_>,
        dst: &Bound<'_, PyAny>,
        encryption: &EncryptWith,
        exclusive: bool,
    ) -> PyResult<Self> {
        let encryption = encryption.core();
        let create = if exclusive { file::Writer::create_new } else { file::Writer::create };
        let new = match path(dst)? {
            Some(path) => interruptible(py, || create(&path, encryption))?.map(NewFile::Path),
            None => {
                let object = PyFile::new(dst);
                interruptible(py, || file::Encryptor::new(object, encryption))?.map(NewFile::Object)
            }
        };
        Ok(Self(Mutex::new(Some(Box::new(new.map_err(raise)?)))))
    }

    /// Encrypts a piece and returns its length in bytes; after a failure the file is lost.
    fn write<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        let push = |new: &mut NewFile| match new {
            NewFile::Path(writer) => writer.push(piece),
            NewFile::Object(encryptor) => encryptor.push(piece),
        };
        py.detach(|| pushed(&self.0, push))?.map_err(raise)?;
        Ok(piece.len())
    }

    /// Writes the end of the file; at a path the file appears now.
    fn finish(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        let new = py.detach(|| take(&self.0)).ok_or_else(finished)?;
        py.detach(|| match *new {
            NewFile::Path(writer) => writer.finish(durability(durable)),
            NewFile::Object(encryptor) => encryptor.finish().map(drop),
        })
        .map_err(raise)
    }

    /// Discards the file: there is none at a path, and a file object lacks the end of the file.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(take(&self.0)));
    }
}

/// Decrypts pieces of an encrypted file to a path or a binary file object, or only verifies them.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Decryptor {
    decryptor: Mutex<Option<Box<file::Decryptor<FileSink>>>>,
    /// The path that an error of the operating system names.
    path: Option<PathBuf>,
}

#[pymethods]
impl Decryptor {
    #[new]
    fn new(py: Python<'_>, dst: Option<&Bound<'_, PyAny>>, decryption: &DecryptWith) -> PyResult<Self> {
        let sink = dst.map_or(Ok(FileSink::Discard), |dst| FileSink::new(py, dst))?;
        let path = dst.map_or(Ok(None), path)?;
        let decryptor = Box::new(file::Decryptor::new(sink, decryption.core()));
        Ok(Self { decryptor: Mutex::new(Some(decryptor)), path })
    }

    /// Decrypts a piece of the encrypted file and returns the length of the piece in bytes.
    fn write<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        interruptible(py, || pushed(&self.decryptor, |decryptor| decryptor.push(piece)))??
            .map_err(|e| raise_named(&self.path, e))?;
        Ok(piece.len())
    }

    /// Verifies the end of the file; at a path the plaintext appears now.
    fn finish(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        let decryptor = py.detach(|| take(&self.decryptor)).ok_or_else(finished)?;
        interruptible(py, || decryptor.finish().and_then(|sink| sink.finish(durability(durable))))?
            .map_err(|e| raise_named(&self.path, e))
    }

    /// Discards the plaintext that was written so far, so that no file appears at a path.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(take(&self.decryptor)));
    }
}

/// A new file without encryption, which appears at its path, complete, at ``finish``.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Output {
    output: Mutex<Option<Box<file::OutputFile>>>,
    path: PathBuf,
}

#[pymethods]
impl Output {
    /// Begins a file at ``path``, which must not exist if ``exclusive`` is set.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, exclusive: bool) -> PyResult<Self> {
        let create = if exclusive { file::OutputFile::create_new } else { file::OutputFile::create };
        let output = py.detach(|| create(&path)).map_err(raise)?;
        Ok(Self { output: Mutex::new(Some(Box::new(output))), path })
    }

    /// Writes a piece and returns its length in bytes; after a failure the file is lost.
    fn write<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        let write = |output: &mut file::OutputFile| {
            output.write_all(piece).map_err(|source| Error::Io { path: Some(self.path.clone()), source })
        };
        py.detach(|| pushed(&self.output, write))?.map_err(raise)?;
        Ok(piece.len())
    }

    /// Gives the file its name; with ``durable``, when the content is on the disk.
    fn finish(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        let output = py.detach(|| take(&self.output)).ok_or_else(finished)?;
        py.detach(|| output.finish(durability(durable))).map_err(raise)
    }

    /// Discards all that was written so far, so that no file appears at the path.
    fn discard(&self, py: Python<'_>) {
        py.detach(|| drop(take(&self.output)));
    }
}

/// Pushes a piece to a file that is being written, and drops the file if that fails.
///
/// A failed push may have written a part. So the file is dropped: going on would seal other bytes under the same nonce.
fn pushed<T>(
    new: &Mutex<Option<Box<T>>>,
    push: impl FnOnce(&mut T) -> Result<(), Error>,
) -> PyResult<Result<(), Error>> {
    let mut new = new.lock().unwrap_or_else(PoisonError::into_inner);
    let result = push(new.as_mut().ok_or_else(finished)?);
    if result.is_err() {
        *new = None;
    }
    Ok(result)
}

fn take<T>(new: &Mutex<Option<T>>) -> Option<T> {
    new.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cold]
fn finished() -> PyErr {
    PyValueError::new_err("the file is already finished, or was lost by an earlier failure")
}

/// Runs `work` detached, with a hook that handles signals and reports progress on the calling thread.
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
    let result = interruptible(py, || {
        let mut hook = |done: u64, total: Option<u64>| {
            let result = Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
            });
            match result {
                Ok(()) => ControlFlow::Continue(()),
                Err(error) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        work(Options { threads, progress: Some(&mut hook), durability: durability(durable) })
    })?;
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
