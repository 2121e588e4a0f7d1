//! The operation of a job on each file, for `sealane/_bulk`, and the batches of its workers.

use crate::detach::{continue_unless_raised, with_hooks};
use crate::file::durability;
use crate::file_keys::{DecryptWith, EncryptWith};
use crate::keys::Keyring;
use crate::prelude::*;
use pyo3::exceptions::PyBaseException;
use sealane::file::bulk::{self, Replica};
use sealane::file::{Exclude, Options, Rotation};
use std::time::Instant;

/// Interval between checks for signals. Each check attaches to the interpreter and may wait for
/// other threads.
pub(crate) const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// The exception of each failed file, in the order of the files.
type Failures = Vec<Option<Py<PyBaseException>>>;

/// The operation of a job on each file. It holds the key, so it is never shown or pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Operation(pub(crate) bulk::Operation);

#[pymethods]
impl Operation {
    /// Creates the operation that encrypts each source to its target.
    #[staticmethod]
    fn encrypt(with: &EncryptWith) -> Self {
        Self(bulk::Operation::Encrypt(with.0.clone()))
    }

    /// Creates the operation that decrypts each source to its target.
    #[staticmethod]
    fn decrypt(with: &DecryptWith) -> Self {
        Self(bulk::Operation::Decrypt(with.0.clone()))
    }

    /// Creates the operation that verifies each source; targets are ignored.
    #[staticmethod]
    fn verify(with: &DecryptWith) -> Self {
        Self(bulk::Operation::Verify(with.0.clone()))
    }

    /// Creates the operation that re-encrypts a file with the keyring's primary key unless it
    /// already is. A file is its own source and target.
    #[staticmethod]
    #[pyo3(signature = (key, /, context = Vec::new()), text_signature = "(key, /, context=b'')")]
    fn rotate(
        py: Python<'_>,
        key: &Bound<'_, Keyring>,
        #[pyo3(from_py_with = crate::file_keys::copy)] context: Vec<u8>,
    ) -> PyResult<Self> {
        let (ring, files) = (key.get().keyring(py)?, Vec::from_iter(key.get().file.clone()));
        Rotation::new(&ring, &context, &files).map(bulk::Operation::Rotate).map(Self).map_err(raise)
    }

    /// Processes pairs of source and target in order on this thread. A signal handler that raises
    /// ends the call. Links below ``root``, if given, are not followed. With ``replicas``, targets
    /// below it get the attributes of their sources; with ``"all"``, decrypted ones get all.
    #[pyo3(signature = (files, durable, root = None, replicas = Replica::No))]
    fn run(
        &self,
        py: Python<'_>,
        files: Vec<(PathBuf, PathBuf)>,
        durable: bool,
        root: Option<PathBuf>,
        #[pyo3(from_py_with = replica)] replicas: Replica,
    ) -> PyResult<Failures> {
        let work = |(source, target): &(PathBuf, PathBuf), options: Options<'_>| {
            self.0.run(root.as_deref(), replicas, source, target, options, None)
        };
        each(py, &files, |(source, _)| source, durable, work)
    }

    /// Reads encrypted targets back and verifies them, like ``run``.
    fn read_back(&self, py: Python<'_>, targets: Vec<PathBuf>) -> PyResult<Failures> {
        let work = |target: &PathBuf, options: Options<'_>| self.0.read_back(target, options);
        each(py, &targets, |target| target, false, work)
    }

    /// Raises ``AuthenticationError`` if ``target``, listed as finished in ``manifest``, was
    /// encrypted with another key, context or format.
    fn check_finished(&self, py: Python<'_>, manifest: PathBuf, target: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.check_finished(&manifest, &target)).map_err(raise)
    }
}

/// Returns the attributes that a job keeps: of ``False``, ``True`` or ``"all"``.
pub(crate) fn replica(preserve: &Any<'_>) -> PyResult<Replica> {
    Ok(match extent("preserve", preserve)? {
        (false, _) => Replica::No,
        (true, false) => Replica::Limited,
        (true, true) => Replica::Whole,
    })
}

/// Returns whether a job deletes, and whether even all: of ``False``, ``True`` or ``"all"``.
pub(crate) fn deletion(delete: &Any<'_>) -> PyResult<(bool, bool)> {
    extent("delete", delete)
}

fn extent(name: &str, value: &Any<'_>) -> PyResult<(bool, bool)> {
    match (value.extract::<bool>(), value.extract::<&str>()) {
        (Ok(given), _) => Ok((given, false)),
        (_, Ok("all")) => Ok((true, true)),
        _ => {
            let found = value.repr()?;
            Err(PyValueError::new_err(format!("{name} must be True, False or 'all', not {found}")))
        }
    }
}

/// Calls `work` for each file on this thread. `path` returns the path for its errors.
fn each<F: Sync>(
    py: Python<'_>,
    files: &[F],
    path: fn(&F) -> &PathBuf,
    durable: bool,
    work: impl Fn(&F, Options<'_>) -> Result<()> + Sync,
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
            let (threads, durability) = (Some(NonZeroUsize::MIN), durability(durable));
            match work(file, Options { threads, progress: Some(&mut progress), durability }) {
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

/// Returns what lines of a ``.gitignore`` file exclude.
pub(crate) fn patterns(lines: &[String]) -> PyResult<Option<Exclude>> {
    let exclude = (!lines.is_empty()).then(|| Exclude::new(lines.iter().map(String::as_str)));
    exclude.transpose().map_err(|error| raise(error.into()))
}
