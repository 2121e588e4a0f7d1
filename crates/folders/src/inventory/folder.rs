//! Inventories of folders as they are, without a job that wrote them.

use super::Inventory;
use super::compare::Finding;
use super::draft::InventoryDraft;
use super::signed::InventoryKeys;
use crate::tree::{Links, Suffix, Tree, TreeOptions};
use base::Error;
use engine::options::Durability;
use files::file_keys::EncryptWith;
use files::mark::FileMark;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Writes an inventory of all files and links that the encrypted folder `root` has now. The inventory at the same path, if there
/// is one that `with` can decrypt, gives the former versions.
///
/// A file that was exchanged before this call is listed as it is. The bulk job that wrote the files can notice that; see
/// [`InventoryDraft::add_unchanged`].
///
/// # Errors
/// Returns [`FolderError::InventoryInside`](base::FolderError::InventoryInside) for an inventory in the folder, the errors of
/// [`InventoryKeys::previous`] and [`InventoryKeys::save`], the first problem of a path that cannot be read, and [`Error::Io`].
pub fn write_inventory(
    root: &Path,
    keys: &InventoryKeys<'_>,
    with: &EncryptWith,
    durability: Durability,
) -> Result<Inventory, Error> {
    keys.check_outside(&[root])?;
    let mut draft = InventoryDraft::after(keys.previous(with)?);
    let (files, links) = content(root)?;
    for (path, mark) in files {
        draft.add(root, &path, mark)?;
    }
    for (path, text) in links {
        draft.add_link(root, &path, &text)?;
    }
    keys.save(draft, root, true, with, durability)
}

/// Compares the encrypted folder `root` with an inventory. The content of the files is not verified; see
/// [`verify_file`](files::verify_file).
///
/// # Errors
/// Returns the first problem of a path that cannot be read, and [`Error::Io`].
pub fn compare_inventory(root: &Path, inventory: &Inventory) -> Result<Vec<Finding>, Error> {
    let (files, links) = content(root)?;
    inventory.compare(root, files, links, |_| false)
}

type Content = (Vec<(PathBuf, FileMark)>, Vec<(PathBuf, PathBuf)>);

/// Returns the files of a folder with their marks, and the links with the paths in them.
fn content(root: &Path) -> Result<Content, Error> {
    let options = TreeOptions { links: Links::Keep, ..TreeOptions::default() };
    let tree = Tree::walk_with(&[root], None, Suffix::Remove(OsStr::new("")), options)?;
    if let Some((_, error)) = tree.problems.into_iter().next() {
        return Err(error);
    }
    let mark = |(path, _): (PathBuf, PathBuf)| Ok((FileMark::of(&path)?, path));
    let files: Result<Vec<_>, Error> = tree.pairs.into_iter().map(mark).collect();
    let links = tree.links.into_iter().map(|link| (link.source, link.text)).collect();
    Ok((files?.into_iter().map(|(mark, path)| (path, mark)).collect(), links))
}
