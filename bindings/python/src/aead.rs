//! `sealane.Aead`: seal and open one message.

use crate::buffer::Slot;
use crate::error::raise;
use crate::keys;
use crate::number;
use crate::sealer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyMemoryView, PySlice};
use sealane::{Algorithm, Error, Misuse, Provider};

/// Letting other Python threads run costs 40 ns (measured), which is 1 KiB of AES-GCM. From here on it is below 8 %.
pub(crate) const WORTH_DETACHING: usize = 8 << 10;

/// Runs `work` on `len` bytes, letting other Python threads run meanwhile where that pays.
#[inline]
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    len: usize,
    work: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    if len < WORTH_DETACHING { work() } else { py.detach(work) }.map_err(raise)
}

/// An algorithm with a key. Safe to share between threads and after a fork.
///
/// Parameters
/// ----------
/// algorithm : str
///     One of the names that ``sealane.algorithms()`` lists.
/// key : bytes-like or sealane.keys.Key
///     Exactly ``key_len`` bytes, uniformly random: never a password. It is copied.
/// provider : str, optional
///     Who computes: "native", "aws-lc", "ring", "rustcrypto" or "aegis". Default: the fastest here, or what the
///     environment variable ``SEALANE_PROVIDER`` names.
///
/// Raises
/// ------
/// ValueError
///     For an unknown name or a key of another length.
/// ProviderUnavailableError
///     Where the provider does not have the algorithm on this machine.
///
/// A *sealed* message is ``nonce || ciphertext || tag`` under a fresh random nonce. The calls named ``encrypt`` and
/// ``decrypt`` take the nonce from the caller, who must never use one twice with the same key.
#[pyclass(frozen, module = "sealane")]
pub(crate) struct Aead {
    core: sealane::Aead,
}

#[pymethods]
impl Aead {
    #[new]
    #[pyo3(signature = (algorithm, key, provider = None))]
    fn new(algorithm: &str, key: &Bound<'_, PyAny>, provider: Option<&str>) -> PyResult<Self> {
        let algorithm = find(algorithm)?;
        let provider = provider.map(find_provider).transpose()?;
        let key = keys::extract(key)?;
        let core = sealane::Aead::with_provider(algorithm, &key, provider).map_err(raise)?;
        Ok(Self { core })
    }

