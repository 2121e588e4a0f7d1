//! Lists of recipients and identities: one a line, empty lines and those that begin with `#` left out.

use super::{Identity, Recipient};
use crate::Error;
use std::str::FromStr;

/// The recipients in a text.
///
/// # Errors
/// [`Error::Line`]; [`Error::Format`] where there are none.
pub fn parse_recipients(text: &str) -> Result<Vec<Recipient>, Error> {
    lines(text, "not a list of recipients: there is none in it")
}

/// The identities in a text. It may be one OpenSSH private key as a whole; if that is protected by a passphrase, use
/// [`Identity::from_ssh`].
///
/// # Errors
/// [`Error::Line`]; [`Error::Format`] where there are none; those of [`Identity::from_ssh`].
pub fn parse_identities(text: &str) -> Result<Vec<Identity>, Error> {
    match text.trim_ascii_start().starts_with("-----BEGIN") {
        true => Ok(vec![text.trim_ascii_start().parse()?]),
        false => lines(text, "not a list of identities: there is none in it"),
    }
}

fn lines<T: FromStr<Err = Error>>(text: &str, none: &'static str) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        found.push(line.parse().map_err(|why| Error::Line { number: at + 1, source: Box::new(why) })?);
    }
    match found.is_empty() {
        true => Err(Error::Format(none)),
        false => Ok(found),
    }
}
