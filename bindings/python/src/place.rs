//! Where files come from and go to: paths, and file objects of Python's.

use crate::buffer::Slot;
use crate::error::raise;
use crate::number;
use pyo3::exceptions::{PyBlockingIOError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealane::Error;
use sealane::file::{Concurrency, Durability, Output, ReadAt};
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// `str` is a path; `sealane/_file.py` made one of every `os.PathLike`.
pub(crate) fn path(object: &Bound<'_, PyAny>) -> PyResult<Option<PathBuf>> {
    match object.is_instance_of::<PyString>() {
        true => object.extract().map(Some),
        false => Ok(None),
    }
}

/// Where an encrypted file is read from.
pub(crate) enum Place {
    Path(PathBuf, File),
    /// The lock keeps a seek and its read together. It is only waited for while detached.
    Object(Mutex<()>, Object),
}

impl Place {
    pub(crate) fn new(src: &Bound<'_, PyAny>) -> PyResult<Self> {
        match path(src)? {
            Some(path) => {
                let file = src.py().detach(|| File::open(&path));
                let file = file.map_err(|source| raise(Error::Io { path: Some(path.clone()), source }))?;
                Ok(Self::Path(path, file))
            }
            None => Ok(Self::Object(Mutex::new(()), Object::new(src))),
        }
    }

    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Path(path, _) => Some(path.clone()),
            Self::Object(..) => None,
        }
    }
}

impl ReadAt for Place {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Path(_, file) => file.read_at(offset, into),
            Self::Object(lock, object) => {
                let _together = lock.lock().unwrap_or_else(PoisonError::into_inner);
                object.read_at(offset, into)
            }
        }
    }

    fn size(&self) -> io::Result<u64> {
        match self {
            Self::Path(_, file) => file.size(),
            Self::Object(lock, object) => {
                let _together = lock.lock().unwrap_or_else(PoisonError::into_inner);
                object.size()
            }
        }
    }

    fn concurrency(&self) -> Concurrency {
        match self {
            Self::Path(..) => Concurrency::Parallel,
            Self::Object(..) => Concurrency::Serialized,
        }
    }
}

/// A binary file object of Python's. Its exceptions travel through [`io::Error`] and come out as themselves.
pub(crate) struct Object(Py<PyAny>);

impl Object {
    pub(crate) fn new(object: &Bound<'_, PyAny>) -> Self {
        Self(object.clone().unbind())
    }

    fn call<T>(&self, call: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> io::Result<T> {
        // Not `PyErr`'s own conversion: it would tell the core to repeat what a signal interrupted.
        Python::attach(|py| call(self.0.bind(py))).map_err(io::Error::other)
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        self.call(|file| {
            file.call_method1("seek", (offset,))?;
            let piece = file.call_method1("read", (into.len(),))?;
            if piece.is_none() {
                return Err(PyBlockingIOError::new_err("the file object has no data yet"));
            }
            let mut slot = Slot::new(file.py());
            let piece = slot.read(&piece)?.bytes();
            let room = into.get_mut(..piece.len());
            room.ok_or_else(|| PyValueError::new_err("read(n) returned more than n bytes"))?
                .copy_from_slice(piece);
            Ok(piece.len())
        })
    }

    fn size(&self) -> io::Result<u64> {
        self.call(|file| {
            file.call_method1("seek", (0, 2))?;
            number::bytes(&file.call_method0("tell")?)
        })
    }
}

impl Write for Object {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        self.call(|file| {
            let written = file.call_method1("write", (PyBytes::new(file.py(), from),))?;
            // Many a file-like object takes everything and says nothing.
            let n = if written.is_none() { from.len() } else { written.extract()? };
            if n > from.len() {
                return Err(PyValueError::new_err("write() took more bytes than it was given"));
            }
            Ok(n)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.call(|file| match file.getattr_opt("flush")? {
            Some(flush) => flush.call0().map(drop),
            None => Ok(()),
        })
    }
}

/// Where plaintext goes.
pub(crate) enum Sink {
    /// A path, which gets its file at the end.
    Path(Output),
    Object(Object),
    Nowhere,
}

impl Sink {
    pub(crate) fn new(py: Python<'_>, dst: &Bound<'_, PyAny>) -> PyResult<Self> {
        match path(dst)? {
            Some(path) => py.detach(|| Output::create(&path)).map(Self::Path).map_err(raise),
            None => Ok(Self::Object(Object::new(dst))),
        }
    }

    pub(crate) fn finish(self, durability: Durability) -> Result<(), Error> {
        match self {
            Self::Path(output) => output.finish(durability),
            Self::Object(_) | Self::Nowhere => Ok(()),
        }
    }
}

impl Write for Sink {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Self::Path(output) => output.write(from),
            Self::Object(object) => object.write(from),
            Self::Nowhere => Ok(from.len()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Path(output) => output.flush(),
            Self::Object(object) => object.flush(),
            Self::Nowhere => Ok(()),
        }
    }
}
