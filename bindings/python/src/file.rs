//! The native part of `sealane.encrypt_file`, its companions, and the file objects in
//! `sealane/_open.py`.

mod decryptor;
mod io;
mod ranges;

pub(crate) use decryptor::Decryptor;
pub(crate) use ranges::{Ranges, plain_len, sealed_len, sealed_range};

use crate::arguments;
use crate::detach::continue_unless_raised;
use crate::error::raise_below;
use crate::file_keys::{self, DecryptWith, EncryptWith, RewrapWith};
use crate::prelude::*;
use crate::shared::Shared;
use io::{FileSink, FileSource, PyFile, path};
use sealane::age::Armor;
use sealane::file::job::check_target;
use sealane::file::{self, BufferDecryptor, BufferEncryptor, Durability, FileEnd, FileHeader, Options};
use sealane::vault::Contents;
use std::io::Write;

/// Bytes a large read decrypts between checks for signals.
const BYTES_BETWEEN_SIGNALS: usize = 64 << 20;

type Callback = Option<Py<PyAny>>;

/// Defines a function that makes a file of another, on paths. `$work` is the core's.
macro_rules! from_path_to_path {
    ($(#[$doc:meta])* $name:ident($with:ident: $With:ident) by $work:path) => {
        $(#[$doc])*
        #[pyfunction]
        pub(crate) fn $name(
            py: Python<'_>,
            src: PathBuf,
            dst: PathBuf,
            $with: &$With,
            threads: Option<usize>,
            progress: Callback,
            durable: bool,
        ) -> PyResult<()> {
            with_options(py, threads, progress, durable, &src, |options| $work(&src, &dst, &$with.0, options))
        }
    };
}

from_path_to_path! {
    /// Encrypts the file ``src`` to the file ``dst`` (paths); see ``sealane.encrypt_file``.
    encrypt_path(encryption: EncryptWith) by file::encrypt_file
}
from_path_to_path! {
    /// Decrypts the file ``src`` to the file ``dst`` (paths); see ``sealane.decrypt_file``.
    decrypt_path(decryption: DecryptWith) by file::decrypt_file
}
from_path_to_path! {
    /// Writes the age file ``src`` to ``dst`` for other recipients; see ``sealane.rewrap``.
    rewrap_path(rewrap: RewrapWith) by file::rewrap_file
}

/// The result of `salvage_path`: length, holes (six numbers each), state of the header, state of
/// the end.
type Salvaged = (u64, Vec<[u64; 6]>, &'static str, &'static str);

/// Refuses to write a single file into a folder that describes itself.
#[pyfunction(name = "check_target")]
pub(crate) fn check_file(path: PathBuf) -> PyResult<()> {
    check_target(&path, false).map_err(raise)
}

/// Writes the chunks of ``src`` that verify to ``dst``; see ``sealane.salvage_file``.
#[pyfunction]
pub(crate) fn salvage_path(
    py: Python<'_>,
    src: PathBuf,
    dst: PathBuf,
    decryption: &DecryptWith,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
) -> PyResult<Salvaged> {
    let found = with_options(py, threads, progress, durable, &src, |options| {
        file::salvage_file(&src, &dst, &decryption.0, options)
    })?;
    let hole = |file::Hole { plain, sealed, chunks }: &file::Hole| {
        [plain.start, plain.end, sealed.start, sealed.end, chunks.start, chunks.end - chunks.start]
    };
    let header = match found.header {
        FileHeader::Verified => "verified",
        FileHeader::Damaged => "damaged",
    };
    let end = match found.end {
        FileEnd::Verified => "verified",
        FileEnd::Damaged => "damaged",
        FileEnd::Cut => "cut",
    };
    Ok((found.len, found.holes.iter().map(hole).collect(), header, end))
}

/// Verifies the file ``src``(a path); see ``sealane.verify_file``.
#[pyfunction]
pub(crate) fn verify_path(
    py: Python<'_>,
    src: PathBuf,
    decryption: &DecryptWith,
    threads: Option<usize>,
    progress: Callback,
) -> PyResult<()> {
    with_options(py, threads, progress, false, &src, |options| {
        file::verify_file(&src, &decryption.0, options)
    })
}

/// The format, recipients and sizes of an encrypted file. Nothing is verified.
#[pyclass(frozen, get_all, module = "sealane")]
pub(crate) struct FileInfo {
    /// Name of the format's specification, such as "age v1" or "chunked-encryption@v1".
    format: &'static str,
    /// Whether the file is an age file in PEM armor (text).
    armor: bool,
    /// The recipient types of an age file in order, such as "X25519" or "scrypt".
    recipients: Vec<String>,
    /// Size of the encrypted file in bytes, including header and tags.
    file_len: u64,
    /// Plaintext bytes in the file, if it is complete and unmodified.
    plaintext_len: u64,
    /// Number of chunks.
    chunks: u64,
    /// Plaintext bytes per chunk; the last chunk may be shorter.
    chunk_len: u64,
}

#[pymethods]
impl FileInfo {
    fn __repr__(&self) -> String {
        let Self { format, plaintext_len, chunks, .. } = self;
        format!("<{format}: {plaintext_len} bytes of plaintext in {chunks} chunks>")
    }
}

/// Inspects the file ``src``(a path); see ``sealane.inspect``.
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
pub(crate) fn encrypt_bytes<'py>(data: &Any<'py>, encryption: &EncryptWith) -> PyResult<Bytes<'py>> {
    let py = data.py();
    read!(py; data);
    let sealing = interruptible(py, || BufferEncryptor::new(data, &encryption.0))?.map_err(raise)?;
    fresh(py, sealing.len(), |out| py.detach(|| sealing.encrypt_into(out)).map_err(raise))
}

