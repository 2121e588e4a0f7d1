//! What many files of this crate use of other crates. Only other crates: no two files may need each
//! other.

pub(crate) use base::{Error, Misuse, Result, debug_fields, debug_text, memory};
pub(crate) use providers::{AeadKey, Algorithm, BatchAad, InOut, Provider, raw};
pub(crate) use std::num::NonZeroUsize;
pub(crate) use zeroize::Zeroizing;
