//! What a caller may choose about a long piece of work, and how they hear of it.

use crate::Error;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// Hears of progress: bytes done and, where it is known, the total.
pub type Callback<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

/// What may be chosen about a whole file. The default chooses for you.
#[derive(Default)]
pub struct Options<'a> {
    /// Threads, the calling one included; at most 256. Default: one a core, at most 8.
    pub threads: Option<NonZeroUsize>,
    /// Called on the calling thread with the bytes of plaintext done and, where it is known, the total; the last call
    /// says that all is done. `Break` cancels, and nothing is left behind.
    pub progress: Option<&'a mut Callback<'a>>,
    /// Whether to wait for the disk before the file gets its name.
    pub durability: Durability,
}

/// When a written file counts as written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the system has it, as `cp` does. A crash of the machine within seconds may lose the new file.
    #[default]
    Cached,
    /// When the disk has it. Slower.
    Synced,
}

impl Options<'_> {
    /// Reports to the callback.
    pub(crate) fn progress(&mut self, total: Option<u64>) -> Progress<'_> {
        // A report costs its caller about a microsecond, and a user wants to stop a job within a moment.
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

/// How often the callback hears.
pub(crate) struct Progress<'a> {
    callback: Option<&'a mut Callback<'a>>,
    total: Option<u64>,
    step: u64,
    next: u64,
}

impl Progress<'_> {
    /// `done` bytes are done.
    pub(crate) fn at(&mut self, done: u64) -> Result<(), Error> {
        if done < self.next || Some(done) == self.total {
            return Ok(());
        }
        self.next = done + self.step;
        self.report(done)
    }

    /// All `done` bytes are done, so the total is known now.
    pub(crate) fn end(&mut self, done: u64) -> Result<(), Error> {
        self.total = Some(done);
        self.report(done)
    }

    /// Reports whether it is time or not.
    pub(crate) fn report(&mut self, done: u64) -> Result<(), Error> {
        match self.callback.as_mut().map(|callback| callback(done, self.total)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            _ => Ok(()),
        }
    }
}
