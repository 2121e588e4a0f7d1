//! Unix: signals, descriptors, locks and the shell.

mod terminal;

pub(crate) use terminal::{ask, exists, restore, show};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use sealane::file::{FileId, own_descriptor};
use signal_hook::{consts::*, iterator::Signals};
use std::ffi::OsStr;
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, AsRawFd, IntoRawFd};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Builder;

/// Signals that end a process by default, with SIGSTKFLT, SIGIO and SIGPWR of Linux. A process may
/// be started with some of them ignored, by `nohup` or in the background of a script. Those stay
/// ignored, each by itself, and handlers of the process around us (Python, for example) stay too.
const ENDING: &[i32] = &[
    SIGHUP,
    SIGINT,
    SIGQUIT,
    SIGTERM,
    SIGALRM,
    SIGUSR1,
    SIGUSR2,
    SIGXCPU,
    SIGVTALRM,
    SIGPROF,
    #[cfg(target_os = "linux")]
    16,
    #[cfg(target_os = "linux")]
    29,
    #[cfg(target_os = "linux")]
    30,
];

/// Sets `flag` and calls `handler` on a thread of its own for each signal that would end this
/// process.
pub(crate) fn handle_ending_signals(flag: &Arc<AtomicBool>, handler: fn()) {
    // A process that was started with SIGCHLD ignored is not told how its programs end.
    if !is_default(SIGCHLD) {
        let _ = signal_hook::flag::register(SIGCHLD, Arc::default());
    }
    let handled = ENDING.iter().copied().filter(|signal| is_default(*signal));
    let handled: Vec<_> = handled.collect();
    for signal in &handled {
        // The thread below can be late on a busy machine, so the handler itself asks work to end.
        let _ = signal_hook::flag::register(*signal, flag.clone());
    }
    // Without the handler, the system ends the process.
    if let Ok(mut signals) = Signals::new(handled) {
        let _ = Builder::new().spawn(move || signals.forever().for_each(|_| handler()));
    }
}

/// Handles the ending signals that have arrived at the process, whichever thread the system gave
/// them to: one that is unblocked is delivered before the call returns (POSIX, `sigprocmask`).
pub(crate) fn receive_ending_signals() {
    let ending = ENDING.iter().filter_map(|signal| Signal::try_from(*signal).ok());
    let blocked = ending.collect::<SigSet>().thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let _ = blocked.and_then(|mask| mask.thread_set_mask());
}

/// Blocks the signal for writing beyond the file size limit (`ulimit -f`). The write fails with an
/// error instead, and the incomplete file is removed. Without this the system would end the
/// process, as in a crash.
pub(crate) fn block_file_length_signal() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // The only error is an invalid argument. Threads inherit the mask.
    let _ = signals.thread_block();
}

/// Returns whether a signal has its default action: the process neither ignores nor handles it.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_default(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return ends_a_shell(signal) };
    let masks = status
        .lines()
        .filter_map(|line| ["SigIgn:", "SigCgt:"].iter().find_map(|name| line.strip_prefix(name)));
    let taken = masks.filter_map(|mask| u64::from_str_radix(mask.trim(), 16).ok()).fold(0, |a, b| a | b);
    taken >> (signal - 1) & 1 == 0
}

/// Returns whether a signal ends a program that we start: it inherits what this process ignores.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ends_a_shell(signal: i32) -> bool {
    if !ENDING.contains(&signal) {
        return true; // SIGTSTP would stop the shell.
    }
    let mut shell = shell(format!("ulimit -c 0; kill -{signal} $$; exit 7").as_ref());
    let streams = shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    !streams.status().is_ok_and(|ended| ended.code() == Some(7))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn is_default(_: i32) -> bool {
    true
}

/// Opens the null device for standard streams that are closed, as the Rust runtime does in a
/// program of its own, and calls `closed` with their numbers.
pub(crate) fn fill_closed_streams(closed: impl Fn(usize)) {
    while let Ok(null) = File::options().read(true).write(true).open("/dev/null") {
        if null.as_raw_fd() > 2 {
            break;
        }
        closed(null.into_raw_fd() as usize);
    }
}

/// Returns a standard stream as a file.
pub(crate) fn duplicate(stream: &impl AsFd) -> io::Result<File> {
    let file: File = stream.as_fd().try_clone_to_owned()?.into();
    Ok(blocking(&file).unwrap_or(file))
}

/// Opens a pipe or a terminal again that another process has made non-blocking: the mode belongs
/// to all who share it.
fn blocking(file: &File) -> Option<File> {
    use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
    let flags = fcntl_getfl(file).ok()?;
    if !flags.contains(OFlags::NONBLOCK) || file.metadata().ok()?.is_file() {
        return None;
    }
    // Linux only: elsewhere, the path leads to what is shared. A pipe without readers is refused.
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let flags = (flags & OFlags::RWMODE) | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = open(path, flags, Mode::empty()).ok()?;
    fcntl_setfl(&opened, OFlags::empty()).ok()?;
    Some(opened.into())
}

/// Opens a descriptor of this process by its number; `None` if this system cannot.
pub(crate) fn open_descriptor(descriptor: u32) -> Option<io::Result<File>> {
    Some(own_descriptor(descriptor).map(|file| blocking(&file).unwrap_or(file)))
}

/// Returns whether the terminal has no space for a progress bar.
pub(crate) fn is_narrow() -> bool {
    rustix::termios::tcgetwinsize(io::stderr()).is_ok_and(|size| (1..90).contains(&size.ws_col))
}

/// Opens the file at a path and locks it, so that two commands that change it lose no keys.
pub(crate) fn lock(path: &Path) -> Result<File, TryLockError> {
    loop {
        let file = File::open(path).map_err(TryLockError::Error)?;
        file.try_lock()?;
        // Another command may have replaced the file before we locked it.
        let found = file.metadata().map_err(TryLockError::Error)?;
        if FileId::of(&file, &found) == FileId::at(path).map_err(TryLockError::Error)? {
            return Ok(file);
        }
    }
}

/// Returns the system's shell, which runs a command.
pub(crate) fn shell(command: &OsStr) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    shell
}
