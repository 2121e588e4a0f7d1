//! What many files of this crate use. No two files may need each other, and the names of this crate
//! count for the file that defines them.

pub(crate) use crate::approved::Computation;
pub(crate) use crate::secret::{Secret, wiping_stack};
pub(crate) use base::interrupt::interruptible;
pub(crate) use base::{Error, Misuse, Result, debug_fields, debug_text, memory};
pub(crate) use messages::{Aead, Key};
pub(crate) use providers::{Algorithm, InOut};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{fmt, io, str::FromStr, sync::Arc};
pub(crate) use subtle::ConstantTimeEq;
pub(crate) use zeroize::Zeroizing;
