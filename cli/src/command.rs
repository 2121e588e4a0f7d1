//! What every command is: arguments that run.

use crate::args::OutputOptions;
use crate::console::Console;
use crate::error::Result;

/// What a command runs in: its output, and the definition of the program.
pub(crate) struct Context<'a> {
    /// The command's output, with `--quiet` and `--json` applied.
    pub(crate) console: &'a Console,
    /// The process that runs the command line, such as `"program"` or `"Python 3.14.0"`.
    pub(crate) host: &'a str,
    /// Returns the definition of the whole command line, for completion scripts.
    pub(crate) program: fn() -> clap::Command,
}

/// A runnable command: its parsed arguments.
pub(crate) trait Run {
    /// The options `--quiet` and `--json`, if the command has them.
    fn output_options(&self) -> OutputOptions {
        OutputOptions::default()
    }

    /// Runs the command. The caller prints a failure; it determines the exit status.
    fn run(&self, context: &Context<'_>) -> Result<()>;
}

// A command with the options `--quiet` and `--json` at its end. A doc comment would replace the
// command's.
#[derive(clap::Args)]
pub(crate) struct Shown<T: clap::Args> {
    #[command(flatten)]
    pub(crate) arguments: T,
    #[command(flatten)]
    pub(crate) output_options: OutputOptions,
}

impl<T: clap::Args + Run> Run for Shown<T> {
    fn output_options(&self) -> OutputOptions {
        self.output_options
    }

    fn run(&self, context: &Context<'_>) -> Result<()> {
        self.arguments.run(context)
    }
}
