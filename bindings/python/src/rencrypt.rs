//! The messages of `sealane.compat.rencrypt.REncrypt`, in the format of the package REncrypt.
//!
//! A message is `ciphertext || tag || nonce`. Its associated data is `aad || u64_le(block_index)`.

use crate::buffer::Layout;
use crate::prelude::*;
use crate::sealer::authentication_error;
use crate::{arguments, integers, keys};

/// Speed of copying and wiping relative to sealing; they detach from a length this many times
/// larger.
const COPY_SPEEDUP: usize = 8;

/// REncrypt's messages under one key. Use ``sealane.compat.rencrypt.REncrypt``, which also has
/// files.
#[pyclass(frozen, subclass, module = "sealane._native")]
pub(crate) struct REncrypt {
    core: sealane::Aead,
}

#[pymethods]
impl REncrypt {
    /// Creates an object for the ``sealane.Aead`` algorithm with this name. The key is copied.
    #[new]
    fn new(algorithm: &str, key: &Any<'_>) -> PyResult<Self> {
        let core =
            sealane::Aead::new(arguments::algorithm(algorithm)?, &keys::extract(key)?).map_err(raise)?;
        Ok(Self { core })
    }

    // ---- in place ----

    /// Encrypts ``buf[:plaintext_len]`` in place and returns the message length, 28 bytes longer.
    fn encrypt(
        &self,
        buf: &Any<'_>,
        #[pyo3(from_py_with = integers::buffer_len)] plaintext_len: usize,
        #[pyo3(from_py_with = integers::block_index)] block_index: u64,
        aad: &Any<'_>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut memory) = (Slot::new(py), Slot::new(py), Associated::new());
        let aad = memory.join(a.read(aad)?.bytes(), block_index);
        let len = plaintext_len.saturating_add(self.core.overhead());
        self.seal(py, b.write(buf)?.first(len)?.arrange_in_place(0, plaintext_len, [])?, aad)?;
        Ok(len)
    }

    /// Decrypts the message ``buf[:ciphertext_len]`` in place and returns the length of the
    /// plaintext.
    fn decrypt(
        &self,
        buf: &Any<'_>,
        #[pyo3(from_py_with = integers::buffer_len)] ciphertext_len: usize,
        #[pyo3(from_py_with = integers::block_index)] block_index: u64,
        aad: &Any<'_>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut memory) = (Slot::new(py), Slot::new(py), Associated::new());
        let aad = memory.join(a.read(aad)?.bytes(), block_index);
        let message = b.write(buf)?.first(ciphertext_len)?;
        let len = self.plaintext_len(ciphertext_len)?;
        let Layout { data, tail, .. } = message.arrange_in_place(0, len, [])?;
        let (tag, nonce) = tail.split_at(self.core.tag_len());
        detached(py, len + aad.len(), || self.core.decrypt_parts(nonce, aad, data.in_out(), tag))?;
        Ok(len)
    }

    // ---- from one buffer into another ----

    /// Encrypts ``plaintext`` to the start of ``buf`` and returns the message length.
    fn encrypt_into_buf(
        &self,
        plaintext: &Any<'_>,
        buf: &Any<'_>,
        #[pyo3(from_py_with = integers::block_index)] block_index: u64,
        aad: &Any<'_>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
        let mut memory = Associated::new();
        let (aad, plaintext) = (memory.join(a.read(aad)?.bytes(), block_index), b.read(plaintext)?);
        let len = plaintext.len() + self.core.overhead();
        self.seal(py, c.write(buf)?.first(len)?.arrange(0, plaintext, [])?, aad)?;
        Ok(len)
    }

    /// Decrypts the message ``ciphertext`` to the start of ``buf`` and returns the length of the
    /// plaintext.
    fn decrypt_into_buf(
        &self,
        ciphertext: &Any<'_>,
        buf: &Any<'_>,
        #[pyo3(from_py_with = integers::block_index)] block_index: u64,
        aad: &Any<'_>,
    ) -> PyResult<usize> {
        let py = buf.py();
        let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
        let mut memory = Associated::new();
        let aad = memory.join(a.read(aad)?.bytes(), block_index);
        let (message, target) = (b.read(ciphertext)?, c.write(buf)?);
        let len = self.plaintext_len(message.len())?;
        let (data, rest) = message.split(len).ok_or_else(authentication_error)?;
        let (tag, nonce) = rest.split(self.core.tag_len()).ok_or_else(authentication_error)?;
        let Layout { data, others: [tag, nonce], .. } = target.first(len)?.arrange(0, data, [tag, nonce])?;
        detached(py, len + aad.len(), || self.core.decrypt_parts(nonce, aad, data.in_out(), tag))?;
        Ok(len)
    }

    // ---- to new memory ----

