//! Reads the files of the two primitives that other tools' vaults need: EME for names, and NaCl's
//! secretbox.

use crate::converted::tests;
use crate::folder::File;
use crate::hex::Hex;
use crate::{EmeCase, SecretboxCase, Why};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Names {
    tc_id: u32,
    #[serde(rename = "name")]
    _name: String,
    repeat: usize,
    key: Hex,
    tweak: Hex,
    pt: Hex,
    ct: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Box {
    tc_id: u32,
    #[serde(rename = "name")]
    _name: String,
    key: Hex,
    nonce: Hex,
    pt: Hex,
    tag: Hex,
    ct: Hex,
}

pub(crate) fn eme(file: &File) -> Result<Vec<EmeCase>, Why> {
    let case = |test: Names| {
        let id = test.tc_id.to_string();
        let tweak = test.tweak.0.try_into().map_err(|_| Why::Length(id.clone()))?;
        Ok(EmeCase {
            file: file.name.clone(),
            id,
            repeat: test.repeat,
            key: test.key.0,
            tweak,
            plaintext: test.pt.0,
            ciphertext: test.ct.0,
        })
    };
    tests(file)?.into_iter().map(case).collect()
}

pub(crate) fn secretbox(file: &File) -> Result<Vec<SecretboxCase>, Why> {
    let case = |test: Box| {
        let id = test.tc_id.to_string();
        let length = |_| Why::Length(id.clone());
        Ok(SecretboxCase {
            file: file.name.clone(),
            key: test.key.0.try_into().map_err(length)?,
            nonce: test.nonce.0.try_into().map_err(length)?,
            plaintext: test.pt.0,
            sealed: [test.tag.0, test.ct.0].concat(),
            id,
        })
    };
    tests(file)?.into_iter().map(case).collect()
}
