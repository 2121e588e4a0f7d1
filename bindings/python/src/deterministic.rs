//! `sealane.DeterministicAead`: equal messages are encrypted to equal ciphertexts.

use crate::arguments;
use crate::batch;
use crate::buffer::{fresh, read};
use crate::detach::detached;
use crate::error::raise;
use crate::keys;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Deterministic authenticated encryption of messages, for example to search an encrypted column of a database.
///
/// Equal messages with equal associated data have equal ciphertexts.
///
/// .. warning::
///     A reader of the ciphertexts learns which plaintexts are equal, how often each repeats, and how long it is. In a
///     column with few different values this is often the content. Use ``Aead`` where equality need not be visible.
///
/// Parameters
/// ----------
/// algorithm : str
///     "aes-256-siv" (RFC 5297, and AES-SIV of Tink).
/// key : bytes-like or sealane.keys.Key
///     A random key of 64 bytes, for example of ``sealane.generate_key("aes-256-siv")``. It is copied.
/// threads : int, optional
///     How many cores a large column may use. The default is all that are free, up to 8, from about 512 KiB on.
///
/// Raises
/// ------
/// ValueError
///     If the name is unknown, the key has another length, or ``threads`` is 0.
///
/// Notes
/// -----
/// The associated data should name the column, for example ``b"users.email"``, so that ciphertexts of two columns cannot
/// be exchanged or compared. Threads may share an object, and it works after ``os.fork()``. It cannot be pickled or
/// copied, because it holds the key.
///
/// Examples
/// --------
/// >>> daead = sealane.DeterministicAead("aes-256-siv", sealane.generate_key("aes-256-siv"))
/// >>> encrypted = daead.encrypt(b"alice@example.com", b"users.email")
/// >>> encrypted == daead.encrypt(b"alice@example.com", b"users.email")
/// True
/// >>> daead.decrypt(encrypted, b"users.email")
/// b'alice@example.com'
#[pyclass(frozen, module = "sealane")]
pub(crate) struct DeterministicAead {
    core: sealane::DeterministicAead,
}

#[pymethods]
impl DeterministicAead {
    #[new]
    #[pyo3(signature = (algorithm, key, *, threads = None))]
    fn new(algorithm: &str, key: &Bound<'_, PyAny>, threads: Option<usize>) -> PyResult<Self> {
        let algorithm = arguments::deterministic_algorithm(algorithm)?;
        let core = sealane::DeterministicAead::new(algorithm, &keys::extract(key)?).map_err(raise)?;
        Ok(Self {
            core: match arguments::threads(threads)? {
                Some(threads) => core.with_threads(threads),
                None => core,
            },
        })
    }

    /// Encrypts ``data``. Equal arguments have equal results.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The plaintext.
    /// aad : bytes-like, optional
    ///     Associated data, which is authenticated but not part of the result. Decrypting needs the same.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     ``synthetic IV || ciphertext``, ``overhead`` bytes longer than the plaintext.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn encrypt<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        read!(py; data; optional aad);
        fresh(py, data.len() + self.core.overhead(), |out| {
            detached(py, data.len() + aad.len(), || self.core.encrypt_into(data, aad, out)).map(drop)
        })
    }

    /// Decrypts and verifies the result of ``encrypt``.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The result of ``encrypt``.
    /// aad : bytes-like, optional
    ///     The associated data that it was encrypted with.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If the key or the associated data is another one, or the data was changed.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn decrypt<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let py = data.py();
        read!(py; data; optional aad);
        fresh(py, data.len().saturating_sub(self.core.overhead()), |out| {
            detached(py, data.len() + aad.len(), || self.core.decrypt_into(data, aad, out)).map(drop)
        })
    }

    /// Encrypts packed messages, for example a column of Arrow: ``data[offsets[i]:offsets[i + 1]]`` each.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The plaintexts, one after the other.
    /// offsets : buffer of int32 or int64
    ///     One offset more than messages, for example a NumPy array or an ``array.array``.
    /// aad : bytes-like, optional
    ///     The associated data of all messages.
    ///
    /// Returns
    /// -------
    /// data : bytes
    ///     The results of ``encrypt`` for the messages, one after the other.
    /// offsets : memoryview
    ///     Their offsets, with the type of those that were given.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If ``offsets`` are not of int32 or int64.
    /// ValueError
    ///     If ``offsets`` do not describe messages in ``data``.
    /// LimitExceededError
    ///     If the offsets of the result do not fit in 32 bits.
    #[pyo3(signature = (data, offsets, aad = None), text_signature = "($self, data, offsets, aad=b'')")]
    fn encrypt_packed<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyAny>)> {
        batch::encrypt_packed(&self.core, data, offsets, aad)
    }

    /// Decrypts packed messages: ``data[offsets[i]:offsets[i + 1]]`` each.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The encrypted messages, one after the other.
    /// offsets : buffer of int32 or int64
    ///     One offset more than messages.
    /// aad : bytes-like, optional
    ///     The associated data that all messages were encrypted with.
    ///
    /// Returns
    /// -------
    /// data : bytes
    ///     The plaintexts, one after the other.
    /// offsets : memoryview
    ///     Their offsets, with the type of those that were given.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If a message is not authentic. The attribute ``index`` is the index of the first one. No plaintext is returned.
    /// TypeError, ValueError
    ///     As ``encrypt_packed`` does.
    #[pyo3(signature = (data, offsets, aad = None), text_signature = "($self, data, offsets, aad=b'')")]
    fn decrypt_packed<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        offsets: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyAny>)> {
        batch::decrypt_packed(&self.core, data, offsets, aad)
    }

    /// Name of the algorithm, as the constructor takes it.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.core.algorithm().name()
    }

    /// Name of the variant (the code for an instruction set) that computes AES.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    /// Length in bytes of the key that the constructor takes.
    #[getter]
    fn key_len(&self) -> usize {
        self.core.algorithm().key_len()
    }

    /// Number of bytes by which an encrypted message is longer than its plaintext: the synthetic IV.
    #[getter]
    fn overhead(&self) -> usize {
        self.core.overhead()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.DeterministicAead {} ({})>", self.algorithm(), self.variant())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}
