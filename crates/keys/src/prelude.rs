//! What many files of this crate use of other crates. Only other crates: no two files may need each
//! other.

pub(crate) use base::{Error, Misuse, Result, debug_fields, debug_text, memory};
pub(crate) use messages::{Aead, Key};
pub(crate) use providers::{Algorithm, InOut};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{fmt, io, str::FromStr, sync::Arc};
pub(crate) use subtle::ConstantTimeEq;
pub(crate) use zeroize::Zeroizing;
