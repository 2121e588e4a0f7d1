//! Byte strings in hex, as in the files. An empty string means no bytes.

use serde::{Deserialize, Deserializer, de};

/// Bytes written as a string of hex digits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hex(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        ::hex::decode(text).map(Hex).map_err(de::Error::custom)
    }
}
