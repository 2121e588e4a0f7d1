//! The native part of `sealane.Decryptor`, which returns plaintext as the encrypted file arrives.

use crate::buffer::Slot;
use crate::error::raise;
use crate::file_keys::DecryptWith;
use crate::shared::Shared;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sealane::file;
use std::io::{self, Write};
use zeroize::Zeroizing;

/// Decrypts pieces of an encrypted file, and returns the plaintext of the chunks that each piece completes.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct ChunkDecryptor(Shared<Box<file::Decryptor<Plaintext>>>);

#[pymethods]
impl ChunkDecryptor {
    #[new]
    fn new(decryption: &DecryptWith) -> Self {
        Self(Shared::new(Box::new(file::Decryptor::new(Plaintext::default(), decryption.core()))))
    }

    /// Takes a piece of the encrypted file; after a failure no more can be taken.
    fn update<'py>(&self, py: Python<'py>, piece: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let mut slot = Slot::new(py);
        let piece = slot.read(piece)?.bytes();
        let push = |decryptor: &mut Option<Box<file::Decryptor<Plaintext>>>| {
            let open = decryptor.as_mut()?;
            let result = open.push(piece).map(|()| std::mem::take(open.get_mut()));
            if result.is_err() {
                *decryptor = None;
            }
            Some(result)
        };
        let plain = self.0.access(py, usize::MAX, push)?.ok_or_else(finalized)?.map_err(raise)?;
        Ok(PyBytes::new(py, &plain.0))
    }

    /// Verifies the end of the file and returns the rest of the plaintext.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let finish =
            |decryptor: &mut Option<Box<file::Decryptor<Plaintext>>>| Some(decryptor.take()?.finish());
        let plain = self.0.access(py, usize::MAX, finish)?.ok_or_else(finalized)?.map_err(raise)?;
        Ok(PyBytes::new(py, &plain.0))
    }
}

#[cold]
fn finalized() -> PyErr {
    PyValueError::new_err("the decryptor is already finalized, or was lost by an earlier failure")
}

/// Verified plaintext that was not returned yet. It is wiped, also when the vector has to grow.
#[derive(Default)]
struct Plaintext(Zeroizing<Vec<u8>>);

impl Write for Plaintext {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        if self.0.capacity() - self.0.len() < from.len() {
            let mut longer = Zeroizing::new(Vec::new());
            longer.try_reserve_exact((self.0.len() + from.len()).max(2 * self.0.len()))?;
            longer.extend_from_slice(&self.0);
            self.0 = longer;
        }
        self.0.extend_from_slice(from);
        Ok(from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
