//! Messages for the holder of a private key.

pub mod ecies;
pub mod hpke;
pub mod rsa;

use crate::{Error, Misuse};

/// The start of `out`, `need` bytes of it.
fn first(out: &mut [u8], need: usize) -> Result<&mut [u8], Misuse> {
    let got = out.len();
    out.get_mut(..need).ok_or(Misuse::OutputTooShort { got, need })
}

/// Opens into `out`, which is zero where that fails, whatever lay there before: a caller who overlooks the error has
/// nothing to go on with.
fn or_zero<T>(out: &mut [u8], open: impl FnOnce(&mut [u8]) -> Result<T, Error>) -> Result<T, Error> {
    let opened = open(out);
    if opened.is_err() {
        out.fill(0);
    }
    opened
}
