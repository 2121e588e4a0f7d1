//! Sources and destinations of file operations: paths and Python file objects.

use crate::integers;
use crate::prelude::*;
use crate::shared::{CallLock, Inside, OnBehalf};
use pyo3::exceptions::PyBlockingIOError;
use sealane::file::job::check_target;
use sealane::file::{Concurrency, DecryptWith, Durability, OutputFile, ReadAt, open_regular};
use std::fs::File;
use std::io::{self, Write};

/// Returns the path of a `str`, or `None` for a file object. `sealane/_endpoints.py` has converted
/// any `os.PathLike`.
pub(crate) fn path(object: &Any<'_>) -> PyResult<Option<PathBuf>> {
    object.is_instance_of::<PyString>().then(|| object.extract()).transpose()
}

/// An encrypted file, at a path or in a Python object, with random access.
pub(crate) enum FileSource {
    Path(PathBuf, File),
    Object(SharedObject),
}

/// A Python file object with random access, shared by the threads of one call.
pub(crate) struct SharedObject {
    file: PyFile,
    /// Held during a call of [`crate::file::Reader`], so the file object cannot call back into the
    /// reader.
    call: CallLock,
    caller: OnBehalf,
    /// Keeps a seek and its read together.
    read: CallLock,
}

impl SharedObject {
    fn with<T>(&self, work: impl FnOnce(&PyFile) -> io::Result<T>) -> io::Result<T> {
        let _together = self.read.enter_detached().map_err(io::Error::other)?;
        self.caller.run(|| work(&self.file))
    }
}

impl FileSource {
    pub(crate) fn new(src: &Any<'_>) -> PyResult<Self> {
        match path(src)? {
            Some(path) => {
                let file = src.py().detach(|| open_regular(&path)).map_err(raise)?;
                Ok(Self::Path(path, file))
            }
            None => Ok(Self::Object(SharedObject {
                file: PyFile::new(src),
                call: CallLock::new(),
                caller: OnBehalf::default(),
                read: CallLock::new(),
            })),
        }
    }

    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Path(path, _) => Some(path.clone()),
            Self::Object(_) => None,
        }
    }

    /// Begins a call on a file object; a nested call is an error. Files at a path need no lock.
    pub(crate) fn begin_call(&self, py: Python<'_>) -> PyResult<Option<Inside<'_>>> {
        match self {
            Self::Path(..) => Ok(None),
            Self::Object(object) => {
                let inside = object.call.enter(py)?;
                object.caller.of_this_thread();
                Ok(Some(inside))
            }
        }
    }
}

impl ReadAt for FileSource {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Path(_, file) => file.read_at(offset, into),
            Self::Object(object) => object.with(|file| file.read_at(offset, into)),
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Path(_, file) => file.size(),
            Self::Object(object) => object.with(PyFile::size),
        }
    }

    fn concurrency(&self) -> Concurrency {
        match self {
            Self::Path(..) => Concurrency::Parallel,
            Self::Object(_) => Concurrency::Serialized,
        }
    }
}

/// A binary Python file object. Its exceptions pass through [`io::Error`] and are reraised
/// unchanged.
pub(crate) struct PyFile(Py<PyAny>);

impl PyFile {
    pub(crate) fn new(object: &Any<'_>) -> Self {
        Self(object.clone().unbind())
    }

