//! The header of an age file: a stanza per recipient, with the wrapped file key, and a MAC.
//!
//! ```text
//! header = "age-encryption.org/v1" LF  1*stanza  "--- " MAC in base64, 43 columns, LF
//! MAC    = HMAC-SHA-256(HKDF-SHA-256(file key, no salt, "header"), the header up to and including "---")
//! ```
//!
//! Source: c2sp.org/age, "Header". The encoding is canonical: we refuse a header that we would
//! write differently.

use super::file_key::FileKey;
use super::stanza::{self, Stanza};
use crate::prelude::*;
use engine::prefix::Parsed;
use std::ops::Range;

/// Maximum length of a header in bytes, enough for some thousand post-quantum recipients.
pub const MAX_HEADER_LEN: usize = 16 << 20;

const ORIGIN: &[u8] = b"age-encryption.org/";
const INTRO: &str = "age-encryption.org/v1\n";
const END: &str = "---";
/// Length of the last line without its line feed: `---`, a space, and 32 bytes in base64.
const END_LINE: usize = END.len() + 1 + 43;
const NEITHER: &str = "a line begins neither a recipient stanza nor the MAC";
const WRONG_MAC: &str = "the MAC is not 32 bytes in canonical base64";
/// Bytes to ask for before the first attempt.
const MIN_NEED: usize = 1 << 10;

/// The parsed header of an age file, with a stanza per recipient.
pub struct Header {
    /// The text under the MAC: the beginning of the header.
    text: String,
    stanzas: Vec<StanzaRange>,
    mac: [u8; 32],
}

/// Position of a stanza in the header's text, in bytes.
struct StanzaRange {
    /// The first line after the arrow: type and arguments.
    line: Range<u32>,
    body: Range<u32>,
}

impl Header {
    /// Parses the header at the start of `prefix`. Returns it with its length in bytes.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for another file, [`Error::UnsupportedVersion`] for another
    /// version of age, and [`Error::Header`] for a header that is damaged or longer than 16 MiB.
    pub fn parse(prefix: &[u8]) -> Result<Parsed<(Self, usize)>> {
        check_intro(prefix)?;
        let within = &prefix[..prefix.len().min(MAX_HEADER_LEN)];
        match parse(within)? {
            Some(found) => Ok(Parsed::Ready(found)),
            None if within.len() == MAX_HEADER_LEN => Err(Error::Header("it is longer than 16 MiB")),
            None => Ok(Parsed::NeedsMore((2 * prefix.len()).clamp(MIN_NEED, MAX_HEADER_LEN))),
        }
    }

    /// Parses the header of a complete file. Returns it with its length in bytes.
    ///
    /// # Errors
    /// Returns the errors of [`Self::parse`], and [`Error::Truncated`] if the file ends inside the
    /// header.
    pub fn parse_whole(file: &[u8]) -> Result<(Self, usize)> {
        match Self::parse(file)? {
            Parsed::Ready(found) => Ok(found),
            Parsed::NeedsMore(_) => Err(Error::Truncated),
        }
    }

    /// Iterates over the recipient stanzas, including those of unknown types.
    pub fn stanzas(&self) -> impl ExactSizeIterator<Item = Stanza<'_>> {
        let part = |range: &Range<u32>| &self.text[range.start as usize..range.end as usize];
        self.stanzas.iter().map(move |lines| Stanza { line: part(&lines.line), body: part(&lines.body) })
    }

    /// Returns whether the file is encrypted with a passphrase, not for recipients.
    pub fn has_passphrase(&self) -> bool {
        self.stanzas().any(|stanza| stanza.kind() == stanza::SCRYPT)
    }

    /// Verifies the MAC in constant time.
    pub(super) fn verify(&self, file_key: &FileKey) -> Result<()> {
        match bool::from(file_key.mac(self.text.as_bytes()).ct_eq(&self.mac)) {
            true => Ok(()),
            false => Err(Error::Header("its MAC does not match, so it was changed")),
        }
    }
}

pub(super) struct Writer(String);

impl Writer {
    pub(super) fn new() -> Self {
        Self(INTRO.into())
    }

    /// Adds a stanza; `words` are its type and arguments.
    pub(super) fn stanza(&mut self, words: &[&str], body: &[u8]) {
        stanza::write(&mut self.0, words, body);
    }

    pub(super) fn finish(mut self, file_key: &FileKey) -> String {
        self.0.push_str(END);
        let mac = file_key.mac(self.0.as_bytes());
        self.0 + " " + &stanza::to_argument(&mac) + "\n"
    }
}

