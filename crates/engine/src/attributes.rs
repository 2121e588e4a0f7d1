//! Attributes that a replica copies from its source: mode, owner, group and modification time.

use super::rights;
use std::fs::{File, Metadata};
use std::io;
use std::time::SystemTime;

/// The attributes of a file or a folder.
#[derive(Clone, Debug)]
pub struct Attributes {
    metadata: Metadata,
}

impl Attributes {
    pub fn of(metadata: &Metadata) -> Self {
        Self { metadata: metadata.clone() }
    }

    pub fn modified(&self) -> io::Result<SystemTime> {
        self.metadata.modified()
    }

    /// Applies these attributes to `new`, a file or a folder. Sets owner and group where permitted.
    pub fn apply(&self, new: &File) -> io::Result<()> {
        rights::replicate(new, &self.metadata)?;
        // Last: the other calls may count as changes.
        new.set_modified(self.modified()?)
    }
}