    fn call<T>(&self, call: impl FnOnce(&Any<'_>) -> PyResult<T>) -> io::Result<T> {
        // `PyErr`'s own conversion would make the core retry a call that a signal interrupted.
        Python::attach(|py| call(self.0.bind(py))).map_err(io::Error::other)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.call(|file| {
            file.call_method1("seek", (offset,))?;
            let piece = file.call_method1("read", (into.len(),))?;
            if piece.is_none() {
                let text = "the file object is in non-blocking mode and has no data yet";
                return Err(PyBlockingIOError::new_err(text));
            }
            let mut slot = Slot::new(file.py());
            let piece = slot.read(&piece)?.bytes();
            into.get_mut(..piece.len())
                .ok_or_else(|| {
                    PyValueError::new_err("read(n) of the file object returned more than n bytes")
                })?
                .copy_from_slice(piece);
            Ok(piece.len())
        })
    }

    fn size(&self) -> io::Result<u64> {
        self.call(|file| {
            file.call_method1("seek", (0, 2))?;
            integers::byte_count(&file.call_method0("tell")?)
        })
    }

    /// Waits for the disk if that was asked for, and the object is a file there.
    pub(crate) fn finish(&self, durability: Durability) -> Result<()> {
        let sync =
            |file: &Any<'_>| file.py().import("sealane._endpoints")?.call_method1("sync", (file,)).map(drop);
        match durability {
            Durability::Cached => Ok(()),
            Durability::Synced => Ok(self.call(sync)?),
        }
    }
}

impl Write for PyFile {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.call(|file| {
            let bytes = PyBytes::new(file.py(), from);
            loop {
                let n = match file.call_method1("write", (&bytes,)) {
                    // Many file-like objects take all bytes and return None. Only `io.RawIOBase`
                    // defines None, as zero bytes.
                    Ok(none) if none.is_none() => {
                        let raw = file.py().import("io")?.getattr("RawIOBase")?;
                        (!file.is_instance(&raw)?).then_some(from.len())
                    }
                    Ok(written) => Some(written.extract()?),
                    Err(error) => written_before_blocking(file.py(), error)?,
                };
                match n {
                    Some(n) if n <= from.len() => return Ok(n),
                    Some(_) => {
                        let text =
                            "write() of the file object returned more than the number of bytes it was given";
                        return Err(PyValueError::new_err(text));
                    }
                    None => wait_until_writable(file)?,
                }
            }
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|file| {
            let Some(flush) = file.getattr_opt("flush")? else { return Ok(()) };
            while let Err(error) = flush.call0() {
                written_before_blocking(file.py(), error)?;
                wait_until_writable(file)?;
            }
            Ok(())
        })
    }
}

/// Returns the number of bytes written before a `BlockingIOError`, or `None` if none were. Returns
/// other errors unchanged.
fn written_before_blocking(py: Python<'_>, error: PyErr) -> PyResult<Option<usize>> {
    if !error.is_instance_of::<PyBlockingIOError>(py) {
        return Err(error);
    }
    match error.value(py).getattr_opt("characters_written")? {
        Some(written) => Ok(Some(written.extract()?).filter(|&n| n > 0)),
        None => Ok(None),
    }
}

/// Waits for a file object in non-blocking mode, handling signals.
fn wait_until_writable(file: &Any<'_>) -> PyResult<()> {
    file.py().import("sealane._endpoints")?.call_method1("wait_until_writable", (file,)).map(drop)
}

/// The destination of plaintext: a file, a Python object, or nothing.
pub(crate) enum FileSink {
    /// A path; the new file appears once it is completely written and verified.
    Path(OutputFile),
    Object(PyFile),
    Nothing(io::Sink),
}

impl FileSink {
    pub(crate) fn new(py: Python<'_>, dst: &Any<'_>, with: &DecryptWith) -> PyResult<Self> {
        match path(dst)? {
            Some(path) => {
                let created =
                    || check_target(&path, false).and_then(|()| OutputFile::create_for(&path, with));
                py.detach(created).map(Self::Path).map_err(raise)
            }
            None => Ok(Self::Object(PyFile::new(dst))),
        }
    }

    /// Returns a destination for a file that is only verified: the plaintext is discarded.
    pub(crate) fn discard() -> Self {
        Self::Nothing(io::sink())
    }

    pub(crate) fn finish(self, durability: Durability) -> Result<()> {
        match self {
            Self::Path(output) => output.finish(durability),
            Self::Object(object) => object.finish(durability),
            Self::Nothing(_) => Ok(()),
        }
    }

    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Path(output) => output,
            Self::Object(object) => object,
            Self::Nothing(sink) => sink,
        }
    }
}

impl Write for FileSink {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.writer().write(from)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer().flush()
    }
}
