//! Lists of recipients and identities, one per line. Empty lines and lines that begin with `#` are
//! skipped.

use super::{Identity, Recipient};
use crate::encoding::pem;
use crate::prelude::*;

/// Parses a list of recipients, one per line.
///
/// # Errors
/// Returns [`Error::Line`] for the first invalid line, and [`Error::Format`] if the list is empty.
pub fn parse_recipients(text: &str) -> Result<Vec<Recipient>> {
    lines(text, "expected a list of recipients, found none")
}

/// Parses a list of identities, or one OpenSSH private key. For an SSH key with a passphrase, use
/// [`Identity::from_ssh`].
///
/// # Errors
/// Returns [`Error::Line`] for the first invalid line, [`Error::Format`] if the list is empty, and
/// the errors of [`Identity::from_ssh`].
pub fn parse_identities(text: &str) -> Result<Vec<Identity>> {
    match pem::is_pem(text) {
        true => Ok(vec![Identity::from_ssh(text, None)?]),
        false => lines(text, "expected a list of identities, found none"),
    }
}

fn lines<T: FromStr<Err = Error>>(text: &str, none: &'static str) -> Result<Vec<T>> {
    let mut found = Vec::new();
    // A byte order mark, and blanks around a line, are no part of a key.
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim_ascii).enumerate();
    for (at, line) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        found.push(line.parse().map_err(|why| Error::Line { number: at + 1, source: Box::new(why) })?);
    }
    if found.is_empty() { Err(Error::Format(none)) } else { Ok(found) }
}
