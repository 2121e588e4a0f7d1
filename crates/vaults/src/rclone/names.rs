//! Names of rclone crypt. Each name is encrypted by itself, with one key and tweak everywhere.
//!
//! | mode | a name is stored as |
//! |---|---|
//! | standard | base32, base64 or base32768 of EME(name, padded as in PKCS #7) |
//! | obfuscate | `d.` and the name with rotated characters, which hides nothing from who tries |
//! | off | the name and a suffix; folders have none |
//!
//! The time of a version, such as `-v2021-02-03-040506-789`, stays readable at the end of a file's
//! stored name, before its extension.
//!
//! Between encryption and disk, rclone has names in which a control character is its symbol:
//! U+0001 is U+2401. A symbol that was there before has U+201B in front. Both are undone here.

use super::base32768;
use crate::eme_name;
use data_encoding::{BASE32HEX_NOPAD, BASE64URL_NOPAD};
use providers::raw::Eme;

/// How names are stored.
pub(super) enum Names {
    Standard {
        eme: Eme,
        tweak: [u8; 16],
        encoding: Encoding,
    },
    /// With the sum of the bytes of the key.
    Obfuscate(u32),
    /// With the suffix of files.
    Off(String),
}

#[derive(Clone, Copy)]
pub(super) enum Encoding {
    Base32,
    Base64,
    Base32768,
}

impl Names {
    /// Returns the stored form of a name, with the time of its version in front of the extension if
    /// `versioned`; `None` if it has none, because it is too long.
    pub(super) fn encode(&self, name: &[u8], versioned: bool) -> Option<Vec<u8>> {
        let name = symbols_of(name);
        Some(raw_of(&match self.split_version(&name).filter(|_| versioned) {
            Some((name, version)) => with_version(self.encrypt(&name)?, version),
            None => self.encrypt(&name)?,
        }))
    }

    /// Returns the plaintext of a stored name; `None` if it is not one that [`Self::encode`]
    /// returns. So a name has one stored form, although rclone accepts others.
    pub(super) fn decode(&self, stored: &[u8], is_folder: bool) -> Option<Vec<u8>> {
        let text = symbols_of(stored);
        let name = match self.split_version(&text) {
            Some((text, version)) => with_version(self.decrypt(&text)?, version),
            None => self.decrypt(&text)?,
        };
        let name = raw_of(&name);
        let is = |versioned| self.encode(&name, versioned).is_some_and(|encoded| encoded == stored);
        (is(true) || is_folder && is(false)).then_some(name)
    }

    fn split_version<'a>(&self, name: &'a [u8]) -> Option<(Vec<u8>, &'a [u8])> {
        if matches!(self, Self::Off(_)) { None } else { split_version(name) }
    }

    fn encrypt(&self, name: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Standard { eme, tweak, encoding } => {
                let encrypted = eme_name::encrypt(eme, tweak, name).ok()?;
                Some(encoding.encode(&encrypted).into_bytes())
            }
            Self::Obfuscate(key) => Some(obfuscate(*key, name)),
            Self::Off(suffix) => Some([name, suffix.as_bytes()].concat()),
        }
    }

    fn decrypt(&self, text: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Standard { eme, tweak, encoding } => eme_name::decrypt(eme, tweak, encoding.decode(text)?),
            Self::Obfuscate(key) => clarify(*key, text),
            Self::Off(suffix) => {
                text.strip_suffix(suffix.as_bytes()).filter(|name| !name.is_empty()).map(<[u8]>::to_vec)
            }
        }
    }
}

impl Encoding {
    fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Base32 => BASE32HEX_NOPAD.encode(bytes).to_ascii_lowercase(),
            Self::Base64 => BASE64URL_NOPAD.encode(bytes),
            Self::Base32768 => base32768::encode(bytes),
        }
    }

    fn decode(self, text: &[u8]) -> Option<Vec<u8>> {
        // The dropped errors say where in the text they are.
        match self {
            Self::Base32 => BASE32HEX_NOPAD.decode(&text.to_ascii_uppercase()).ok(),
            Self::Base64 => BASE64URL_NOPAD.decode(text).ok(),
            Self::Base32768 => base32768::decode(str::from_utf8(text).ok()?),
        }
    }
}

/// Marks a character that is not rotated.
const QUOTE: char = '!';

/// A range of characters that are rotated among each other.
struct Range {
    /// Position of the character in the range.
    at: u32,
    len: u32,
    /// The character at a position is this plus the position.
    first: u32,
    /// The distance is the rest of a division by this, plus 1.
    by: u32,
}

