//! Ctrl-C, and its siblings that ask a process to end.
//!
//! A signal raises a flag. Work looks at the flag each time it reports progress, and takes the ordinary way out: the
//! error travels up, half-made files vanish. Only where nobody looks, because the process is stuck in a read or a
//! write, the process is ended from here; on Linux files have no name until they are whole, so that leaves none.

use crate::error::Kind;
use crate::tui::{self, Console};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

static REQUESTED: AtomicBool = AtomicBool::new(false);
static ANNOUNCED: AtomicBool = AtomicBool::new(false);
static JSON: AtomicBool = AtomicBool::new(false);
static ADVICE: Mutex<Option<&str>> = Mutex::new(None);
static WATCHES: AtomicUsize = AtomicUsize::new(0);

/// How long work may take to look at the flag.
const PATIENCE: Duration = Duration::from_millis(300);

/// While it lives, a signal stops the work instead of the process.
pub(crate) struct Watch(());

impl Watch {
    /// Begins to listen. Where the end comes from here, it is told as `console` would.
    pub(crate) fn begin(console: &Console) -> Self {
        static INSTALL: Once = Once::new();
        if WATCHES.fetch_add(1, Ordering::SeqCst) == 0 {
            REQUESTED.store(false, Ordering::SeqCst);
            ANNOUNCED.store(false, Ordering::SeqCst);
            JSON.store(console.json(), Ordering::SeqCst);
            advise(None);
        }
        INSTALL.call_once(|| {
            if !told_to_ignore() {
                // Where somebody else in this process was first, the signals are theirs.
                let _ = ctrlc::set_handler(on_signal);
            }
        });
        Self(())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHES.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Whether to stop.
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// What to say besides, where the end comes from here.
pub(crate) fn advise(advice: Option<&'static str>) {
    *ADVICE.lock().unwrap_or_else(PoisonError::into_inner) = advice;
}

/// Called where a pipe has ended, before that is believed. Ctrl-C goes to a whole pipeline: its writer may die of it,
/// and so end our input, a moment before we hear of it ourselves. What was read so far is no file then.
pub(crate) fn settle() {
    sleep(Duration::from_millis(10));
}

/// Whether the caller is the first to say that the work was interrupted; it is said once.
pub(crate) fn announce() -> bool {
    !ANNOUNCED.swap(true, Ordering::SeqCst)
}

/// Runs on a thread of its own, so it may wait.
fn on_signal() {
    REQUESTED.store(true, Ordering::SeqCst);
    let began = Instant::now();
    let working = || WATCHES.load(Ordering::SeqCst) > 0;
    if working() {
        while began.elapsed() < PATIENCE {
            sleep(Duration::from_millis(5));
            if !working() {
                return;
            }
        }
        if announce() {
            let advice = *ADVICE.lock().unwrap_or_else(PoisonError::into_inner);
            tui::announce_interrupt(JSON.load(Ordering::SeqCst), advice);
        }
    }
    std::process::exit(Kind::Interrupted.status().into());
}

/// Whether the process was started deaf on purpose: by `nohup`, or in the background of a script. The handler would
/// undo that.
#[cfg(target_os = "linux")]
fn told_to_ignore() -> bool {
    const HANGUP: u32 = 1;
    const INTERRUPT: u32 = 2;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    [HANGUP, INTERRUPT].iter().any(|signal| ignored >> (signal - 1) & 1 == 1)
}

#[cfg(not(target_os = "linux"))]
fn told_to_ignore() -> bool {
    false
}
