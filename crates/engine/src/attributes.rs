//! Attributes that a replica copies from its source: mode, owner, group and modification time.

use super::folder::Folder;
use super::os::rights;
use crate::prelude::*;

/// The attributes of a file or a folder.
#[derive(Clone, Debug)]
pub struct Attributes {
    metadata: Metadata,
    limited: bool,
}

impl Attributes {
    /// Returns the attributes of a file or a folder. If `limited`, its rights are those that a new
    /// file may have too, without the set-uid, set-gid and sticky bits.
    pub fn new(metadata: &Metadata, limited: bool) -> Self {
        Self { metadata: metadata.clone(), limited }
    }

    /// Applies these attributes to `new`, a file or a folder in `folder`. Sets owner and group
    /// where permitted.
    pub fn apply(&self, new: &File, folder: &Folder) -> io::Result<()> {
        let limit = if self.limited { rights::of_new_files(folder)? } else { 0o7777 };
        rights::replicate(new, &self.metadata, limit)?;
        // Last: the other calls may count as changes.
        new.set_modified(self.metadata.modified()?)
    }
}
