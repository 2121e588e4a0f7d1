//! A new inventory, made from the files of a job and from the inventory before it.

use super::{Former, Inventory, Version, below};
use crate::name::Name;
use base::Error;
use files::mark::FileMark;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of former versions in an inventory. The oldest are forgotten.
const MAX_FORMER: usize = 1 << 16;

/// A new inventory of an encrypted folder, to which a job adds its files.
#[derive(Debug)]
pub struct InventoryDraft {
    new: Inventory,
    /// The files of `new`, which are sorted once, because a job lists its files almost in their order.
    files: Vec<(Name, Version)>,
    old: Inventory,
}

/// Whether files that the inventory before lists, and that the job does not have, stay in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// They stay, so a file that was removed without the job is found to be missing.
    Stay,
    /// Those that do not exist any more are removed, because the job removes files whose source is gone.
    Removed,
}

impl InventoryDraft {
    /// Begins an inventory that follows `previous`, if there is one.
    pub fn after(previous: Option<Inventory>) -> Self {
        let old = previous.unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let new = Inventory { counter: now.max(old.counter.saturating_add(1)), ..Inventory::default() };
        Self { new, files: Vec::new(), old }
    }

    /// Adds a file below the folder `root` that was written now.
    ///
    /// # Errors
    /// Returns [`Misuse::TargetInsideSource`](base::Misuse::TargetInsideSource) for a path that is not below `root`.
    pub fn add(&mut self, root: &Path, path: &Path, mark: FileMark) -> Result<(), Error> {
        let name = below(root, path)?;
        let since = match self.old.files.get(&name) {
            Some(old) if old.mark == mark => old.since,
            _ => self.new.counter,
        };
        self.files.push((name, Version { mark, since }));
        Ok(())
    }

    /// Adds a file that an earlier job wrote, with the mark that it has now. Returns whether that is the version in the inventory
    /// before. If it is another one, that inventory's version stays in the list, so that a verification finds the difference.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_unchanged(&mut self, root: &Path, path: &Path, mark: FileMark) -> Result<bool, Error> {
        let name = below(root, path)?;
        match self.old.files.get(&name) {
            Some(old) if old.mark != mark => {
                self.files.push((name, old.clone()));
                Ok(false)
            }
            _ => self.add(root, path, mark).map(|()| true),
        }
    }

    /// Adds a file that could not be written. If the inventory before lists it, that version stays.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_failed(&mut self, root: &Path, path: &Path) -> Result<(), Error> {
        let name = below(root, path)?;
        if let Some(old) = self.old.files.get(&name) {
            self.files.push((name, old.clone()));
        }
        Ok(())
    }

    /// Adds a symbolic link below the folder `root`, which contains the path `text`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_link(&mut self, root: &Path, path: &Path, text: &Path) -> Result<(), Error> {
        self.new.links.insert(below(root, path)?, Name::of(text));
        Ok(())
    }

    /// Completes the inventory with those of the inventory before that the job did not have.
    pub(crate) fn complete(mut self, root: &Path, absent: Absent) -> Inventory {
        let Inventory { files, links, former, .. } = self.old;
        self.new.former = former;
        // Of two versions of one name, the last stays.
        self.new.files = self.files.into_iter().collect();
        let exists = |name: &Name| root.join(name.to_path()).symlink_metadata().is_ok();
        let stays = |name: &Name| absent == Absent::Stay || exists(name);
        for (name, version) in files {
            match self.new.files.get(&name) {
                Some(new) if *new == version => {}
                None if !self.new.links.contains_key(&name) && stays(&name) => {
                    self.new.files.insert(name, version);
                }
                _ => self.new.former.push(Former { name, version, until: self.new.counter }),
            }
        }
        for (name, target) in links {
            let taken = self.new.files.contains_key(&name) || self.new.links.contains_key(&name);
            if !taken && stays(&name) {
                self.new.links.insert(name, target);
            }
        }
        let excess = self.new.former.len().saturating_sub(MAX_FORMER);
        self.new.former.drain(..excess);
        self.new
    }
}
