//! Random bytes of the operating system, and a mark that differs between a parent and a forked child.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Fills `out` with random bytes of the operating system, which are secure enough for keys.
pub(crate) fn fill(out: &mut [u8]) -> io::Result<()> {
    getrandom::fill(out).map_err(|e| match e.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::other("the operating system returned no random bytes"),
    })
}

/// Returns a number that stays the same within a process and differs in a forked child. It is never zero. Where the
/// system has no [`providers::fork_mark`], it is the process number.
#[inline]
pub(crate) fn process_mark() -> io::Result<u64> {
    match providers::fork_mark() {
        Some(mark) => match mark.load(Ordering::Relaxed) {
            0 => new_mark(mark),
            known => Ok(known),
        },
        None => Ok(u64::from(std::process::id())),
    }
}

/// Sets the mark on the first use in this process or after a fork. It is random, so it differs from every ancestor's.
#[cold]
fn new_mark(mark: &AtomicU64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    let fresh = u64::from_le_bytes(bytes) | 1;
    Ok(match mark.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => fresh,
        Err(another_thread) => another_thread,
    })
}
