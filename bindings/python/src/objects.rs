//! Short names of the objects that almost every function takes or returns.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Any Python object, such as one with the buffer protocol.
pub(crate) type Any<'py> = Bound<'py, PyAny>;
/// A Python `bytes` object.
pub(crate) type Bytes<'py> = Bound<'py, PyBytes>;
