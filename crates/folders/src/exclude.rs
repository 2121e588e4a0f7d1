//! Leaves files and folders out of a bulk job, by the rules of `.gitignore`.

use crate::prelude::*;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Patterns of files and folders that a bulk job leaves out, in `.gitignore` syntax (manual page
/// gitignore(5)).
///
/// Patterns apply to paths below the source folder: `*.tmp` matches in every folder, `/cache` only
/// at the top, `build/` matches folders, and `!keep.tmp` undoes an earlier match. The last matching
/// pattern counts. Nothing below an excluded folder can be included again.
///
/// ```
/// use sealane::file::Exclude;
/// use std::path::Path;
///
/// let exclude = Exclude::new(["# caches", "*.tmp", "!keep.tmp", "build/"])?;
/// assert!(exclude.matches(Path::new("a/b.tmp"), false));
/// assert!(!exclude.matches(Path::new("a/keep.tmp"), false));
/// assert!(!exclude.matches(Path::new("build"), false));
/// # Ok::<(), sealane::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Exclude(Gitignore);

impl Exclude {
    /// Compiles patterns, one per line of a `.gitignore` file. Ignores empty lines and lines that
    /// begin with `#`.
    ///
    /// # Errors
    /// Returns [`FolderError::InvalidPattern`] for the first invalid line.
    pub fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, FolderError> {
        let mut builder = GitignoreBuilder::new("");
        for line in lines {
            // Editors write the mark at the start of a file.
            let line = line.trim_start_matches('\u{feff}');
            // The reason names the pattern and the mistake.
            builder.add_line(None, line).map_err(|e| FolderError::InvalidPattern(e.to_string()))?;
        }
        builder.build().map(Self).map_err(|e| FolderError::InvalidPattern(e.to_string()))
    }

    /// Returns whether the path `below` a source folder is left out. Does not look at its parent
    /// folders.
    pub fn matches(&self, below: &Path, is_folder: bool) -> bool {
        self.0.matched(below, is_folder).is_ignore()
    }

    /// Returns whether a file at this path below a source folder is left out, itself or with a
    /// parent folder.
    pub fn matches_below(&self, below: &Path) -> bool {
        let folders = below.ancestors().skip(1).filter(|folder| *folder != Path::new(""));
        folders.into_iter().any(|folder| self.matches(folder, true)) || self.matches(below, false)
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn folders_leave_out_what_they_contain() {
        let exclude = Exclude::new(["\u{feff}*.tmp", "build/", "/cache"]).unwrap();
        for path in ["a.tmp", "a/b.tmp", "build/x", "a/build/x/y", "cache", "cache/x", "a.tmp/x"] {
            assert!(exclude.matches_below(Path::new(path)), "{path}");
        }
        for path in ["a", "a/b", "build", "a/cache", "a/cache/x"] {
            assert!(!exclude.matches_below(Path::new(path)), "{path}");
        }
        assert!(!Exclude::new(["/"]).unwrap().matches_below(Path::new("a")));
    }
}
