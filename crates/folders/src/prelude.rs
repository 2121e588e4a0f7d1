//! What many files of this crate use. No two files may need each other, and the names of this crate
//! count for the file that defines them.

pub(crate) use crate::bulk::Operation;
pub(crate) use base::{Error, Misuse, Result, error::FolderError, memory};
pub(crate) use engine::file_id::FileId;
pub(crate) use engine::folder::{EntryKind, Folder};
pub(crate) use engine::options::{Durability, Options};
pub(crate) use engine::place::parent;
pub(crate) use files::file_keys::{DecryptWith, EncryptWith};
pub(crate) use files::mark::FileMark;
pub(crate) use std::collections::{BTreeMap, BTreeSet};
pub(crate) use std::ffi::{OsStr, OsString};
pub(crate) use std::io::{self, ErrorKind};
pub(crate) use std::num::NonZeroUsize;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::sync::OnceLock;
pub(crate) use std::{fs, mem};
