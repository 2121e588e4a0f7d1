//! Passphrases: typed where nobody sees them, or read from a file descriptor.

use crate::args;
use crate::error::Failure;
use std::fs::File;
use std::io::{self, Read};
use zeroize::Zeroizing;

/// Nobody types more.
const LONGEST: usize = 1 << 12;

/// The passphrase of something that has one.
pub(crate) fn ask(given: args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    match given.descriptor {
        Some(descriptor) => from_descriptor(descriptor),
        None => prompt(&format!("passphrase of {what}: ")),
    }
}

/// A new passphrase. It is asked for twice: a slip of the finger would lock its owner out.
pub(crate) fn choose(given: args::Passphrase, what: &str) -> Result<Zeroizing<String>, Failure> {
    let first = match given.descriptor {
        Some(descriptor) => from_descriptor(descriptor)?,
        None => {
            let first = prompt(&format!("new passphrase for {what}: "))?;
            if *prompt("the same again: ")? != *first {
                return Err(Failure::misuse("the two passphrases differ; nothing was done"));
            }
            first
        }
    };
    match first.is_empty() {
        true => Err(Failure::misuse("an empty passphrase protects nothing")),
        false => Ok(first),
    }
}

fn prompt(text: &str) -> Result<Zeroizing<String>, Failure> {
    rpassword::prompt_password(text).map(Zeroizing::new).map_err(|e| match e.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => Failure::interrupted(),
        _ => Failure::misuse("there is no terminal to ask for a passphrase; use --passphrase-fd"),
    })
}

/// The first line.
fn from_descriptor(descriptor: u32) -> Result<Zeroizing<String>, Failure> {
    let name = format!("--passphrase-fd {descriptor}");
    let about = |e: &io::Error| match e.kind() {
        io::ErrorKind::NotFound => Failure::misuse(format!("{name}: no such file descriptor is open")),
        _ => Failure::io(&name, e),
    };
    let file = File::open(format!("/dev/fd/{descriptor}")).map_err(|e| about(&e))?;
    let mut line = Zeroizing::new(Vec::with_capacity(LONGEST));
    #[expect(
        clippy::unbuffered_bytes,
        reason = "what follows the line belongs to somebody else, perhaps it is the data"
    )]
    for byte in file.bytes() {
        match byte.map_err(|e| about(&e))? {
            b'\n' => break,
            byte if line.len() < LONGEST => line.push(byte),
            _ => return Err(Failure::misuse(format!("{name}: a passphrase has at most {LONGEST} bytes"))),
        }
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    match std::str::from_utf8(&line) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(_) => Err(Failure::misuse(format!("{name}: a passphrase is text in UTF-8"))),
    }
}
