//! Encrypted files with random access.

use crate::file_keys::DecryptWith;
use crate::prelude::*;
use crate::shared::ended;
use std::fs::File;
use std::sync::{Arc, PoisonError, RwLock};

/// An encrypted file, or `None` once closed. Processes may read it concurrently.
pub(crate) struct Reader(RwLock<Option<Arc<file::Reader<File>>>>);

#[rustler::resource_impl]
impl Resource for Reader {}

impl Reader {
    fn file(&self) -> Result<Arc<file::Reader<File>>> {
        // The lock is held only to copy a pointer, so a panic cannot poison its value.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone().ok_or_else(ended)
    }
}

on_dirty_scheduler! { "DirtyIo":
    tuple fn reader_open(name: Binary, with: ResourceArc<DecryptWith>) {
        let path = path_of(&name);
        let reader = file::Reader::new(file::open_regular(&path)?, &with.0)?;
        let size = reader.size();
        Ok((ResourceArc::new(Reader(RwLock::new(Some(Arc::new(reader))))), size))
    }

    tuple fn reader_read_at[env](reader: ResourceArc<Reader>, offset: u64, len: u64) {
        let reader = reader.file()?;
        let len = len.min(reader.size().saturating_sub(offset));
        // It fails only on 32-bit targets.
        let len = usize::try_from(len).map_err(|_| CallError::out_of_memory(usize::MAX))?;
        written(env, len, |out| reader.read_at(offset, out).map(drop))
    }

    done fn reader_close(reader: ResourceArc<Reader>) {
        drop(reader.0.write().unwrap_or_else(PoisonError::into_inner).take());
        Ok(())
    }
}
