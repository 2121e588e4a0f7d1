//! `sealane encrypt`: files, standard input and whole folders.

use crate::args::{EncryptWith, OutputOptions, Transfer, WriteInventory, refuse_folder_options};
use crate::described::{self, Described};
use crate::folder_job::Recursive;
use crate::prelude::*;
use crate::transfer::{self, Functions};
use crate::url;
use crate::{keys, stream};
use sealane::file::InventoryKeys;
use sealane::file::bulk::Operation;
use sealane::file::job::check_sources;
use sealane::signature::{Signers, SigningKey};

/// Encrypt files, or standard input
///
/// Output comes in whole chunks (16 KiB of input, in age files 64 KiB): 'tail -f log | sealane
/// encrypt' prints nothing until the first is full, and the rest when the input ends.
///
/// The program of the Python package also takes URLs as IN and OUT, such as s3://bucket/notes.age.
/// A file appears there complete or not at all; a URL that ends in '/' is a folder.
#[derive(Args)]
#[command(
    short_flag = 'e',
    long_flag = "encrypt",
    after_help = "\
Examples:
  sealane encrypt -k key.jwk -o notes.sealed notes.txt
  sealane encrypt -R team.txt -o notes.age notes.txt
  tar c home | sealane encrypt -p > home.tar.age
  sealane encrypt --recursive --suffix .sealed -k key.jwk -o vault home
  sealane encrypt -i me.key --manifest --delete -o described home"
)]
pub(crate) struct Encrypt {
    #[command(flatten)]
    with: EncryptWith,
    #[command(flatten)]
    transfer: Transfer,
    /// With --recursive: remove encrypted files below OUT if their source below IN is gone, or
    /// their name is under a retired key of --encrypt-names. Removes only files that the manifest
    /// lists or the key (-k) opens. A file or folder that has become the other is replaced. If all
    /// files (two or more) would be removed, or most and at least 10, IN is probably wrong, and
    /// nothing is done
    #[arg(long)]
    delete: bool,
    /// With --recursive: like --delete, but remove even all or most of the files
    #[arg(long)]
    delete_all: bool,
    #[command(flatten)]
    listing: WriteInventory,
}

impl Run for Encrypt {
    fn output_options(&self) -> OutputOptions {
        self.transfer.output_options
    }

    fn run(&self, Context { console, .. }: &Context<'_>) -> Result<()> {
        let paths = || self.transfer.inputs.iter().chain(&self.transfer.output);
        if self.transfer.folders.recursive {
            url::refuse(paths())?;
        }
        // Before the advice to add --recursive.
        let inputs: Vec<_> = self.transfer.inputs.iter().filter(|input| input.exists()).cloned().collect();
        check_sources(&inputs).map_err(|error| Failure::about("IN", error))?;
        if let Some(found) = described::find_output(self.transfer.output.as_ref())? {
            url::refuse(&self.transfer.inputs)?;
            self.transfer.folders.check(&found, self.transfer.selection.preserve)?;
            let signing = self.signing_key(console)?;
            let opened = Described::open(found, &self.with.unlock(), console)?;
            let recursive = Recursive::transfer(&self.transfer, false, console)?
                .described(&opened, self.transfer.manifest.as_ref())?;
            return self.run_recursive(recursive, signing, Some(&opened), console);
        }
        self.transfer.check_manifest()?;
        if self.transfer.folders.recursive {
            let names =
                keys::names(&self.transfer.folders, &self.with.asked, &self.with.identities, console)?;
            let recursive = Recursive::transfer(&self.transfer, false, console)?.naming(names);
            return self.run_recursive(recursive, self.signing_key(console)?, None, console);
        }
        let inventory = self.listing.inventory.is_some() || self.listing.sign_key.is_some();
        let own = [("--delete", self.delete), ("--delete-all", self.delete_all), ("--inventory", inventory)];
        refuse_folder_options(self.transfer.folder_options().chain(own))?;
        let with = |inputs| keys::encrypt_with(&self.with, inputs, console);
        let pairs = transfer::pairs(&self.transfer, &[])?;
        let to_terminal = self.transfer.output.is_none() && pairs.iter().any(|pair| pair.to.is_terminal());
        if to_terminal && !self.with.armor {
            return Err(Failure::misuse(
                "refusing to print ciphertext to a terminal; name a file with -o, or use -o - to print it",
            ));
        }
        if paths().any(|path| url::of(path).is_some()) {
            return transfer::encrypt_at_urls(&self.transfer, &pairs, with, console);
        }
        let functions = Functions { to_file: sealane::file::encrypt_opened, to_stdout: stream::encrypt };
        transfer::transfer(&self.transfer, pairs, &functions, with, console)
    }
}

impl Encrypt {
    fn signing_key(&self, console: &Console) -> Result<Option<SigningKey>> {
        let load = |path| keys::signing_key(path, &self.with.asked, keys::Inputs::default(), console);
        self.listing.sign_key.as_deref().map(load).transpose()
    }

    fn run_recursive(
        &self,
        recursive: Recursive<'_>,
        signing: Option<SigningKey>,
        described: Option<&Described>,
        console: &Console,
    ) -> Result<()> {
        // With the shorter lifetime of the inventory below.
        let mut recursive = recursive;
        if self.delete || self.delete_all {
            let is_keyless = described.is_none_or(|it| it.folder.description().is_write_only());
            if self.with.key.is_none() && self.transfer.manifest.is_none() && is_keyless {
                return Err(Failure::misuse(
                    "--delete requires --manifest or -k, which show that sealane wrote a file",
                ));
            }
            recursive.options.delete = true;
            recursive.options.delete_all = self.delete_all;
        }
        let WriteInventory { inventory, sign_key, folder } = &self.listing;
        if let (Some(found), Some(key)) = (described, &signing) {
            let checked = found.folder.description().check_signer(&Signers::from(key));
            checked.map_err(|error| found.about(error))?;
        }
        let path = match (inventory, described) {
            (None, Some(found)) if sign_key.is_some() => Some(found.inventory()?),
            (None, None) if sign_key.is_some() => {
                return Err(Failure::misuse("--sign-key requires --inventory FILE"));
            }
            (None, Some(found)) => {
                if let Some(list) = found.inventory().ok().filter(|it| it.exists() && !self.transfer.dry_run)
                {
                    console.warn(&format!(
                        "{}: describes the folder before this command; write it again with --sign-key",
                        name(&list)
                    ));
                }
                None
            }
            (path, _) => path.clone(),
        };
        let folder = folder.as_deref();
        let folder = described.map_or(Ok(folder), |found| found.identifier(folder).map(Some))?;
        if let (Some(path), Some(key)) = (&path, &signing) {
            recursive = recursive.with_inventory(InventoryKeys { path, key, folder }, sign_key.as_deref())?;
        }
        let operation = |inputs| match described {
            Some(found) => found.encrypt_with(inputs),
            None => keys::encrypt_with(&self.with, inputs, console),
        };
        let passphrase = self.with.passphrase && described.is_none();
        recursive.run(|inputs| operation(inputs).map(Operation::Encrypt), passphrase)
    }
}
