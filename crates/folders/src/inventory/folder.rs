//! Inventories of folders as they are, without a job.

use super::Inventory;
use super::compare::{Difference, Finding};
use super::draft::InventoryDraft;
use super::signed::InventoryKeys;
use crate::description::Description;
use crate::jobs::Schedule;
use crate::prelude::*;
use crate::tree::{Link, Links, Suffix, Tree, TreeOptions};
use std::sync::atomic::{AtomicBool, Ordering};

/// No encrypted file has fewer bytes: the last ones are a tag.
const MIN_LEN: u64 = 16;

/// Writes an inventory of the files and links that are now in the encrypted folder `root`. An
/// inventory at the same path, if `with` can decrypt it, gives the former versions.
///
/// A file exchanged before this call is listed as it is. Only the job that wrote the files can
/// notice that, see [`InventoryDraft::add_unchanged`].
///
/// # Errors
/// Returns [`FolderError::InventoryInside`](base::FolderError::InventoryInside) for an inventory in
/// the folder, the errors of [`InventoryKeys::previous`] and [`InventoryKeys::save`], the first
/// problem of a path that cannot be read, and [`Error::Io`].
pub fn write_inventory(
    root: &Path,
    keys: &InventoryKeys<'_>,
    with: &EncryptWith,
    durability: Durability,
) -> Result<Inventory> {
    keys.check_outside(&[root])?;
    let mut draft = InventoryDraft::after(keys.previous(with)?);
    let Content { files, links, problems } = content_of(root, true)?;
    if let Some((_, error)) = problems.into_iter().next() {
        return Err(error);
    }
    for (path, mark) in files {
        if mark.len < MIN_LEN {
            return Err(Error::Truncated.about(&path));
        }
        draft.add(root, &path, mark)?;
    }
    for (path, text) in links {
        draft.add_link(root, &path, &text)?;
    }
    keys.save(draft, root, true, with, durability)
}

/// Compares the encrypted folder `root` with an inventory. Does not decrypt files, see
/// [`verify_file`](files::verify_file). A path that cannot be read is a difference.
///
/// # Errors
/// Returns [`Error::Io`] if `root` cannot be read, and [`Error::Cancelled`].
pub fn compare_inventory(root: &Path, inventory: &Inventory) -> Result<Vec<Finding>> {
    let Content { files, links, problems } = content_of(root, inventory.folder.is_some())?;
    let is_unreadable =
        |path: &Path| problems.iter().any(|(problem, _)| root.join(path).starts_with(problem));
    let mut findings = inventory.compare(root, files, links, is_unreadable)?;
    for (path, error) in &problems {
        // The path is said beside it.
        let reason = match error {
            Error::Io { source, .. } => source.to_string(),
            other => other.to_string(),
        };
        let path = super::below(root, path)?.to_path();
        findings.push(Finding { path, difference: Difference::Unreadable { reason } });
    }
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(findings)
}

/// The files of a folder with their marks, the links with the paths in them, and unreadable paths.
#[derive(Default)]
pub(crate) struct Content {
    pub(crate) files: Vec<(PathBuf, FileMark)>,
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    pub(crate) problems: Vec<(PathBuf, Error)>,
}

impl Content {
    /// Adds the links of a tree.
    pub(crate) fn add_links(&mut self, links: &[Link]) {
        for Link { source, .. } in links {
            // If names are encrypted, the tree has the decrypted path.
            match fs::read_link(source) {
                Ok(text) => self.links.push((source.clone(), text)),
                Err(e) => self.problems.push((source.clone(), Error::io(source, e))),
            }
        }
    }

    /// Adds files, read on all threads.
    ///
    /// # Errors
    /// Returns [`Error::Cancelled`].
    pub(crate) fn add_files(
        &mut self,
        paths: Vec<PathBuf>,
        hashed: bool,
        threads: Option<NonZeroUsize>,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<()> {
        // A file without a length is a problem below.
        let lens: Vec<_> = paths.iter().map(|path| path.metadata().map_or(0, |found| found.len())).collect();
        let marks: Vec<_> = paths.iter().map(|_| OnceLock::new()).collect();
        let stopped = AtomicBool::new(false);
        let is_cancelled = || stopped.load(Ordering::Relaxed) || cancelled();
        let schedule =
            Schedule { threads, durability: Durability::Cached, batch: 64, cancelled: &is_cancelled };
        let work = |at: usize, options: Options<'_>| {
            let path: &Path = &paths[at];
            let mark = if hashed { FileMark::read(path, options) } else { FileMark::of_ends(path) };
            // Set once.
            mark.map(|mark| drop(marks[at].set(mark)))
        };
        schedule.run(&lens, work, |report| {
            for (at, result) in report.ended {
                let failed = result.err().map(|error| (paths[at].clone(), error));
                self.problems.extend(failed);
            }
            base::interrupt::check().inspect_err(|_| stopped.store(true, Ordering::Relaxed))
        })?;
        if cancelled() {
            return Err(Error::Cancelled);
        }
        let marks = marks.into_iter().map(OnceLock::into_inner);
        self.files.extend(paths.into_iter().zip(marks).filter_map(|(path, mark)| Some((path, mark?))));
        Ok(())
    }
}

/// Returns the content of a folder; `hashed` as for inventories of version 2.
fn content_of(root: &Path, hashed: bool) -> Result<Content> {
    let found = Description::find(root)?;
    let description = found.as_ref().map(Description::path);
    let unfinished = found.as_ref().and_then(Description::unfinished);
    let options = TreeOptions { links: Links::Keep, description, unfinished, ..TreeOptions::default() };
    let tree = Tree::walk(&[root], None, Suffix::Remove(OsStr::new("")), options)?;
    let mut content = Content { problems: tree.problems, ..Content::default() };
    if let Some(at) = content.problems.iter().position(|(path, _)| path == root) {
        return Err(content.problems.swap_remove(at).1);
    }
    content.add_links(&tree.links);
    content.add_files(tree.pairs.into_iter().map(|(path, _)| path).collect(), hashed, None, &|| false)?;
    Ok(content)
}
