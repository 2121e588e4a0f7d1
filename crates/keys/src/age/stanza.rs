//! Recipient stanzas: type, arguments, and a body with the wrapped file key.
//!
//! ```text
//! stanza = "-> " kind *(SP argument) LF  *(64 columns LF)  fewer than 64 columns LF
//! ```
//!
//! Base64 is canonical and has no padding (RFC 4648, sections 3.2, 3.5 and 4).

use base::{Error, Result};
use base64ct::{Base64Unpadded, Encoding};

/// Type of a passphrase's stanza, the only one in its header.
pub(super) const SCRYPT: &str = "scrypt";
/// Maximum stanzas that an identity tries to unwrap. With more, a header could take minutes: an
/// attempt takes 60 µs with X25519, 0.4 ms with X-Wing and 3 ms with an RSA key of 4096 bits
/// (measured).
pub(super) const MAX_STANZAS: usize = 4096;
/// Columns of base64 in a full line of a body.
pub(super) const COLUMNS: usize = 64;
pub(super) const LONG_LINE: &str = "a line of a recipient's body is longer than 64 columns";
/// Bytes in a full line of a body.
pub(super) const LINE_BYTES: usize = 48;

/// A stanza of a parsed header; borrows the header's text.
#[derive(Clone, Copy, Debug)]
pub struct Stanza<'a> {
    pub(super) line: &'a str,
    pub(super) body: &'a str,
}

impl<'a> Stanza<'a> {
    /// Returns the type of the recipient, such as `"X25519"`.
    pub fn kind(&self) -> &'a str {
        self.line.split(' ').next().unwrap_or_default()
    }

    /// Iterates over the arguments after the type.
    pub fn arguments(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.line.split(' ').skip(1)
    }

    /// Returns the arguments if there are exactly `N`.
    pub(super) fn exactly<const N: usize>(&self, wrong: &'static str) -> Result<[&'a str; N]> {
        // One more than `N` shows that there are more: a header can be long.
        let arguments: Vec<_> = self.arguments().take(N + 1).collect();
        arguments.try_into().map_err(|_| Error::Header(wrong))
    }

    /// Returns the body if it has exactly `N` bytes.
    pub(super) fn body<const N: usize>(&self, wrong: &'static str) -> Result<[u8; N]> {
        let body = self.body_within(N).filter(|body| body.len() == N);
        body.and_then(|body| body.try_into().ok()).ok_or(Error::Header(wrong))
    }

    /// Returns the body if it has at most `max` bytes.
    pub(super) fn body_within(&self, max: usize) -> Option<Vec<u8>> {
        // Checked before the allocation: a header can be long.
        let len = self.body.len() - self.body.bytes().filter(|&byte| byte == b'\n').count();
        if len * 3 / 4 > max {
            return None;
        }
        let mut bytes = Vec::with_capacity(len * 3 / 4);
        for line in self.body.split('\n') {
            bytes.extend_from_slice(decode_line(line.as_bytes(), &mut [0; LINE_BYTES]).ok()?);
        }
        Some(bytes)
    }
}

/// Decodes a line of a body, at most 64 columns.
pub(super) fn decode_line<'a>(line: &[u8], into: &'a mut [u8; LINE_BYTES]) -> Result<&'a [u8]> {
    if line.len() > COLUMNS {
        return Err(Error::Header(LONG_LINE));
    }
    // The decoder's error names no position.
    Base64Unpadded::decode(line, into).map_err(|_| {
        Error::Header(match line {
            [b'-', ..] => "a recipient's body does not end with a short line",
            _ => "a line of a recipient's body is not canonical base64",
        })
    })
}

/// Decodes an argument of exactly `N` bytes; otherwise fails with the text `wrong`.
pub(super) fn argument<const N: usize>(text: &str, wrong: &'static str) -> Result<[u8; N]> {
    let mut bytes = [0; N];
    match Base64Unpadded::decode(text, &mut bytes) {
        Ok(found) if found.len() == N => Ok(bytes),
        _ => Err(Error::Header(wrong)),
    }
}

/// Encodes an argument of a stanza, in base64 without padding.
pub(super) fn to_argument(bytes: &[u8]) -> String {
    Base64Unpadded::encode_string(bytes)
}

/// Writes a stanza; `words` are its type and arguments.
pub(super) fn write(text: &mut String, words: &[&str], body: &[u8]) {
    text.push_str("->");
    for word in words {
        text.push(' ');
        text.push_str(word);
    }
    text.push('\n');
    for line in body.chunks(LINE_BYTES) {
        text.push_str(Base64Unpadded::encode(line, &mut [0; COLUMNS]).expect("64 columns hold 48 bytes"));
        text.push('\n');
    }
    if body.len().is_multiple_of(LINE_BYTES) {
        text.push('\n');
    }
}
