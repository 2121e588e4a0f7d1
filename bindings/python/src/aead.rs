//! `sealane.Aead`: authenticated encryption of one message.

use crate::arguments;
use crate::buffer::Slot;
use crate::error::raise;
use crate::sealer::{self, aead_methods};
use crate::{integers, keys};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice};
use sealane::Misuse;

/// Authenticated encryption of messages with one key and one algorithm.
///
/// ``seal`` encrypts a message under a fresh random nonce, and ``open`` decrypts and verifies it. A sealed message is
/// ``nonce || ciphertext || tag``. ``encrypt`` and ``decrypt`` take the nonce from the caller and have the signatures of
/// ``AESGCM`` in the package cryptography.
///
/// Parameters
/// ----------
/// algorithm : str
///     A name that ``sealane.algorithms()`` lists, for example "aes-256-gcm" or "chacha20-poly1305".
/// key : bytes-like or sealane.keys.Key
///     A random key of ``key_len`` bytes, never a password. It is copied.
/// provider : str, optional
///     The implementation that computes it: "native", "aws-lc", "ring", "rustcrypto" or "aegis". The default is the
///     fastest on this machine, or the one that the environment variable ``SEALANE_PROVIDER`` names.
///
/// Raises
/// ------
/// ValueError
///     If a name is unknown, or the key has another length.
/// ProviderUnavailableError
///     If the provider does not have the algorithm on this machine.
///
/// Notes
/// -----
/// Threads may share an object, and it works after ``os.fork()``. It cannot be pickled or copied, because it holds the
/// key.
///
/// Examples
/// --------
/// >>> aead = sealane.Aead("aes-256-gcm", sealane.generate_key("aes-256-gcm"))
/// >>> sealed = aead.seal(b"hello", aad=b"header")
/// >>> aead.open(sealed, aad=b"header")
/// b'hello'
#[pyclass(frozen, module = "sealane")]
pub(crate) struct Aead {
    core: sealane::Aead,
}

aead_methods! {
    Aead {
        #[new]
        #[pyo3(signature = (algorithm, key, provider = None))]
        fn new(algorithm: &str, key: &Bound<'_, PyAny>, provider: Option<&str>) -> PyResult<Self> {
            let algorithm = arguments::algorithm(algorithm)?;
            let provider = provider.map(arguments::provider).transpose()?;
            let key = keys::extract(key)?;
            let core = sealane::Aead::with_provider(algorithm, &key, provider).map_err(raise)?;
            Ok(Self { core })
        }

        /// Returns a buffer for ``n`` bytes of plaintext, which is sealed in place without a copy.
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

        /// Name of the algorithm, as the constructor takes it and ``sealane.algorithms()`` lists it.
        #[getter]
        fn algorithm(&self) -> &'static str {
            self.core.algorithm().name()
        }

        /// Name of the provider (the implementation in use).
        #[getter]
        fn provider(&self) -> &'static str {
            self.core.provider().name()
        }

        /// Length in bytes of the key that the constructor takes for this algorithm.
        #[getter]
        fn key_len(&self) -> usize {
            self.core.algorithm().key_len()
        }

        fn __repr__(&self) -> String {
            format!("<sealane.Aead {} by {} ({})>", self.algorithm(), self.provider(), self.core.variant())
        }
    }
}

/// A buffer for one message, which is written by the caller and sealed without a copy. ``Aead.buffer(n)`` creates it.
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
    plaintext: Py<PyAny>,
    capacity: usize,
}

#[pymethods]
impl Buffer {
    /// A writable memoryview of ``n`` bytes, into which the caller writes the plaintext.
    #[getter]
    fn plaintext(&self, py: Python<'_>) -> Py<PyAny> {
        self.plaintext.clone_ref(py)
    }

    /// Seals the first ``n`` bytes of ``plaintext`` in place.
    ///
    /// Returns
    /// -------
    /// memoryview
    ///     ``nonce || ciphertext || tag``. It is valid until the next write to ``plaintext`` or the next ``seal``.
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
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        if n > self.capacity {
            return Err(raise(Misuse::BufferTooShort { got: self.capacity, need: n }.into()));
        }
        let (aead, whole) = (self.aead.get(), self.whole.bind(py));
        let len = n + aead.core.overhead();
        let (mut a, mut b) = (Slot::new(py), Slot::new(py));
        let (aad, target) = (a.read_optional(aad)?, b.write(whole)?.first(len)?);
        sealer::seal_layout(&aead.core, py, target.arrange_in_place(aead.core.nonce_len(), n, [aad])?)?;
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
    // Both are lengths of parts of an object in memory, so they fit.
    let range = PySlice::new(view.py(), from as isize, to as isize, 1);
    Ok(view.get_item(range)?.unbind())
}

/// Returns a random key of the right length for ``algorithm``, from the operating system.
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
pub(crate) fn generate_key<'py>(py: Python<'py>, algorithm: &str) -> PyResult<Bound<'py, PyBytes>> {
    let key = sealane::Key::generate(arguments::algorithm(algorithm)?.key_len()).map_err(raise)?;
    Ok(PyBytes::new(py, key.as_bytes()))
}
