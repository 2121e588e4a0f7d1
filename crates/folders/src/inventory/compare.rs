//! Compares an encrypted folder with its inventory.

use super::{Inventory, below};
use crate::name::Name;
use crate::prelude::*;
use std::collections::HashMap;

/// A difference between a folder and its inventory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Path below the folder.
    pub path: PathBuf,
    /// The difference.
    pub difference: Difference,
}

/// How a file or link differs from the inventory.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Difference {
    /// It is listed but does not exist.
    #[error("missing: the inventory lists it")]
    Missing,
    /// It is not listed.
    #[error("added: the inventory does not list it")]
    Added,
    /// It is a file listed under another name, where there is now another file or none.
    #[error("renamed: the inventory lists this file as {}", .from.display())]
    Renamed {
        /// Listed path of this file.
        from: PathBuf,
    },
    /// It is a copy of a file listed under another name.
    #[error("added: a copy of the file that the inventory lists as {}", .from.display())]
    Copied {
        /// Listed path of this file.
        from: PathBuf,
    },
    /// It is a file listed under another name, and replaces the listed one.
    #[error("exchanged: the inventory lists this file as {}", .with.display())]
    Exchanged {
        /// Listed path of this file.
        with: PathBuf,
    },
    /// It is an earlier version, since replaced or removed.
    #[error("old: an earlier version, which the inventory with counter {until} replaced or removed")]
    Old {
        /// Counter of the first inventory without this version.
        until: u64,
    },
    /// The inventory knows no such version.
    #[error("changed: no version that the inventory knows")]
    Changed,
    /// Its content cannot be compared: it cannot be read, or is a pipe, a socket or a device.
    #[error("unreadable: {reason}")]
    Unreadable {
        /// The reason.
        reason: String,
    },
}

impl Difference {
    /// Returns the name of the difference for programs, such as `missing`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Added => "added",
            Self::Renamed { .. } => "renamed",
            Self::Copied { .. } => "copied",
            Self::Exchanged { .. } => "exchanged",
            Self::Old { .. } => "old",
            Self::Changed => "changed",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}

impl Inventory {
    /// Compares the files and links of the folder `root` with the inventory. `files` are paths with
    /// their marks, `links` paths with the paths in them. Listed paths that `is_excluded` are not
    /// missing.
    ///
    /// # Errors
    /// Returns [`Misuse::TargetInsideSource`](base::Misuse::TargetInsideSource) for a path that is
    /// not below `root`.
    pub fn compare(
        &self,
        root: &Path,
        files: impl IntoIterator<Item = (PathBuf, FileMark)>,
        links: impl IntoIterator<Item = (PathBuf, PathBuf)>,
        is_excluded: impl Fn(&Path) -> bool,
    ) -> Result<Vec<Finding>> {
        let files = files.into_iter().map(|(path, mark)| Ok((below(root, &path)?, mark)));
        let links = links.into_iter().map(|(path, text)| Ok((below(root, &path)?, Name::of(&text))));
        let (files, links) = (files.collect::<Result<_>>()?, links.collect::<Result<_>>()?);
        Ok(self.differences(&files, &links, is_excluded))
    }

    fn differences(
        &self,
        files: &BTreeMap<Name, FileMark>,
        links: &BTreeMap<Name, Name>,
        is_excluded: impl Fn(&Path) -> bool,
    ) -> Vec<Finding> {
        let listed: HashMap<_, _> = self.files.iter().map(|(name, version)| (&version.mark, name)).collect();
        let former: HashMap<_, _> = self.former.iter().map(|old| (&old.version.mark, old.until)).collect();
        let mut findings = Vec::new();
        let mut renamed = BTreeSet::new();
        let mut add = |name: &Name, difference| {
            findings.push(Finding { path: name.to_path(), difference });
        };
        for (name, mark) in files {
            let own = self.files.get(name);
            if own.is_some_and(|own| own.mark == *mark) {
                continue;
            }
            let other = listed.get(mark).copied();
            let difference = match (own, other, former.get(mark)) {
                (Some(_), Some(other), _) => Difference::Exchanged { with: other.to_path() },
                (None, Some(other), _) if files.get(other) == Some(mark) => {
                    Difference::Copied { from: other.to_path() }
                }
                (None, Some(other), _) => {
                    renamed.insert(other);
                    Difference::Renamed { from: other.to_path() }
                }
                (_, None, Some(until)) => Difference::Old { until: *until },
                (Some(_), None, None) => Difference::Changed,
                // A file in the place of a link.
                (None, None, None) if self.links.contains_key(name) => Difference::Changed,
                (None, None, None) => Difference::Added,
            };
            add(name, difference);
        }
        for (name, text) in links {
            match self.links.get(name) {
                Some(listed) if listed == text => {}
                None if !self.files.contains_key(name) => add(name, Difference::Added),
                _ => add(name, Difference::Changed),
            }
        }
        for name in self.files.keys().chain(self.links.keys()) {
            let exists = files.contains_key(name) || links.contains_key(name);
            if !exists && !renamed.contains(name) && !is_excluded(&name.to_path()) {
                add(name, Difference::Missing);
            }
        }
        findings.sort_by(|a, b| a.path.cmp(&b.path));
        findings
    }
}
