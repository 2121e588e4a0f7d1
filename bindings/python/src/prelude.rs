//! What almost every file of this crate uses.

pub(crate) use crate::buffer::{Slot, copied, fresh, read};
pub(crate) use crate::detach::{detached, interruptible};
pub(crate) use crate::error::{raise, raise_about, raise_among, raise_at};
pub(crate) use crate::objects::{Any, Bytes};
pub(crate) use crate::shared::Shared;
pub(crate) use crate::{arguments, keys, recipients, secrets};
pub(crate) use pyo3::exceptions::{PyTypeError, PyValueError};
pub(crate) use pyo3::prelude::*;
pub(crate) use pyo3::types::{PyByteArray, PyBytes, PyList, PyString, PyTuple};
pub(crate) use sealane::{Error, Misuse};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use zeroize::Zeroizing;
