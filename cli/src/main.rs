//! The program `sealane`: runs the library's command line.
#![forbid(unsafe_code)]

use std::process::ExitCode;

/// Blocks the signal for writing beyond the file size limit (`ulimit -f`). The write fails with an
/// error instead, and the incomplete file is removed. Without this the system would end the
/// process, as in a crash.
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
