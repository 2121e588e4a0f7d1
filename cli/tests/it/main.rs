//! Integration tests of the program `sealane`, run as a user would run it.

mod bad_input;
mod commands;
mod common;
mod defaults;
mod described;
mod descriptors;
mod doctor;
mod folders;
#[cfg(unix)]
mod help_examples;
mod interrupt;
mod keyring;
mod mistakes;
#[cfg(target_os = "linux")]
mod mount;
mod names;
mod outputs;
mod passphrase_command;
mod paths;
mod prompt;
mod recipients;
mod recursive;
#[path = "../../examples/reference/page.rs"]
mod reference;
mod rewrap;
mod round_trips;
mod salvage;
mod secret_arguments;
mod stopped;
mod transcripts;
mod vaults;
