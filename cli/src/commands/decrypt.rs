//! `sealane decrypt`

use super::transfer::{self, Ways};
use super::tree;
use crate::args::Decrypt;
use crate::error::Failure;
use crate::tui::Console;
use crate::{keys, pour};
use sealane::file::Suffix;

pub(crate) fn decrypt(args: &Decrypt, console: &Console) -> Result<(), Failure> {
    if args.transfer.folders.recursive {
        let ways = tree::Ways { suffix: |suffix| Suffix::TakeOff(suffix), work: sealane::file::decrypt_file };
        let unlock = || keys::unlock(&args.unlock, console);
        return tree::transfer(&args.transfer, &ways, unlock, args.unlock.passphrase, console);
    }
    let pairs = transfer::pairs(&args.transfer)?;
    let ways = Ways { to_file: sealane::file::decrypt_opened, to_stdout: pour::decrypt };
    transfer::transfer(&args.transfer, pairs, &ways, || keys::unlock(&args.unlock, console), console)
}
