//! What many files of this crate use of other crates. Only other crates: no two files may need each
//! other.

pub(crate) use base::memory::{self, Wiped};
pub(crate) use base::{Error, ForkGuard, Result, debug_fields};
pub(crate) use std::ffi::{OsStr, OsString};
pub(crate) use std::fs::{self, File, Metadata, OpenOptions};
pub(crate) use std::io::{self, ErrorKind};
pub(crate) use std::path::{Path, PathBuf};
