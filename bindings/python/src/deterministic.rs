//! `sealane.DeterministicAead`: equal messages are encrypted to equal ciphertexts.

use crate::buffer::{copied, read, with_memory};
use crate::detach::detached;
use crate::error::raise;
use crate::{arguments, batch, keys, sealer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealane::{KeyringDeterministicAead, MessageKeys};

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
/// keyring : sealane.keys.Keyring, optional
///     Several keys, in place of ``algorithm`` and ``key``. The primary key encrypts, and every enabled key decrypts.
///     Encrypted messages begin with the prefix of Tink that tells the key.
/// threads : int, optional
///     How many cores a large column may use. The default is all that are free, up to 8, from about 512 KiB on.
///
/// Raises
/// ------
/// ValueError
///     If the name is unknown, the key has another length, the keyring has keys for another use, or ``threads`` is 0.
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
    core: MessageKeys,
}

#[pymethods]
impl DeterministicAead {
    #[new]
    #[pyo3(
        signature = (algorithm = None, key = None, *, keyring = None, threads = None),
        text_signature = "(algorithm=None, key=None, *, keyring=None, threads=None)"
    )]
    fn new(
        py: Python<'_>,
        algorithm: Option<&str>,
        key: Option<&Bound<'_, PyAny>>,
        keyring: Option<&Bound<'_, keys::Keyring>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let of_key = |algorithm: &str, key: &Bound<'_, PyAny>| {
            let algorithm = arguments::deterministic_algorithm(algorithm)?;
            Ok(sealane::DeterministicAead::new(algorithm, &keys::extract(key)?).map_err(raise)?.into())
        };
        let of_keyring = |keyring: &_| {
            let daead: sealane::DeterministicAead =
                KeyringDeterministicAead::new(keyring).map_err(raise)?.into();
            Ok(daead.into())
        };
        Ok(Self { core: sealer::new(py, (algorithm, key), keyring, threads, of_key, of_keyring)? })
    }

    /// Encrypts ``data``. Equal arguments have equal results under the same key.
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
    ///     ``synthetic IV || ciphertext``, ``overhead`` bytes longer than the plaintext. With a keyring, the prefix of
    ///     the primary key precedes it.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn encrypt<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::seal(&self.core, data, aad)
    }

    /// Encrypts ``data`` with each enabled key of the keyring, the primary key first.
    ///
    /// A stored value that is equal to one of the results has the plaintext ``data``. So this is how encrypted values are
    /// searched while several keys are enabled, for example with ``WHERE email IN (?, ?)``.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The plaintext.
    /// aad : bytes-like, optional
    ///     The associated data of the stored values.
    ///
    /// Returns
    /// -------
    /// list of bytes
    ///     One result for each enabled key. An object with a single key returns the result of ``encrypt`` alone.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn encrypt_with_all_keys<'py>(
        &self,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = data.py();
        read!(py; data; optional aad);
        let cost = (data.len() + aad.len()).saturating_mul(self.core.len());
        let results = detached(py, cost, || self.core.seal_with_all_keys(data, aad))?;
        let mut objects = with_memory(results.len())?;
        for result in &results {
            objects.push(copied(py, result)?);
        }
        PyList::new(py, objects)
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
        sealer::open(&self.core, data, aad)
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
        batch::seal_packed(&self.core, data, offsets, aad)
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
        batch::open_packed(&self.core, data, offsets, aad)
    }

    /// Name of the algorithm, as the constructor takes it.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.core.primary().algorithm()
    }

    /// Name of the variant (the code for an instruction set) that computes AES.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    /// Length in bytes of the key that the constructor takes.
    #[getter]
    fn key_len(&self) -> usize {
        self.core.primary().key_len()
    }

    /// Number of bytes by which an encrypted message is longer than its plaintext: the synthetic IV, and the prefix of
    /// the primary key of a keyring.
    #[getter]
    fn overhead(&self) -> usize {
        self.core.overhead()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.DeterministicAead {} ({})>", sealer::description(&self.core), self.variant())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}
