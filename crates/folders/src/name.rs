//! File names in JSON, even if they are not valid UTF-8.
//!
//! A byte that is not valid UTF-8 is written as `\udc80` to `\udcff`, as by Python's
//! `surrogateescape` (PEP 383): `json.loads` in Python returns the name that `open` takes. Names on
//! Windows are 16-bit units. Half a surrogate pair is written as it is (`open` takes that there),
//! and a backslash between folders as a slash.

use crate::prelude::*;
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;

/// A path in WTF-8, with a surrogate for each byte that is not valid UTF-8.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(Vec<u8>);

impl Name {
    /// Returns a copy.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`].
    pub(super) fn try_clone(&self) -> Result<Self> {
        memory::copy(&self.0).map(Self)
    }

    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Self {
        if let Some(text) = path.to_str() {
            return Self(text.as_bytes().to_vec());
        }
        let mut name = Vec::new();
        for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
            name.extend_from_slice(chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                // U+DC00 + byte
                name.extend_from_slice(&[0xed, 0xb0 | byte >> 6, 0x80 | byte & 0x3f]);
            }
        }
        Self(name)
    }

    #[cfg(windows)]
    pub(super) fn of(path: &Path) -> Self {
        // The standard library encodes names on Windows in WTF-8: only a backslash has this byte.
        let slash = |byte: &u8| if *byte == b'\\' { b'/' } else { *byte };
        Self(path.as_os_str().as_encoded_bytes().iter().map(slash).collect())
    }

    /// Returns whether this system takes part of the name for a separator that is not one
    /// elsewhere.
    pub(super) fn has_other_separators(&self) -> bool {
        cfg!(windows) && self.0.contains(&b'\\')
    }
}

impl Name {
    /// Appends the name to `json` as a JSON string, in quotation marks.
    pub(super) fn append_quoted(&self, json: &mut String) {
        match std::str::from_utf8(&self.0) {
            Ok(text) => {
                json.push('"');
                append_escaped(text, json);
                json.push('"');
            }
            // Surrogates stand for bytes that are not valid UTF-8.
            Err(_) => *json += &quoted(&self.to_path()),
        }
    }

    /// Returns the path with this name, turning surrogates back into bytes.
    #[cfg(unix)]
    pub(super) fn to_path(&self) -> PathBuf {
        use std::os::unix::ffi::OsStringExt;
        // bounded: by the length of the name in memory.
        let mut bytes = Vec::with_capacity(self.0.len());
        let mut rest = &self.0[..];
        while let Some((first, after)) = rest.split_first() {
            match rest {
                // U+DC80 to U+DCFF stand for the bytes 0x80 to 0xff.
                [0xed, high @ (0xb2 | 0xb3), low, after @ ..] => {
                    bytes.push((high & 0x03) << 6 | low & 0x3f);
                    rest = after;
                }
                _ => {
                    bytes.push(*first);
                    rest = after;
                }
            }
        }
        OsString::from_vec(bytes).into()
    }

    /// Returns the path.
    #[cfg(windows)]
    pub(super) fn to_path(&self) -> PathBuf {
        use std::os::windows::ffi::OsStringExt;
        // bounded: by the length of the name in memory.
        let mut units = Vec::with_capacity(self.0.len());
        let utf16 =
            |text| String::from_utf8_lossy(text).replace('/', "\\").encode_utf16().collect::<Vec<_>>();
        let (mut rest, mut text) = (&self.0[..], 0);
        // These three bytes never occur in UTF-8. They are half a pair: U+D800 to U+DFFF.
        while let Some(after) = rest.get(text..).filter(|after| !after.is_empty()) {
            match after {
                [0xed, high @ 0xa0..=0xbf, low, after @ ..] => {
                    units.extend(utf16(&rest[..text]));
                    units.push(0xd000 | u16::from(high & 0x3f) << 6 | u16::from(low & 0x3f));
                    (rest, text) = (after, 0);
                }
                _ => text += 1,
            }
        }
        units.extend(utf16(rest));
        OsString::from_wide(&units).into()
    }
}

/// If a visitor asks for bytes, serde_json passes lone surrogates in WTF-8; as text they are an
/// error.
impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Bytes<'a>(#[serde(borrow)] Cow<'a, [u8]>);
        Bytes::deserialize(from).map(|bytes| Self(bytes.0.into_owned()))
    }
}

/// Appends the content of a JSON string, without quotes.
fn append_escaped(text: &str, json: &mut String) {
    // Most names need no escapes, and the library's encoder allocates for each.
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        return json.push_str(text);
    }
    let quoted = serde_json::Value::from(text).to_string();
    json.push_str(&quoted[1..quoted.len() - 1]);
}

/// Returns a path as a JSON string, in quotation marks.
#[cfg(unix)]
pub(super) fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        append_escaped(chunk.valid(), &mut text);
        for byte in chunk.invalid() {
            text += &format!("\\udc{byte:02x}");
        }
    }
    text + "\""
}

/// Returns a path as a JSON string, in quotation marks.
#[cfg(windows)]
pub(super) fn quoted(path: &Path) -> String {
    use std::os::windows::ffi::OsStrExt;
    let (mut json, mut text) = (String::from("\""), String::new());
    for part in char::decode_utf16(path.as_os_str().encode_wide()) {
        match part {
            Ok('\\') => text.push('/'),
            Ok(part) => text.push(part),
            Err(half) => {
                append_escaped(&text, &mut json);
                text.clear();
                json += &format!("\\u{:04x}", half.unpaired_surrogate());
            }
        }
    }
    append_escaped(&text, &mut json);
    json + "\""
}

#[cfg(all(test, windows))]
mod test {
    use super::*;
    use std::os::windows::ffi::{OsStrExt, OsStringExt};

    /// Half a pair is kept beside characters with similar bytes.
    #[test]
    fn names_of_any_units_are_kept() {
        let halves: &[&[u16]] = &[
            &[0xd800],
            &[0xdfff, 0x61],
            &[0xed, 0xa0, 0x80],
            &[0xdc80, 0xd83d, 0xde00],
            &[0xd83d, 0xd83d, 0xde00],
        ];
        for units in halves {
            let path = PathBuf::from(r"a\b").join(OsString::from_wide(units));
            let json = quoted(&path);
            assert!(json.starts_with("\"a/b/"), "{json}");
            let name: Name = serde_json::from_str(&json).unwrap();
            assert_eq!(name, Name::of(&path), "{json}");
            assert_eq!(
                name.to_path().as_os_str().encode_wide().collect::<Vec<_>>(),
                path.as_os_str().encode_wide().collect::<Vec<_>>()
            );
            let mut again = String::new();
            name.append_quoted(&mut again);
            assert_eq!(again, json);
        }
        assert!(serde_json::from_str::<Name>(r#""a\\b""#).unwrap().has_other_separators());
    }
}
