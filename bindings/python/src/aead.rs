//! `sealane.Aead`: authenticated encryption of one message.

use crate::batch;
use crate::keys::Keyring;
use crate::prelude::*;
use crate::sealer::{self, aead_methods};
use crate::{arguments, integers, keys};
use pyo3::types::{PyMemoryView, PySlice};
use sealane::KeyringAead;

/// Authenticated encryption of messages with one key and one algorithm.
///
/// ``seal`` encrypts a message under a fresh random nonce, and ``open`` decrypts and verifies it. A
/// sealed message is ``nonce || ciphertext || tag``. ``encrypt`` and ``decrypt`` take the nonce
/// from the caller and match the signatures of pyca ``AESGCM``.
///
/// Parameters
/// ----------
/// algorithm : str
///     A name from ``sealane.algorithms()``, such as "aes-256-gcm" or "chacha20-poly1305".
/// key : bytes-like or sealane.keys.Key
///     A random key of ``key_len`` bytes, never a password. It is copied.
/// keyring : sealane.keys.Keyring, optional
///     Several keys, instead of ``algorithm`` and ``key``. The primary key seals; every enabled key
///     opens. Sealed messages begin with a Tink prefix that identifies the key, and ``nonce_len``
///     includes it. ``encrypt`` and ``decrypt`` raise ValueError.
/// provider : str, optional
///     The implementation: "native", "aws-lc" or "rustcrypto". The default is the environment
///     variable ``SEALANE_PROVIDER`` or, if unset, the fastest on this machine.
/// threads : int, optional
///     Maximum number of cores for one long message or large batch. The default is all free cores,
///     up to 8, from about 512 KiB on. AEGIS and providers other than native use one core per
///     message.
///
/// Raises
/// ------
/// ValueError
///     If a name is unknown, the key length is wrong, the keyring holds file keys, or ``threads``
///     is 0.
/// ProviderUnavailableError
///     If the provider cannot compute the algorithm on this machine.
///
/// Notes
/// -----
/// An AES-GCM or ChaCha20-Poly1305 object seals at most 2^32 messages. See ``sealed_messages``.
///
/// Threads may share an object, and it works after ``os.fork()``. It holds the key, so it cannot be
/// pickled or copied.
///
/// Examples
/// --------
/// >>> aead = sealane.Aead("aes-256-gcm", sealane.generate_key("aes-256-gcm"))
/// >>> sealed = aead.seal(b"hello", aad=b"header")
/// >>> aead.open(sealed, aad=b"header")
/// b'hello'
#[pyclass(frozen, module = "sealane")]
pub(crate) struct Aead {
    pub(crate) core: MessageKeys,
}

