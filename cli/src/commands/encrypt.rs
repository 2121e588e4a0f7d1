//! `sealane encrypt`: files, standard input and whole folders.

use super::recursive::Recursive;
use super::transfer::{self, Functions};
use super::{Context, Run};
use crate::args::{EncryptWith, OutputOptions, Transfer, WriteInventory};
use crate::error::Failure;
use crate::{keys, stream};
use clap::Args;
use sealane::file::InventoryKeys;
use sealane::file::bulk::Operation;

/// Encrypt files, or standard input
///
/// Output comes in whole chunks (16 KiB of input, in age files 64 KiB): 'tail -f log | sealane
/// encrypt' prints nothing until the first is full, and the rest when the input ends.
#[derive(Args)]
#[command(
    short_flag = 'e',
    long_flag = "encrypt",
    after_help = "\
Examples:
  sealane encrypt -k key.jwk -o notes.sealed notes.txt
  sealane encrypt -R team.txt -o notes.age notes.txt
  tar c home | sealane encrypt -p > home.tar.age
  sealane encrypt --recursive --suffix .sealed -k key.jwk -o vault home"
)]
pub(crate) struct Encrypt {
    #[command(flatten)]
    with: EncryptWith,
    #[command(flatten)]
    transfer: Transfer,
    /// With --recursive: remove encrypted files below OUT if their source below IN is gone, or
    /// their name is under a retired key of --encrypt-names. Removes only files that the manifest
    /// lists or the key (-k) opens. A file or folder that has become the other is replaced
    #[arg(long, requires = "recursive")]
    delete: bool,
    #[command(flatten)]
    inventory: WriteInventory,
}

impl Run for Encrypt {
    fn output_options(&self) -> OutputOptions {
        self.transfer.output_options
    }

    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<(), Failure> {
        let with = |inputs| keys::encrypt_with(&self.with, inputs, console);
        if self.transfer.folders.recursive {
            let operation = |inputs| with(inputs).map(Operation::Encrypt);
            let names =
                keys::names(&self.transfer.folders, &self.with.asked, &self.with.identities, console)?;
            let mut recursive = Recursive::transfer(&self.transfer, false, console)?.naming(names);
            if self.delete {
                if self.with.key.is_none() && self.transfer.manifest.is_none() {
                    return Err(Failure::misuse(
                        "--delete requires --manifest or -k, which show that sealane wrote a file",
                    ));
                }
                recursive = recursive.deleting();
            }
            let signing = self.inventory.sign_key.as_ref();
            let signing = signing
                .map(|path| keys::signing_key(path, &self.with.asked, keys::Inputs::default(), console))
                .transpose()?;
            if let (Some(path), Some(key)) = (&self.inventory.file, &signing) {
                let key_file = self.inventory.sign_key.as_deref();
                recursive = recursive.with_inventory(
                    InventoryKeys { path, key, folder: self.inventory.folder.as_deref() },
                    key_file,
                )?;
            }
            return recursive.run(operation, self.with.passphrase);
        }
        let pairs = transfer::pairs(&self.transfer, &[])?;
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
