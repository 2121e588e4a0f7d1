//! The interface of a command, which its parsed arguments implement.

use crate::args::OutputOptions;
use crate::error::Failure;
use crate::tui::Console;

/// The environment of a command: its output, and the definition of the program.
pub(crate) struct Context<'a> {
    /// The output of the command, with the options `--quiet` and `--json` applied.
    pub(crate) console: &'a Console,
    /// The process that runs the command line, for example `"program"` or `"Python 3.14.0"`.
    pub(crate) host: &'a str,
    /// Returns the definition of the whole command line, for completion scripts.
    pub(crate) program: fn() -> clap::Command,
}

/// A command, implemented by its parsed arguments.
pub(crate) trait Run {
    /// The options `--quiet` and `--json`, if the command has them.
    fn output_options(&self) -> OutputOptions {
        OutputOptions::default()
    }

    /// Runs the command. A failure is printed by the caller and determines the exit status.
    fn run(&self, context: &Context<'_>) -> Result<(), Failure>;
}
