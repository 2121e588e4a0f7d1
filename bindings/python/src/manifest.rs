//! What a bulk job has finished, for `sealane/_bulk`.

use crate::error::raise_about;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sealane::Error;
use sealane::file::{self, FileFingerprint};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The list of the files that a job has finished, on disk. One job at a time has it open.
///
/// Always detached while it works: two threads that wait for each other, one for the interpreter and one for the lock
/// inside, would wait forever.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Manifest {
    path: PathBuf,
    open: Mutex<Option<Open>>,
}

struct Open {
    core: file::Manifest,
    /// What sources were when they were asked about and not finished: what is read of them comes later.
    seen: HashMap<PathBuf, FileFingerprint>,
}

#[pymethods]
impl Manifest {
    /// Begins the manifest ``path``, or goes on with it.
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let core = py.detach(|| file::Manifest::open(&path)).map_err(|e| raise_about(&path, e))?;
        Ok(Self { path, open: Mutex::new(Some(Open { core, seen: HashMap::new() })) })
    }

    /// Whether ``target`` was made of ``source`` and neither changed since. No data is read. Ask before the source is
    /// read: one that changes between here and ``add`` is not finished.
    fn finished(&self, py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<bool> {
        self.with(py, |open| {
            // Before the question, so that a change in between makes the line unfit.
            let seen = FileFingerprint::of(&source);
            let finished = open.core.finished(&source, &target);
            // A source that is not there has its error where it is read.
            if let (false, Ok(seen)) = (finished, seen) {
                open.seen.insert(source, seen);
            }
            Ok(finished)
        })
    }

    /// Notes that ``target`` was made of ``source``.
    fn add(&self, py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<()> {
        self.with(py, |open| {
            // Kept: there may be another target.
            let seen =
                open.seen.get(&source).map_or_else(|| FileFingerprint::of(&source), |seen| Ok(*seen))?;
            open.core.add(&source, seen, &target)
        })
    }

    /// Waits until the disk has it.
    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |open| open.core.sync())
    }

    /// Lets another job have it.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.open.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl Manifest {
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Open) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.as_mut().map(work)
        })
        .ok_or_else(|| PyValueError::new_err("the manifest is closed"))?
        .map_err(|e| raise_about(&self.path, e))
    }
}
