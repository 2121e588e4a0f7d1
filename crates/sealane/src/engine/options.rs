//! Options of a file operation and its progress reports.

use crate::Error;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// A progress callback. It receives the number of bytes done and the total, if the total is known.
pub type Callback<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

/// Options of a file operation, for example the number of threads and a progress callback.
#[derive(Default)]
pub struct Options<'a> {
    /// Number of threads, the calling one included; at most 256. The default is one per core, at most 8.
    pub threads: Option<NonZeroUsize>,
    /// Called on the calling thread with the number of bytes done and the total, if the total is known. The bytes are
    /// those of the plaintext; where a pipe or a stream is read, they are the bytes read. The last call reports that
    /// all bytes are done. `Break` cancels the operation, and no output file remains.
    pub progress: Option<&'a mut Callback<'a>>,
    /// Whether the operation waits for the disk before the file gets its name.
    pub durability: Durability,
}

/// The guarantee for a written file if the machine crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The operating system has the bytes, as after `cp`. A crash within seconds may lose the new file.
    #[default]
    Cached,
    /// The disk has the bytes when the call returns, which is slower.
    Synced,
}

impl Options<'_> {
    /// Returns a progress reporter for an operation of `total` bytes.
    pub(crate) fn progress(&mut self, total: Option<u64>) -> Progress<'_> {
        // A report costs about a microsecond, and cancelling should take effect within a moment.
        let step = total.map_or(1 << 22, |total| (total / 100).clamp(1 << 18, 1 << 24));
        let callback = self.progress.as_mut().map(|callback| &mut **callback as &mut Callback<'_>);
        Progress { callback, total, step, next: step }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("threads", &self.threads)
            .field("durability", &self.durability)
            .finish()
    }
}

/// Calls the progress callback after every `step` bytes.
pub(crate) struct Progress<'a> {
    callback: Option<&'a mut Callback<'a>>,
    total: Option<u64>,
    step: u64,
    next: u64,
}

impl Progress<'_> {
    /// Reports `done` bytes if a step is complete.
    pub(crate) fn update(&mut self, done: u64) -> Result<(), Error> {
        if done < self.next || Some(done) == self.total {
            return Ok(());
        }
        self.next = done + self.step;
        self.report(done)
    }

    /// Reports that the operation is complete after `done` bytes, which are the total.
    pub(crate) fn finish(&mut self, done: u64) -> Result<(), Error> {
        self.total = Some(done);
        self.report(done)
    }

    /// Reports `done` bytes at once to the progress callback, which can cancel the operation.
    pub(crate) fn report(&mut self, done: u64) -> Result<(), Error> {
        match self.callback.as_mut().map(|callback| callback(done, self.total)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}
