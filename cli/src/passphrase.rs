//! Passphrases: typed without echo, or read from a file descriptor or a command's output.

use crate::args;
use crate::console;
use crate::error::{Failure, Kind};
use sealane::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use zeroize::Zeroizing;

/// Maximum bytes of a passphrase from a file descriptor or a command.
const MAX_LEN: usize = 1 << 12;
/// Prefix of the options `passphrase-fd` and `passphrase-command`.
const NEW: &str = "--";
/// Prefix of the same options for the old passphrase of files that get a new one.
const OLD: &str = "--old-";

/// Returns the passphrase of `what`: typed by the user, or from where an option says.
pub(crate) fn ask(given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    ask_by(NEW, given, what)
}

/// Returns the old passphrase of `what`.
pub(crate) fn ask_old(given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    ask_by(OLD, given, what)
}

fn ask_by(options: &str, given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    match from_option(options, given) {
        Some(found) => found,
        None => prompt(&format!("passphrase of {what}: "), options),
    }
}

fn from_option(options: &str, given: &args::Passphrase) -> Option<Result<Zeroizing<String>, Failure>> {
    match (given.descriptor, &given.command) {
        (Some(descriptor), _) => Some(from_descriptor(options, descriptor)),
        (None, Some(command)) => Some(from_command(options, command)),
        (None, None) => None,
    }
}

/// Asks twice for a new passphrase for `what`: a typing mistake would make the data unreadable.
pub(crate) fn choose(given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    let first = match from_option(NEW, given) {
        Some(found) => found?,
        None => {
            let first = prompt(&format!("new passphrase for {what}: "), NEW)?;
            if *prompt("repeat the passphrase: ", NEW)? != *first {
                return Err(Failure::misuse("the two passphrases differ; nothing was written; try again"));
            }
            first
        }
    };
    match first.is_empty() {
        true => Err(Failure::misuse("expected a passphrase, found an empty one")),
        false => Ok(first),
    }
}

/// Returns a line typed without echo, or `None` without a terminal.
pub(crate) fn hidden(text: &str) -> Result<Option<Zeroizing<String>>, Error> {
    match prompt(text, NEW) {
        Ok(line) => Ok(Some(line)),
        Err(failure) if failure.kind() == Kind::INTERRUPTED => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}

/// Returns a token's PIN, typed without echo, or `None` without a terminal.
pub(crate) fn pin(token: &str) -> Result<Option<Zeroizing<String>>, Error> {
    hidden(&console::escaped(&format!("PIN of the token {token}: ")))
}

fn prompt(text: &str, options: &str) -> Result<Zeroizing<String>, Failure> {
    rpassword::prompt_password(text).map(Zeroizing::new).map_err(|e| match e.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => Failure::interrupted(),
        _ => Failure::misuse(format!(
            "no terminal to read a passphrase from; use {options}passphrase-fd or {options}passphrase-command"
        )),
    })
}

/// Returns the path of an open file descriptor.
pub(crate) fn path(descriptor: u32) -> PathBuf {
    format!("/dev/fd/{descriptor}").into()
}

/// Reads the passphrase from the first line of a file descriptor.
fn from_descriptor(options: &str, descriptor: u32) -> Result<Zeroizing<String>, Failure> {
    let name = format!("{options}passphrase-fd {descriptor}");
    let about = |e: &io::Error| match e.kind() {
        io::ErrorKind::NotFound => Failure::misuse(format!("{name}: the file descriptor is not open")),
        _ => Failure::io(&name, e),
    };
    let file = open(descriptor, &name)?.map_err(|e| about(&e))?;
    first_line(file, &name)?.map_err(|e| about(&e))
}

#[cfg(unix)]
fn open(descriptor: u32, _: &str) -> Result<io::Result<File>, Failure> {
    Ok(File::open(path(descriptor)))
}

/// Opens standard input: the only descriptor that a program on Windows can get by number.
#[cfg(windows)]
fn open(descriptor: u32, name: &str) -> Result<io::Result<File>, Failure> {
    match descriptor {
        0 => Ok(crate::endpoints::stdin()),
        _ => {
            Err(Failure::misuse(format!("{name}: on Windows only descriptor 0 (standard input) can be used")))
        }
    }
}

/// Runs a command in a shell and returns the first line it prints. The command can talk to the user
/// on standard error and at the terminal. It gets no standard input, because that may be the data.
fn from_command(options: &str, command: &OsStr) -> Result<Zeroizing<String>, Failure> {
    let name = &format!("{options}passphrase-command");
    let mut shell = shell(command);
    shell.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = shell.spawn().map_err(|e| Failure::io(name, &e))?;
    let line = child.stdout.take().map_or(Ok(Ok(Zeroizing::default())), |out| first_line(out, name));
    // The pipe is closed now, so a command that prints more ends too.
    let ended = child.wait().map_err(|e| Failure::io(name, &e))?;
    let line = line?.map_err(|e| Failure::io(name, &e))?;
    match (ended.success(), line.is_empty()) {
        // A command killed by the closed pipe has printed its line.
        (false, _) if ended.code().is_some() => Err(Failure::misuse(format!(
            "{name}: expected a command that succeeds, found one that ended with {ended}"
        ))),
        (_, true) => Err(Failure::misuse(format!("{name}: expected a passphrase, found no output"))),
        (_, false) => Ok(line),
    }
}

#[cfg(unix)]
fn shell(command: &OsStr) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.arg("-c").arg(command);
    shell
}

/// Returns Windows's shell without start-up commands (`/D`). It removes the outer quotation marks
/// (`/S`) and takes the rest as it is.
#[cfg(windows)]
fn shell(command: &OsStr) -> Command {
    use std::os::windows::process::CommandExt;
    let mut quoted = std::ffi::OsString::from("\"");
    quoted.push(command);
    quoted.push("\"");
    let mut shell = Command::new("cmd");
    shell.args(["/D", "/S", "/C"]).raw_arg(quoted);
    shell
}

/// Reads a passphrase from the first line of `source`, called `name` in errors. The inner error is
/// the source's.
fn first_line(source: impl Read, name: &str) -> Result<io::Result<Zeroizing<String>>, Failure> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_LEN));
    #[expect(
        clippy::unbuffered_bytes,
        reason = "the bytes after the line may be the data to encrypt, and must stay unread"
    )]
    for byte in source.bytes() {
        match byte {
            Err(e) => return Ok(Err(e)),
            Ok(b'\n') => break,
            Ok(byte) if line.len() < MAX_LEN => line.push(byte),
            Ok(_) => {
                return Err(Failure::misuse(format!(
                    "{name}: expected a passphrase of at most {MAX_LEN} bytes, found a longer line"
                )));
            }
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    match std::str::from_utf8(&line) {
        Ok(text) => Ok(Ok(Zeroizing::new(text.to_owned()))),
        // The invalid byte's position would reveal something about the passphrase.
        Err(_) => Err(Failure::misuse(format!("{name}: expected a passphrase in UTF-8, found other bytes"))),
    }
}
