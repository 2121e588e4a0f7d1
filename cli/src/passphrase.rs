//! Passphrases: typed without echo, or read from a file descriptor or a command's output.

use crate::args;
use crate::console;
use crate::prelude::*;
use crate::{interrupt, os, signal};
use sealane::Key;
use sealane::keys::{MAX_PASSPHRASE_LEN, check_passphrase, parse_passphrase};
use std::process::Stdio;

/// Prefix of the options `passphrase-fd` and `passphrase-command`.
const NEW: &str = "--";
/// Prefix of the same options for the old passphrase of files that get a new one.
const OLD: &str = "--old-";
/// What a shell returns if the closed pipe has killed its command, which has printed its line.
const KILLED_BY_PIPE: i32 = 128 + 13;

/// Returns the passphrase of `what`: typed by the user, or from where an option says.
pub(crate) fn ask(given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>> {
    ask_by(NEW, given, what)
}

/// Returns the old passphrase of `what`.
pub(crate) fn ask_old(given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>> {
    ask_by(OLD, given, what)
}

fn ask_by(options: &str, given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>> {
    match from_option(options, given) {
        Some(found) => found,
        None => prompt(&format!("passphrase of {what}: "), options),
    }
}

fn from_option(options: &str, given: &args::Passphrase) -> Option<Result<Zeroizing<String>>> {
    given.used.store(true, Ordering::Relaxed);
    match (given.descriptor, &given.command) {
        (Some(descriptor), _) => Some(from_descriptor(options, descriptor)),
        (None, Some(command)) => Some(from_command(options, command)),
        (None, None) => None,
    }
}

/// Asks twice for a new passphrase for `what`: a typing mistake would make the data unreadable. An
/// empty answer makes one and shows it, as in `age`.
pub(crate) fn choose(given: &args::Passphrase, what: &str) -> Result<Zeroizing<String>> {
    let first = match from_option(NEW, given) {
        Some(found) => found?,
        None => {
            let first = prompt(&format!("new passphrase for {what} (empty: make one): "), NEW)?;
            if first.is_empty() {
                return generate(what);
            }
            if *prompt("repeat the passphrase: ", NEW)? != *first {
                return Err(Failure::misuse("the two passphrases differ; nothing was written; try again"));
            }
            first
        }
    };
    check_passphrase(&first).map(|()| first).map_err(Failure::misuse)
}

/// Makes a passphrase of 120 random bits and shows it at the terminal.
fn generate(what: &str) -> Result<Zeroizing<String>> {
    const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let random = Key::generate(24).map_err(|e| Failure::about("the passphrase", e))?;
    let mut text = Zeroizing::new(String::with_capacity(32));
    for (at, byte) in random.as_bytes().iter().enumerate() {
        if at > 0 && at % 4 == 0 {
            text.push('-');
        }
        // 32 divides 256, so all letters are equally likely.
        text.push(LETTERS[usize::from(byte % 32)].into());
    }
    let shown = Zeroizing::new(format!("the passphrase of {what} is: {}", *text));
    os::show(&shown).map_err(|e| Failure::io("the terminal", &e))?;
    Ok(text)
}

/// Returns a line typed without echo, or `None` without a terminal.
pub(crate) fn hidden(text: &str) -> Result<Option<Zeroizing<String>>, Error> {
    match asked(text) {
        Err(failure) if failure.kind() == Kind::INTERRUPTED => Err(Error::Cancelled),
        answer => answer.map_err(|failure| io::Error::other(failure).into()),
    }
}

/// Returns a token's PIN, typed without echo, or `None` without a terminal.
pub(crate) fn pin(token: &str) -> Result<Option<Zeroizing<String>>, Error> {
    hidden(&console::escaped(&format!("PIN of the token {token}: ")))
}

fn prompt(text: &str, options: &str) -> Result<Zeroizing<String>> {
    asked(&console::escaped(text))?.ok_or_else(|| {
        Failure::misuse(format!(
            "no terminal to read a passphrase from; use {options}passphrase-fd or {options}passphrase-command"
        ))
    })
}

fn asked(text: &str) -> Result<Option<Zeroizing<String>>> {
    if os::exists() {
        interrupt::install();
    }
    let line = os::ask(text, MAX_PASSPHRASE_LEN).map_err(|e| match e.kind() {
        io::ErrorKind::Interrupted | io::ErrorKind::UnexpectedEof => Failure::interrupted(),
        _ => Failure::io("the terminal", &e),
    })?;
    line.map(|line| parse(line, "the terminal")).transpose()
}

/// Returns the path of an open file descriptor.
pub(crate) fn path(descriptor: u32) -> PathBuf {
    format!("/dev/fd/{descriptor}").into()
}

/// Reads the passphrase from the first line of a file descriptor.
fn from_descriptor(options: &str, descriptor: u32) -> Result<Zeroizing<String>> {
    let name = format!("{options}passphrase-fd {descriptor}");
    let about = |e: &io::Error| match e.kind() {
        io::ErrorKind::NotFound => Failure::misuse(format!("{name}: the file descriptor is not open")),
        _ => Failure::io(&name, e),
    };
    let Some(file) = os::open_descriptor(descriptor) else {
        let text = format!("{name}: on Windows only descriptor 0 (standard input) can be used");
        return Err(Failure::misuse(text));
    };
    let file = file.map_err(|e| about(&e))?;
    first_line(file, &name)?.map_err(|e| about(&e))
}

/// Runs a command in a shell and returns the first line it prints. The command can talk to the user
/// on standard error and at the terminal. It gets no standard input, because that may be the data.
fn from_command(options: &str, command: &OsStr) -> Result<Zeroizing<String>> {
    let name = &format!("{options}passphrase-command");
    interrupt::install();
    let mut shell = os::shell(command);
    shell.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = shell.spawn().map_err(|e| Failure::io(name, &e))?;
    let line = child.stdout.take().map_or(Ok(Ok(Zeroizing::default())), |out| first_line(out, name));
    // The pipe is closed now, so a command that prints more ends too.
    let ended = child.wait().map_err(|e| Failure::io(name, &e))?;
    let line = line?.map_err(|e| Failure::io(name, &e))?;
    if line.is_empty() || !ended.success() {
        // Ctrl-C goes to the command too.
        signal::wait_for_pending_signal();
        if signal::requested() {
            return Err(Failure::interrupted());
        }
    }
    match (ended.success(), line.is_empty()) {
        (false, _) if ended.code().is_some_and(|code| code != KILLED_BY_PIPE) => Err(Failure::misuse(
            format!("{name}: expected a command that succeeds, found one that ended with {ended}"),
        )),
        (_, true) => Err(Failure::misuse(format!("{name}: expected a passphrase, found no output"))),
        (_, false) => Ok(line),
    }
}

/// Reads a passphrase from the first line of `source`, called `name` in errors. The inner error is
/// the source's.
fn first_line(source: impl Read, name: &str) -> Result<io::Result<Zeroizing<String>>> {
    // Longer by a line end, and by a byte that shows a longer line.
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_PASSPHRASE_LEN + 3));
    #[expect(
        clippy::unbuffered_bytes,
        reason = "the bytes after the line may be the data to encrypt, and must stay unread"
    )]
    for byte in source.bytes() {
        match byte {
            Err(e) => return Ok(Err(e)),
            Ok(byte) => line.push(byte),
        }
        if line.last() == Some(&b'\n') || line.len() == line.capacity() {
            break;
        }
    }
    parse(line, name).map(Ok)
}

/// Returns the passphrase in a line, wherever the line comes from: its bytes without the line end,
/// in UTF-8 and not normalized, as in `age`.
fn parse(mut line: Zeroizing<Vec<u8>>, name: &str) -> Result<Zeroizing<String>> {
    for end in *b"\n\r" {
        if line.last() == Some(&end) {
            line.pop();
        }
    }
    // The position of an invalid byte would reveal something about the passphrase.
    match parse_passphrase(&line) {
        Ok(text) => Ok(Zeroizing::new(text.to_owned())),
        Err(why) => Err(Failure::misuse(format!("{name}: {why}"))),
    }
}
