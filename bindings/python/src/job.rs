//! Jobs over many files, for `sealane/_bulk`.

use crate::bulk::{Operation, SIGNAL_INTERVAL, replica};
use crate::detach::{continue_unless_raised, interruptible};
use crate::error::{raise, raise_among, raise_at};
use crate::file::durability;
use crate::file_keys;
use crate::folder::DescribedFolder;
use crate::prelude::*;
use crate::shared::Shared;
use pyo3::exceptions::PyBaseException;
use pyo3::types::{IntoPyDict, PyDict};
use sealane::file::Exclude;
use sealane::file::bulk::Replica;
use sealane::file::job::{self, Event, JobError, JobKeys, JobOptions, Listener, Summary};
use sealane::vault::VaultJob;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A job over many files, used once. Only one job at a time can have a manifest open.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Job(Shared<State>);

struct State {
    job: job::Job,
    report: Report,
}

/// Progress reported so far.
#[derive(Default)]
struct Report {
    summary: Summary,
    failed: Vec<(OsString, Py<PyBaseException>)>,
    removed: Vec<OsString>,
    unproven: Vec<OsString>,
    unknown: Vec<OsString>,
    /// Source bytes processed, skipped or failed, and the total.
    progress: (u64, u64),
    /// Source bytes done at the last call of the progress function.
    told: u64,
    /// The time of the last check for signals.
    checked: Option<Instant>,
    manifest: Option<PathBuf>,
    /// Whether an error of the manifest was raised.
    manifest_failed: bool,
}

#[pymethods]
impl Job {
    /// Creates a job that processes the first file of each pair to the second. Raises
    /// ``ValueError`` if a target has two sources, or is a source or the manifest. A batch has at
    /// most ``batch`` files.
    #[staticmethod]
    #[pyo3(signature = (pairs, *, batch, manifest = None, verify = false, durable = false))]
    fn pairs(
        py: Python<'_>,
        pairs: Vec<(PathBuf, PathBuf)>,
        batch: NonZeroUsize,
        manifest: Option<PathBuf>,
        verify: bool,
        durable: bool,
    ) -> PyResult<Self> {
        let (durability, read_back) = (durability(durable), verify);
        let batch = Some(batch);
        let options = JobOptions { manifest, batch, durability, read_back, ..JobOptions::default() };
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
        names = None, delete = false, dry_run = false, keeps_names = false, described = None
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
        delete: bool,
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
            delete,
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

/// Returns what lines of a ``.gitignore`` file exclude.
pub(crate) fn patterns(lines: &[String]) -> PyResult<Option<Exclude>> {
    let exclude = (!lines.is_empty()).then(|| Exclude::new(lines.iter().map(String::as_str)));
    exclude.transpose().map_err(|error| raise(error.into()))
}

/// Runs a job over the files of a vault. Returns the arguments of ``BulkReport`` by name.
pub(crate) fn run_vault<'py>(
    py: Python<'py>,
    job: &VaultJob<'_>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut report = Report::default();
    let run = || report.run(progress, |cancelled, listen| job.run(cancelled, listen));
    interruptible(py, run)?
        .map_err(|JobError { subject, error }| raise_at(subject.as_deref(), raise_among)(error))?;
    report.into_dict(py)
}

impl Report {
    /// Runs a job that reports here. It stops when a function of Python raises.
    fn run<T>(
        &mut self,
        progress: Option<&Py<PyAny>>,
        job: impl FnOnce(&(dyn Fn() -> bool + Sync), &mut Listener<'_>) -> T,
    ) -> T {
        let stopped = AtomicBool::new(false);
        job(&|| stopped.load(Ordering::Relaxed), &mut |events| {
            let answer = self.listen(events, progress);
            stopped.fetch_or(answer.is_break(), Ordering::Relaxed);
            answer
        })
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let Self { summary, failed, removed, unproven, unknown, .. } = self;
        let Summary { done, skipped, source_bytes, links, excluded, .. } = summary;
        let report = PyDict::new(py);
        report.set_item("failed", failed.into_py_dict(py)?)?;
        for (name, paths) in [("removed", removed), ("unproven", unproven), ("unknown", unknown)] {
            report.set_item(name, PyTuple::new(py, paths)?)?;
        }
        for (name, count) in [("done", done), ("skipped", skipped), ("links", links), ("excluded", excluded)]
        {
            report.set_item(name, count)?;
        }
        report.set_item("bytes", source_bytes)?;
        Ok(report)
    }
}

impl Job {
    fn new(job: job::Job) -> Self {
        let report = Report { manifest: job.options().manifest.clone(), ..Report::default() };
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

impl Report {
    /// Processes events. Breaks if the progress function or a signal handler raised an exception.
    fn listen(&mut self, events: Vec<Event<'_>>, progress: Option<&Py<PyAny>>) -> ControlFlow<()> {
        if let Some(Event::Progress { ended, total, .. }) = events.last() {
            self.progress = (*ended, *total);
        }
        let is_quiet = events.iter().all(|event| matches!(event, Event::Progress { .. }));
        if is_quiet && self.checked.is_some_and(|checked| checked.elapsed() < SIGNAL_INTERVAL) {
            return ControlFlow::Continue(());
        }
        self.checked = Some(Instant::now());
        continue_unless_raised(Python::attach(|py| {
            let mut tells = false;
            for event in events {
                match event {
                    Event::Progress { .. } => tells |= !is_quiet,
                    Event::FilesEnded => tells |= self.told != self.progress.0,
                    event => self.hear(py, event)?,
                }
            }
            if let (Some(progress), true) = (progress, tells) {
                self.told = self.progress.0;
                progress.call1(py, self.progress)?;
            }
            py.check_signals()
        }))
    }

    fn hear(&mut self, py: Python<'_>, event: Event<'_>) -> PyResult<()> {
        let name = |path: &Path| path.as_os_str().to_owned();
        match event {
            Event::Failed { subject, error, .. } if self.manifest.as_ref() == Some(&subject) => {
                return Err(raise_among(&subject, error));
            }
            Event::Failed { path, subject, error } => {
                self.failed.push((name(path), raise_among(&subject, error).into_value(py)));
            }
            Event::Removed(pair) | Event::Planned(job::Action::Remove, pair) => {
                self.removed.push(name(pair.target));
            }
            Event::Unproven(path) => self.unproven.push(name(path)),
            Event::Unknown(path) => self.unknown.push(name(path)),
            Event::NothingRemoved(error) if self.failed.is_empty() => return Err(raise(error)),
            Event::Ended(summary) => self.summary = summary,
            // The summary counts them, or they follow from a failure that is in the report.
            Event::Planned(..) | Event::Skipped(_) | Event::Done { .. } | Event::Linked(_) => {}
            Event::Begun { .. } | Event::Progress { .. } | Event::FilesEnded => {}
            Event::NothingRemoved(_) => {}
            // Python has no jobs with an inventory.
            Event::InventoryReplaced(_) | Event::Exchanged(_) | Event::Differs { .. } => {}
            Event::Listed { .. } | Event::Compared { .. } => {}
        }
        Ok(())
    }
}