    /// Encrypts ``plaintext`` to a new bytearray, like REncrypt from 0.1.21 on.
    fn encrypt_from<'py>(
        &self,
        plaintext: &Any<'py>,
        #[pyo3(from_py_with = integers::block_index)] block_index: u64,
        aad: &Any<'py>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let py = plaintext.py();
        let (mut a, mut b, mut memory) = (Slot::new(py), Slot::new(py), Associated::new());
        let aad = memory.join(a.read(aad)?.bytes(), block_index);
        let plaintext = b.read(plaintext)?.bytes();
        PyByteArray::new_with(py, plaintext.len() + self.core.overhead(), |out| {
            let (ciphertext, tail) = out.split_at_mut(plaintext.len());
            let (tag, nonce) = tail.split_at_mut(self.core.tag_len());
            detached(py, plaintext.len() + aad.len(), || {
                self.core.seal_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)
            })
        })
    }

    /// Decrypts a message to a new bytearray; ``zeroize`` can wipe it.
    fn decrypt_from<'py>(
        &self,
        ciphertext: &Any<'py>,
        #[pyo3(from_py_with = integers::block_index)] block_index: u64,
        aad: &Any<'py>,
    ) -> PyResult<Bound<'py, PyByteArray>> {
        let py = ciphertext.py();
        let (mut a, mut b, mut memory) = (Slot::new(py), Slot::new(py), Associated::new());
        let aad = memory.join(a.read(aad)?.bytes(), block_index);
        let message = b.read(ciphertext)?.bytes();
        let (data, rest) = message.split_at(self.plaintext_len(message.len())?);
        let (tag, nonce) = rest.split_at(self.core.tag_len());
        PyByteArray::new_with(py, data.len(), |out| {
            detached(py, data.len() + aad.len(), || {
                self.core.decrypt_parts(nonce, aad, InOut::apart(data, out), tag)
            })
        })
    }

    // ---- buffers ----

    /// Copies ``src`` to the start of ``buf``, which may overlap it.
    ///
    /// Data read directly into the buffer, for example with ``file.readinto(buf)``, needs no copy.
    /// Raises ValueError if ``buf`` is too short.
    #[staticmethod]
    fn copy_slice(src: &Any<'_>, buf: &Any<'_>) -> PyResult<()> {
        let py = buf.py();
        let (mut a, mut b) = (Slot::new(py), Slot::new(py));
        let (source, target) = (a.read(src)?, b.write(buf)?);
        let len = source.len();
        let copy = target.copy_of(source)?;
        detached(py, len / COPY_SPEEDUP, || {
            copy.run();
            Ok(())
        })
    }

    /// Overwrites ``arr`` with zeros. Raises TypeError if it is read-only.
    #[staticmethod]
    fn zeroize(arr: &Any<'_>) -> PyResult<()> {
        let py = arr.py();
        let mut a = Slot::new(py);
        let out = a.write(arr)?.bytes();
        // Python owns the memory and keeps using it, so the compiler cannot remove the writes.
        detached(py, out.len() / COPY_SPEEDUP, || {
            out.fill(0);
            Ok(())
        })
    }
}

impl REncrypt {
    /// Seals the data of a layout with tag and nonce as its tail.
    #[inline]
    fn seal(&self, py: Python<'_>, layout: Layout<'_, 0>, aad: &[u8]) -> PyResult<()> {
        let Layout { data, tail, .. } = layout;
        let (tag, nonce) = tail.split_at_mut(self.core.tag_len());
        detached(py, data.len() + aad.len(), || self.core.seal_parts(nonce, aad, data.in_out(), tag))
    }

    /// Returns the plaintext length. A message that is too short is not authentic.
    #[inline]
    fn plaintext_len(&self, message_len: usize) -> PyResult<usize> {
        message_len.checked_sub(self.core.overhead()).ok_or_else(authentication_error)
    }
}

/// Longest `aad` in bytes that is joined on the stack.
const SHORT: usize = 120;
const INDEX: usize = size_of::<u64>();

/// Memory for `aad || u64_le(block_index)`. A copy, because `aad` may be in the buffer being
/// written.
struct Associated {
    short: [u8; SHORT + INDEX],
    long: Vec<u8>,
}

impl Associated {
    #[inline]
    fn new() -> Self {
        Self { short: [0; SHORT + INDEX], long: Vec::new() }
    }

    #[inline]
    fn join(&mut self, aad: &[u8], block_index: u64) -> &[u8] {
        let len = aad.len() + INDEX;
        let joined = match self.short.get_mut(..len) {
            Some(short) => short,
            None => {
                self.long.resize(len, 0);
                &mut self.long[..]
            }
        };
        let (start, end) = joined.split_at_mut(aad.len());
        start.copy_from_slice(aad);
        end.copy_from_slice(&block_index.to_le_bytes());
        joined
    }
}
