//! Names of files in JSON, also those that are not valid UTF-8.
//!
//! A byte that is not valid UTF-8 is written as `\udc80` to `\udcff`, as in Python's `surrogateescape` (PEP 383), so that
//! `json.loads` in Python returns the name that `open` takes.

use crate::{Error, memory};
use serde::Deserialize;
use serde::de::{Deserializer, Visitor};
use std::path::{Path, PathBuf};

/// A path in WTF-8, with a surrogate for each byte that is not valid UTF-8.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Name(Vec<u8>);

impl Name {
    /// Returns a copy.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`].
    pub(super) fn try_clone(&self) -> Result<Self, Error> {
        memory::copy(&self.0).map(Self)
    }

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
}

impl Name {
    /// Appends the name to `json` as a JSON string, with its quotation marks.
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

    /// Returns the path with this name, with the bytes that surrogates stand for.
    #[cfg(unix)]
    pub(super) fn to_path(&self) -> PathBuf {
        use std::os::unix::ffi::OsStringExt;
        // bounded: by the length of the name, which is in memory.
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
        std::ffi::OsString::from_vec(bytes).into()
    }

    #[cfg(not(unix))]
    pub(super) fn to_path(&self) -> PathBuf {
        String::from_utf8_lossy(&self.0).into_owned().into()
    }
}

/// A visitor that asks for bytes gets a lone surrogate from serde_json in WTF-8; as text it would be an error.
impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct PathVisitor;
        impl Visitor<'_> for PathVisitor {
            type Value = Name;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Name, E> {
                Ok(Name(bytes.to_vec()))
            }
        }
        from.deserialize_bytes(PathVisitor)
    }
}

/// Appends the content of a JSON string.
fn append_escaped(text: &str, json: &mut String) {
    // Most names need no escapes. The encoder of the library allocates for each.
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        return json.push_str(text);
    }
    let quoted = serde_json::Value::from(text).to_string();
    json.push_str(&quoted[1..quoted.len() - 1]);
}

/// Returns a path as a JSON string, with its quotation marks.
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
