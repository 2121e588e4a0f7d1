//! `sealane encrypt`

use super::transfer::{self, Ways};
use super::tree;
use crate::args::Encrypt;
use crate::error::Failure;
use crate::tui::Console;
use crate::{keys, pour};
use sealane::file::Suffix;

pub(crate) fn encrypt(args: &Encrypt, console: &Console) -> Result<(), Failure> {
    if args.transfer.folders.recursive {
        let ways = tree::Ways { suffix: |suffix| Suffix::Add(suffix), work: sealane::file::encrypt_file };
        let lock = || keys::lock(&args.lock, console);
        return tree::transfer(&args.transfer, &ways, lock, args.lock.passphrase, console);
    }
    let pairs = transfer::pairs(&args.transfer)?;
    if !args.lock.armor && args.transfer.output.is_none() && pairs.iter().any(|pair| pair.to.is_terminal()) {
        return Err(Failure::misuse(
            "ciphertext is not for a terminal; name a file with -o, or insist with -o -",
        ));
    }
    let ways = Ways { to_file: sealane::file::encrypt_opened, to_stdout: pour::encrypt };
    transfer::transfer(&args.transfer, pairs, &ways, || keys::lock(&args.lock, console), console)
}
