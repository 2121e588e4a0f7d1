//! Values of encrypted columns: one native call for each, without a frame of Python.

use crate::aead::Aead;
use crate::deterministic::DeterministicAead;
use crate::objects::Any;
use crate::sealer;
use pyo3::exceptions::{PyException, PyMemoryError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between looks at the keyring: a look costs more than opening a value.
const CHECK: Duration = Duration::from_micros(50);

/// Opens the values of a column.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct FieldOpener {
    /// Returns the AEAD of the keyring as it is now.
    keys: Py<PyAny>,
    /// The associated data; without it, values are bound to their rows, and each call has its own.
    aad: Option<Py<PyBytes>>,
    /// Makes a value from bytes; without it, values are text.
    decode: Option<Py<PyAny>>,
    /// Raises the error for a value that opens but has another type, or does not open.
    refuse: Py<PyAny>,
    /// The AEAD, and when it was asked for.
    latest: Mutex<Option<(Py<PyAny>, Instant)>>,
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
        let aad = match &self.aad {
            Some(aad) => aad.bind(py).clone().into_any(),
            None => rest.get_item(0)?,
        };
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
    fn aead<'py>(&self, py: Python<'py>) -> PyResult<Any<'py>> {
        let now = Instant::now();
        let lock = || self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((aead, asked)) = &*lock()
            && now.duration_since(*asked) < CHECK
        {
            return Ok(aead.bind(py).clone());
        }
        let aead = self.keys.bind(py).call0()?;
        *lock() = Some((aead.clone().unbind(), now));
        Ok(aead)
    }
}