aead_methods! {
    Aead {
        #[new]
        #[pyo3(
            signature = (algorithm = None, key = None, provider = None, *, keyring = None, threads = None),
            text_signature = "(algorithm=None, key=None, provider=None, *, keyring=None, threads=None)"
        )]
        fn new(
            py: Python<'_>,
            algorithm: Option<&str>,
            key: Option<&Any<'_>>,
            provider: Option<&str>,
            keyring: Option<&Bound<'_, Keyring>>,
            threads: Option<usize>,
        ) -> PyResult<Self> {
            let provider = || provider.map(arguments::provider).transpose();
            let of_key = |algorithm: &str, key: &Any<'_>| {
                let (algorithm, provider) = (arguments::algorithm(algorithm)?, provider()?);
                let aead = sealane::Aead::with_provider(algorithm, &keys::extract(key)?, provider);
                Ok(aead.map_err(raise)?.into())
            };
            let of_keyring = |keyring: &_| {
                Ok(KeyringAead::with_provider(keyring, provider()?).map_err(raise)?.into())
            };
            Ok(Self { core: sealer::new(py, (algorithm, key), keyring, threads, of_key, of_keyring)? })
        }

        /// Number of messages sealed with this object, for AES-GCM and ChaCha20-Poly1305; None for
        /// other algorithms.
        ///
        /// Threads count in blocks, so the count can be up to twice the true number, but never
        /// less. Two of 2^32 random 96-bit nonces collide with probability 2^-33, and a repeated
        /// nonce reveals plaintext and allows forgeries. Other algorithms need no limit: their
        /// nonces are longer, or a repeated one reveals only whether two messages are equal
        /// (AES-GCM-SIV).
        ///
        /// ``UsageLimitWarning`` is raised at 3 * 2^30 messages and ``LimitExceededError`` from
        /// 2^32 on. Other objects and processes with the same key are not counted.
        #[getter]
        fn sealed_messages(&self) -> Option<u64> {
            self.core.sealed_messages()
        }

        /// Adds messages that other objects sealed under this key, for example before a restart.
        ///
        /// Raises LimitExceededError if the total would exceed the algorithm's limit of 2^32
        /// messages; see ``sealed_messages``.
        fn count_messages(&self, messages: u64) -> PyResult<()> {
            self.core.count_messages(messages).map_err(raise)
        }

        /// Seals each of ``messages`` under a fresh random nonce.
        ///
        /// Faster than one ``seal`` per message; large lists use several cores.
        ///
        /// Parameters
        /// ----------
        /// messages : list of bytes-like
        ///     The plaintexts.
        /// aads : list of bytes-like, optional
        ///     The associated data of each message. None means empty.
        ///
        /// Returns
        /// -------
        /// list of bytes
        ///     The sealed messages, in the order of the messages.
        ///
        /// Raises
        /// ------
        /// ValueError
        ///     If ``len(aads) != len(messages)``.
        /// TypeError
        ///     If a message is not a buffer. The error names its index.
        /// LimitExceededError
        ///     If a message is longer than ``max_plaintext_len``. The attribute ``index`` tells
        ///     which.
        #[pyo3(signature = (messages, aads = None))]
        fn seal_many<'py>(
            &self,
            messages: &Any<'py>,
            aads: Option<&Any<'py>>,
        ) -> PyResult<Bound<'py, PyList>> {
            let sealed = batch::seal_many(&self.core, messages, aads)?;
            batch::warn_near_limit(&self.core, messages.py())?;
            Ok(sealed)
        }

        /// Opens each of ``sealed``.
        ///
        /// Parameters
        /// ----------
        /// sealed : list of bytes-like
        ///     Results of ``seal`` or ``seal_many``.
        /// aads : list of bytes-like, optional
        ///     The associated data each message was sealed with.
        ///
        /// Returns
        /// -------
        /// list of bytes
        ///     The plaintexts.
        ///
        /// Raises
        /// ------
        /// AuthenticationError
        ///     If a message does not open. The attribute ``index`` tells the first. No plaintext is
        ///     returned.
        /// ValueError, TypeError
        ///     As ``seal_many``.
        #[pyo3(signature = (sealed, aads = None))]
        fn open_many<'py>(&self, sealed: &Any<'py>, aads: Option<&Any<'py>>) -> PyResult<Bound<'py, PyList>> {
            batch::open_many(&self.core, sealed, aads)
        }

        /// Returns a buffer for ``n`` bytes of plaintext, sealed in place without a copy.
        fn buffer(
            slf: Bound<'_, Self>,
            #[pyo3(from_py_with = integers::memory_len)] n: usize,
        ) -> PyResult<Buffer> {
            let (nonce_len, overhead) = (slf.get().core.nonce_len(), slf.get().core.overhead());
            let bytes = slf.py().get_type::<PyByteArray>().call1((n + overhead,))?;
            let whole = PyMemoryView::from(&bytes)?;
            let plaintext = slice(&whole, nonce_len, nonce_len + n)?;
            Ok(Buffer { aead: slf.unbind(), whole: whole.unbind(), plaintext, capacity: n })
        }

        /// The provider (implementation) in use.
        #[getter]
        fn provider(&self) -> &'static str {
            self.core.provider().name()
        }

        fn __repr__(&self) -> String {
            let keys = sealer::description(&self.core);
            format!("<sealane.Aead {keys} by {} ({})>", self.provider(), self.variant())
        }
    }
    packed {
        /// Seals packed messages ``data[offsets[i]:offsets[i + 1]]``, such as a column of Arrow.
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
        ///     The sealed messages, one after the other.
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
        ///     If the offsets of the result do not fit in 32 bits, or a message is too long.
        seal_packed by seal_packed;
        /// Opens packed messages ``data[offsets[i]:offsets[i + 1]]``.
        ///
        /// Parameters
        /// ----------
        /// data : bytes-like
        ///     The sealed messages, one after the other.
        /// offsets : buffer of int32 or int64
        ///     One offset more than messages.
        /// aad : bytes-like, optional
        ///     The associated data all messages were sealed with.
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
        ///     If a message does not open. The attribute ``index`` tells the first. No plaintext is
        ///     returned.
        /// TypeError, ValueError
        ///     As ``seal_packed``.
        open_packed by open_packed;
    }
}

