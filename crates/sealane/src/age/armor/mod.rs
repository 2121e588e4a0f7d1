//! ASCII armor: an age file as text, strictly as RFC 7468 section 3 has it.
//!
//! ```text
//! armor = "-----BEGIN AGE ENCRYPTED FILE-----" EOL
//!         *(64 columns EOL)  1 to 64 columns EOL          base64 with padding, canonical; only the last line is short
//!         "-----END AGE ENCRYPTED FILE-----" [EOL]
//! EOL   = LF or CR LF
//! ```
//!
//! Blank lines and spaces before and after are ignored, fewer than 1024 bytes of them (c2sp.org/age, "ASCII armor").
//! What is read is what would be written, but for line ends: armor that could be changed unnoticed is refused.

mod decoder;
mod encoder;
mod view;

pub use decoder::Decoder;
pub use encoder::Encoder;
pub use view::View;

use crate::Error;
// With tables, unlike that of keys: it is public, and there can be much of it.
use base64::prelude::{BASE64_STANDARD, Engine};

const BEGIN: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
const END: &[u8] = b"-----END AGE ENCRYPTED FILE-----";
/// Columns of base64 in a full line.
const COLUMNS: usize = 64;
/// Bytes in a full line.
const LINE_BYTES: usize = 48;
/// Bytes of white space before, and after, from which on it is no armor any more.
const MOST_BLANK: usize = 1024;

const NO_BEGIN: Error = Error::Armor("its first line is not -----BEGIN AGE ENCRYPTED FILE-----");
const NO_END: Error = Error::Armor("its last line is not -----END AGE ENCRYPTED FILE-----");
const TOO_BLANK: Error = Error::Armor("there are 1024 bytes of white space before or after it");
const SHORT_LINE: Error = Error::Armor("a line is short and not the last");
const TRAILING: Error = Error::Armor("something follows its last line");

/// How the bytes of a file are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Armor {
    /// As they are.
    #[default]
    Binary,
    /// As text, for mail and clipboards; a third longer.
    Ascii,
}

impl Armor {
    /// What a file is that begins with `prefix`; `None` where that is too short to say.
    pub fn detect(prefix: &[u8]) -> Option<Self> {
        let dashes = b"-----BEGIN AGE";
        let text = prefix.trim_ascii_start();
        let seen = text.len().min(dashes.len());
        if prefix.len() - text.len() >= MOST_BLANK || text[..seen] != dashes[..seen] {
            return Some(Self::Binary);
        }
        (seen == dashes.len()).then_some(Self::Ascii)
    }
}

/// Bytes of armor around so many bytes.
pub fn len(bytes: usize) -> usize {
    let (full, rest) = (bytes / LINE_BYTES, bytes % LINE_BYTES);
    let last = if rest == 0 { 0 } else { rest.div_ceil(3) * 4 + 1 };
    BEGIN.len() + 1 + full * (COLUMNS + 1) + last + END.len() + 1
}

/// Decodes a line, of 64 columns or the last.
fn decode_line<'a>(line: &[u8], into: &'a mut [u8; LINE_BYTES]) -> Result<&'a [u8], Error> {
    const NOT_CANONICAL: Error = Error::Armor("a line is not canonical base64 with padding");
    match line.len() {
        0 => Err(Error::Armor("a line is empty")),
        1..=COLUMNS => {
            let len = BASE64_STANDARD.decode_slice(line, into).map_err(|_| NOT_CANONICAL)?;
            into.get(..len).ok_or(NOT_CANONICAL)
        }
        _ => Err(Error::Armor("a line is longer than 64 columns")),
    }
}

/// Encodes a line, of 48 bytes or the last.
fn encode_line<'a>(bytes: &[u8], into: &'a mut [u8; COLUMNS]) -> &'a [u8] {
    let len = BASE64_STANDARD.encode_slice(bytes, into).expect("64 columns hold 48 bytes");
    &into[..len]
}
