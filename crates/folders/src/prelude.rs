//! What many files of this crate use of other crates. Only other crates: no two files may need each
//! other.

pub(crate) use base::{Error, Misuse, Result, error::FolderError, memory};
pub(crate) use engine::folder::{EntryKind, Folder};
pub(crate) use engine::options::{Durability, Options};
pub(crate) use files::mark::FileMark;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::ffi::{OsStr, OsString};
pub(crate) use std::io::{self, ErrorKind};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{fs, mem};
