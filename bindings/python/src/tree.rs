//! The files of a folder tree and their targets, for `sealane/_bulk`.

use crate::bulk::Operation;
use crate::error::{raise, raise_about, raise_among};
use crate::file_keys;
use crate::manifest::Manifest;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use sealane::file::{Exclude, Link, Links, NameKey, Stale, Suffix, Tree, TreeOptions};
use sealane::{Error, Misuse};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

type Problems = Vec<(OsString, Py<PyBaseException>)>;
type Pairs = Vec<(OsString, OsString)>;

/// The files of a tree and their targets, as Python gets them.
#[derive(IntoPyObject)]
pub(crate) struct Walked {
    /// Target folders, each after its parent.
    folders: Vec<OsString>,
    /// Sources and their targets.
    pairs: Pairs,
    /// Paths that cannot be processed, with their exceptions.
    problems: Problems,
    /// Symbolic links, if they are kept, their targets, and the paths that these contain.
    links: Vec<(OsString, OsString, OsString)>,
    /// Source folders and their target folders, each after its parent.
    folder_pairs: Pairs,
}

/// Lists the files of the folder ``src`` with their targets in the folder ``dst``. The suffix is appended to each name or, with
/// ``remove_suffix``, removed. Without ``dst``, for files that are verified, the targets are empty. Paths that match a pattern
/// of ``exclude``, lines of a ``.gitignore`` file, are left out. With ``keep_links``, symbolic links are listed as links. With the key
/// ``names``, names are encrypted, or decrypted with ``remove_suffix``; then ``manifest`` must lie outside of the encrypted folder.
/// Nothing is written.
#[pyfunction]
#[pyo3(signature = (
    src, dst, suffix, remove_suffix, exclude = None, keep_links = false, names = None, manifest = None
))]
#[expect(clippy::too_many_arguments, reason = "the arguments of a call from Python")]
pub(crate) fn walk(
    py: Python<'_>,
    src: PathBuf,
    dst: Option<PathBuf>,
    suffix: OsString,
    remove_suffix: bool,
    exclude: Option<Vec<String>>,
    keep_links: bool,
    names: Option<&Bound<'_, PyAny>>,
    manifest: Option<PathBuf>,
) -> PyResult<Walked> {
    let (key_file, names) = (names.and_then(file_keys::key_file), name_key(names)?);
    let encrypted = if remove_suffix { Some(&src) } else { dst.as_ref() };
    if let (Some(_), Some(manifest), Some(encrypted)) = (&names, &manifest, encrypted) {
        NameKey::check_manifest(manifest, encrypted).map_err(|error| raise_about(manifest, error))?;
    }
    let suffix = if remove_suffix { Suffix::Remove(&suffix) } else { Suffix::Add(&suffix) };
    let exclude = compiled(&exclude.unwrap_or_default())?;
    let options = TreeOptions { exclude: exclude.as_ref(), links: links(keep_links), names: names.as_ref() };
    let tree = py.detach(|| Tree::walk_with(&[src], dst.as_deref(), suffix, options)).map_err(raise)?;
    if let Some(file) = key_file {
        refuse_target(&tree, &file).map_err(|error| raise(error.into()))?;
    }
    let name = PathBuf::into_os_string;
    let names = |pairs: Vec<(PathBuf, PathBuf)>| {
        pairs.into_iter().map(|(source, target)| (name(source), name(target))).collect()
    };
    Ok(Walked {
        folders: tree.folders.into_iter().map(name).collect(),
        pairs: names(tree.pairs),
        problems: problems(py, tree.problems),
        links: tree.links.into_iter().map(|it| (name(it.source), name(it.target), name(it.text))).collect(),
        folder_pairs: names(tree.folder_pairs),
    })
}

fn name_key(names: Option<&Bound<'_, PyAny>>) -> PyResult<Option<NameKey>> {
    names.map(file_keys::name_key).transpose()
}

/// Refuses the file of the key of the names as a target. The operation, which refuses the files of its keys, does not know it.
fn refuse_target(tree: &Tree, file: &Path) -> Result<(), Misuse> {
    let is_file = |target: &&PathBuf| {
        target.file_name() == file.file_name() && fs::canonicalize(target).ok() == fs::canonicalize(file).ok()
    };
    match tree.pairs.iter().map(|(_, target)| target).find(is_file).filter(|_| file.exists()) {
        Some(target) => Err(Misuse::OutputIsInput { output: target.clone(), input: file.to_owned() }),
        None => Ok(()),
    }
}

fn links(keep: bool) -> Links {
    if keep { Links::Keep } else { Links::Follow }
}

