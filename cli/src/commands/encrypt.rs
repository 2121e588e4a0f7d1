//! The command `sealane encrypt`, for single files, standard input and whole folders.

use super::recursive::Recursive;
use super::run::{Context, Run};
use super::transfer::{self, Functions};
use crate::args::{EncryptWith, OutputOptions, Transfer};
use crate::error::Failure;
use crate::{keys, stream};
use clap::Args;
use sealane::file::Suffix;
use sealane::file::bulk::Operation;

/// Encrypt files, or standard input
#[derive(Args)]
#[command(short_flag = 'e', long_flag = "encrypt")]
pub(crate) struct Encrypt {
    #[command(flatten)]
    with: EncryptWith,
    #[command(flatten)]
    transfer: Transfer,
}

impl Run for Encrypt {
    fn output_options(&self) -> OutputOptions {
        self.transfer.output_options
    }

    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<(), Failure> {
        let with = |inputs| keys::encrypt_with(&self.with, inputs, console);
        if self.transfer.folders.recursive {
            let suffix = Suffix::Add(self.transfer.folders.suffix());
            let operation = |inputs| with(inputs).map(Operation::Encrypt);
            return Recursive::transfer(&self.transfer, suffix, console)?
                .run(operation, self.with.passphrase);
        }
        let pairs = transfer::pairs(&self.transfer)?;
        let to_terminal = self.transfer.output.is_none() && pairs.iter().any(|pair| pair.to.is_terminal());
        if to_terminal && !self.with.armor {
            return Err(Failure::misuse(
                "refusing to print ciphertext to a terminal; name a file with -o, or use -o - to print it",
            ));
        }
        let functions = Functions { to_file: sealane::file::encrypt_opened, to_stdout: stream::encrypt };
        transfer::transfer(&self.transfer, pairs, &functions, with, console)
    }
}
