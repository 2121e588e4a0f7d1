//! The commands of the program, each of which has a file of its own.
//!
//! To add a command, write `commands/NAME.rs` with its arguments and an implementation of [`Run`], and list it here:
//! as a module, and in the table below.

mod cat;
mod completions;
mod decrypt;
mod doctor;
mod encrypt;
mod inspect;
mod inventory;
mod keygen;
mod keyring;
mod man;
mod providers;
mod recursive;
mod reference;
mod rewrap;
mod rotate;
mod run;
mod salvage;
mod transfer;
mod verify;

pub(crate) use run::{Context, Run};

macro_rules! commands {
    ($($Name:ident: $module:ident),* $(,)?) => {
        /// A command with its arguments.
        #[derive(clap::Subcommand)]
        pub(crate) enum Command {
            $($Name($module::$Name)),*
        }

        impl Command {
            pub(crate) fn get(&self) -> &dyn Run {
                match self {
                    $(Self::$Name(arguments) => arguments),*
                }
            }
        }
    };
}

// In the order of the help text.
commands! {
    Keygen: keygen,
    Keyring: keyring,
    Encrypt: encrypt,
    Decrypt: decrypt,
    Cat: cat,
    Inspect: inspect,
    Verify: verify,
    Rewrap: rewrap,
    Rotate: rotate,
    Providers: providers,
    Doctor: doctor,
    Completions: completions,
    Man: man,
    Reference: reference,
}