    /// Seals ``plaintext`` under a fresh random nonce: ``nonce || ciphertext || tag``.
    ///
    /// ``overhead`` bytes longer than the plaintext. Raises LimitExceededError past ``max_plaintext_len``.
    #[pyo3(signature = (plaintext, aad = None), text_signature = "($self, plaintext, aad=b'')")]
    fn seal<'py>(
        &self,
        plaintext: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::seal(&self.core, plaintext, aad)
    }

    /// Opens a sealed message. Raises AuthenticationError where key, aad or message are not what was sealed.
    #[pyo3(signature = (sealed, aad = None), text_signature = "($self, sealed, aad=b'')")]
    fn open<'py>(
        &self,
        sealed: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::open(&self.core, sealed, aad)
    }

    /// Seals into the start of ``out`` and returns the number of bytes written, ``len(plaintext) + overhead``.
    ///
    /// In place where the plaintext already lies at ``out[nonce_len:]``. Raises ValueError where ``out`` is too short
    /// or overlaps what is read in any other way, TypeError where it is read-only; nothing was written then.
    #[pyo3(signature = (plaintext, out, aad = None), text_signature = "($self, plaintext, out, aad=b'')")]
    fn seal_into(
        &self,
        plaintext: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        sealer::seal_into(&self.core, plaintext, out, aad)
    }

    /// Opens into the start of ``out`` and returns the number of bytes written, ``len(sealed) - overhead``.
    ///
    /// In place where ``out`` starts at ``sealed[nonce_len:]``. Raises AuthenticationError, and then nothing of the
    /// plaintext is in ``out``: zeros are. Raises ValueError and TypeError as seal_into does.
    #[pyo3(signature = (sealed, out, aad = None), text_signature = "($self, sealed, out, aad=b'')")]
    fn open_into(
        &self,
        sealed: &Bound<'_, PyAny>,
        out: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        sealer::open_into(&self.core, sealed, out, aad)
    }

    /// Encrypts ``data`` under the caller's nonce: ``ciphertext || tag``. ``aad`` may be None.
    ///
    /// The same nonce must never be used twice with one key. Raises ValueError for a nonce of another length.
    #[pyo3(signature = (nonce, data, aad = None), text_signature = "($self, nonce, data, aad=None)")]
    fn encrypt<'py>(
        &self,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::encrypt(&self.core, nonce, data, aad)
    }

    /// Encrypts into the start of ``out`` and returns the number of bytes written, ``len(data) + tag_len``.
    ///
    /// In place where ``out`` starts where ``data`` does. Raises ValueError and TypeError as seal_into does.
    fn encrypt_into(
        &self,
        nonce: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        sealer::encrypt_into(&self.core, nonce, data, aad, out)
    }

    /// Decrypts ``data`` (``ciphertext || tag``) under the caller's nonce. Raises AuthenticationError.
    #[pyo3(signature = (nonce, data, aad = None), text_signature = "($self, nonce, data, aad=None)")]
    fn decrypt<'py>(
        &self,
        nonce: &Bound<'py, PyAny>,
        data: &Bound<'py, PyAny>,
        aad: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        sealer::decrypt(&self.core, nonce, data, aad)
    }

    /// Decrypts into the start of ``out`` and returns the number of bytes written, ``len(data) - tag_len``.
    ///
    /// In place where ``out`` starts where ``data`` does. Raises AuthenticationError, and then nothing of the plaintext
    /// is in ``out``: zeros are. Raises ValueError and TypeError as seal_into does.
    fn decrypt_into(
        &self,
        nonce: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        aad: Option<&Bound<'_, PyAny>>,
        out: &Bound<'_, PyAny>,
    ) -> PyResult<usize> {
        sealer::decrypt_into(&self.core, nonce, data, aad, out)
    }

    /// Room for ``n`` bytes of plaintext that are sealed where they lie.
    fn buffer(
        slf: Bound<'_, Self>,
        #[pyo3(from_py_with = number::bytes_in_memory)] n: usize,
    ) -> PyResult<Buffer> {
        let (nonce_len, overhead) = (slf.get().core.nonce_len(), slf.get().core.overhead());
        let bytes = slf.py().get_type::<PyByteArray>().call1((n + overhead,))?;
        let whole = PyMemoryView::from(&bytes)?;
        let plaintext = slice(&whole, nonce_len, nonce_len + n)?;
        Ok(Buffer { aead: slf.unbind(), whole: whole.unbind(), plaintext, capacity: n })
    }

    /// What is computed: the name of the algorithm.
    #[getter]
    fn algorithm(&self) -> &'static str {
        self.core.algorithm().name()
    }

    /// Who computes it.
    #[getter]
    fn provider(&self) -> &'static str {
        self.core.provider().name()
    }

    /// Which build of it; "opaque" where a foreign library chooses and does not say.
    #[getter]
    fn variant(&self) -> &'static str {
        self.core.variant()
    }

    /// Bytes of a key.
    #[getter]
    fn key_len(&self) -> usize {
        self.core.algorithm().key_len()
    }

    /// Bytes of a nonce.
    #[getter]
    fn nonce_len(&self) -> usize {
        self.core.nonce_len()
    }

    /// Bytes of a tag.
    #[getter]
    fn tag_len(&self) -> usize {
        self.core.tag_len()
    }

    /// Bytes by which a sealed message is longer than its plaintext: nonce and tag.
    #[getter]
    fn overhead(&self) -> usize {
        self.core.overhead()
    }

    /// The longest plaintext, in bytes.
    #[getter]
    fn max_plaintext_len(&self) -> u64 {
        self.core.max_plaintext_len()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.Aead {} by {} ({})>", self.algorithm(), self.provider(), self.variant())
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

/// Room for one message, filled by the caller and sealed without a copy. Made by ``Aead.buffer(n)``.
#[pyclass(frozen, module = "sealane")]
pub(crate) struct Buffer {
    aead: Py<Aead>,
    whole: Py<PyMemoryView>,
    plaintext: Py<PyAny>,
    capacity: usize,
}

#[pymethods]
impl Buffer {
    /// Where the plaintext goes: a writable memoryview of ``n`` bytes.
    #[getter]
    fn plaintext(&self, py: Python<'_>) -> Py<PyAny> {
        self.plaintext.clone_ref(py)
    }

    /// Seals the first ``n`` bytes of the plaintext where they lie.
    ///
    /// Returns a memoryview of ``nonce || ciphertext || tag``, valid until the plaintext is written again or sealed
    /// again; no copy is made. Raises ValueError where the buffer holds fewer bytes.
    #[pyo3(signature = (n, aad = None), text_signature = "($self, n, aad=b'')")]
    fn seal<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = number::bytes_in_memory)] n: usize,
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
    // Both are lengths of parts of an object, so they fit.
    let range = PySlice::new(view.py(), from as isize, to as isize, 1);
    Ok(view.get_item(range)?.unbind())
}

/// Fresh random bytes of the right length for a key of ``algorithm``, from the operating system.
#[pyfunction]
pub(crate) fn generate_key<'py>(py: Python<'py>, algorithm: &str) -> PyResult<Bound<'py, PyBytes>> {
    let key = sealane::Key::generate(find(algorithm)?.key_len()).map_err(raise)?;
    Ok(PyBytes::new(py, key.as_bytes()))
}

pub(crate) fn find(name: &str) -> PyResult<Algorithm> {
    Algorithm::from_name(name)
        .ok_or_else(|| unknown("algorithm", name, Algorithm::ALL.iter().map(|a| a.name())))
}

fn find_provider(name: &str) -> PyResult<Provider> {
    Provider::from_name(name)
        .ok_or_else(|| unknown("provider", name, Provider::all().iter().map(|p| p.name())))
}

#[cold]
pub(crate) fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str>) -> PyErr {
    let known = known.collect::<Vec<_>>().join(", ");
    PyValueError::new_err(format!("unknown {what} {name:?}; known: {known}"))
}