/// Creates folders below the folder ``root``, each listed after its parent, and ``root`` itself. No link is followed
/// below it. With ``replicas``, new folders are for their owner alone until ``replicate_folders``. Returns the folders that cannot
/// be created with their exceptions.
#[pyfunction]
#[pyo3(signature = (root, folders, replicas = false))]
pub(crate) fn create_folders(
    py: Python<'_>,
    root: PathBuf,
    folders: Vec<PathBuf>,
    replicas: bool,
) -> Problems {
    let tree = Tree { root: Some(root), folders, ..Tree::default() };
    let create = || if replicas { tree.create_replica_folders() } else { tree.create_folders() };
    problems(py, py.detach(create))
}

/// Gives target folders below ``root`` the attributes of their sources, when everything in them is complete. Each folder is listed
/// after its parent. Returns those for which it fails with their exceptions.
#[pyfunction]
pub(crate) fn replicate_folders(
    py: Python<'_>,
    root: PathBuf,
    folder_pairs: Vec<(PathBuf, PathBuf)>,
) -> Problems {
    let tree = Tree { root: Some(root), folder_pairs, ..Tree::default() };
    problems(py, py.detach(|| tree.replicate_folders()))
}

/// Creates links below ``root``, given as source, target and contained path, and adds them to the manifest. Returns the sources
/// of those that cannot be created with their exceptions.
#[pyfunction]
pub(crate) fn replicate_links(
    py: Python<'_>,
    operation: &Operation,
    root: PathBuf,
    links: Vec<(PathBuf, PathBuf, PathBuf)>,
    manifest: Option<&Bound<'_, Manifest>>,
) -> PyResult<Problems> {
    let mut failed = Vec::new();
    for (source, target, text) in links {
        let link = Link { source, target, text };
        if let Err(error) = py.detach(|| operation.core().replicate_link(&root, &link)) {
            failed.push((link.source, error));
        } else if let Some(manifest) = manifest {
            manifest.get().add_link(py, &link.source, &link.target)?;
        }
    }
    Ok(problems(py, failed))
}

/// Removes the encrypted files below ``dst`` whose source below ``src`` is gone, if the manifest or the key of ``operation`` shows
/// that they belong to this job. Returns their paths, those of files of which nothing shows that or whose names do not decrypt, and
/// the files that cannot be removed with their exceptions. With ``dry_run``, nothing is removed. ``keep_links`` and ``names`` are
/// those of ``walk``.
#[pyfunction]
#[pyo3(signature = (operation, src, dst, suffix, exclude, names, manifest, dry_run, keep_links = false))]
#[expect(clippy::too_many_arguments, reason = "the arguments of a call from Python")]
pub(crate) fn remove_stale(
    py: Python<'_>,
    operation: &Operation,
    src: PathBuf,
    dst: PathBuf,
    suffix: OsString,
    exclude: Vec<String>,
    names: Option<&Bound<'_, PyAny>>,
    manifest: Option<&Bound<'_, Manifest>>,
    dry_run: bool,
    keep_links: bool,
) -> PyResult<(Vec<OsString>, Vec<OsString>, Problems)> {
    let exclude = compiled(&exclude)?;
    let names = name_key(names)?;
    let options = TreeOptions { exclude: exclude.as_ref(), links: links(keep_links), names: names.as_ref() };
    let sources = [src];
    let work = |manifest: Option<&sealane::file::Manifest>| {
        let tree = Tree::walk_with(&sources, Some(&dst), Suffix::Add(&suffix), options)?;
        let found = Stale::find(&tree, &sources, &suffix, operation.core(), manifest)?;
        let results = if dry_run { Vec::new() } else { found.remove(&tree, &sources) };
        Ok::<_, Error>((found, results))
    };
    let (found, results) = match manifest {
        Some(manifest) => manifest.get().with_core(py, |manifest| work(Some(manifest)))?,
        None => py.detach(|| work(None)).map_err(raise)?,
    };
    let mut results = results.into_iter();
    let (mut removed, mut failed) = (Vec::new(), Vec::new());
    for removal in found.removals {
        match results.next() {
            Some(Err(error)) => failed.push((removal.path, error)),
            _ => removed.push(removal.path.into_os_string()),
        }
    }
    let unproven = found.unproven.into_iter().chain(found.unknown).map(PathBuf::into_os_string).collect();
    Ok((removed, unproven, problems(py, failed)))
}

fn compiled(patterns: &[String]) -> PyResult<Option<Exclude>> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let compiled = Exclude::new(patterns.iter().map(String::as_str));
    compiled.map(Some).map_err(|error| raise(error.into()))
}

fn problems(py: Python<'_>, found: Vec<(PathBuf, Error)>) -> Problems {
    let problem = |(path, error): (PathBuf, Error)| {
        let error = raise_among(&path, error).into_value(py);
        (path.into_os_string(), error)
    };
    found.into_iter().map(problem).collect()
}
