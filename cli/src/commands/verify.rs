//! `sealane verify`: decrypts files without writing plaintext.

use crate::args::{DecryptWith, Effort, Folders, ReadInventory, Selection, refuse_folder_options};
use crate::described::{self, Described};
use crate::endpoints::Source;
use crate::folder_job::{Recursive, report_verified};
use crate::keys::{self, Inputs};
use crate::prelude::*;
use crate::vault::Vaults;
use sealane::file;
use sealane::file::bulk::Operation;

/// Verify every byte of encrypted files, without writing the plaintext
///
/// A changed or shortened file is found. That files of a folder were exchanged, replaced by older
/// ones or removed, only an inventory shows: see --signer.
#[derive(Args)]
#[command(after_help = "\
Examples:
  sealane verify -k key.jwk notes.sealed
  sealane verify -i me.key described")]
pub(crate) struct Verify {
    #[command(flatten)]
    with: DecryptWith,
    /// Encrypted files; '-' is standard input. The program of the Python package also takes the
    /// URL of one, such as s3://bucket/notes.sealed, or of a vault
    #[arg(value_name = "FILE", required = true)]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    listing: ReadInventory,
    #[command(flatten)]
    effort: Effort,
}

impl Run for Verify {
    /// Verifies every file, even after one has failed.
    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let job = || Recursive::verify(&self.inputs, &self.folders, &self.selection, &self.effort, console);
        if let Some(found) = described::find(&self.inputs)? {
            self.folders.check(&found, self.selection.preserve)?;
            let opened = Described::open(found, &self.with.unlock(), console)?;
            let inventory = opened.inventory_args(&self.listing)?;
            if let Some(path) = opened.inventory().ok().filter(|it| inventory.signer.is_none() && it.exists())
            {
                console.warn(&format!("{}: not compared with the files; add --signer", name(&path)));
            }
            let recursive = job()?.described(&opened, None)?.comparing(&inventory)?;
            return recursive.run(|inputs| opened.decrypt_with(inputs).map(Operation::Verify), false);
        }
        if self.listing.signer.is_some() && self.listing.inventory.is_none() {
            return Err(Failure::misuse("--signer requires --inventory FILE"));
        }
        let with = |inputs| keys::decrypt_with(&self.with, inputs, console);
        let mut vaults = Vaults::new(&self.with, console);
        if self.folders.recursive || vaults.contain(&self.inputs) {
            if let Some(place) = vaults.find_only(&self.inputs)? {
                return job()?.comparing(&self.listing)?.run_vault(&place, &self.folders);
            }
            let names = keys::names(&self.folders, &self.with.asked, &self.with.identities, console)?;
            let recursive = job()?.comparing(&self.listing)?.naming(names);
            return recursive.run(|inputs| with(inputs).map(Operation::Verify), false);
        }
        let own = [("--inventory", self.listing.inventory.is_some())];
        refuse_folder_options(self.folders.given().into_iter().chain(self.selection.given()).chain(own))?;
        let with = with(Inputs::named(&self.inputs))?;
        let verify = |input: &PathBuf| self.verify_one(&Source::new(input), &with, console);
        console.each(&self.inputs, &Kind::ENDING, verify).map(drop)
    }
}

impl Verify {
    fn verify_one(&self, source: &Source, with: &file::DecryptWith, console: &Console) -> Result<()> {
        let name = source.name();
        let mut bar = console.bar(&name, source.size());
        let mut report = |done, _| bar.at(done);
        let options = self.effort.options(&mut report);
        file::verify_opened(source.open_file()?, source.subject(), with, options)
            .map_err(|error| Failure::about(&name, error))?;
        let bytes = bar.done();
        drop(bar);
        report_verified(console, &name, bytes)
    }
}
