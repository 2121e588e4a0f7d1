//! The program `sealane`, which runs the command line of the library.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Blocks the signal of a write beyond the limit of a file's length (`ulimit -f`). The write then fails with an error, and
/// the incomplete file is removed. Without this the system ends the process, as a crash.
#[cfg(unix)]
fn block_file_length_signal() {
    use nix::sys::signal::{SigSet, Signal};
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    // The only error is an invalid argument. Threads inherit the mask.
    let _ = signals.thread_block();
}

fn main() -> ExitCode {
    #[cfg(unix)]
    block_file_length_signal();
    ExitCode::from(cli::run(std::env::args_os().collect()))
}
