//! What many files of this crate use. No two files may need each other, and the names of this crate
//! count for the file that defines them.

pub(crate) use crate::file_cipher::FileCipher;
pub(crate) use crate::file_keys::{DecryptWith, EncryptWith};
pub(crate) use base::memory::{self, Wiped};
pub(crate) use base::{Error, Misuse, Result, debug_fields};
pub(crate) use engine::file_id::FileId;
pub(crate) use engine::io::ReadAt;
pub(crate) use engine::pipeline::ChunkCipher;
pub(crate) use engine::plan::{ChunkPosition, End, Job, Layout};
pub(crate) use engine::prefix::{Parsed, Prefix};
pub(crate) use keys::{Keyring, age::Armor};
pub(crate) use messages::Key;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::{fs::File, io, sync::Arc};