impl Range {
    fn of(character: char) -> Option<Self> {
        let code = u32::from(character);
        let range = |first, len, by| Some(Self { at: code - first, len, first, by });
        match character {
            '0'..='9' => range(0x30, 10, 9),
            'A'..='Z' => range(0x41, 52, 25),
            // After the capital letters, in one range with them.
            'a'..='z' => Some(Self { at: code - 0x61 + 26, len: 52, first: 0x41, by: 25 }),
            '\u{a0}'..='\u{ff}' => range(0xa0, 96, 95),
            '\u{100}'.. => range(code / 256 * 256, 256, 127),
            _ => None,
        }
    }

    /// Returns the character that is `distance` after this one, or before it.
    fn rotated(&self, distance: u32, back: bool) -> Option<char> {
        let distance = distance % self.by + 1;
        let at = (self.at + if back { self.len - distance } else { distance }) % self.len;
        let gap = if self.len == 52 && at >= 26 { 6 } else { 0 };
        char::from_u32(self.first + at + gap)
    }
}

fn obfuscate(key: u32, name: &[u8]) -> Vec<u8> {
    let Ok(name) = str::from_utf8(name) else { return [b"!.", name].concat() };
    let sum = name.chars().fold(0_u32, |sum, c| sum.wrapping_add(c.into())) % 256;
    let mut text = format!("{sum}.");
    for c in name.chars() {
        match Range::of(c).map(|range| range.rotated(sum + key, false)) {
            Some(Some(rotated)) => text.push(rotated),
            None if c != QUOTE => text.push(c),
            _ => text.extend([QUOTE, c]),
        }
    }
    text.into_bytes()
}

fn clarify(key: u32, text: &[u8]) -> Option<Vec<u8>> {
    let dot = text.iter().position(|byte| *byte == b'.')?;
    let (sum, text) = (&text[..dot], &text[dot + 1..]);
    if sum == b"!" {
        return Some(text.to_vec());
    }
    // The caller encodes the name again and compares, so other spellings of the sum are refused.
    let sum: u8 = str::from_utf8(sum).ok()?.parse().ok()?;
    let mut name = String::new();
    let mut chars = str::from_utf8(text).ok()?.chars();
    while let Some(c) = chars.next() {
        name.push(match Range::of(c) {
            Some(range) => range.rotated(u32::from(sum) + key, true)?,
            None if c == QUOTE => chars.next()?,
            None => c,
        });
    }
    Some(name.into_bytes())
}

/// Splits a name before its last dot. A name that only begins with one has no extension.
fn split_extension(name: &[u8]) -> (&[u8], &[u8]) {
    let dot = name.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > 0);
    name.split_at(dot.unwrap_or(name.len()))
}

/// The form of a version's time. A 0 stands for a digit.
const VERSION: &[u8; 23] = b"-v0000-00-00-000000-000";

/// Takes the time of a version from a name; `None` if there is none.
fn split_version(name: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (base, extension) = split_extension(name);
    let (base, version) = base.split_at_checked(base.len().checked_sub(VERSION.len())?)?;
    let fits = |(found, form): (&u8, &u8)| if *form == b'0' { found.is_ascii_digit() } else { found == form };
    let number =
        |at, len| version[at..at + len].iter().fold(0_u32, |n, digit| 10 * n + u32::from(digit - b'0'));
    (version.iter().zip(VERSION).all(fits) && {
        let (year, month, day) = (number(2, 4), number(7, 2), number(10, 2));
        let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        (1..=days).contains(&day) && number(13, 2) < 24 && number(15, 2) < 60 && number(17, 2) < 60
    })
    .then(|| ([base, extension].concat(), version))
}

fn with_version(name: Vec<u8>, version: &[u8]) -> Vec<u8> {
    let (base, extension) = split_extension(&name);
    [base, version, extension].concat()
}

/// The character that rclone writes before a symbol that stands for itself, U+201B.
const LITERAL: &[u8] = "\u{201b}".as_bytes();

/// Returns the control character of the symbol with which `text` begins.
fn control(text: &[u8]) -> Option<u8> {
    match text {
        [0xe2, 0x90, low @ 0x81..=0x9f, ..] => Some(low - 0x80),
        [0xe2, 0x90, 0xa1, ..] => Some(0x7f),
        _ => None,
    }
}