/// A buffer for one message: the caller writes the plaintext, and it is sealed without a copy.
/// Create it with ``Aead.buffer(n)``.
///
/// Examples
/// --------
/// >>> buffer = aead.buffer(4096)
/// >>> n = file.readinto(buffer.plaintext)
/// >>> socket.sendall(buffer.seal(n, aad=b"header"))
#[pyclass(frozen, module = "sealane")]
pub(crate) struct Buffer {
    aead: Py<Aead>,
    whole: Py<PyMemoryView>,
    /// A writable memoryview of ``n`` bytes for the plaintext.
    #[pyo3(get)]
    plaintext: Py<PyAny>,
    capacity: usize,
}

#[pymethods]
impl Buffer {
    /// Seals the first ``n`` bytes of ``plaintext`` in place.
    ///
    /// Returns
    /// -------
    /// memoryview
    ///     ``nonce || ciphertext || tag``, valid until the next write to ``plaintext`` or the next
    ///     ``seal``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If the buffer is shorter than ``n`` bytes.
    #[pyo3(signature = (n, aad = None), text_signature = "($self, n, aad=b'')")]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = integers::memory_len)] n: usize,
        aad: Option<&Any<'py>>,
    ) -> PyResult<Py<PyAny>> {
        if n > self.capacity {
            return Err(raise(Misuse::BufferTooShort { got: self.capacity, need: n }.into()));
        }
        let (aead, whole) = (self.aead.get(), self.whole.bind(py));
        let len = n + aead.core.overhead();
        let (mut a, mut b) = (Slot::new(py), Slot::new(py));
        let (aad, target) = (a.read_optional(aad)?, b.write(whole)?.first(len)?);
        sealer::seal_layout(&aead.core, py, target.arrange_in_place(aead.core.nonce_len(), n, [aad])?)?;
        batch::warn_near_limit(&aead.core, py)?;
        slice(whole, 0, len)
    }

    fn __len__(&self) -> usize {
        self.capacity
    }

    fn __repr__(&self) -> String {
        format!("<sealane.Buffer of {} bytes for {}>", self.capacity, self.aead.get().algorithm())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a Buffer is never pickled or copied: it holds plaintext"))
    }
}

fn slice(view: &Bound<'_, PyMemoryView>, from: usize, to: usize) -> PyResult<Py<PyAny>> {
    // Both are lengths within an object in memory, so they fit.
    let range = PySlice::new(view.py(), from as isize, to as isize, 1);
    Ok(view.get_item(range)?.unbind())
}

/// Returns a random key of the right length for ``algorithm`` from the operating system's
/// generator.
///
/// Raises
/// ------
/// ValueError
///     If the algorithm is unknown.
///
/// Examples
/// --------
/// >>> len(sealane.generate_key("aes-256-gcm"))
/// 32
#[pyfunction]
pub(crate) fn generate_key<'py>(py: Python<'py>, algorithm: &str) -> PyResult<Bytes<'py>> {
    let key = sealane::Key::generate(arguments::key_len(algorithm)?).map_err(raise)?;
    Ok(PyBytes::new(py, key.as_bytes()))
}
