//! `sealane.compat.rencrypt.REncrypt`, but for its files: REncrypt's messages.
//!
//! A message is `ciphertext || tag || nonce`. Authenticated with it, and not in it: `aad || u64_le(block_index)`.

use crate::aead::{detached, find};
use crate::buffer::{Layout, Slot};
use crate::error::raise;
use crate::keys;
use crate::number;
use crate::sealer::forged;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use sealane::InOut;

/// Copies and wipes are so many times as fast as sealing, and letting other threads run pays that much later.
const FASTER: usize = 8;

/// The messages of REncrypt, under one key. Use ``sealane.compat.rencrypt.REncrypt``, which has files as well.
#[pyclass(frozen, subclass, module = "sealane._native")]
pub(crate) struct REncrypt {
    core: sealane::Aead,
}

#[pymethods]
impl REncrypt {
    /// ``algorithm`` is sealane's name of it; the key is copied.
    #[new]
    fn new(algorithm: &str, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { core: sealane::Aead::new(find(algorithm)?, &keys::extract(key)?).map_err(raise)? })
    }

    // ---- in place -----------------------------------------------------------------------------------------

    /// Encrypts ``buf[:plaintext_len]`` where it lies; returns the length of the message, 28 more.
    fn encrypt(
        &self,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number::part)] plaintext_len: usize,
        #[pyo3(from_py_with = number::block_index)] block_index: u64,
        aad: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut room) = (Slot::new(py), Slot::new(py), Associated::default());
        let aad = room.join(a.read(aad)?.bytes(), block_index);
        let len = plaintext_len.saturating_add(self.core.overhead());
        self.seal(py, b.write(buf)?.first(len)?.arrange_in_place(0, plaintext_len, [])?, aad)?;
        Ok(len)
    }

    /// Decrypts the message ``buf[:ciphertext_len]`` where it lies; returns the plaintext's length, 28 less.
    fn decrypt(
        &self,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number::part)] ciphertext_len: usize,
        #[pyo3(from_py_with = number::block_index)] block_index: u64,
        aad: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut room) = (Slot::new(py), Slot::new(py), Associated::default());
        let aad = room.join(a.read(aad)?.bytes(), block_index);
        let message = b.write(buf)?.first(ciphertext_len)?;
        let len = self.plaintext_len(ciphertext_len)?;
        let Layout { data, tail, .. } = message.arrange_in_place(0, len, [])?;
        let (tag, nonce) = tail.split_at(self.core.tag_len());
        detached(py, len + aad.len(), || self.core.decrypt_parts(nonce, aad, data.in_out(), tag))?;
        Ok(len)
    }

    // ---- from elsewhere into a buffer ---------------------------------------------------------------------

    /// Encrypts ``plaintext`` to the start of ``buf``; returns the length of the message, 28 more.
    fn encrypt_into_buf(
        &self,
        plaintext: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number::block_index)] block_index: u64,
        aad: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
        let mut room = Associated::default();
        let (aad, plaintext) = (room.join(a.read(aad)?.bytes(), block_index), b.read(plaintext)?);
        let len = plaintext.len() + self.core.overhead();
        self.seal(py, c.write(buf)?.first(len)?.arrange(0, plaintext, [])?, aad)?;
        Ok(len)
    }

    /// Decrypts the message ``ciphertext`` to the start of ``buf``; returns the plaintext's length, 28 less.
    fn decrypt_into_buf(
        &self,
        ciphertext: &Bound<'_, PyAny>,
        buf: &Bound<'_, PyAny>,
        #[pyo3(from_py_with = number::block_index)] block_index: u64,
        aad: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
        let mut room = Associated::default();
        let aad = room.join(a.read(aad)?.bytes(), block_index);
        let (message, target) = (b.read(ciphertext)?, c.write(buf)?);
        let len = self.plaintext_len(message.len())?;
        let (data, rest) = message.split(len).ok_or_else(forged)?;
        let (tag, nonce) = rest.split(self.core.tag_len()).ok_or_else(forged)?;
        let Layout { data, others: [tag, nonce], .. } = target.first(len)?.arrange(0, data, [tag, nonce])?;
        detached(py, len + aad.len(), || self.core.decrypt_parts(nonce, aad, data.in_out(), tag))?;
        Ok(len)
    }

    // ---- to new memory ------------------------------------------------------------------------------------

    /// ``plaintext`` encrypted, in new memory: a bytearray, as from REncrypt 0.1.21 on.
    fn encrypt_from<'py>(
        &self,
        plaintext: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::block_index)] block_index: u64,
        aad: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let py = plaintext.py();
        let (mut a, mut b, mut room) = (Slot::new(py), Slot::new(py), Associated::default());
        let aad = room.join(a.read(aad)?.bytes(), block_index);
        let plaintext = b.read(plaintext)?.bytes();
        PyByteArray::new_with(py, plaintext.len() + self.core.overhead(), |out| {
            let (ciphertext, tail) = out.split_at_mut(plaintext.len());
            let (tag, nonce) = tail.split_at_mut(self.core.tag_len());
            detached(py, plaintext.len() + aad.len(), || {
                self.core.seal_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)
            })
        })
    }

    /// The plaintext of a message, in new memory, which ``zeroize`` can wipe.
    fn decrypt_from<'py>(
        &self,
        ciphertext: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = number::block_index)] block_index: u64,
        aad: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let py = ciphertext.py();
        let (mut a, mut b, mut room) = (Slot::new(py), Slot::new(py), Associated::default());
        let aad = room.join(a.read(aad)?.bytes(), block_index);
        let message = b.read(ciphertext)?.bytes();
        let (data, rest) = message.split_at(self.plaintext_len(message.len())?);
        let (tag, nonce) = rest.split_at(self.core.tag_len());
        PyByteArray::new_with(py, data.len(), |out| {
            detached(py, data.len() + aad.len(), || {
                self.core.decrypt_parts(nonce, aad, InOut::apart(data, out), tag)
            })
        })
    }

    // ---- buffers ------------------------------------------------------------------------------------------

    /// Copies ``src`` to the start of ``buf``; they may share memory. ValueError where ``buf`` is too short.
    ///
    /// Data that is read right into the buffer (``file.readinto(buf)``) needs no copy.
    #[staticmethod]
    fn copy_slice(src: &Bound<'_, PyAny>, buf: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = buf.py();
        let (mut a, mut b) = (Slot::new(py), Slot::new(py));
        let (source, target) = (a.read(src)?, b.write(buf)?);
        let len = source.len();
        let copy = target.copy_of(source)?;
        detached(py, len / FASTER, || {
            copy.run();
            Ok(())
        })
    }

    /// Writes zeros over the whole of ``arr``. TypeError where it is read-only.
    #[staticmethod]
    fn zeroize(arr: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = arr.py();
        let mut a = Slot::new(py);
        let out = a.write(arr)?.bytes();
        // Python's memory, which lives on: the compiler has to write to it.
        detached(py, out.len() / FASTER, || {
            out.fill(0);
            Ok(())
        })
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

impl REncrypt {
    /// Seals what lies in the layout; its tail is tag and nonce.
    #[inline]
    fn seal(&self, py: Python<'_>, layout: Layout<'_, 0>, aad: &[u8]) -> PyResult<()> {
        let Layout { data, tail, .. } = layout;
        let (tag, nonce) = tail.split_at_mut(self.core.tag_len());
        detached(py, data.len() + aad.len(), || self.core.seal_parts(nonce, aad, data.in_out(), tag))
    }

    /// A stranger decides how long a message is: one that is too short is forged.
    #[inline]
    fn plaintext_len(&self, message_len: usize) -> PyResult<usize> {
        message_len.checked_sub(self.core.overhead()).ok_or_else(forged)
    }
}

/// Longer `aad` goes through the heap.
const SHORT: usize = 120;
const INDEX: usize = size_of::<u64>();

/// Room for `aad || u64_le(block_index)`. A copy: `aad` may lie in the buffer that is written.
struct Associated {
    short: [u8; SHORT + INDEX],
    long: Vec<u8>,
}

impl Default for Associated {
    #[inline]
    fn default() -> Self {
        Self { short: [0; SHORT + INDEX], long: Vec::new() }
    }
}

impl Associated {
    #[inline]
    fn join(&mut self, aad: &[u8], block_index: u64) -> &[u8] {
        let len = aad.len() + INDEX;
        let room = match self.short.get_mut(..len) {
            Some(room) => room,
            None => {
                self.long.resize(len, 0);
                &mut self.long[..]
            }
        };
        let (start, end) = room.split_at_mut(aad.len());
        start.copy_from_slice(aad);
        end.copy_from_slice(&block_index.to_le_bytes());
        room
    }
}
