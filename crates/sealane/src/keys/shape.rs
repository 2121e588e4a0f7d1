//! What a key file looks like: told by its content, never by its name.

use super::pem;
use crate::Error;

const EXPECTED: Error = Error::Format(
    "not a key file: expected a JSON Web Key, PEM, AGE-SECRET-KEY-… or age1…, hexadecimal digits, or one of these in an \
     age file",
);

/// The content, and what it looks like. Whether it is that will show.
pub(super) enum Shape<'a> {
    /// A JSON object.
    Jwk(&'a str),
    /// Lines of dashes.
    Pem(&'a str),
    /// An age file, armored or not.
    Wrapped(&'a [u8]),
    /// The only line that is no comment: an identity of age.
    Identity(&'a str),
    /// The only line that is no comment: a recipient of age.
    Recipient(&'a str),
    /// As many hexadecimal digits as a private key has.
    PrivateHex(&'a str),
    /// As many as a public key has: with one coordinate, with both, with both and what kind of point it is.
    PublicHex(&'a str),
}

impl<'a> Shape<'a> {
    pub(super) fn of(content: &'a [u8]) -> Result<Self, Error> {
        if content.starts_with(b"age-encryption.org/v1") {
            return Ok(Self::Wrapped(content));
        }
        let text =
            std::str::from_utf8(content).map_err(|_| Error::Format("not a key file: it is not text"))?;
        let text = text.trim();
        if text.starts_with('{') {
            return Ok(Self::Jwk(text));
        }
        if text.starts_with("-----BEGIN AGE ENCRYPTED FILE-----") {
            return Ok(Self::Wrapped(text.as_bytes()));
        }
        if pem::is_pem(text) {
            return Ok(Self::Pem(text));
        }
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = lines.next().ok_or(EXPECTED)?;
        let shape = Self::of_line(line).ok_or(EXPECTED)?;
        match lines.next() {
            None => Ok(shape),
            Some(_) => Err(Error::Format("not a file of one key: it holds several lines; split it")),
        }
    }

    /// The digits are looked at where they are decoded, without tables.
    fn of_line(line: &'a str) -> Option<Self> {
        if line.starts_with("AGE-SECRET-KEY-") {
            return Some(Self::Identity(line));
        }
        if ["age1", "ssh-"].iter().any(|prefix| line.starts_with(prefix)) {
            return Some(Self::Recipient(line));
        }
        let digits = line.strip_prefix("0x").unwrap_or(line);
        match digits.len() {
            64 => Some(Self::PrivateHex(digits)),
            66 | 128 | 130 => Some(Self::PublicHex(digits)),
            _ => None,
        }
    }
}
