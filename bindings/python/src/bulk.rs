//! Bulk jobs, for `sealane/_bulk`: one batch of an executor, and the scheduler of the core.

use crate::detach::{continue_unless_raised, with_hooks};
use crate::error::{raise, raise_among};
use crate::file::durability;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::keys::Keyring;
use pyo3::exceptions::PyBaseException;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use sealane::Error;
use sealane::file::bulk::{self, Schedule};
use sealane::file::{Options, Rotation};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time between two checks for signals. Each check attaches to the interpreter, which may wait for other threads.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The exception of each file that failed, in the order of the files.
type Failures = Vec<Option<Py<PyBaseException>>>;

/// The operation of a bulk job on each file. It contains the key, so it is never shown and never pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Operation(bulk::Operation);

impl Operation {
    pub(crate) fn core(&self) -> &bulk::Operation {
        &self.0
    }
}

#[pymethods]
impl Operation {
    /// Creates the operation that encrypts each source file to its target file.
    #[staticmethod]
    fn encrypt(with: &EncryptWith) -> Self {
        Self(bulk::Operation::Encrypt(with.core().clone()))
    }

    /// Creates the operation that decrypts each source file to its target file.
    #[staticmethod]
    fn decrypt(with: &DecryptWith) -> Self {
        Self(bulk::Operation::Decrypt(with.core().clone()))
    }

    /// Creates the operation that verifies each source file and ignores the targets.
    #[staticmethod]
    fn verify(with: &DecryptWith) -> Self {
        Self(bulk::Operation::Verify(with.core().clone()))
    }

    /// Creates the operation that encrypts a file again with the primary key of a keyring, unless it is under it already.
    /// Source and target of a file are the same.
    #[staticmethod]
    #[pyo3(signature = (key, /, context = Vec::new()), text_signature = "(key, /, context=b'')")]
    fn rotate(
        py: Python<'_>,
        key: &Bound<'_, Keyring>,
        #[pyo3(from_py_with = crate::file_keys::copy)] context: Vec<u8>,
    ) -> PyResult<Self> {
        let (ring, files) = (key.get().keyring(py)?, Vec::from_iter(key.get().file().cloned()));
        Rotation::new(&ring, &context, &files).map(bulk::Operation::Rotate).map(Self).map_err(raise)
    }

