//! Replicas of folder trees: attributes of folders, and symbolic links.
//!
//! Files get their attributes when they are written, see [`Operation::run`]. Folders get
//! theirs when everything in them is complete, because each new name changes a folder's
//! modification time.

use super::bulk::Replica;
use super::tree::{Link, Tree};
use crate::prelude::*;
use engine::attributes::Attributes;
use engine::folder::private_folders;
use engine::place::Place;

/// Mode of a folder until it gets its source's attributes: for the owner only.
const PRIVATE: u32 = 0o700;

impl Tree {
    /// Creates the tree's folders like [`Self::create_folders`], but for their owner only until
    /// `replicate`. Makes existing read-only folders writable. Returns those that
    /// cannot be created.
    pub fn create_replica_folders(&self) -> Vec<(PathBuf, Error)> {
        self.create_each(create_root, |root, below| {
            root.create_below(below, PRIVATE)?;
            make_writable(&root.open_below(below)?)
        })
    }

    /// Gives the target folders the mode, owner, group and modification time of their sources,
    /// where permitted. Returns those that failed. Call it when everything in them is complete.
    pub(crate) fn replicate(&self, replica: Replica) -> Vec<(PathBuf, Error)> {
        let Some(root) = &self.root else { return Vec::new() };
        let replicate = |(source, target): &(PathBuf, PathBuf)| {
            let relative = target.strip_prefix(root).ok()?;
            let result = source.metadata().map_err(|e| Error::io(source, e)).and_then(|found| {
                let folder = Folder::open(root).and_then(|root| root.open_below(relative));
                let attributes = Attributes::new(&found, replica == Replica::Limited);
                let replicated = folder.and_then(|folder| attributes.apply(&folder.as_file()?, &folder));
                replicated.map_err(|e| Error::io(target, e))
            });
            Some((target.clone(), result.err()?))
        };
        // A folder comes after its parent in the list, and the parent may become unreadable.
        self.folder_pairs.iter().rev().filter_map(replicate).collect()
    }
}

/// Creates the target folder; a new one for its owner only.
fn create_root(root: &Path) -> io::Result<()> {
    if let Some(parent) = root.parent().filter(|parent| *parent != Path::new("")) {
        fs::create_dir_all(parent)?;
    }
    match private_folders().create(root) {
        Err(e) if e.kind() == ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

fn make_writable(folder: &Folder) -> io::Result<()> {
    match folder.check_writable(OsStr::new(".")) {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => folder.set_mode(PRIVATE),
        other => other,
    }
}

impl Operation {
    /// Creates the link at the target of `link`, below the folder `root`, with its source's
    /// attributes. Does not follow the link's path. Replaces a link or a file at the target, unless
    /// the file is another input of the call.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path, for a folder at `target`, for example;
    /// [`Misuse::OutputIsInput`].
    pub fn replicate_link(&self, root: &Path, link: &Link) -> Result<()> {
        let Link { source, target, text } = link;
        let found = source.symlink_metadata().map_err(|e| Error::io(source, e))?;
        let about = |e| Error::io(target, e);
        let place = Place::name_below(root, target).map_err(about)?;
        let Place { folder, name, .. } = &place;
        match place.found.map(|entry| (entry.kind, entry.id)) {
            Some((EntryKind::Link, _)) if folder.read_link(name).is_ok_and(|old| *old == **text) => {
                return folder.replicate_link(name, &found).map_err(about);
            }
            None | Some((EntryKind::Link, _)) => {}
            Some((EntryKind::File, id)) => {
                if let Some(protected) = self.protected() {
                    protected.check(id, target)?;
                }
            }
            Some((EntryKind::Folder, _)) => return Err(about(ErrorKind::IsADirectory.into())),
            Some((EntryKind::Special, _)) => return Err(about(ErrorKind::Unsupported.into())),
        }
        place.create_link(text, |temporary| folder.replicate_link(temporary, &found)).map_err(about)
    }
}

#[cfg(all(test, unix))]
mod test;
