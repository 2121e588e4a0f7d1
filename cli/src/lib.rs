//! The command line of sealane, as a library for the program and the Python package.
//!
//! | module | content |
//! |---|---|
//! | `commands`, `args` | one file per command; options that commands share |
//! | `described`, `defaults` | folders that describe themselves; the keys without an option |
//! | `keys`, `keyring_file`, `passphrase`, `plugins` | the keys that options name, and questions |
//! | `transfer`, `folder_job`, `salvage` | what commands do with files, folders and damaged files |
//! | `endpoints`, `stream`, `url` | files, pipes, URLs |
//! | `vault`, `mount` | vaults of other tools, and a vault as a file system |
//! | `console`, `error`, `redact` | results, failures and progress; no secret in any of them |
//! | `os` | the terminal, signals, locks: where systems differ |
//! | `interrupt`, `signal` | the handler of Ctrl-C, and the flag that work reads |
//! | `machine` | facts for a bug report |
//!
//! A library, because the Python package runs the same function in its own process. Only
//! `interrupt` ends the process, if a signal finds it blocked.
//!
//! | status | meaning |
//! |---|---|
//! | 0 | success |
//! | 1 | failure: authentication, a format, the operating system |
//! | 2 | misuse of the command line |
//! | 130 | interrupted by Ctrl-C or another signal |
//! | 141 | the reader of the output has closed it |
#![forbid(unsafe_code)]

mod args;
mod command;
mod commands;
mod console;
mod defaults;
mod described;
mod endpoints;
mod error;
mod folder_job;
mod interrupt;
mod keyring_file;
mod keys;
mod machine;
#[cfg(all(feature = "mount", target_os = "linux"))]
mod mount;
mod os;
mod passphrase;
mod plugins;
mod prelude;
mod redact;
mod salvage;
mod signal;
mod stream;
mod transfer;
mod url;
mod vault;

use crate::prelude::*;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use command::Context;
use commands::Command;
use console::Console;
pub use endpoints::fill_closed_streams;
use error::Failure;
use interrupt::Watch;
use redact::Redactor;
pub use url::{CreateUrl, OpenUrl, RewrapUrl, Upload, set_url_functions};

/// Encrypts files in formats that other software reads.
///
/// With a key, files are C2SP chunked-encryption@v1 (Cobblestone-128 or Cobblestone-256, by key
/// length): AES-GCM in chunks of 16 KiB, with random access, committing to the key and a context.
/// With a Tink keyset, or --format tink-4kb or tink-1mb, they are Tink AES-GCM-HKDF streams. With
/// recipients or a passphrase, they are age v1. As the first argument, '-e' and '-d' mean 'encrypt'
/// and 'decrypt', as in the program age.
///
/// Exit status: 0 success, 1 failure, 2 misuse, 130 interrupted, 141 output closed.
#[derive(Parser)]
#[command(
    name = "sealane",
    bin_name = "sealane",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Default keys, for commands without a key: $SEALANE_KEY and $SEALANE_IDENTITY, or the lines
key = \"REFERENCE\" and identity = \"REFERENCE\" of ~/.config/sealane/config.toml. 'sealane doctor'
shows them.

Examples, for a folder that is kept encrypted:
  sealane init -k key.jwk vault
  sealane encrypt -k key.jwk --manifest -o vault home
  sealane ls -R -k key.jwk vault
  sealane verify -k key.jwk vault
  sealane decrypt -k key.jwk -o restored vault"
)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// A new user's first commands, printed if there are no arguments.
const FIRST_COMMANDS: &str = "\
sealane encrypts files in formats that other software reads.

  sealane keygen -o key.jwk                              make a key
  sealane encrypt -k key.jwk -o notes.sealed notes.txt   encrypt a file
  sealane decrypt -k key.jwk -o notes.txt notes.sealed   decrypt it again

'sealane --help' lists all commands. 'sealane doctor' prints the facts for a bug report.
";

/// Runs one command line in the program `sealane` and returns the exit status. `args[0]` is the
/// program's name.
pub fn run(args: Vec<OsString>) -> u8 {
    os::block_file_length_signal();
    run_in("program", args)
}

/// Runs one command line in another process; `sealane doctor` prints `host`, such as `"Python
/// 3.14.0"`.
pub fn run_in(host: &str, args: Vec<OsString>) -> u8 {
    if args.len() < 2 {
        // On standard error, because a script that passes no arguments is mistaken.
        let _ = io::stderr().write_all(FIRST_COMMANDS.as_bytes());
        return Kind::MISUSE.status();
    }
    fill_closed_streams();
    // In the Python package, an earlier command of this process has set it.
    sealane::keys::set_pin_prompt(passphrase::pin);
    // Parsing may fail, and even its errors are printed as JSON.
    let json = args.iter().any(|arg| arg == "--json");
    let redactor = match Redactor::new(&args) {
        Ok(redactor) => redactor,
        Err(failure) => {
            let console = Console::new(json, false, Redactor::default());
            console.fail(&failure);
            return console.status();
        }
    };
    match Program::try_parse_from(args) {
        Ok(program) => dispatch(&program.command, host, redactor),
        Err(error) => report_parse_error(&error, &Console::new(json, false, redactor)),
    }
}

fn dispatch(command: &Command, host: &str, redactor: Redactor) -> u8 {
    let command = command.get();
    let options = command.output_options();
    let console = Console::new(options.json, options.quiet, redactor);
    let watch = Watch::begin(&console);
    let done = command.run(&Context { console: &console, host, program });
    drop(watch);
    sealane::wipe_stack();
    if let Err(failure) = done {
        console.fail(&failure);
    }
    console.status()
}

/// Returns the definition of the whole command line, for documentation that is made from it.
#[doc(hidden)]
pub fn program() -> clap::Command {
    Program::command()
}

/// Prints the requested help text, or reports a mistake in the arguments.
fn report_parse_error(error: &clap::Error, console: &Console) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            if let Err(failure) = console.print(&error.render().to_string()) {
                console.fail(&failure);
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            console.fail(&Failure::misuse("expected a command; 'sealane --help' lists them"));
        }
        _ => console.fail(&Failure::usage(&error.render().to_string())),
    }
    console.status()
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_parser_is_consistent() {
        Program::command().debug_assert();
    }

    #[test]
    fn every_command_has_examples_that_it_takes() {
        for command in Program::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<_> = help.lines().filter_map(|line| line.split_once("sealane ")).collect();
            assert!(!examples.is_empty(), "{}", command.get_name());
            for (_, words) in examples {
                let words = words.split(['>', '|']).next().unwrap_or_default().split_whitespace();
                let words = ["sealane"].into_iter().chain(words);
                Program::command().try_get_matches_from(words).unwrap();
            }
        }
    }
}