    /// Returns for each file whether nothing is to be done about it, or the exception of one that cannot be read. A signal
    /// handler that raises ends the call.
    fn current<'py>(&self, py: Python<'py>, files: Vec<PathBuf>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let is_current = Mutex::new(Vec::with_capacity(files.len()));
        let failures = each(
            py,
            &files,
            |file| file,
            false,
            |file, options: Options<'_>| {
                // The callback looks for signals.
                if options.progress.is_some_and(|progress| progress(0, None).is_break()) {
                    return Err(Error::Cancelled);
                }
                let found = self.0.is_current(file);
                let current = found.as_ref().is_ok_and(|current| *current);
                is_current.lock().unwrap_or_else(PoisonError::into_inner).push(current);
                found.map(drop)
            },
        )?;
        let is_current = is_current.into_inner().unwrap_or_else(PoisonError::into_inner);
        let result = |(failure, current): (Option<Py<PyBaseException>>, bool)| match failure {
            Some(failure) => failure.into_bound(py).into_any(),
            None => PyBool::new(py, current).to_owned().into_any(),
        };
        Ok(failures.into_iter().zip(is_current).map(result).collect())
    }

    /// Processes pairs of source and target one after the other on this thread. A signal handler that raises ends the
    /// call. No link is followed below the folder ``root``, if there is one. With ``replicas``, the targets below it get the
    /// attributes of their sources.
    #[pyo3(signature = (files, durable, root = None, replicas = false))]
    fn run(
        &self,
        py: Python<'_>,
        files: Vec<(PathBuf, PathBuf)>,
        durable: bool,
        root: Option<PathBuf>,
        replicas: bool,
    ) -> PyResult<Failures> {
        let work = |(source, target): &(PathBuf, PathBuf), options: Options<'_>| {
            self.run_one(root.as_deref(), replicas, source, target, options)
        };
        each(py, &files, |(source, _)| source, durable, work)
    }

    /// Reads encrypted targets back and verifies them, as ``run``.
    fn read_back(&self, py: Python<'_>, targets: Vec<PathBuf>) -> PyResult<Failures> {
        each(
            py,
            &targets,
            |target| target,
            false,
            |target, options: Options<'_>| self.0.read_back(target, options),
        )
    }

    /// Raises ``AuthenticationError`` if ``target``, which ``manifest`` lists as finished, was encrypted with another
    /// key, context or format.
    fn check_finished(&self, py: Python<'_>, manifest: PathBuf, target: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.check_finished(&manifest, &target)).map_err(raise)
    }

    /// Processes files, given as source, target and length, on threads of the core. Calls ``listen`` on this thread
    /// with lists of ended files: index, and exception or None. A list has fewer than ``batch`` files plus one for
    /// each thread.
    ///
    /// After an exception of ``listen`` or of a signal handler no file is begun, and files in progress leave nothing
    /// behind. Files that were complete are passed to ``listen`` before the exception is raised.
    #[pyo3(signature = (files, read_back, durable, batch, listen, root = None, replicas = false))]
    #[expect(clippy::too_many_arguments, reason = "the arguments of a Python call")]
    fn schedule(
        &self,
        py: Python<'_>,
        files: Vec<(PathBuf, PathBuf, u64)>,
        read_back: bool,
        durable: bool,
        batch: usize,
        listen: Py<PyAny>,
        root: Option<PathBuf>,
        replicas: bool,
    ) -> PyResult<()> {
        let sizes: Vec<_> = files.iter().map(|(.., size)| *size).collect();
        let unverified = Mutex::new(BTreeSet::new());
        let unverified = || unverified.lock().unwrap_or_else(PoisonError::into_inner);
        let work = |at: usize, options: Options<'_>| {
            let (source, target, _) = &files[at];
            self.run_one(root.as_deref(), replicas, source, target, options)?;
            if read_back {
                let options = Options { threads: Some(NonZeroUsize::MIN), ..Options::default() };
                self.0.read_back(target, options).inspect_err(|_| {
                    unverified().insert(at);
                })?;
            }
            Ok(())
        };
        let stopped = AtomicBool::new(false);
        let cancelled = || stopped.load(Ordering::Relaxed);
        let schedule =
            Schedule { threads: None, durability: durability(durable), batch, cancelled: &cancelled };
        let mut checked = Instant::now();
        py.detach(|| {
            schedule.run(&sizes, work, |report| {
                if report.ended.is_empty() && checked.elapsed() < SIGNAL_INTERVAL {
                    return Ok(());
                }
                checked = Instant::now();
                Python::attach(|py| {
                    let raised = |at: usize, error| {
                        let (source, target, _) = &files[at];
                        let path = if unverified().contains(&at) { target } else { source };
                        raise_among(path, error).into_value(py)
                    };
                    let ended: Vec<_> = report
                        .ended
                        .into_iter()
                        .map(|(at, result)| (at, result.err().map(|error| raised(at, error))))
                        .collect();
                    if !ended.is_empty() {
                        listen.call1(py, (ended,))?;
                    }
                    py.check_signals()
                })
                .inspect_err(|_| stopped.store(true, Ordering::Relaxed))
            })
        })
    }
}

impl Operation {
    fn run_one(
        &self,
        root: Option<&Path>,
        replicas: bool,
        source: &Path,
        target: &Path,
        options: Options<'_>,
    ) -> Result<(), Error> {
        match root {
            Some(root) if replicas => self.0.run_replica(root, source, target, options),
            Some(root) => self.0.run_below(root, source, target, options),
            None => self.0.run(source, target, options),
        }
    }
}

/// Calls `work` for each file on this thread. `path` returns the path that its errors are about.
fn each<F: Sync>(
    py: Python<'_>,
    files: &[F],
    path: fn(&F) -> &PathBuf,
    durable: bool,
    work: impl Fn(&F, Options<'_>) -> Result<(), Error> + Sync,
) -> PyResult<Failures> {
    let mut results = Vec::with_capacity(files.len());
    with_hooks(py, || {
        let mut checked = Instant::now();
        let mut progress = |_, _| {
            if checked.elapsed() < SIGNAL_INTERVAL {
                return ControlFlow::Continue(());
            }
            let result = Python::attach(|py| py.check_signals());
            checked = Instant::now();
            continue_unless_raised(result)
        };
        for file in files {
            let options = Options {
                threads: Some(NonZeroUsize::MIN),
                progress: Some(&mut progress),
                durability: durability(durable),
            };
            match work(file, options) {
                Err(Error::Cancelled) => return,
                result => results.push(result.err()),
            }
        }
    })?;
    let exception = |(file, error): (&F, Option<Error>)| {
        error.map(|error| raise_among(Path::new(path(file)), error).into_value(py))
    };
    Ok(files.iter().zip(results).map(exception).collect())
}
