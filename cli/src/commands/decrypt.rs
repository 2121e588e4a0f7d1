//! `sealane decrypt`

use super::transfer::{self, Ways};
use crate::args::Decrypt;
use crate::error::Failure;
use crate::tui::Console;
use crate::{keys, pour};

pub(crate) fn decrypt(args: &Decrypt, console: &Console) -> Result<(), Failure> {
    let pairs = transfer::pairs(&args.transfer)?;
    let ways = Ways { to_file: sealane::file::decrypt_opened, to_stdout: pour::decrypt };
    transfer::transfer(&args.transfer, pairs, &ways, || keys::unlock(&args.unlock, console), console)
}
