//! What three or more files of this crate use.

pub(crate) use crate::file_keys::{DecryptWith, EncryptWith};
pub(crate) use crate::keys::{Key, Keyring, PublicKey};
pub(crate) use crate::{arguments, integers, keys, recipients, secrets};
pub(crate) use crate::{buffer::*, detach::*, error::*, objects::*, shared::*};
pub(crate) use crate::{file::durability, populate::Writers};
pub(crate) use pyo3::exceptions::{PyTypeError, PyValueError};
pub(crate) use pyo3::prelude::*;
pub(crate) use pyo3::types::{PyByteArray, PyBytes, PyList, PyString, PyTuple};
pub(crate) use sealane::age::{Identity, Recipient};
pub(crate) use sealane::keys::{Fingerprint, KeyFile, PinnedReference, Reference, SecretKey};
pub(crate) use sealane::{Error, InOut, MessageKeys, Misuse};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{borrow::Cow, ffi::OsString, num::NonZeroUsize, ops::ControlFlow, time::Duration};
pub(crate) use zeroize::Zeroizing;
