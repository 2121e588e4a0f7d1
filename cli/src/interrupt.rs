//! Handles Ctrl-C and the other signals that end a process.
//!
//! A signal sets a flag in `signal`. Work reads the flag each time it reports progress, and returns
//! an error so that incomplete files are removed. If the process is stuck in a read or a write and
//! does not react in time, the handler ends it. On Linux even that leaves no incomplete file: files
//! have no name until they are complete. On file systems without unnamed files, and on other
//! systems, it leaves a hidden `.part` file.

use crate::console::{self, Console};
use crate::error::Kind;
use crate::os;
use crate::signal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

static JSON: AtomicBool = AtomicBool::new(false);
static ADVICE: Mutex<Option<&str>> = Mutex::new(None);
static WATCHES: AtomicUsize = AtomicUsize::new(0);

/// Time for work to react to the flag before the handler ends the process.
const GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Until dropped, makes signals ask the work to stop. The process ends if that takes longer than
/// [`GRACE_PERIOD`].
pub(crate) struct Watch(());

impl Watch {
    /// Installs the handler. If it ends the process, it reports that in `console`'s format.
    pub(crate) fn begin(console: &Console) -> Self {
        if WATCHES.fetch_add(1, Ordering::SeqCst) == 0 {
            signal::reset();
            JSON.store(console.json, Ordering::SeqCst);
            advise(None);
        }
        install();
        Self(())
    }
}

/// Installs the handler once per process.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| os::handle_ending_signals(&signal::flag(), on_signal));
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Sets the advice that the handler prints if it ends the process.
pub(crate) fn advise(advice: Option<&'static str>) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = advice;
}

/// The signal handler. It runs on its own thread, so it may wait.
fn on_signal() {
    signal::request();
    os::restore();
    let began = Instant::now();
    let working = || WATCHES.load(Ordering::SeqCst) > 0;
    if working() {
        while began.elapsed() < GRACE_PERIOD {
            sleep(Duration::from_millis(5));
            if !working() {
                return;
            }
        }
        if signal::announce() {
            let advice = *ADVICE.lock().unwrap_or_else(PoisonError::into_inner);
            console::announce_interrupt(JSON.load(Ordering::SeqCst), advice);
        }
    }
    #[expect(clippy::disallowed_methods, reason = "the watched call cannot be interrupted in any other way")]
    std::process::exit(Kind::INTERRUPTED.status().into());
}
