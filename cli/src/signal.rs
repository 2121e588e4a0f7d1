//! Whether an interruption was requested: set by the handler in `interrupt`, read by all work.

use crate::os;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::sleep;
use std::time::Duration;

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
static ANNOUNCED: AtomicBool = AtomicBool::new(false);

/// Asks all work in this process to end.
pub(crate) fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Returns the flag that asks all work to end. A signal handler can only set it.
pub(crate) fn flag() -> Arc<AtomicBool> {
    REQUESTED.clone()
}

/// Forgets earlier requests when the first command begins.
pub(crate) fn reset() {
    REQUESTED.store(false, Ordering::SeqCst);
    ANNOUNCED.store(false, Ordering::SeqCst);
}

/// Returns whether work should stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Returns true only for the first caller. It reports the interruption.
pub(crate) fn announce() -> bool {
    !ANNOUNCED.swap(true, Ordering::SeqCst)
}

/// Waits for a signal that may be on its way. Call it when a pipe ends, before believing that end:
/// Ctrl-C goes to a whole pipeline, and the process that writes our input may die of it before our
/// handler runs, leaving the input incomplete.
pub(crate) fn wait_for_pending_signal() {
    sleep(Duration::from_millis(10));
    os::receive_ending_signals();
}
