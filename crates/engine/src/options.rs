//! Options and progress of file operations.

use base::{Error, ForkGuard, Result, debug_fields};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// A progress callback. Receives the number of bytes done and the total, if known.
pub type Callback<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

/// Options of a file operation.
#[derive(Default)]
pub struct Options<'a> {
    /// Number of threads, the calling one included; at most 256. Default: one per core, at most 8.
    pub threads: Option<NonZeroUsize>,
    /// Called on the calling thread with the number of plaintext bytes done and the total, if
    /// known. The last call reports that all bytes are done. `Break` cancels the operation and
    /// leaves no output file.
    pub progress: Option<&'a mut Callback<'a>>,
    /// Whether to wait for the disk before the file gets its name.
    pub durability: Durability,
}

/// What is guaranteed for a written file if the machine crashes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// The operating system has the bytes, as after `cp`. A crash within seconds may lose the new
    /// file.
    #[default]
    Cached,
    /// The disk has the bytes when the call returns. Slower.
    Synced,
}

impl Options<'_> {
    /// Returns a progress reporter for an operation of `total` bytes.
    #[doc(hidden)]
    pub fn progress(&mut self, total: Option<u64>) -> Progress<'_> {
        // A report costs about a microsecond, and cancelling should take effect quickly.
        let step = total.map_or(1 << 22, |total| (total / 100).clamp(1 << 18, 1 << 24));
        let callback = self.progress.as_mut().map(|callback| &mut **callback as &mut Callback<'_>);
        let guard = callback.as_ref().and_then(|_| ForkGuard::new().ok());
        Progress { callback, guard, total, step, next: step }
    }
}

debug_fields!(Options<'_>; |it| threads: it.threads, durability: it.durability);

/// Calls the progress callback after every `step` bytes.
pub struct Progress<'a> {
    callback: Option<&'a mut Callback<'a>>,
    /// Finds out that the callback has forked and this is the child.
    guard: Option<ForkGuard>,
    total: Option<u64>,
    step: u64,
    next: u64,
}

impl Progress<'_> {
    /// Reports `done` bytes if a step is complete.
    #[doc(hidden)]
    pub fn update(&mut self, done: u64) -> Result<()> {
        if done < self.next || Some(done) == self.total {
            return Ok(());
        }
        self.next = done + self.step;
        self.report(done)
    }

    /// Reports that the operation is complete: `done` bytes in all.
    #[doc(hidden)]
    pub fn finish(&mut self, done: u64) -> Result<()> {
        self.total = Some(done);
        self.report(done)
    }

    /// Reports `done` bytes at once. The callback can cancel the operation.
    #[doc(hidden)]
    pub fn report(&mut self, done: u64) -> Result<()> {
        match self.callback.as_mut().map(|callback| callback(done, self.total)) {
            Some(ControlFlow::Break(())) => Err(Error::Cancelled),
            Some(ControlFlow::Continue(())) => self.guard.map_or(Ok(()), ForkGuard::check),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Returns the reports of an operation that does `piece` bytes at a time, up to `end`.
    fn reports(total: Option<u64>, piece: u64, end: u64) -> Vec<(u64, Option<u64>)> {
        let mut heard = Vec::new();
        let mut hear = |done, total| {
            heard.push((done, total));
            ControlFlow::Continue(())
        };
        let mut options = Options { progress: Some(&mut hear), ..Options::default() };
        let mut progress = options.progress(total);
        for done in 1..=end / piece {
            progress.update(done * piece).unwrap();
        }
        progress.finish(end).unwrap();
        heard
    }

    /// About a hundred reports, at steps of 256 KiB to 16 MiB. The end is reported once.
    #[test]
    fn reports_are_frequent_and_few() {
        const MIB: u64 = 1 << 20;
        for (total, piece, end, step) in [
            (None, MIB, 16 * MIB, 4 * MIB),
            (Some(MIB), MIB / 8, MIB, MIB / 4),
            (Some(400 * MIB), MIB, 400 * MIB, 4 * MIB),
            (Some(10_000 * MIB), 8 * MIB, 10_000 * MIB, 16 * MIB),
        ] {
            let found = reports(total, piece, end);
            let mut expected: Vec<_> = (1..=end / step).map(|n| (n * step, total)).collect();
            if total.is_some() {
                // The last step is the end.
                expected.pop();
            }
            expected.push((end, Some(end)));
            assert_eq!(found, expected, "{total:?}");
        }
    }

    #[test]
    fn reports_count_from_the_last_one() {
        // Steps of 4 MiB: the report after 5 MiB is followed by one at 10 MiB.
        let found = reports(None, 5 << 20, 20 << 20);
        assert_eq!(found.len(), 5, "{found:?}");
        let mut stop = |_, _| ControlFlow::Break(());
        let mut options = Options { progress: Some(&mut stop), ..Options::default() };
        let mut progress = options.progress(Some(1 << 20));
        progress.update(1).unwrap();
        assert!(matches!(progress.update(1 << 18), Err(Error::Cancelled)));
        assert!(matches!(progress.finish(1 << 20), Err(Error::Cancelled)));
    }
}
