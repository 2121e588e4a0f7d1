//! The commands of the program, one file each: arguments and their implementation of [`Run`].
//!
//! To add a command, write `commands/NAME.rs` and list it here: as a module, and in the table
//! below. Code for several commands belongs in the folder above.

use crate::command::{Run, Shown};

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
mod rewrap;
mod rotate;
mod sign;
mod verify;
mod verify_signature;

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
    Init: Shown<init::Init>,
    Encrypt: encrypt::Encrypt,
    Decrypt: decrypt::Decrypt,
    Cat: Shown<cat::Cat>,
    Ls: Shown<ls::Ls>,
    Inspect: Shown<inspect::Inspect>,
    Verify: Shown<verify::Verify>,
    Sign: Shown<sign::Sign>,
    VerifySignature: Shown<verify_signature::VerifySignature>,
    #[cfg(all(feature = "mount", target_os = "linux"))]
    Mount: Shown<mount::Mount>,
    Rewrap: Shown<rewrap::Rewrap>,
    Rotate: Shown<rotate::Rotate>,
    Providers: Shown<providers::Providers>,
    Doctor: Shown<doctor::Doctor>,
    Completions: completions::Completions,
    Man: man::Man,
}
