//! `sealane.DeterministicAead`: equal messages are encrypted to equal ciphertexts.

use crate::arguments;
use crate::batch;
use crate::buffer::{fresh, read};
use crate::detach::detached;
use crate::error::raise;
use crate::{keyring_messages, keys};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use sealane::{Error, KeyringDeterministicAead};

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
    core: Core,
}

/// One key, or the keys of a keyring.
enum Core {
    Key(sealane::DeterministicAead),
    Keyring(KeyringDeterministicAead),
}

impl Core {
    /// Returns the key that encrypts.
    fn primary(&self) -> &sealane::DeterministicAead {
        match self {
            Self::Key(daead) => daead,
            Self::Keyring(ring) => ring.primary(),
        }
    }

    fn overhead(&self) -> usize {
        match self {
            Self::Key(daead) => daead.overhead(),
            Self::Keyring(ring) => ring.overhead(),
        }
    }

    fn encrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::Key(daead) => daead.encrypt_into(data, aad, out).map(drop),
            Self::Keyring(ring) => ring.encrypt_into(data, aad, out).map(drop),
        }
    }
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
        let core = match (algorithm, key, keyring) {
            (Some(algorithm), Some(key), None) => {
                let algorithm = arguments::deterministic_algorithm(algorithm)?;
                let core = sealane::DeterministicAead::new(algorithm, &keys::extract(key)?).map_err(raise)?;
                Core::Key(match arguments::threads(threads)? {
                    Some(threads) => core.with_threads(threads),
                    None => core,
                })
            }
            (None, None, Some(keyring)) => {
                let core = KeyringDeterministicAead::new(&keyring.get().keyring(py)?).map_err(raise)?;
                Core::Keyring(match arguments::threads(threads)? {
                    Some(threads) => core.with_threads(threads),
                    None => core,
                })
            }
            _ => return Err(PyTypeError::new_err("expected an algorithm and a key, or a keyring alone")),
        };
        Ok(Self { core })
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
        let py = data.py();
        read!(py; data; optional aad);
        fresh(py, data.len() + self.core.overhead(), |out| {
            detached(py, data.len() + aad.len(), || self.core.encrypt_into(data, aad, out))
        })
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
        match &self.core {
            Core::Key(_) => PyList::new(py, [self.encrypt(data, aad)?]),
            Core::Keyring(ring) => keyring_messages::encrypt_with_all_keys(ring, data, aad),
        }
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
        let daead = match &self.core {
            Core::Key(daead) => daead,
            Core::Keyring(ring) => return keyring_messages::decrypt(ring, py, data, aad),
        };
        fresh(py, data.len().saturating_sub(daead.overhead()), |out| {
            detached(py, data.len() + aad.len(), || daead.decrypt_into(data, aad, out)).map(drop)
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
        match &self.core {
            Core::Key(daead) => batch::encrypt_packed(daead, data, offsets, aad),
            Core::Keyring(ring) => keyring_messages::encrypt_packed(ring, data, offsets, aad),
        }
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
        match &self.core {
            Core::Key(daead) => batch::decrypt_packed(daead, data, offsets, aad),
            Core::Keyring(ring) => keyring_messages::decrypt_packed(ring, data, offsets, aad),
        }
    }

    /// Name of the algorithm, as the constructor takes it.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.core.primary().algorithm().name()
    }

    /// Name of the variant (the code for an instruction set) that computes AES.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.primary().variant()
    }

    /// Length in bytes of the key that the constructor takes.
    #[getter]
    fn key_len(&self) -> usize {
        self.core.primary().algorithm().key_len()
    }

    /// Number of bytes by which an encrypted message is longer than its plaintext: the synthetic IV, and the prefix of
    /// the primary key of a keyring.
    #[getter]
    fn overhead(&self) -> usize {
        self.core.overhead()
    }

    fn __repr__(&self) -> String {
        let (algorithm, variant) = (self.algorithm(), self.variant());
        match &self.core {
            Core::Key(_) => format!("<sealane.DeterministicAead {algorithm} ({variant})>"),
            Core::Keyring(ring) => {
                format!(
                    "<sealane.DeterministicAead with a keyring of {}, {algorithm} ({variant})>",
                    ring.len()
                )
            }
        }
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}
