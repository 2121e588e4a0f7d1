//! base32768 in its "safe" alphabet: 15 bits in a character.
//!
//! The alphabet has 1028 rows of 32 characters, in the order of their code points. The first 4 rows
//! hold 7 bits, and end a text that has at most 7 bits left; the others hold 15. Unused bits at the
//! end are ones.

/// Runs of rows: the first character of a run, and its number of rows.
#[rustfmt::skip]
const RUNS: [(u16, u16); 54] = [
    (0x0180, 1), (0x0240, 3), (0x04a0, 1), (0x0500, 1), (0x0680, 2), (0x0760, 2), (0x07c0, 1),
    (0x1000, 1), (0x10a0, 1), (0x1100, 3), (0x1180, 1), (0x11e0, 3), (0x1260, 1), (0x12e0, 1),
    (0x1320, 1), (0x13a0, 2), (0x1420, 18), (0x16a0, 2), (0x1780, 1), (0x1820, 2), (0x18c0, 1),
    (0x1980, 1), (0x19e0, 1), (0x1a20, 1), (0x1bc0, 1), (0x1c00, 1), (0x1d00, 1), (0x21e0, 1),
    (0x22c0, 1), (0x2340, 5), (0x2400, 1), (0x2500, 19), (0x2780, 2), (0x2800, 12), (0x29a0, 1),
    (0x2a20, 2), (0x2a80, 2), (0x2ae0, 4), (0x2c00, 1), (0x2c80, 3), (0x2d00, 1), (0x2d40, 1),
    (0x2ea0, 2), (0x31c0, 1), (0x3400, 205), (0x4dc0, 656), (0xa000, 36), (0xa4a0, 1), (0xa500, 8),
    (0xa640, 1), (0xa6a0, 2), (0xa700, 3), (0xa780, 1), (0xa840, 1),
];
/// Number of characters in the rows for 7 bits.
const SHORT: u16 = 4 * 32;

/// Returns the character with a number in the alphabet.
fn character(mut number: u16) -> char {
    for (first, rows) in RUNS {
        if number < 32 * rows {
            return char::from_u32((first + number).into()).expect("no row is among the surrogates");
        }
        number -= 32 * rows;
    }
    unreachable!("the alphabet has a character for 15 bits");
}

/// Returns the number of a character in the alphabet.
fn number(character: char) -> Option<u16> {
    let (character, mut before) = (u16::try_from(u32::from(character)).ok()?, 0);
    for (first, rows) in RUNS {
        if (first..first + 32 * rows).contains(&character) {
            return Some(before + (character - first));
        }
        before += 32 * rows;
    }
    None
}

pub(super) fn encode(bytes: &[u8]) -> String {
    let (mut text, mut bits, mut len) = (String::new(), 0_u32, 0);
    for byte in bytes {
        bits = bits << 8 | u32::from(*byte);
        len += 8;
        if len >= 15 {
            len -= 15;
            text.push(character(SHORT + (bits >> len & 0x7fff) as u16));
        }
    }
    if len > 0 {
        let width = if len <= 7 { 7 } else { 15 };
        let last = (bits << (width - len) | !(!0 << (width - len))) & !(!0 << width);
        text.push(character(last as u16 + if width == 15 { SHORT } else { 0 }));
    }
    text
}

/// Returns the bytes of a text, or `None` for another character. Ignores what does not fill a byte,
/// so that a text with other bits there has the same bytes.
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut len) = (Vec::new(), 0_u32, 0);
    for character in text.chars() {
        let number = number(character)?;
        let (value, width) = match number.checked_sub(SHORT) {
            Some(value) => (value, 15),
            None => (number, 7),
        };
        bits = bits << width | u32::from(value);
        len += width;
        while len >= 8 {
            len -= 8;
            bytes.push((bits >> len) as u8);
        }
        if width == 7 {
            break;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod test {
    use super::*;

    /// From rclone's own tests.
    #[test]
    fn published_texts() {
        for (bytes, text) in [
            ("", ""),
            ("1", "㼿"),
            ("12", "㻙ɟ"),
            ("123", "㻙ⲿ"),
            ("1234", "㻙ⲍƟ"),
            ("12345678901", "㻙ⲍ⍆觓栩朧"),
            ("12345678901234", "㻙ⲍ⍆觓栩朤諆ɔ"),
            ("123456789012345", "㻙ⲍ⍆觓栩朤諆媕"),
            ("1234567890123456", "㻙ⲍ⍆觓栩朤諆媕䆿"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
    }

    #[test]
    fn every_character_has_one_number() {
        for n in 0..SHORT + 0x8000 {
            assert_eq!(number(character(n)), Some(n));
        }
        let all = (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| number(*c).is_some());
        assert_eq!(all.count(), 1028 * 32);
        assert_eq!(decode("㻙!"), None);
    }

    #[test]
    fn every_length_returns() {
        for len in 0..200 {
            let bytes: Vec<u8> = (0..len).map(|i| (i * 83 + len) as u8).collect();
            assert_eq!(decode(&encode(&bytes)), Some(bytes));
        }
    }
}
