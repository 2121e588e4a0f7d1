//! The header of an age file: who can unwrap its file key, and a MAC over that.
//!
//! ```text
//! header = "age-encryption.org/v1" LF  1*stanza  "--- " MAC in base64, 43 columns, LF
//! MAC    = HMAC-SHA-256(HKDF-SHA-256(file key, no salt, "header"), the header up to and including "---")
//! ```
//!
//! Source: c2sp.org/age, "Header". Nothing is read that would not be written the same way again.

use super::file_key::FileKey;
use super::stanza::{self, Stanza};
use crate::Error;
use std::fmt;
use std::ops::Range;
use subtle::ConstantTimeEq;

/// The longest header that is read, in bytes: some thousand post-quantum recipients.
pub const MOST: usize = 16 << 20;

const ORIGIN: &[u8] = b"age-encryption.org/";
const INTRO: &str = "age-encryption.org/v1\n";
const END: &str = "---";
/// Bytes of the last line, but for its line feed: the mark, a space, 32 bytes in base64.
const END_LINE: usize = END.len() + 1 + 43;
const NEITHER: &str = "a line begins neither a recipient nor the MAC";
const WRONG_MAC: &str = "the MAC is not 32 bytes in canonical base64";
/// With fewer bytes it is not worth to ask whether they are the whole header.
const LEAST: usize = 1 << 10;

/// The header of an age file.
pub struct Header {
    /// All that the MAC is computed over.
    text: String,
    stanzas: Vec<Lines>,
    mac: [u8; 32],
}

/// Where a stanza lies in the text.
struct Lines {
    /// After the arrow.
    line: Range<u32>,
    body: Range<u32>,
}

/// What a file's first bytes are.
#[derive(Debug)]
pub enum Parsed {
    /// The beginning of a header. It is not worth to ask again with less than `want` bytes, unless the file has no
    /// more; then it is truncated. Whoever waits for so many parses in linear time.
    More {
        /// Bytes, counted from the start of the file.
        want: usize,
    },
    /// A whole header, of so many bytes.
    Whole(Header, usize),
}

impl Header {
    /// Parses the header that `prefix` begins with.
    ///
    /// # Errors
    /// [`Error::Format`] for what is no age file, [`Error::UnsupportedVersion`], [`Error::Header`].
    pub fn parse(prefix: &[u8]) -> Result<Parsed, Error> {
        check_intro(prefix)?;
        let within = &prefix[..prefix.len().min(MOST)];
        match parse(within)? {
            Some((header, len)) => Ok(Parsed::Whole(header, len)),
            None if within.len() == MOST => Err(Error::Header("it is longer than 16 MiB")),
            None => Ok(Parsed::More { want: (2 * prefix.len()).clamp(LEAST, MOST) }),
        }
    }

    /// Parses the header of a file that is at hand as a whole; returns its length too.
    ///
    /// # Errors
    /// Those of [`Self::parse`]; [`Error::Truncated`].
    pub fn parse_whole(file: &[u8]) -> Result<(Self, usize), Error> {
        match Self::parse(file)? {
            Parsed::Whole(header, len) => Ok((header, len)),
            Parsed::More { .. } => Err(Error::Truncated),
        }
    }

    /// The recipients' stanzas, those of unknown kinds included.
    pub fn stanzas(&self) -> impl ExactSizeIterator<Item = Stanza<'_>> {
        let part = |range: &Range<u32>| &self.text[range.start as usize..range.end as usize];
        self.stanzas.iter().map(move |lines| Stanza { line: part(&lines.line), body: part(&lines.body) })
    }

    /// Whether a passphrase opens it.
    pub fn wants_passphrase(&self) -> bool {
        self.stanzas().any(|stanza| stanza.kind() == super::scrypt::KIND)
    }

    /// Compares the MAC.
    pub(super) fn verify(&self, file_key: &FileKey) -> Result<(), Error> {
        match bool::from(file_key.mac(self.text.as_bytes()).ct_eq(&self.mac)) {
            true => Ok(()),
            false => Err(Error::Header("its MAC does not fit, so it was changed")),
        }
    }
}

/// A header that is being written.
pub(super) struct Writer(String);

impl Writer {
    pub(super) fn new() -> Self {
        Self(INTRO.into())
    }

    /// Adds a recipient: the words of its first line, of which the first is the kind, and its body.
    pub(super) fn stanza(&mut self, words: &[&str], body: &[u8]) {
        stanza::write(&mut self.0, words, body);
    }

