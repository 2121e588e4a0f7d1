//! The manifest of a bulk job, which `sealane/_bulk` uses to skip the files that are finished.

use crate::error::raise_about;
use crate::shared::Shared;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealane::Error;
use sealane::file::{self, FileFingerprint};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The list of the files that a bulk job has finished. Only one job at a time can have it open.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Manifest {
    path: PathBuf,
    open: Shared<Open>,
}

struct Open {
    core: file::Manifest,
    /// Fingerprints of the sources that are not finished, from before they are read.
    before: BTreeMap<OsString, FileFingerprint>,
}

#[pymethods]
impl Manifest {
    /// Opens the manifest at ``path``, or creates it.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let core = py.detach(|| file::Manifest::open(&path)).map_err(|e| raise_about(&path, e))?;
        Ok(Self { path, open: Shared::new(Open { core, before: BTreeMap::new() }) })
    }

    /// Returns whether ``target`` was made from ``source`` and neither has changed since. No data is read. Must be called
    /// before the source is read: a source that changes before ``add`` does not count as finished.
    fn finished(&self, py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<bool> {
        self.with(py, |open| {
            // The fingerprint is taken before the source is read, so that a later change is noticed.
            let before = FileFingerprint::of(&source);
            let finished = open.core.finished(&source, &target);
            // A missing source is no error here, because it is reported when the source is read.
            if let (false, Ok(before)) = (finished, before) {
                open.before.insert(source.into_os_string(), before);
            }
            Ok(finished)
        })
    }

    /// Adds ``target`` to the list of the files that are finished.
    fn add(&self, py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<()> {
        self.with(py, |open| {
            // The fingerprint is not removed from the map, because the source may have another target.
            let known = open.before.get(source.as_os_str()).copied();
            let before = known.map_or_else(|| FileFingerprint::of(&source), Ok)?;
            open.core.add(&source, before, &target)
        })
    }

    /// Waits until all entries of the manifest are written to the disk.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |open| open.core.sync())
    }

    /// Closes the manifest, so that another job can open it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.open.access(py, usize::MAX, |open| drop(open.take()))
    }
}

impl Manifest {
    /// Calls `work` with the list.
    pub(crate) fn with_core<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&file::Manifest) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.with(py, |open| work(&open.core))
    }

    /// Adds the link ``target``, which contains the path that the link ``source`` contains.
    pub(crate) fn add_link(&self, py: Python<'_>, source: &Path, target: &Path) -> PyResult<()> {
        self.with(py, |open| open.core.add_link(source, target))
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Open) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.open
            .access(py, usize::MAX, |open| open.as_mut().map(work))?
            .ok_or_else(|| PyValueError::new_err("the manifest is closed"))?
            .map_err(|e| raise_about(&self.path, e))
    }
}
