//! Windows: the console, handles, locks and the shell.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::os::windows::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zeroize::Zeroizing;

/// Calls `handler` for Ctrl-C.
pub(crate) fn handle_ending_signals(_: &Arc<AtomicBool>, handler: fn()) {
    // An error means that this process already has a handler. It stays.
    let _ = ctrlc::set_handler(handler);
}

pub(crate) fn receive_ending_signals() {}

pub(crate) fn block_file_length_signal() {}

pub(crate) fn fill_closed_streams(_: impl Fn(usize)) {}

/// Returns a standard stream as a file.
pub(crate) fn duplicate(stream: &impl AsHandle) -> io::Result<File> {
    Ok(stream.as_handle().try_clone_to_owned()?.into())
}

/// Opens standard input: the only descriptor that a program on Windows can get by number.
pub(crate) fn open_descriptor(descriptor: u32) -> Option<io::Result<File>> {
    (descriptor == 0).then(|| duplicate(&io::stdin()))
}

pub(crate) fn is_narrow() -> bool {
    false
}

/// Does nothing: the system restores the console.
pub(crate) fn restore() {}

/// Returns whether there is a terminal to ask at.
pub(crate) fn exists() -> bool {
    File::open("CONIN$").is_ok()
}

/// Shows a line at the terminal, where no log records it.
pub(crate) fn show(text: &str) -> io::Result<()> {
    File::options().write(true).open("CONOUT$")?.write_all(format!("{text}\r\n").as_bytes())
}

/// Asks at the terminal and returns the typed line; `None` without a terminal.
pub(crate) fn ask(prompt: &str, _: usize) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    match rpassword::prompt_password(prompt) {
        Ok(line) => Ok(Some(Zeroizing::new((line + "\n").into_bytes()))),
        Err(e) if matches!(e.kind(), io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof) => Err(e),
        Err(_) => Ok(None),
    }
}

/// Creates `.NAME.lock` beside the file at a path; it exists only while open. So two commands that
/// change the file lose no keys. If the file itself were locked, Windows would let nothing read it.
pub(crate) fn lock(path: &Path) -> Result<File, TryLockError> {
    /// `FILE_FLAG_DELETE_ON_CLOSE`: the system removes the file even if the process is killed.
    const REMOVED_AT_THE_END: u32 = 0x0400_0000;
    /// `ERROR_SHARING_VIOLATION` and `ERROR_DELETE_PENDING`: another process has the file open or
    /// is closing it.
    const IN_USE: [i32; 2] = [32, 303];
    let real = fs::canonicalize(path).map_err(TryLockError::Error)?;
    let mut name = OsString::from(".");
    name.push(real.file_name().unwrap_or_default());
    name.push(".lock");
    let mut options = File::options();
    options.write(true).create(true).truncate(false).share_mode(0).custom_flags(REMOVED_AT_THE_END);
    options.open(real.with_file_name(name)).map_err(|e| match e.raw_os_error() {
        Some(code) if IN_USE.contains(&code) => TryLockError::WouldBlock,
        _ => TryLockError::Error(e),
    })
}

/// Returns Windows's shell without start-up commands (`/D`). It removes the outer quotation marks
/// (`/S`) and takes the rest as it is.
pub(crate) fn shell(command: &OsStr) -> Command {
    let mut quoted = OsString::from("\"");
    quoted.push(command);
    quoted.push("\"");
    let mut shell = Command::new("cmd");
    shell.args(["/D", "/S", "/C"]).raw_arg(quoted);
    shell
}
