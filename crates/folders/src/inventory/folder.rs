//! Inventories of folders as they are, without a job.

use super::Inventory;
use super::compare::Finding;
use super::draft::InventoryDraft;
use super::signed::InventoryKeys;
use crate::tree::{Link, Links, Suffix, Tree, TreeOptions};
use base::Error;
use engine::options::Durability;
use files::file_keys::EncryptWith;
use files::mark::FileMark;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

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
) -> Result<Inventory, Error> {
    keys.check_outside(&[root])?;
    let mut draft = InventoryDraft::after(keys.previous(with)?);
    let (files, links) = content_of(root)?;
    for (path, mark) in files {
        draft.add(root, &path, mark)?;
    }
    for (path, text) in links {
        draft.add_link(root, &path, &text)?;
    }
    keys.save(draft, root, true, with, durability)
}

/// Compares the encrypted folder `root` with an inventory. Does not verify the contents of files,
/// see [`verify_file`](files::verify_file).
///
/// # Errors
/// Returns the first problem of a path that cannot be read, and [`Error::Io`].
pub fn compare_inventory(root: &Path, inventory: &Inventory) -> Result<Vec<Finding>, Error> {
    let (files, links) = content_of(root)?;
    inventory.compare(root, files, links, |_| false)
}

type Files = Vec<(PathBuf, FileMark)>;
type LinkTexts = Vec<(PathBuf, PathBuf)>;
type Problems<'a> = Vec<(&'a Path, Error)>;

/// Returns the files of a tree with their marks, the links with the paths in them, and unreadable
/// files.
pub(crate) fn content(tree: &Tree) -> Result<(Files, LinkTexts, Problems<'_>), Error> {
    let (mut files, mut links, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (path, _) in &tree.pairs {
        match FileMark::of(path) {
            Ok(mark) => files.push((path.clone(), mark)),
            Err(error) => problems.push((&**path, error)),
        }
    }
    for Link { source, .. } in &tree.links {
        // If names are encrypted, the tree has the decrypted path.
        links.push((source.clone(), fs::read_link(source).map_err(|e| Error::io(source, e))?));
    }
    Ok((files, links, problems))
}

/// Returns the files and links of a folder, or the first problem.
fn content_of(root: &Path) -> Result<(Files, LinkTexts), Error> {
    let options = TreeOptions { links: Links::Keep, ..TreeOptions::default() };
    let mut tree = Tree::walk_with(&[root], None, Suffix::Remove(OsStr::new("")), options)?;
    let unlisted = tree.problems.drain(..).next().map(|(_, error)| error);
    let (files, links, problems) = content(&tree)?;
    match unlisted.or_else(|| problems.into_iter().next().map(|(_, error)| error)) {
        Some(error) => Err(error),
        None => Ok((files, links)),
    }
}
