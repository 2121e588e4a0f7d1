//! `sealane decrypt`: files, standard input and whole folders.

use crate::args::{DecryptWith, OutputOptions, Transfer, refuse_folder_options};
use crate::described::{self, Described};
use crate::folder_job::Recursive;
use crate::prelude::*;
use crate::transfer::{self, Functions};
use crate::vault::Vaults;
use crate::{keys, salvage, stream, url};
use sealane::file::bulk::Operation;
use sealane::vault::EntryKind;

/// Decrypt files, or standard input
///
/// An output file appears complete and verified, or not at all. On standard output, data from a
/// regular file appears once the end of the file is verified. The end of a pipe cannot be verified
/// in advance: only exit status 0 means that the output is complete. In an output folder, the names
/// of files lose the suffixes .sealed and .age.
#[derive(Args)]
#[command(
    short_flag = 'd',
    long_flag = "decrypt",
    after_help = "\
Examples:
  sealane decrypt -k key.jwk -o notes.txt notes.sealed
  sealane decrypt -i alice.key -o notes.txt notes.age
  sealane decrypt -i me.key -o restored described
  sealane decrypt home.tar.age | tar x"
)]
pub(crate) struct Decrypt {
    #[command(flatten)]
    with: DecryptWith,
    #[command(flatten)]
    transfer: Transfer,
    /// Decrypt damaged files: write every chunk that verifies, and zeros in place of the others.
    /// The result lists these holes (--json: as byte ranges). Exit status 1 if there is a hole or
    /// the end is missing
    #[arg(long, requires = "output", conflicts_with = "recursive")]
    salvage: bool,
    /// With --recursive: like --preserve, but also set-uid, set-gid and sticky bits, rights beyond
    /// those of new files (umask), and links out of OUT. Anyone who can write to the encrypted
    /// folder can choose them
    #[arg(long)]
    preserve_all: bool,
}

impl Run for Decrypt {
    fn output_options(&self) -> OutputOptions {
        self.transfer.output_options
    }

    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        if let Some(found) = described::find(&self.transfer.inputs)? {
            if self.salvage {
                return Err(Failure::misuse(salvage::FOLDER));
            }
            self.transfer.folders.check(&found, self.transfer.selection.preserve || self.preserve_all)?;
            let opened = Described::open(found, &self.with.unlock(), console)?;
            return Recursive::transfer(&self.transfer, true, console)?
                .described(&opened, self.transfer.manifest.as_ref())?
                .preserving_all(self.preserve_all)
                .run(|inputs| opened.decrypt_with(inputs).map(Operation::Decrypt), false);
        }
        self.transfer.check_manifest()?;
        let with = |inputs| keys::decrypt_with(&self.with, inputs, console);
        url::refuse(&self.transfer.output)?;
        let is_url = self.transfer.inputs.iter().any(|input| url::of(input).is_some());
        if is_url && (self.transfer.output.is_none() || self.salvage) {
            return Err(Failure::misuse(
                "what is at a URL is decrypted to a file or folder: name it with -o, without --salvage; 'sealane cat' \
                 prints it",
            ));
        }
        let own = [("--preserve-all", self.preserve_all)];
        let mut vaults = Vaults::new(&self.with, console);
        if self.transfer.folders.recursive || vaults.contain(&self.transfer.inputs) {
            if let Some(place) = vaults.find_only(&self.transfer.inputs)? {
                let prints = self.transfer.output.as_ref().is_none_or(|out| *out == Path::new("-"))
                    && !self.transfer.folders.recursive;
                if self.salvage || prints && place.kind()? == EntryKind::File {
                    refuse_folder_options(self.transfer.folder_options().chain(own))?;
                    if self.salvage {
                        return salvage::run_vault(&self.transfer, &place, console);
                    }
                    let out = place.print(0..u64::MAX, console)?;
                    return transfer::finish_stdout(&out, &self.transfer.writing);
                }
                return Recursive::transfer(&self.transfer, true, console)?
                    .preserving_all(self.preserve_all)
                    .run_vault(&place, &self.transfer.folders);
            }
            let operation = |inputs| with(inputs).map(Operation::Decrypt);
            let names =
                keys::names(&self.transfer.folders, &self.with.asked, &self.with.identities, console)?;
            return Recursive::transfer(&self.transfer, true, console)?
                .preserving_all(self.preserve_all)
                .naming(names)
                .run(operation, self.with.has_passphrase());
        }
        refuse_folder_options(self.transfer.folder_options().chain(own))?;
        let pairs = transfer::pairs(&self.transfer, &["sealed", "age"])?;
        if self.salvage {
            return salvage::run(&self.transfer, &pairs, with, console);
        }
        let functions = Functions { to_file: sealane::file::decrypt_opened, to_stdout: stream::decrypt };
        transfer::transfer(&self.transfer, pairs, &functions, with, console)
    }
}
