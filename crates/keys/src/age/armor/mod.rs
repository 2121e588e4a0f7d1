//! ASCII armor: an age file as text, in the strict encoding of RFC 7468, section 3.
//!
//! ```text
//! armor = "-----BEGIN AGE ENCRYPTED FILE-----" EOL
//!         *(64 columns EOL)  [4 to 60 columns EOL]        canonical base64 with padding; only the last line is shorter
//!         "-----END AGE ENCRYPTED FILE-----" [EOL]
//! EOL   = LF or CR LF
//! ```
//!
//! We ignore less than 1024 bytes of white space before and after the armor (c2sp.org/age, "ASCII
//! armor"). Apart from line ends, armor has only one encoding, so that no change goes unnoticed.

mod decoder;
mod encoder;
mod view;

pub use decoder::{Decoder, decode};
pub use encoder::Encoder;
pub use view::View;

use base::{Error, Result};
// With tables, unlike the decoder of keys: armor is public and can be long.
use base64::prelude::{BASE64_STANDARD, Engine};

const BEGIN: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
const END: &[u8] = b"-----END AGE ENCRYPTED FILE-----";
/// Columns of base64 in a full line.
const COLUMNS: usize = 64;
/// Bytes in a full line.
const LINE_BYTES: usize = 48;
/// Limit of the white space before the armor, and of that after it.
const MAX_BLANK: usize = 1024;

const NO_BEGIN: Error = Error::Armor("its first line is not -----BEGIN AGE ENCRYPTED FILE-----");
const NO_END: Error = Error::Armor("its last line is not -----END AGE ENCRYPTED FILE-----");
const TOO_BLANK: Error = Error::Armor("there are 1024 bytes or more of white space before or after it");
const SHORT_LINE: Error = Error::Armor("a line other than the last is shorter than 64 columns");
const TRAILING: Error = Error::Armor("there is text after its last line");

/// The encoding of an age file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Armor {
    /// Binary, without armor.
    #[default]
    Binary,
    /// Text, for mail for example; about a third longer.
    Ascii,
}

impl Armor {
    /// Detects the encoding of a file that begins with `prefix`; `None` if the prefix is too short.
    pub fn detect(prefix: &[u8]) -> Option<Self> {
        let dashes = b"-----BEGIN AGE";
        let text = prefix.trim_ascii_start();
        let len = text.len().min(dashes.len());
        if prefix.len() - text.len() >= MAX_BLANK || text[..len] != dashes[..len] {
            return Some(Self::Binary);
        }
        (len == dashes.len()).then_some(Self::Ascii)
    }
}

/// Returns the length of the armor for a file of `bytes` bytes, with LF as line end.
pub fn len(bytes: usize) -> usize {
    let (full, rest) = (bytes / LINE_BYTES, bytes % LINE_BYTES);
    let last = if rest == 0 { 0 } else { rest.div_ceil(3) * 4 + 1 };
    BEGIN.len() + 1 + full * (COLUMNS + 1) + last + END.len() + 1
}

/// Decodes a line of at most 64 columns into `into`. Returns the decoded part.
fn decode_line<'a>(line: &[u8], into: &'a mut [u8; LINE_BYTES]) -> Result<&'a [u8]> {
    const NOT_CANONICAL: Error = Error::Armor("a line is not canonical base64 with padding");
    match line.len() {
        0 => Err(Error::Armor("a line is empty")),
        1..=COLUMNS => {
            // The position in the line does not help.
            let len = BASE64_STANDARD.decode_slice(line, into).map_err(|_| NOT_CANONICAL)?;
            into.get(..len).ok_or(NOT_CANONICAL)
        }
        _ => Err(Error::Armor("a line is longer than 64 columns")),
    }
}

/// Encodes a line of at most 48 bytes into `into`. Returns the encoded part.
fn encode_line<'a>(bytes: &[u8], into: &'a mut [u8; COLUMNS]) -> &'a [u8] {
    let len = BASE64_STANDARD.encode_slice(bytes, into).expect("64 columns hold 48 bytes");
    &into[..len]
}
