//! Byte strings in hex, as the files contain them, where an empty string has no bytes.

use serde::{Deserialize, Deserializer, de};

/// Bytes that are written as a string of hex digits in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hex(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        ::hex::decode(text).map(Hex).map_err(de::Error::custom)
    }
}
