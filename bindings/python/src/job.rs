//! Jobs over many files, for `sealane/_bulk`.

pub(crate) mod report;

use crate::bulk::{Operation, deletion, patterns, replica};
use crate::file::durability;
use crate::file_keys;
use crate::folder::DescribedFolder;
use crate::prelude::*;
use crate::shared::Shared;
use pyo3::exceptions::PyBaseException;
use pyo3::types::PyDict;
use report::Report;
use sealane::file::bulk::Replica;
use sealane::file::job::{self, JobError, JobKeys, JobOptions};
use std::collections::HashMap;
use std::io::ErrorKind;

/// A job over many files, used once. Only one job at a time can have a manifest open.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Job(Shared<State>);

struct State {
    job: job::Job,
    report: Report,
}

#[pymethods]
impl Job {
    /// Creates a job that processes the first file of each pair to the second. Raises
    /// ``ValueError`` if a target has two sources, or is a source or the manifest. A batch has at
    /// most ``batch`` files.
    #[staticmethod]
    #[pyo3(signature = (
        pairs, *, batch, removes_suffix = false, manifest = None, verify = false, durable = false
    ))]
    fn pairs(
        py: Python<'_>,
        pairs: Vec<(PathBuf, PathBuf)>,
        batch: NonZeroUsize,
        removes_suffix: bool,
        manifest: Option<PathBuf>,
        verify: bool,
        durable: bool,
    ) -> PyResult<Self> {
        let (durability, read_back, batch) = (durability(durable), verify, Some(batch));
        let options =
            JobOptions { removes_suffix, manifest, batch, durability, read_back, ..JobOptions::default() };
        py.detach(|| job::Job::pairs(pairs, options)).map(Self::new).map_err(raise)
    }

    /// Creates a job over the files of the folder ``src``, with targets in the folder ``dst``.
    /// ``exclude`` holds lines of a ``.gitignore`` file; ``names`` is the key for encrypted names.
    /// A manifest below ``src`` is skipped. ``described`` is the encrypted folder, if it describes
    /// itself: it determines ``suffix``, ``names`` and whether to ``preserve``.
    #[staticmethod]
    #[pyo3(signature = (
        src, dst = None, *, batch, suffix = OsString::new(), removes_suffix = false, in_place = false,
        manifest = None, verify = false, durable = false, exclude = Vec::new(), preserve = Replica::No,
        names = None, delete = (false, false), dry_run = false, keeps_names = false, described = None
    ))]
    fn tree(
        py: Python<'_>,
        src: PathBuf,
        dst: Option<PathBuf>,
        batch: NonZeroUsize,
        suffix: OsString,
        removes_suffix: bool,
        in_place: bool,
        manifest: Option<PathBuf>,
        verify: bool,
        durable: bool,
        exclude: Vec<String>,
        #[pyo3(from_py_with = replica)] preserve: Replica,
        names: Option<&Any<'_>>,
        #[pyo3(from_py_with = deletion)] delete: (bool, bool),
        dry_run: bool,
        keeps_names: bool,
        described: Option<&Bound<'_, DescribedFolder>>,
    ) -> PyResult<Self> {
        let exclude = patterns(&exclude)?;
        let mut options = JobOptions {
            inputs: vec![src.clone()],
            output: dst,
            suffix,
            removes_suffix,
            in_place,
            exclude,
            kept: Vec::from_iter(names.and_then(file_keys::key_file)),
            names: names.map(file_keys::name_key).transpose()?,
            preserve: preserve != Replica::No,
            preserve_all: preserve == Replica::Whole,
            manifest,
            manifest_below_inputs: true,
            delete: delete.0,
            delete_all: delete.1,
            dry_run,
            keeps_names,
            read_back: verify,
            durability: durability(durable),
            batch: Some(batch),
            ..JobOptions::default()
        };
        if let Some(described) = described {
            described.get().folder.configure(&mut options).map_err(raise)?;
        }
        let made = py.detach(|| match job::Job::new(options)? {
            _ if !src.is_dir() => Err(Error::Io { path: Some(src), source: ErrorKind::NotADirectory.into() }),
            job => Ok(job),
        });
        made.map(Self::new).map_err(raise)
    }

    /// Processes the files on core threads, with all other steps. Calls ``progress`` on this thread
    /// with the source bytes done and the total.
    ///
    /// After ``progress`` or a signal handler raises, no file is begun, and files in progress leave
    /// nothing behind. Completed files are in the manifest before the exception is raised.
    #[pyo3(signature = (operation, progress = None))]
    fn run(&self, py: Python<'_>, operation: &Operation, progress: Option<Py<PyAny>>) -> PyResult<()> {
        let keys = JobKeys { operation: &operation.0, inventory: None, compare: None };
        self.with(py, |State { job, report }| {
            report.run(progress.as_ref(), |cancelled, listen| job.run(&keys, cancelled, listen))
        })
    }

    /// Opens the manifest and scans the sources. Returns a target that the manifest lists as
    /// finished.
    fn plan(&self, py: Python<'_>) -> PyResult<Option<OsString>> {
        self.with(py, |State { job, report }| {
            job.plan(None, &mut |events| report.listen(events, None))?;
            report.progress = job.progress();
            Ok(job.finished_target().map(OsString::from))
        })
    }

    /// Clears the places of targets of another kind and creates the folders. A dry run only counts
    /// the files.
    fn start(&self, py: Python<'_>, operation: Option<&Operation>) -> PyResult<()> {
        self.with(py, |State { job, report }| {
            let started =
                job.start(operation.map(|operation| &operation.0), &mut |events| report.listen(events, None));
            report.progress = job.progress();
            started
        })
    }

    /// Returns the next batch: the numbers of its files, and their absolute paths. None after the
    /// last one.
    #[expect(clippy::type_complexity, reason = "a tuple for Python")]
    fn next_batch(&self, py: Python<'_>) -> PyResult<Option<(Vec<usize>, Vec<(OsString, OsString)>)>> {
        self.with(py, |State { job, .. }| {
            let Some(batch) = job.next_batch() else { return Ok(None) };
            // Workers may have another current folder. Paths are not normalised: after a symlink to
            // a folder, ".." is the parent of its target.
            let here = std::env::current_dir().map_err(Error::from)?;
            let absolute = |path: &Path| match path == Path::new("") {
                true => OsString::new(),
                false => here.join(path).into_os_string(),
            };
            let paths = |at: &usize| {
                job.files().get(*at).map(|file| (absolute(&file.source), absolute(&file.target)))
            };
            let files = batch.iter().filter_map(paths).collect();
            Ok(Some((batch, files)))
        })
    }

    /// Records the results of a batch: the exceptions of files by position. Raises ``OSError``,
    /// once, if the manifest cannot be written.
    fn record(
        &self,
        py: Python<'_>,
        batch: Vec<usize>,
        failures: HashMap<usize, Py<PyBaseException>>,
    ) -> PyResult<()> {
        self.with(py, |State { job, report }| {
            let mut failures = failures;
            let mut result = Ok(());
            for (position, at) in batch.into_iter().enumerate() {
                let Some(source) = job.files().get(at).map(|file| file.source.clone()) else { continue };
                let failure = failures.remove(&position);
                let recorded = job.record(at, failure.is_none());
                report.failed.extend(failure.map(|failure| (source.into(), failure)));
                if let Err(error) = recorded
                    && !report.manifest_failed
                {
                    report.manifest_failed = true;
                    result = Err(JobError { subject: report.manifest.clone(), error });
                }
            }
            report.progress = job.progress();
            result
        })
    }

    /// Returns the source bytes processed, skipped or failed, and the total.
    fn progress(&self, py: Python<'_>) -> PyResult<(u64, u64)> {
        self.with(py, |state| Ok(state.report.progress))
    }

    /// Returns whether ``finish`` needs the operation.
    fn finish_needs_operation(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |state| Ok(state.job.finish_needs_operation()))
    }

    /// Takes the steps after the files.
    fn finish(&self, py: Python<'_>, operation: Option<&Operation>) -> PyResult<()> {
        self.with(py, |State { job, report }| {
            job.finish(operation.map(|operation| &operation.0), &mut |events| report.listen(events, None))
        })
    }

    /// Returns the arguments of ``BulkReport`` by name.
    fn report<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.with(py, |state| Ok(std::mem::take(&mut state.report)))?.into_dict(py)
    }

    /// Closes the manifest, so that another job can open it.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.0.access(py, usize::MAX, |state| drop(state.take()))
    }
}

impl Job {
    fn new(job: job::Job) -> Self {
        let mut report = Report::default();
        report.manifest.clone_from(&job.options().manifest);
        Self(Shared::new(State { job, report }))
    }

    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, JobError> + Send,
    ) -> PyResult<T> {
        self.0
            .access(py, usize::MAX, |state| state.as_mut().map(work))?
            .ok_or_else(|| PyValueError::new_err("the job is closed"))?
            .map_err(|JobError { subject, error }| raise_at(subject.as_deref(), raise_among)(error))
    }
}