/// Returns a name with symbols for control characters. It need not be UTF-8.
fn symbols_of(raw: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(raw.len()); // bounded: a name of the storage
    for (at, byte) in raw.iter().enumerate() {
        if control(&raw[at..]).is_some() {
            name.extend(LITERAL);
        }
        match byte {
            1..=0x1f => name.extend([0xe2, 0x90, 0x80 + byte]),
            0x7f => name.extend([0xe2, 0x90, 0xa1]),
            _ => name.push(*byte),
        }
    }
    name
}

/// The inverse of [`symbols_of`].
fn raw_of(mut name: &[u8]) -> Vec<u8> {
    let mut raw = Vec::with_capacity(name.len()); // bounded: a name of the storage
    while let Some((first, rest)) = name.split_first() {
        if let Some(symbol) = name.strip_prefix(LITERAL).filter(|rest| control(rest).is_some()) {
            raw.extend(&symbol[..3]);
            name = &symbol[3..];
        } else if let Some(control) = control(name) {
            raw.push(control);
            name = &name[3..];
        } else {
            raw.push(*first);
            name = rest;
        }
    }
    raw
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn versions() {
        let split = |name: &str| {
            split_version(name.as_bytes()).map(|(name, version)| {
                (String::from_utf8(name).unwrap(), String::from_utf8(version.to_vec()).unwrap())
            })
        };
        let version = "-v2021-02-03-040506-789";
        for (name, expected) in [
            ("report-v2021-02-03-040506-789.txt", Some("report.txt")),
            ("report-v2021-02-03-040506-789", Some("report")),
            ("a.b-v2021-02-03-040506-789.c", Some("a.b.c")),
            (".hidden-v2021-02-03-040506-789", Some(".hidden")),
            ("-v2021-02-03-040506-789.txt", Some(".txt")),
            ("report-v2021-02-03-040506-789.", Some("report.")),
            ("report.txt-v2021-02-03-040506-789", None),
            ("report-v2021-02-30-040506-789.txt", None),
            ("report-v2021-13-03-040506-789.txt", None),
            ("report-v2021-02-03-240506-789.txt", None),
            ("report-v2021-02-03-040506.789", None),
            ("report-v2021-02-03-04056-789.txt", None),
            ("v2021-02-03-040506-789", None),
            ("", None),
        ] {
            assert_eq!(split(name).map(|(name, _)| name).as_deref(), expected, "{name}");
        }
        assert_eq!(split("a-v2021-02-03-040506-789.txt").unwrap().1, version);
        assert!(split("a-v2024-02-29-040506-789").is_some() && split("a-v1900-02-29-040506-789").is_none());
        assert_eq!(with_version(b"a.b".to_vec(), b"-V"), b"a-V.b");
        assert_eq!(with_version(b".a".to_vec(), b"-V"), b".a-V");
    }

    #[test]
    fn symbols() {
        for (raw, name) in [
            (&b"a\x01\x1f\x7fb\xff"[..], &b"a\xe2\x90\x81\xe2\x90\x9f\xe2\x90\xa1b\xff"[..]),
            ("␁␀␡".as_bytes(), "‛␁␀‛␡".as_bytes()),
            ("‛x\u{1}".as_bytes(), "‛x␁".as_bytes()),
        ] {
            assert_eq!(symbols_of(raw), name);
            assert_eq!(raw_of(name), raw);
        }
    }

    #[test]
    fn every_character_rotates_there_and_back() {
        for (sum, key) in [(0, 0), (255, 32 * 255), (17, 4711)] {
            for c in (1..=0x10_ffff).filter_map(char::from_u32) {
                if let Some(range) = Range::of(c) {
                    let rotated = range.rotated(sum + key, false).unwrap();
                    assert!(rotated != c, "{c:?}");
                    assert_eq!(Range::of(rotated).unwrap().rotated(sum + key, true), Some(c), "{c:?}");
                }
            }
        }
        for name in ["", "a!b", "!", "é日本🔐", "UPPER lower !%&+,;=@[]{}~^.txt"] {
            assert_eq!(clarify(99, &obfuscate(99, name.as_bytes())).unwrap(), name.as_bytes());
        }
        assert_eq!(clarify(99, &obfuscate(99, b"\xff.a")).unwrap(), b"\xff.a");
        for text in ["", "12", "x.a", "+5.a", "256.a", "-1.a", "1.a!"] {
            let name = clarify(99, text.as_bytes());
            assert!(name.is_none_or(|name| obfuscate(99, &name) != text.as_bytes()), "{text}");
        }
    }
}
