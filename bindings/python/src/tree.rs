//! Which file of a folder goes where, for `sealane/_bulk`.

use crate::error::{raise, raise_among};
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use sealane::file::{Suffix, Tree};
use std::ffi::OsString;
use std::path::PathBuf;

type Walked = (Vec<OsString>, Vec<(OsString, OsString)>, Vec<(OsString, Py<PyBaseException>)>);

/// What is to be done to encrypt the folder ``src`` to the folder ``dst``, or, where the suffix is taken off, to decrypt
/// it: folders to make, pairs of source and target, and problems of paths. Without ``dst``, for files that are only read,
/// the targets are empty. Nothing is written.
#[pyfunction]
pub(crate) fn walk(
    py: Python<'_>,
    src: PathBuf,
    dst: Option<PathBuf>,
    suffix: OsString,
    take_off: bool,
) -> PyResult<Walked> {
    let suffix = if take_off { Suffix::Remove(&suffix) } else { Suffix::Add(&suffix) };
    let tree = py.detach(|| Tree::walk(&[src], dst.as_deref(), suffix)).map_err(raise)?;
    let name = PathBuf::into_os_string;
    Ok((
        tree.folders.into_iter().map(name).collect(),
        tree.pairs.into_iter().map(|(source, target)| (name(source), name(target))).collect(),
        tree.problems
            .into_iter()
            .map(|(path, error)| {
                let error = raise_among(&path, error).into_value(py);
                (name(path), error)
            })
            .collect(),
    ))
}
