//! What almost every file of this crate uses: names of other crates, errors, buffers, and the short
//! names of objects. The files that define these cannot use it: no two files may need each other.

pub(crate) use crate::buffer::{Slot, copied, fresh, read};
pub(crate) use crate::detach::{detached, interruptible};
pub(crate) use crate::error::{raise, raise_about, raise_among, raise_at};
pub(crate) use crate::objects::{Any, Bytes};
pub(crate) use pyo3::exceptions::{PyTypeError, PyValueError};
pub(crate) use pyo3::prelude::*;
pub(crate) use pyo3::types::{PyByteArray, PyBytes, PyList, PyString, PyTuple};
pub(crate) use sealane::age::{Identity, Recipient};
pub(crate) use sealane::error::Result;
pub(crate) use sealane::keys::{Fingerprint, KeyFile, PinnedReference, Reference, SecretKey};
pub(crate) use sealane::{Error, InOut, MessageKeys, Misuse};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{borrow::Cow, ffi::OsString, num::NonZeroUsize, ops::ControlFlow, time::Duration};
pub(crate) use zeroize::Zeroizing;
