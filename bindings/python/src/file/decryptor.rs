//! `sealane.Decryptor`: returns plaintext as the encrypted file arrives.

use crate::file_keys;
use crate::file_keys::DecryptWith;
use crate::prelude::*;
use crate::shared::Shared;
use sealane::file::{self, ByteQueue};

/// Decrypts a file as its bytes arrive, for example from a socket.
///
/// ``update`` takes a piece of any length and returns the plaintext of all chunks completed so far.
/// ``finalize`` verifies the end. Pass exactly one of ``key``, ``identities`` and ``passphrase``.
///
/// .. warning::
///     Every returned byte is verified, but only ``finalize`` detects a missing end. If
///     ``finalize`` was not called or failed, do not treat the data as a complete file.
///
/// Parameters
/// ----------
/// key, identities, passphrase, context, format, max_work_factor
///     See ``sealane.decrypt_file``.
///
/// Raises
/// ------
/// TypeError, ValueError
///     If the arguments do not go together, as for ``decrypt_file``.
///
/// Notes
/// -----
/// A chunk has 16 KiB of plaintext in the default format, 64 KiB in age, and 4 KiB or 1 MiB in the
/// formats of Tink. After ``update`` or ``finalize`` raises, the object is unusable.
///
/// Examples
/// --------
/// >>> key = sealane.keys.generate("aes-256")
/// >>> sealed = sealane.encrypt(bytes(40_000), key=key)
/// >>> decryptor = sealane.Decryptor(key=key)
/// >>> len(decryptor.update(sealed[:20_000]))
/// 16384
/// >>> len(decryptor.update(sealed[20_000:]) + decryptor.finalize())
/// 23616
#[pyclass(frozen, subclass, module = "sealane")]
pub(crate) struct Decryptor(Shared<Content>);

#[pymethods]
impl Decryptor {
    #[new]
    #[pyo3(
        signature = (
            *, key = None, identities = None, passphrase = None, context = Vec::new(), format = None,
            max_work_factor = None
        ),
        text_signature =
            "(*, key=None, identities=None, passphrase=None, context=b'', format=None, max_work_factor=None)"
    )]
    fn new(
        key: Option<&Any<'_>>,
        identities: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        #[pyo3(from_py_with = file_keys::copy)] context: Vec<u8>,
        format: Option<&str>,
        max_work_factor: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        let with = DecryptWith::new(key, identities, passphrase, context, format, max_work_factor)?;
        Ok(Self(Shared::new(Box::new(file::Decryptor::new(ByteQueue::default(), &with.0)))))
    }

    /// Takes the next piece of the file and returns the plaintext of the chunks it completes.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     A piece of any length.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     Verified plaintext; empty if no chunk was completed.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If the key or context is wrong, or the data was modified.
    /// NoMatchingKeyError
    ///     If no identity matches a recipient of the file, or the passphrase is wrong.
    /// FormatError, LimitExceededError
    ///     As for ``sealane.decrypt_file``.
    /// ValueError
    ///     If the object is finalized or an earlier call failed.
    #[pyo3(signature = (data, /))]
    fn update<'py>(&self, py: Python<'py>, data: &Any<'py>) -> PyResult<Bytes<'py>> {
        read!(py; data);
        self.with(py, |decryptor| {
            let open = decryptor.as_mut()?;
            let result = open.push(data).map(|()| std::mem::take(open.get_mut()));
            if result.is_err() {
                *decryptor = None;
            }
            Some(result)
        })
    }

    /// Verifies the end of the file and returns the rest of the plaintext.
    ///
    /// Raises
    /// ------
    /// TruncatedError
    ///     If the end of the file is missing.
    /// AuthenticationError, FormatError, NoMatchingKeyError, ValueError
    ///     As for ``update``.
    fn finalize<'py>(&self, py: Python<'py>) -> PyResult<Bytes<'py>> {
        self.with(py, |decryptor| Some(decryptor.take()?.finish()))
    }
}

type Content = Box<file::Decryptor<ByteQueue>>;

impl Decryptor {
    /// Runs `work`, which returns the verified plaintext, and moves that to a new Python object.
    fn with<'py>(
        &self,
        py: Python<'py>,
        work: impl FnOnce(&mut Option<Content>) -> Option<Result<ByteQueue>> + Send,
    ) -> PyResult<Bytes<'py>> {
        let found = self.0.access(py, usize::MAX, work)?.ok_or_else(finalized)?;
        let mut plain = found.map_err(raise)?;
        PyBytes::new_with(py, plain.len(), |out| {
            plain.take(out);
            Ok(())
        })
    }
}

#[cold]
fn finalized() -> PyErr {
    PyValueError::new_err("the decryptor is already finalized, or was lost by an earlier failure")
}
