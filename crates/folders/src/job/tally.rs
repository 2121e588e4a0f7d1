//! The results of a job so far; only its own thread changes them.

use super::events::{Action, Event, JobResult, Listener, Pair, Summary, send};
use crate::jobs::Done;
use crate::manifest::{FileFingerprint, Manifest};
use crate::prelude::*;
use crate::removal::Stale;

/// A file that a job processes.
#[derive(Clone, Debug)]
pub struct JobFile {
    /// Path of the file to read.
    pub source: PathBuf,
    /// Path of the file to write; empty if the file is only verified.
    pub target: PathBuf,
    /// Fingerprint of the source before it is read.
    pub fingerprint: FileFingerprint,
}

#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) manifest: Option<Manifest>,
    pub(super) summary: Summary,
    /// Indexes of the files that failed.
    pub(super) failed_files: BTreeSet<usize>,
    /// Sources that could not be listed, and other paths that are not processed.
    pub(super) problems: Vec<PathBuf>,
    /// Bytes of sources processed, skipped or failed.
    pub(super) ended: u64,
    /// Bytes of all sources.
    pub(super) total: u64,
}

impl Tally {
    /// Records the result of a file; an error comes with the path it is about. A processed file is
    /// added to the manifest, and fails if that fails.
    pub(super) fn record<'a>(
        &mut self,
        at: usize,
        file: &'a JobFile,
        mark: Option<&FileMark>,
        result: Result<Done, (PathBuf, Error)>,
    ) -> Event<'a> {
        let JobFile { source, target, fingerprint } = file;
        self.ended += fingerprint.len();
        match result.and_then(|done| self.note(file, mark).map(|()| done)) {
            Ok(Done { bytes, seconds }) => {
                self.summary.done += 1;
                self.summary.bytes += bytes;
                self.summary.source_bytes += fingerprint.len();
                Event::Done { pair: Pair { source, target }, bytes, seconds }
            }
            Err((subject, error)) => {
                self.failed_files.insert(at);
                self.summary.failed += 1;
                Event::Failed { path: source, subject, error }
            }
        }
    }

    fn note(
        &mut self,
        JobFile { source, target, fingerprint }: &JobFile,
        mark: Option<&FileMark>,
    ) -> Result<(), (PathBuf, Error)> {
        let Some(manifest) = &mut self.manifest else { return Ok(()) };
        match manifest.add(source, *fingerprint, target, mark) {
            // Another process may have taken the target already; there is nothing to list.
            Err(Error::Io { path: Some(path), source: e })
                if e.kind() == ErrorKind::NotFound && path == *target =>
            {
                Ok(())
            }
            Err(error) => Err((manifest.path().to_owned(), error)),
            Ok(()) => Ok(()),
        }
    }

    /// Counts a failure of a folder, a link or a file that is not processed.
    pub(super) fn failed<'a>(&mut self, path: &'a Path, error: Error) -> Event<'a> {
        self.summary.failed += 1;
        self.problems.push(path.to_owned());
        Event::Failed { path, subject: path.to_owned(), error }
    }

    /// Sends an event for each removal. One without a result is planned.
    pub(super) fn removed(
        &mut self,
        stale: &Stale,
        results: Vec<Result<()>>,
        listen: &mut Listener<'_>,
    ) -> JobResult {
        let mut results = results.into_iter();
        for removal in &stale.removals {
            let pair = Pair { source: &removal.source, target: &removal.path };
            let event = match results.next() {
                None => Event::Planned(Action::Remove, pair),
                Some(Ok(())) => Event::Removed(pair),
                Some(Err(error)) => self.failed(pair.target, error),
            };
            self.summary.removed += usize::from(!matches!(event, Event::Failed { .. }));
            send(listen, vec![event])?;
        }
        Ok(())
    }

    pub(super) fn progress(&self, bytes: u64) -> Event<'static> {
        Event::Progress { bytes, ended: self.ended, total: self.total }
    }
}
