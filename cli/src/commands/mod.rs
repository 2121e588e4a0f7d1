//! The commands of the program, one file each: arguments and their implementation of [`Run`].
//!
//! To add a command, write `commands/NAME.rs` and list it here: as a module, and in the table
//! below. Code for several commands belongs in the folder above.

use crate::args::OutputOptions;
use crate::console::Console;
use crate::error::Failure;

mod cat;
mod completions;
mod decrypt;
mod doctor;
mod encrypt;
mod init;
mod inspect;
mod keygen;
mod keyring;
mod ls;
mod man;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod mount;
mod providers;
mod recursive;
mod reference;
mod rewrap;
mod rotate;
mod sign;
mod transfer;
mod verify;
mod verify_signature;

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
    fn run(&self, context: &Context<'_>) -> Result<(), Failure>;
}

// A command with the options `--quiet` and `--json` at its end. A doc comment would replace the
// command's.
#[derive(clap::Args)]
pub(crate) struct Shown<T: clap::Args> {
    #[command(flatten)]
    arguments: T,
    #[command(flatten)]
    output_options: OutputOptions,
}

impl<T: clap::Args + Run> Run for Shown<T> {
    fn output_options(&self) -> OutputOptions {
        self.output_options
    }

    fn run(&self, context: &Context<'_>) -> Result<(), Failure> {
        self.arguments.run(context)
    }
}

macro_rules! commands {
    ($($(#[$condition:meta])? $Name:ident: $Arguments:ty),* $(,)?) => {
        /// A command and its arguments.
        #[derive(clap::Subcommand)]
        pub(crate) enum Command {
            $($(#[$condition])? $Name($Arguments)),*
        }

        impl Command {
            pub(crate) fn get(&self) -> &dyn Run {
                match self {
                    $($(#[$condition])? Self::$Name(arguments) => arguments),*
                }
            }
        }
    };
}

// In the order of the help text.
commands! {
    Keygen: Shown<keygen::Keygen>,
    Keyring: keyring::Keyring,
    Init: init::Init,
    Encrypt: encrypt::Encrypt,
    Decrypt: decrypt::Decrypt,
    Cat: cat::Cat,
    Ls: ls::Ls,
    Inspect: Shown<inspect::Inspect>,
    Verify: Shown<verify::Verify>,
    Sign: Shown<sign::Sign>,
    VerifySignature: Shown<verify_signature::VerifySignature>,
    #[cfg(all(feature = "mount", target_os = "linux"))]
    Mount: mount::Mount,
    Rewrap: Shown<rewrap::Rewrap>,
    Rotate: Shown<rotate::Rotate>,
    Providers: Shown<providers::Providers>,
    Doctor: Shown<doctor::Doctor>,
    Completions: completions::Completions,
    Man: man::Man,
    Reference: reference::Reference,
}
