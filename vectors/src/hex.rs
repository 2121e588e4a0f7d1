//! Byte strings as the files write them: hex, where no characters are no bytes.

use serde::{Deserialize, Deserializer, de};

/// Bytes that were written as hex.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hex(pub(crate) Vec<u8>);

impl<'de> Deserialize<'de> for Hex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        ::hex::decode(text).map(Hex).map_err(de::Error::custom)
    }
}
