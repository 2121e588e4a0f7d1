//! Passphrases, typed without echo or read from a file descriptor.

use crate::args;
use crate::error::{Failure, Kind};
use sealane::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use zeroize::Zeroizing;

/// Largest length in bytes of a passphrase from a file descriptor.
const MAX_LEN: usize = 1 << 12;

/// Returns the passphrase of `what`, which is typed by the user or read from a file descriptor.
pub(crate) fn ask(given: args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    match given.descriptor {
        Some(descriptor) => from_descriptor(descriptor),
        None => prompt(&format!("passphrase of {what}: ")),
    }
}

/// Asks for a new passphrase for `what`, twice: a typing mistake would make the data unreadable.
pub(crate) fn choose(given: args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    let first = match given.descriptor {
        Some(descriptor) => from_descriptor(descriptor)?,
        None => {
            let first = prompt(&format!("new passphrase for {what}: "))?;
            if *prompt("repeat the passphrase: ")? != *first {
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

/// Returns a line that the user types without seeing it, or `None` without a terminal.
pub(crate) fn hidden(text: &str) -> Result<Option<Zeroizing<String>>, Error> {
    match prompt(text) {
        Ok(line) => Ok(Some(line)),
        Err(failure) if failure.kind() == Kind::Interrupted => Err(Error::Cancelled),
        Err(_) => Ok(None),
    }
}

fn prompt(text: &str) -> Result<Zeroizing<String>, Failure> {
    rpassword::prompt_password(text).map(Zeroizing::new).map_err(|e| match e.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => Failure::interrupted(),
        _ => Failure::misuse("no terminal to read a passphrase from; use --passphrase-fd"),
    })
}

/// Returns the path of the file that is open as a descriptor.
pub(crate) fn path(descriptor: u32) -> PathBuf {
    format!("/dev/fd/{descriptor}").into()
}

/// Reads the first line from a file descriptor as the passphrase.
fn from_descriptor(descriptor: u32) -> Result<Zeroizing<String>, Failure> {
    let name = format!("--passphrase-fd {descriptor}");
    let about = |e: &io::Error| match e.kind() {
        io::ErrorKind::NotFound => Failure::misuse(format!("{name}: the file descriptor is not open")),
        _ => Failure::io(&name, e),
    };
    let file = File::open(path(descriptor)).map_err(|e| about(&e))?;
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_LEN));
    #[expect(
        clippy::unbuffered_bytes,
        reason = "the bytes after the line may be the data to encrypt, and must stay unread"
    )]
    for byte in file.bytes() {
        match byte.map_err(|e| about(&e))? {
            b'\n' => break,
            byte if line.len() < MAX_LEN => line.push(byte),
            _ => {
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
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        // The position of the invalid byte would tell about the passphrase.
        Err(_) => Err(Failure::misuse(format!("{name}: expected a passphrase in UTF-8, found other bytes"))),
    }
}
