//! Values of encrypted columns: one native call for each, without a frame of Python.

use crate::aead::Aead;
use crate::deterministic::DeterministicAead;
use crate::keys::Keyring;
use crate::prelude::*;
use crate::sealer;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::intern;
use std::sync::{Mutex, PoisonError};

/// An AEAD, its keyring, and the number of changes of that.
type Latest = (Py<PyAny>, Py<PyAny>, u64);

/// Opens the values of a column.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct FieldOpener {
    /// Has the keyring, or a function that returns it, as ``source``; ``aead(…)`` makes its AEAD.
    keys: Py<PyAny>,
    /// The associated data; without it, values are bound to their rows, and each call has its own.
    aad: Option<Py<PyBytes>>,
    /// Makes a value from bytes; without it, values are text.
    decode: Option<Py<PyAny>>,
    /// Raises the error for a value that opens but has another type, or does not open.
    refuse: Py<PyAny>,
    latest: Mutex<Option<Latest>>,
}

#[pymethods]
impl FieldOpener {
    #[new]
    fn new(keys: Py<PyAny>, aad: Option<Py<PyBytes>>, decode: Option<Py<PyAny>>, refuse: Py<PyAny>) -> Self {
        Self { keys, aad, decode, refuse, latest: Mutex::new(None) }
    }

    /// Returns the value; None for None. ``refuse`` gets a bool, the sealed value, and the rest.
    #[pyo3(signature = (sealed, *rest))]
    fn open<'py>(&self, sealed: &Any<'py>, rest: &Bound<'py, PyTuple>) -> PyResult<Any<'py>> {
        let py = sealed.py();
        if sealed.is_none() {
            return Ok(sealed.clone());
        }
        let own = self.aad.as_ref().map(|aad| aad.bind(py).clone().into_any());
        let aad = own.map_or_else(|| rest.get_item(0), Ok)?;
        let (aead, aad) = (self.aead(py)?, Some(&aad));
        let plain = match aead.cast::<Aead>() {
            Ok(aead) => sealer::open(&aead.get().core, sealed, aad),
            Err(_) => sealer::open(&aead.cast::<DeterministicAead>()?.get().core, sealed, aad),
        };
        let opens = plain.is_ok();
        let value = plain.and_then(|plain| match &self.decode {
            Some(decode) => decode.bind(py).call1((plain,)),
            None => PyString::from_encoded_object(&plain, None, None).map(Bound::into_any),
        });
        match value {
            // The error of a codec could show the value.
            Err(why) if why.is_instance_of::<PyException>(py) && !why.is_instance_of::<PyMemoryError>(py) => {
                self.refuse.bind(py).call1((opens, sealed, rest))
            }
            value => value,
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.decode.iter().chain([&self.keys, &self.refuse]).try_for_each(|object| visit.call(object))
    }
}

impl FieldOpener {
    /// Returns the AEAD of the keyring as it is now. A function may return another one each time.
    fn aead<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        let keys = self.keys.bind(py);
        let mut ring = keys.getattr(intern!(py, "source"))?;
        if ring.is_callable() {
            ring = ring.call0()?;
        }
        let changes = ring.cast::<Keyring>().map_or(0, |ring| ring.get().changes());
        let lock = || self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((aead, of, then)) = &*lock()
            && (of.as_ptr(), *then) == (ring.as_ptr(), changes)
        {
            return Ok(aead.bind(py).clone());
        }
        let aead = keys.call_method1(intern!(py, "aead"), (&ring,))?;
        let _old = lock().replace((aead.clone().unbind(), ring.unbind(), changes));
        Ok(aead)
    }
}
