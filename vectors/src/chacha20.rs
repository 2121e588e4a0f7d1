//! ChaCha20, XChaCha20 and HChaCha20 cases of two files that also have AEAD cases. The reader of
//! the AEAD cases rejects unknown kinds of entries.

use crate::converted::tests;
use crate::folder::File;
use crate::hex::Hex;
use crate::{ChaCha20Case, ChaCha20Part, Why};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(tag = "kind")]
enum Entry {
    #[serde(rename = "chacha20_block")]
    Block(Fields),
    #[serde(rename = "chacha20_encrypt", alias = "xchacha20_encrypt")]
    Stream(Fields),
    #[serde(rename = "poly1305_key_gen")]
    OneTimeKey(Fields),
    #[serde(rename = "hchacha20")]
    Subkey(Fields),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Fields {
    tc_id: u32,
    #[serde(rename = "section")]
    _section: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    key: Hex,
    nonce: Hex,
    counter: Option<u32>,
    pt: Option<Hex>,
    #[serde(alias = "keystream", alias = "poly1305_key", alias = "subkey")]
    ct: Hex,
}

pub(crate) fn read(file: &File) -> Result<Vec<ChaCha20Case>, Why> {
    tests(file)?.into_iter().filter_map(|entry| case(entry, file).transpose()).collect()
}

fn case(entry: Entry, file: &File) -> Result<Option<ChaCha20Case>, Why> {
    let (fields, is_subkey) = match entry {
        Entry::Block(fields) | Entry::Stream(fields) | Entry::OneTimeKey(fields) => (fields, false),
        Entry::Subkey(fields) => (fields, true),
        Entry::Other => return Ok(None),
    };
    let id = fields.tc_id.to_string();
    let length = |_| Why::Length(id.clone());
    let part = if is_subkey {
        ChaCha20Part::Subkey {
            nonce: fields.nonce.0.try_into().map_err(length)?,
            subkey: fields.ct.0.try_into().map_err(length)?,
        }
    } else {
        ChaCha20Part::Stream {
            nonce: fields.nonce.0,
            // The one-time key is the start of block 0.
            counter: fields.counter.unwrap_or(0),
            // A keystream is the ciphertext of zeros.
            plaintext: fields.pt.map_or(vec![0; fields.ct.0.len()], |pt| pt.0),
            ciphertext: fields.ct.0,
        }
    };
    let key = fields.key.0.try_into().map_err(length)?;
    Ok(Some(ChaCha20Case { file: file.name.clone(), id, key, part }))
}
