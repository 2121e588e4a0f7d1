//! The shell door of sealane.
//!
//! What was typed (`args`) becomes what is meant (`places`, `key`), is done by a command, and whatever goes wrong is
//! translated once (`error`) into a line and an exit status. The rules of what is shown are on top of `tui`.
//!
//! A library, because the Python package calls the same function from inside its own process. So nothing here ends the
//! process, but for a signal that finds it stuck (`interrupt`).
//!
//! | status | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed: authentication, format, the operating system |
//! | 2 | misuse: to be fixed on the command line |
//! | 130 | stopped by Ctrl-C or another request to end |
//! | 141 | whoever read the output left |
#![forbid(unsafe_code)]

mod args;
mod commands;
mod error;
mod interrupt;
mod keys;
mod passphrase;
mod places;
mod pour;
mod tui;

use args::{Args, Command};
use clap::Parser;
use clap::error::ErrorKind;
use error::Failure;
use std::ffi::OsString;
use tui::Console;

/// Runs one command line and says how it ended. `args[0]` is the name of the program.
pub fn run(args: Vec<OsString>) -> u8 {
    // Asked before parsing, because parsing is what may fail.
    let json = args.iter().any(|arg| arg == "--json");
    match Args::try_parse_from(args) {
        Ok(args) => obey(args.command),
        Err(error) => answer(&error, &Console::new(json, false)),
    }
}

fn obey(command: Command) -> u8 {
    let talk = command.talk();
    let console = Console::new(talk.json, talk.quiet);
    let result = match command {
        Command::Keygen(args) => commands::keygen(&args, &console),
        Command::Encrypt(args) => commands::encrypt(&args, &console),
        Command::Decrypt(args) => commands::decrypt(&args, &console),
        Command::Cat(args) => commands::cat(&args, &console),
        Command::Inspect(args) => commands::inspect(&args, &console),
        Command::Verify(args) => commands::verify(&args, &console),
        Command::Providers(args) => commands::providers(&args, &console),
        Command::Lab(args) => commands::lab(&args),
        Command::Completions(args) => commands::completions(&args, &console),
    };
    if let Err(failure) = result {
        console.fail(&failure);
    }
    console.status()
}

/// What the parser has to say: help that was asked for, or a mistake.
fn answer(said: &clap::Error, console: &Console) -> u8 {
    match said.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            if let Err(failure) = console.print(&said.render().to_string()) {
                console.fail(&failure);
            }
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            console.fail(&Failure::misuse("no command; 'sealane --help' lists them"));
        }
        _ => console.fail(&Failure::usage(&said.render().to_string())),
    }
    console.status()
}
