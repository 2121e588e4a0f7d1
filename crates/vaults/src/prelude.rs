//! What many files of this crate use of other crates. Only other crates: no two files may need each
//! other.

pub(crate) use base::os::path_of;
pub(crate) use base::{Error, FolderError, Result, debug_fields, memory};
pub(crate) use engine::io::ReadAt;
pub(crate) use engine::pipeline::OpenChunks;
pub(crate) use engine::plan::{ChunkPosition, End, Layout};
pub(crate) use providers::{InOut, raw};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{io::ErrorKind, sync::Arc};
pub(crate) use zeroize::Zeroizing;