/// Checks the first line. Distinguishes other files, other versions and damage.
fn check_intro(prefix: &[u8]) -> Result<()> {
    if prefix.iter().zip(INTRO.as_bytes()).all(|(is, should)| is == should) {
        return Ok(());
    }
    let Some(version) = prefix.strip_prefix(ORIGIN) else {
        return Err(Error::Format("expected an age file, found another format"));
    };
    let version = version.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Err(match version {
        b"v1\r" => Error::Header("its lines end with CR LF; it was transferred as text"),
        version if !version.is_empty() && version.iter().all(u8::is_ascii_graphic) => {
            Error::UnsupportedVersion("version 1 of age is supported")
        }
        _ => Error::Header("the first line has no version"),
    })
}

/// Parses a header. Returns it with its length, or `None` if the bytes are correct so far but end
/// too early.
fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>> {
    let mut lines = Lines { bytes, at: INTRO.len() };
    let mut stanzas = Vec::new();
    loop {
        let line = match lines.next() {
            Line::Complete(line) => line,
            Line::Partial(part) => return check_partial(part).map(|()| None),
        };
        let Some(words) = bytes[line.clone()].strip_prefix(b"-> ") else {
            let mac = check_end(&bytes[line.clone()])?;
            if stanzas.is_empty() {
                return Err(Error::Header("it has no recipient stanza"));
            }
            let text = memory::copy(&bytes[..line.start + END.len()])?;
            // Every line is ASCII, so the conversion does not fail.
            let text = String::from_utf8(text).map_err(|_| Error::Header("it is not ASCII"))?;
            return Ok(Some((Header { text, stanzas, mac }, lines.at)));
        };
        check_words(words)?;
        match lines.body()? {
            Some(body) => {
                // Not exact, because the number of stanzas is unknown. The error has no content.
                let bytes = stanzas.len() * size_of::<StanzaRange>();
                stanzas.try_reserve(1).map_err(|_| Error::OutOfMemory { bytes })?;
                stanzas.push(StanzaRange { line: narrow(line.start + 3..line.end), body: narrow(body) })
            }
            None => return Ok(None),
        }
    }
}

/// Splits bytes into lines, complete or not.
struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

enum Line<'a> {
    /// The range of the line without its line feed.
    Complete(Range<usize>),
    /// The bytes after the last line feed, perhaps the beginning of a line.
    Partial(&'a [u8]),
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Line<'a> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(len) => {
                let start = self.at;
                self.at += len + 1;
                Line::Complete(start..start + len)
            }
            None => Line::Partial(rest),
        }
    }

    /// Returns the range of a body; it ends with the first short line.
    fn body(&mut self) -> Result<Option<Range<usize>>> {
        let start = self.at;
        loop {
            match self.next() {
                Line::Complete(line) => {
                    stanza::decode_line(&self.bytes[line.clone()], &mut [0; stanza::LINE_BYTES])?;
                    if line.len() < stanza::COLUMNS {
                        return Ok(Some(start..line.end));
                    }
                }
                Line::Partial(part) if part.len() > stanza::COLUMNS => {
                    return Err(Error::Header(stanza::LONG_LINE));
                }
                Line::Partial(_) => return Ok(None),
            }
        }
    }
}

/// Checks the words after an arrow: at least one, each with at least one visible character.
fn check_words(words: &[u8]) -> Result<()> {
    let valid = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
    match words.split(|&byte| byte == b' ').all(valid) {
        true => Ok(()),
        false => Err(Error::Header("the arguments of a recipient stanza are not separated by single spaces")),
    }
}

/// Parses the last line. Returns the MAC.
fn check_end(line: &[u8]) -> Result<[u8; 32]> {
    let mac = line.strip_prefix(b"--- ").ok_or(Error::Header(NEITHER))?;
    // Bytes that are not UTF-8 are not base64 either.
    let mac = std::str::from_utf8(mac).map_err(|_| Error::Header(WRONG_MAC))?;
    stanza::argument(mac, WRONG_MAC)
}

/// Checks an incomplete line, to refuse an invalid header early, however long the file.
fn check_partial(part: &[u8]) -> Result<()> {
    if let Some(words) = part.strip_prefix(b"-> ") {
        // The last word may be incomplete, and even empty.
        return match words.strip_suffix(b" ").unwrap_or(words) {
            [] => Ok(()),
            words => check_words(words),
        };
    }
    let begins = |mark: &[u8]| part.iter().zip(mark).all(|(is, should)| is == should);
    match begins(b"-> ") || begins(b"--- ") && part.len() <= END_LINE {
        true => Ok(()),
        false => Err(Error::Header(NEITHER)),
    }
}

/// Narrows a range of a header, at most 16 MiB.
fn narrow(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stanzas().map(|stanza| stanza.kind())).finish()
    }
}
