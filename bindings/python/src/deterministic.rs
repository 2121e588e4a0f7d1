//! `sealane.DeterministicAead`: equal messages encrypt to equal ciphertexts.

use crate::buffer::with_memory;
use crate::keys::Keyring;
use crate::prelude::*;
use crate::sealer::{self, key_methods};
use crate::{arguments, keys};
use sealane::KeyringDeterministicAead;

/// Deterministic authenticated encryption, for example to search an encrypted database column.
///
/// Equal messages with equal associated data have equal ciphertexts.
///
/// .. warning::
///     Anyone who sees the ciphertexts learns which plaintexts are equal, how often each repeats,
///     and its length. In a column with few distinct values, this often reveals the content. Use
///     ``Aead`` unless you need visible equality.
///
/// Parameters
/// ----------
/// algorithm : str
///     "aes-256-siv" (RFC 5297, and AES-SIV of Tink).
/// key : bytes-like or sealane.keys.Key
///     A random 64-byte key, for example from ``sealane.generate_key("aes-256-siv")``. It is
///     copied.
/// keyring : sealane.keys.Keyring, optional
///     Several keys, instead of ``algorithm`` and ``key``. The primary key encrypts; every enabled
///     key decrypts. Encrypted messages begin with a Tink prefix that identifies the key.
/// threads : int, optional
///     Maximum number of cores for a large column. The default is all free cores, up to 8, from
///     about 512 KiB on.
///
/// Raises
/// ------
/// ValueError
///     If the name is unknown, the key length is wrong, the keyring holds keys for another use, or
///     ``threads`` is 0.
///
/// Notes
/// -----
/// The associated data should name the column, for example ``b"users.email"``, so that ciphertexts
/// cannot be moved or compared between columns. Threads may share an object, and it works after
/// ``os.fork()``. It holds the key, so it cannot be pickled or copied.
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
    pub(crate) core: MessageKeys,
}

key_methods! { DeterministicAead {
    #[new]
    #[pyo3(
        signature = (algorithm = None, key = None, *, keyring = None, threads = None),
        text_signature = "(algorithm=None, key=None, *, keyring=None, threads=None)"
    )]
    fn new(
        py: Python<'_>,
        algorithm: Option<&str>,
        key: Option<&Any<'_>>,
        keyring: Option<&Bound<'_, Keyring>>,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        let of_key = |algorithm: &str, key: &Any<'_>| {
            let algorithm = arguments::deterministic_algorithm(algorithm)?;
            Ok(sealane::DeterministicAead::new(algorithm, &keys::extract(key)?).map_err(raise)?.into())
        };
        let of_keyring = |keyring: &_| {
            let keys = KeyringDeterministicAead::new(keyring).map_err(raise)?;
            Ok(sealane::DeterministicAead::from(keys).into())
        };
        Ok(Self { core: sealer::new(py, (algorithm, key), keyring, threads, of_key, of_keyring)? })
    }

    /// Encrypts ``data``. Equal arguments give equal results under the same key.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The plaintext.
    /// aad : bytes-like, optional
    ///     Associated data: authenticated, but not part of the result. Decrypting needs the same.
    ///
    /// Returns
    /// -------
    /// bytes
    ///     ``synthetic IV || ciphertext``, ``overhead`` bytes longer than the plaintext. With a
    ///     keyring, the primary key's prefix comes first.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn encrypt<'py>(&self, data: &Any<'py>, aad: Option<&Any<'py>>) -> PyResult<Bytes<'py>> {
        sealer::seal(&self.core, data, aad)
    }

    /// Encrypts ``data`` with each enabled key of the keyring, the primary key first.
    ///
    /// A stored value equal to one of the results has the plaintext ``data``. Use it to search
    /// while several keys are enabled, for example with ``WHERE email IN (?, ?)``.
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
    ///     One result per enabled key. An object with a single key returns the result of
    ///     ``encrypt`` alone.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn encrypt_with_all_keys<'py>(
        &self,
        data: &Any<'py>,
        aad: Option<&Any<'py>>,
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
    ///     The associated data it was encrypted with.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If the key or the associated data is wrong, or the data was modified.
    #[pyo3(signature = (data, aad = None), text_signature = "($self, data, aad=b'')")]
    fn decrypt<'py>(&self, data: &Any<'py>, aad: Option<&Any<'py>>) -> PyResult<Bytes<'py>> {
        sealer::open(&self.core, data, aad)
    }

    /// The variant (the code for an instruction set) in use for AES.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    /// Number of bytes that encryption adds: the synthetic IV, and with a keyring the primary key's
    /// prefix.
    #[getter]
    fn overhead(&self) -> usize {
        self.core.overhead()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.DeterministicAead {} ({})>", sealer::description(&self.core), self.variant())
    }
} packed {
    /// Encrypts packed messages ``data[offsets[i]:offsets[i + 1]]``, such as a column of Arrow.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The plaintexts, one after the other.
    /// offsets : buffer of int32 or int64
    ///     One offset more than messages, as a NumPy array or an ``array.array``, for example.
    /// aad : bytes-like, optional
    ///     The associated data of all messages.
    ///
    /// Returns
    /// -------
    /// data : bytes
    ///     The results of ``encrypt``, one after the other.
    /// offsets : memoryview
    ///     Their offsets, in the type of ``offsets``.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If ``offsets`` are not int32 or int64.
    /// ValueError
    ///     If ``offsets`` do not describe messages in ``data``.
    /// LimitExceededError
    ///     If the offsets of the result do not fit in 32 bits.
    encrypt_packed by seal_packed;
    /// Decrypts packed messages ``data[offsets[i]:offsets[i + 1]]``.
    ///
    /// Parameters
    /// ----------
    /// data : bytes-like
    ///     The encrypted messages, one after the other.
    /// offsets : buffer of int32 or int64
    ///     One offset more than messages.
    /// aad : bytes-like, optional
    ///     The associated data all messages were encrypted with.
    ///
    /// Returns
    /// -------
    /// data : bytes
    ///     The plaintexts, one after the other.
    /// offsets : memoryview
    ///     Their offsets, in the type of ``offsets``.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If a message is not authentic. The attribute ``index`` tells the first. No plaintext is
    ///     returned.
    /// TypeError, ValueError
    ///     As ``encrypt_packed``.
    decrypt_packed by open_packed;
} }
