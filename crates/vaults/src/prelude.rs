//! What many files of this crate use. No two files may need each other, and the names of this crate
//! count for the file that defines them.

pub(crate) use crate::listing::{Found, Listing, in_vault};
pub(crate) use crate::storage::{Entry, EntryKind, Storage};
pub(crate) use crate::vault::{Contents, Vault};
pub(crate) use crate::walk::join;
pub(crate) use base::os::path_of;
pub(crate) use base::{Error, FolderError, Result, debug_fields, memory};
pub(crate) use engine::io::ReadAt;
pub(crate) use engine::pipeline::OpenChunks;
pub(crate) use engine::plan::{ChunkPosition, End, Layout};
pub(crate) use providers::{InOut, raw};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{io::ErrorKind, sync::Arc};
pub(crate) use zeroize::Zeroizing;
