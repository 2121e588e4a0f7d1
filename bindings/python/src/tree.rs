//! The files of a folder tree and their targets, for `sealane/_bulk`.

use crate::error::{raise, raise_among};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use sealane::Error;
use sealane::file::{Suffix, Tree};
use std::ffi::OsString;
use std::path::PathBuf;

type Problems = Vec<(OsString, Py<PyBaseException>)>;
type Walked = (Vec<OsString>, Vec<(OsString, OsString)>, Problems);

/// Lists the files of the folder ``src`` with their targets in the folder ``dst``: folders to create, pairs of source and
/// target, and paths that cannot be processed with their exceptions. The suffix is appended to each name or, with
/// ``remove_suffix``, removed. Without ``dst``, for files that are verified, the targets are empty. Nothing is written.
#[pyfunction]
pub(crate) fn walk(
    py: Python<'_>,
    src: PathBuf,
    dst: Option<PathBuf>,
    suffix: OsString,
    remove_suffix: bool,
) -> PyResult<Walked> {
    let suffix = if remove_suffix { Suffix::Remove(&suffix) } else { Suffix::Add(&suffix) };
    let tree = py.detach(|| Tree::walk(&[src], dst.as_deref(), suffix)).map_err(raise)?;
    let name = PathBuf::into_os_string;
    Ok((
        tree.folders.into_iter().map(name).collect(),
        tree.pairs.into_iter().map(|(source, target)| (name(source), name(target))).collect(),
        problems(py, tree.problems),
    ))
}

/// Creates folders below the folder ``root``, each listed after its parent, and ``root`` itself. No link is followed
/// below it. Returns the folders that cannot be created with their exceptions.
#[pyfunction]
pub(crate) fn create_folders(py: Python<'_>, root: PathBuf, folders: Vec<PathBuf>) -> Problems {
    let tree = Tree { root: Some(root), folders, ..Tree::default() };
    problems(py, py.detach(|| tree.create_folders()))
}

fn problems(py: Python<'_>, found: Vec<(PathBuf, Error)>) -> Problems {
    let problem = |(path, error): (PathBuf, Error)| {
        let error = raise_among(&path, error).into_value(py);
        (path.into_os_string(), error)
    };
    found.into_iter().map(problem).collect()
}