/// Decrypts the bytes of an encrypted file and returns the plaintext; see ``sealane.decrypt``.
#[pyfunction]
pub(crate) fn decrypt_bytes<'py>(data: &Any<'py>, decryption: &DecryptWith) -> PyResult<Bytes<'py>> {
    let py = data.py();
    read!(py; data);
    let opening = interruptible(py, || BufferDecryptor::new(data, &decryption.0))?.map_err(raise)?;
    fresh(py, opening.len(), |out| py.detach(|| opening.decrypt_into(out)).map_err(raise))
}

/// Random access to an encrypted file, shareable between threads.
///
/// Calls on a file object run one at a time; calls on a path or a file of a vault run in parallel.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Reader {
    pub(crate) core: Readable,
}

pub(crate) enum Readable {
    File(Box<file::Reader<FileSource>>),
    /// A file of the vault at this path.
    Vault(Box<dyn Contents>, PathBuf),
}

#[pymethods]
impl Reader {
    /// Verifies the header and the last chunk of ``src``, a path or a seekable binary file object.
    #[new]
    fn new(py: Python<'_>, src: &Any<'_>, decryption: &DecryptWith) -> PyResult<Self> {
        let source = FileSource::new(src)?;
        let path = source.path();
        let core = interruptible(py, || file::Reader::new(source, &decryption.0))?;
        let core = core.map_err(raise_at(path.as_deref(), raise_about))?;
        Ok(Self { core: Readable::File(Box::new(core)) })
    }

    /// Reads ``n`` bytes from ``offset``, or fewer at the end of the file.
    fn read_at<'py>(&self, py: Python<'py>, offset: u64, n: usize) -> PyResult<Bytes<'py>> {
        let rest = usize::try_from(self.size().saturating_sub(offset)).unwrap_or(usize::MAX);
        fresh(py, n.min(rest), |out| self.fill(py, offset, out).map(drop))
    }

    /// Reads from ``offset`` into ``into`` and returns the number of bytes.
    fn readinto_at<'py>(&self, py: Python<'py>, offset: u64, into: &Any<'py>) -> PyResult<usize> {
        let mut slot = Slot::new(py);
        self.fill(py, offset, slot.write(into)?.bytes())
    }

    /// Plaintext length in bytes.
    #[getter]
    fn size(&self) -> u64 {
        match &self.core {
            Readable::File(file) => file.size(),
            Readable::Vault(file, _) => file.size(),
        }
    }
}

