//! What a job over many files reported, as the arguments of ``BulkReport``.

use crate::bulk::SIGNAL_INTERVAL;
use crate::detach::continue_unless_raised;
use crate::prelude::*;
use pyo3::exceptions::PyBaseException;
use pyo3::types::{IntoPyDict, PyDict};
use sealane::file::job::{self, Event, JobError, Listener, Summary};
use sealane::vault::VaultJob;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Progress reported so far.
#[derive(Default)]
pub(crate) struct Report {
    summary: Summary,
    pub(super) failed: Vec<(OsString, Py<PyBaseException>)>,
    removed: Vec<OsString>,
    unproven: Vec<OsString>,
    unknown: Vec<OsString>,
    /// Source bytes processed, skipped or failed, and the total.
    pub(super) progress: (u64, u64),
    /// Source bytes done at the last call of the progress function.
    told: u64,
    /// The time of the last check for signals.
    checked: Option<Instant>,
    pub(super) manifest: Option<PathBuf>,
    /// Whether an error of the manifest was raised.
    pub(super) manifest_failed: bool,
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
    pub(super) fn run<T>(
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

    pub(super) fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
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

    /// Processes events. Breaks if the progress function or a signal handler raised an exception.
    pub(super) fn listen(&mut self, events: Vec<Event<'_>>, progress: Option<&Py<PyAny>>) -> ControlFlow<()> {
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
