//! Bytes from the operating system.

use std::io;

/// Fills `out` with bytes fit for keys.
pub(crate) fn fill(out: &mut [u8]) -> io::Result<()> {
    getrandom::fill(out).map_err(|e| match e.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::other("the operating system gave no random bytes"),
    })
}