    pub(super) fn finish(mut self, file_key: &FileKey) -> String {
        self.0.push_str(END);
        let mac = file_key.mac(self.0.as_bytes());
        self.0.push(' ');
        self.0.push_str(&stanza::to_argument(&mac));
        self.0.push('\n');
        self.0
    }
}

/// Tells a foreign file from another version and from damage.
fn check_intro(prefix: &[u8]) -> Result<(), Error> {
    if prefix.iter().zip(INTRO.as_bytes()).all(|(is, should)| is == should) {
        return Ok(());
    }
    let Some(version) = prefix.strip_prefix(ORIGIN) else {
        return Err(Error::Format("not an age file"));
    };
    let version = version.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Err(match version {
        b"v1\r" => Error::Header("its lines end with CR LF: it was changed as if it were text"),
        version if !version.is_empty() && version.iter().all(u8::is_ascii_graphic) => {
            Error::UnsupportedVersion("of age, only version 1 is known")
        }
        _ => Error::Header("the first line names no version"),
    })
}

/// The header and its length, or `None` where the bytes end before it does and are right so far.
fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>, Error> {
    let mut lines = Reader { bytes, at: INTRO.len() };
    let mut stanzas = Vec::new();
    loop {
        let line = match lines.next() {
            Line::Whole(line) => line,
            Line::Part(part) => return check_part(part).map(|()| None),
        };
        let Some(words) = bytes[line.clone()].strip_prefix(b"-> ") else {
            let mac = check_end(&bytes[line.clone()])?;
            if stanzas.is_empty() {
                return Err(Error::Header("it has no recipient"));
            }
            let text = std::str::from_utf8(&bytes[..line.start + END.len()]);
            // Every line was found to be ASCII.
            let text = text.map_err(|_| Error::Header("it is no text"))?.to_owned();
            return Ok(Some((Header { text, stanzas, mac }, lines.at)));
        };
        check_words(words)?;
        match lines.body()? {
            Some(body) => stanzas.push(Lines { line: narrow(line.start + 3..line.end), body: narrow(body) }),
            None => return Ok(None),
        }
    }
}

/// Goes from line to line.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

enum Line<'a> {
    /// Where it lies, its line feed left out.
    Whole(Range<usize>),
    /// The bytes end before it does.
    Part(&'a [u8]),
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Line<'a> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(len) => {
                let start = self.at;
                self.at += len + 1;
                Line::Whole(start..start + len)
            }
            None => Line::Part(rest),
        }
    }

    /// The lines up to the first short one; where they lie.
    fn body(&mut self) -> Result<Option<Range<usize>>, Error> {
        let start = self.at;
        loop {
            match self.next() {
                Line::Whole(line) => {
                    stanza::decode_line(&self.bytes[line.clone()], &mut [0; stanza::LINE_BYTES])?;
                    if line.len() < stanza::COLUMNS {
                        return Ok(Some(start..line.end));
                    }
                }
                Line::Part(part) if part.len() > stanza::COLUMNS => {
                    return Err(Error::Header(stanza::LONG_LINE));
                }
                Line::Part(_) => return Ok(None),
            }
        }
    }
}

/// The words after an arrow: one or more, each of one or more visible characters.
fn check_words(words: &[u8]) -> Result<(), Error> {
    let whole = |word: &[u8]| !word.is_empty() && word.iter().all(u8::is_ascii_graphic);
    match words.split(|&byte| byte == b' ').all(whole) {
        true => Ok(()),
        false => Err(Error::Header("a recipient's arguments are not words with a space between them")),
    }
}

/// The last line; returns the MAC.
fn check_end(line: &[u8]) -> Result<[u8; 32], Error> {
    let mac = line.strip_prefix(b"--- ").ok_or(Error::Header(NEITHER))?;
    let mac = std::str::from_utf8(mac).map_err(|_| Error::Header(WRONG_MAC))?;
    stanza::argument(mac, WRONG_MAC)
}

/// A line that may go on: what can no more become right is refused now, however long the file is.
fn check_part(part: &[u8]) -> Result<(), Error> {
    if let Some(words) = part.strip_prefix(b"-> ") {
        // A last word that is empty may yet begin.
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

/// A header has at most 16 MiB.
fn narrow(range: Range<usize>) -> Range<u32> {
    range.start as u32..range.end as u32
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.stanzas().map(|stanza| stanza.kind())).finish()
    }
}
