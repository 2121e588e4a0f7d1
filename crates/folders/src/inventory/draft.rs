//! A new inventory, from the files of a job and the previous inventory.

use super::{Former, Inventory, Version, below};
use crate::name::Name;
use crate::prelude::*;
use files::mark::Content;
use std::time::{SystemTime, UNIX_EPOCH};

/// Maximum number of former versions. The oldest are forgotten.
const MAX_FORMER: usize = 1 << 16;

/// A new inventory of an encrypted folder, under construction by a job.
#[derive(Debug)]
pub struct InventoryDraft {
    new: Inventory,
    /// The files of `new`, sorted once at the end: a job lists its files almost in order.
    files: Vec<(Name, Version)>,
    old: Inventory,
}

/// What happens to files of the previous inventory that the job does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absent {
    /// They stay listed, so that a file removed outside the job is reported as missing.
    Stay,
    /// Those that no longer exist are removed from the list, because the job removes files whose
    /// source is gone.
    Removed,
}

impl InventoryDraft {
    /// Begins the inventory after `previous`, if any.
    pub fn after(previous: Option<Inventory>) -> Self {
        let old = previous.unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let counter = now.max(old.counter.saturating_add(1));
        let new = Inventory { folder: old.folder.clone(), counter, ..Inventory::default() };
        Self { new, files: Vec::new(), old }
    }

    /// Adds a file below the folder `root`, just written.
    ///
    /// # Errors
    /// Returns [`Misuse::TargetInsideSource`](base::Misuse::TargetInsideSource) for a path that is
    /// not below `root`.
    pub fn add(&mut self, root: &Path, path: &Path, mark: FileMark) -> Result<()> {
        let name = below(root, path)?;
        let since = match self.renewed(&name, path, &mark) {
            Some(old) if old.mark == mark => old.since,
            _ => self.new.counter,
        };
        self.files.push((name, Version { mark, since }));
        Ok(())
    }

    /// Adds a file of an earlier job with its current mark. Returns whether the previous inventory
    /// lists this version. If not, the listed version stays, so that a verification finds the
    /// difference.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_unchanged(&mut self, root: &Path, path: &Path, mark: FileMark) -> Result<bool> {
        let name = below(root, path)?;
        match self.renewed(&name, path, &mark) {
            Some(old) if old.mark != mark => {
                let old = old.clone();
                self.files.push((name, old));
                Ok(false)
            }
            _ => self.add(root, path, mark).map(|()| true),
        }
    }

    /// Returns the version in the previous inventory of a file with the mark `mark`.
    fn renewed(&mut self, name: &Name, path: &Path, mark: &FileMark) -> Option<&Version> {
        let old = self.old.files.get_mut(name)?;
        old.renew(path, || Some(mark.clone()));
        Some(old)
    }

    /// Returns whether the previous inventory lists another version of a file below `root`.
    pub(crate) fn differs(&mut self, root: &Path, path: &Path, mark: &FileMark) -> Result<bool> {
        let name = below(root, path)?;
        Ok(self.renewed(&name, path, mark).is_some_and(|old| old.mark != *mark))
    }

    /// Returns the mark that the previous inventory lists for a file below `root`.
    pub(crate) fn listed(&self, root: &Path, path: &Path) -> Option<&FileMark> {
        self.old.files.get(&below(root, path).ok()?).map(|version| &version.mark)
    }

    /// Adds a file that could not be written. The version in the previous inventory stays, if any.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_failed(&mut self, root: &Path, path: &Path) -> Result<()> {
        let name = below(root, path)?;
        if let Some(old) = self.old.files.get(&name) {
            self.files.push((name, old.clone()));
        }
        Ok(())
    }

    /// Adds a symbolic link to `text`, below the folder `root`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_link(&mut self, root: &Path, path: &Path, text: &Path) -> Result<()> {
        self.new.links.insert(below(root, path)?, Name::of(text));
        Ok(())
    }

    /// Completes the inventory with what the job did not have, from the previous one.
    pub(crate) fn complete(mut self, root: &Path, absent: Absent) -> Inventory {
        let Inventory { files, links, former, .. } = self.old;
        // No file is recognised by a mark of version 1 any more.
        let is_useful = |old: &Former| matches!(old.version.mark.content, Content::Hash(_));
        self.new.former = former.into_iter().filter(is_useful).collect();
        // Of two versions of a name, the last stays.
        self.new.files = self.files.into_iter().collect();
        let exists = |name: &Name| root.join(name.to_path()).symlink_metadata().is_ok();
        let stays = |name: &Name| absent == Absent::Stay || exists(name);
        for (name, mut version) in files {
            match self.new.files.get(&name) {
                Some(new) if *new == version => {}
                None if !self.new.links.contains_key(&name) && stays(&name) => {
                    let path = root.join(name.to_path());
                    version.renew(&path, || FileMark::of(&path).ok());
                    self.new.files.insert(name, version);
                }
                _ => {
                    let old = Former { name, version, until: self.new.counter };
                    self.new.former.extend(Some(old).filter(is_useful));
                }
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

impl Version {
    /// If this version is listed as in version 1 and the file at `path` is this version, gives it
    /// `mark`, the file's mark.
    fn renew(&mut self, path: &Path, mark: impl FnOnce() -> Option<FileMark>) {
        let is_old = matches!(self.mark.content, Content::Ends { .. });
        if is_old
            && FileMark::of_ends(path).is_ok_and(|found| found == self.mark)
            && let Some(mark) = mark()
        {
            self.mark = mark;
        }
    }
}
