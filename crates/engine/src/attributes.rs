//! The attributes of a file that a replica of it gets: mode, owner, group and modification time.

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

    /// Gives `new`, a file or a folder, these attributes. Owner and group are kept as far as this user may do that.
    pub fn apply(&self, new: &File) -> io::Result<()> {
        rights::replicate(new, &self.metadata)?;
        // Last, because the other calls may count as changes.
        new.set_modified(self.modified()?)
    }
}
