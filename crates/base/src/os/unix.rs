//! Unix: names are bytes, and files have a mode.

use crate::OnDrop;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;

/// Returns the name or path with these bytes; on Windows `None` if they are not UTF-8.
pub fn from_bytes(bytes: &[u8]) -> Option<OsString> {
    Some(OsString::from_vec(bytes.to_vec()))
}

/// Returns the bytes of a name; on Windows `None` if it is not valid text.
pub fn to_bytes(name: &OsStr) -> Option<&[u8]> {
    Some(name.as_bytes())
}

/// Returns the bytes of a path with "/" between its names.
pub fn bytes_of_path(path: OsString) -> Vec<u8> {
    path.into_vec()
}

/// Returns the mode of a file: 12 bits, or `None` on Windows.
pub fn mode(found: &Metadata) -> Option<u32> {
    Some(found.mode() & 0o7777)
}

/// Returns whether users besides this one and root can change a file. On Windows, the access list
/// of its folder decides.
pub fn others_can_change(found: &Metadata) -> bool {
    found.mode() & 0o022 != 0 || ![0, rustix::process::geteuid().as_raw()].contains(&found.uid())
}

/// Runs `start`. No signal handler of the program runs on the threads that it starts.
///
/// A runtime with a garbage collector does not know threads of this library, and a handler on one
/// can crash it or wait for ever: Crystal's did with `-Dpreview_mt`. Faults of the thread itself
/// stay as they are: the kernel ends the process if they are blocked.
pub fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    let mut all = SigSet::all();
    let faults = [Signal::SIGSEGV, Signal::SIGBUS, Signal::SIGFPE, Signal::SIGILL];
    let faults = faults.into_iter().chain([Signal::SIGSYS, Signal::SIGTRAP, Signal::SIGABRT]);
    faults.for_each(|fault| all.remove(fault));
    // It fails only for an unknown `SigmaskHow`.
    let before = all.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok();
    // Restores the caller's signals, even if `start` panics.
    let _restore = OnDrop(|| _ = before.map(|before| before.thread_set_mask()));
    start()
}
