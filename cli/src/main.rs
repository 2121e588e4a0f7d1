//! The program `sealane`: runs the library's command line.
#![deny(unsafe_code)]

use std::process::ExitCode;

/// Runs before Rust's runtime, which would open the null device for closed standard streams. Then
/// the program could not know that its output is lost.
#[cfg(target_os = "linux")]
#[used]
#[expect(unsafe_code, reason = "the linker runs the functions of this section before `main`")]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = before_main;

#[cfg(target_os = "linux")]
extern "C" fn before_main() {
    cli::fill_closed_streams();
}

fn main() -> ExitCode {
    ExitCode::from(cli::run(std::env::args_os().collect()))
}