impl Reader {
    fn fill(&self, py: Python<'_>, offset: u64, out: &mut [u8]) -> PyResult<usize> {
        let _inside = match &self.core {
            Readable::File(file) => file.source().begin_call(py)?,
            Readable::Vault(..) => None,
        };
        let mut done = 0;
        for piece in out.chunks_mut(BYTES_BETWEEN_SIGNALS) {
            let (wanted, at) = (piece.len(), offset + done as u64);
            let n = match &self.core {
                Readable::File(file) => py
                    .detach(|| file.read_at(at, piece))
                    .map_err(raise_at(file.source().path().as_deref(), raise_about)),
                Readable::Vault(file, root) => {
                    py.detach(|| file.read_at(at, piece)).map_err(|error| raise_below(root, error))
                }
            }?;
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

/// Writes one new file from pieces of any length.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Writer {
    content: Shared<Box<Content>>,
    /// The path for operating-system errors.
    path: Option<PathBuf>,
}

enum Content {
    Encrypted(file::Writer),
    EncryptedObject(file::Encryptor<PyFile>),
    Decrypted(file::Decryptor<FileSink>),
    Plain(file::OutputFile),
}

impl Content {
    fn push(&mut self, piece: &[u8]) -> Result<()> {
        match self {
            Self::Encrypted(writer) => writer.push(piece),
            Self::EncryptedObject(encryptor) => encryptor.push(piece),
            Self::Decrypted(decryptor) => decryptor.push(piece),
            Self::Plain(output) => Ok(output.write_all(piece)?),
        }
    }

    fn finish(self, durability: Durability) -> Result<()> {
        match self {
            Self::Encrypted(writer) => writer.finish(durability),
            Self::EncryptedObject(encryptor) => encryptor.finish()?.finish(durability),
            Self::Decrypted(decryptor) => decryptor.finish()?.finish(durability),
            Self::Plain(output) => output.finish(durability),
        }
    }
}

#[pymethods]
impl Writer {
    /// Encrypts to ``dst``, a path or a binary file object. With ``exclusive``, the path must not
    /// exist.
    #[staticmethod]
    fn encrypt(py: Python<'_>, dst: &Any<'_>, encryption: &EncryptWith, exclusive: bool) -> PyResult<Self> {
        let encryption = &encryption.0;
        let create = if exclusive { file::Writer::create_new } else { file::Writer::create };
        let path = path(dst)?;
        let content = match &path {
            Some(path) => interruptible(py, || create(path, encryption))?.map(Content::Encrypted),
            None => {
                let object = PyFile::new(dst);
                interruptible(py, || file::Encryptor::new(object, encryption))?.map(Content::EncryptedObject)
            }
        };
        Ok(Self::new(content.map_err(raise)?, path))
    }

    /// Decrypts to ``dst``, a path or a binary file object; without ``dst`` it only verifies.
    #[staticmethod]
    fn decrypt(py: Python<'_>, dst: Option<&Any<'_>>, decryption: &DecryptWith) -> PyResult<Self> {
        let sink = dst.map_or(Ok(FileSink::discard()), |dst| FileSink::new(py, dst, &decryption.0))?;
        let decryptor = file::Decryptor::new(sink, &decryption.0);
        Ok(Self::new(Content::Decrypted(decryptor), dst.map_or(Ok(None), path)?))
    }

    /// Writes to ``path`` without encryption. With ``exclusive``, it must not exist.
    #[staticmethod]
    fn plain(py: Python<'_>, path: PathBuf, exclusive: bool) -> PyResult<Self> {
        let create = if exclusive { file::OutputFile::create_new } else { file::OutputFile::create };
        let output = py.detach(|| create(&path)).map_err(raise)?;
        Ok(Self::new(Content::Plain(output), Some(path)))
    }

    /// Takes a piece and returns its length in bytes. After a failure the file is lost.
    ///
    /// A failed push may have written a part. We drop the file, because continuing would seal other
    /// bytes under the same nonce.
    fn write<'py>(&self, py: Python<'py>, piece: &Any<'py>) -> PyResult<usize> {
        read!(py; piece);
        self.with(py, |content| {
            let result = content.as_mut()?.push(piece);
            // A forked child has written nothing; its next call gets the same error.
            if !matches!(result, Ok(()) | Err(Error::Misuse(Misuse::Forked))) {
                *content = None;
            }
            Some(result)
        })?;
        Ok(piece.len())
    }

    /// Writes or verifies the end of the file; at a path the file appears now. Reentrant calls are
    /// still refused.
    ///
    /// With ``durable``, the file gets its name once its content is on disk.
    fn finish(&self, py: Python<'_>, durable: bool) -> PyResult<()> {
        self.with(py, |content| Some(content.take()?.finish(durability(durable))))
    }

    /// Discards the file: a path has no file, and a file object lacks the end.
    fn discard(&self, py: Python<'_>) -> PyResult<()> {
        self.content.access(py, usize::MAX, |content| drop(content.take()))
    }
}

impl Writer {
    fn new(content: Content, path: Option<PathBuf>) -> Self {
        Self { content: Shared::new(Box::new(content)), path }
    }

    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Option<Box<Content>>) -> Option<Result<()>> + Send,
    ) -> PyResult<()> {
        let result = self.content.access(py, usize::MAX, work)?.ok_or_else(finished)?;
        result.map_err(raise_at(self.path.as_deref(), raise_about))
    }
}

#[cold]
fn finished() -> PyErr {
    PyValueError::new_err("the file is already finished, or was lost by an earlier failure")
}

/// Runs `work` detached, with a hook that handles signals and reports progress on this thread.
fn with_options<T: Send>(
    py: Python<'_>,
    threads: Option<usize>,
    progress: Callback,
    durable: bool,
    about: &Path,
    work: impl FnOnce(Options<'_>) -> Result<T> + Send,
) -> PyResult<T> {
    let threads = arguments::threads(threads)?;
    let result = interruptible(py, || {
        let mut hook = |done: u64, total: Option<u64>| {
            continue_unless_raised(Python::attach(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(drop))
            }))
        };
        work(Options { threads, progress: Some(&mut hook), durability: durability(durable) })
    })?;
    result.map_err(|e| raise_about(about, e))
}

pub(crate) fn durability(durable: bool) -> Durability {
    if durable { Durability::Synced } else { Durability::Cached }
}
