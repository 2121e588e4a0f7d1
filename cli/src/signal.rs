//! The state of a requested interruption: set by the signal handler in `interrupt`, read by everything that works.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::Duration;

static REQUESTED: AtomicBool = AtomicBool::new(false);
static ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// Requests the end of all work in this process.
pub(crate) fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Forgets earlier requests, when the first command begins.
pub(crate) fn reset() {
    REQUESTED.store(false, Ordering::SeqCst);
    ANNOUNCED.store(false, Ordering::SeqCst);
}

/// Returns whether the end of all work was requested, so that the caller should stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Returns true for the first caller only, which reports the interruption to the user.
pub(crate) fn announce() -> bool {
    !ANNOUNCED.swap(true, Ordering::SeqCst)
}

/// Waits for a signal that may be on its way. Call it where a pipe has ended, before the end is believed: Ctrl-C goes
/// to a whole pipeline, and the process that writes our input may die of it before our own handler runs. The bytes
/// read so far are not the whole input then.
pub(crate) fn wait_for_pending_signal() {
    sleep(Duration::from_millis(10));
}
