//! REncrypt's messages: the block number is appended to the associated data.

use crate::converted::tests;
use crate::folder::File;
use crate::hex::Hex;
use crate::{AeadCase, Outcome, Why};
use serde::Deserialize;

#[derive(Deserialize)]
enum Cipher {
    #[serde(rename = "AES256GCM")]
    Aes256Gcm,
    ChaCha20Poly1305,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    tc_id: u32,
    cipher: Cipher,
    key: Hex,
    nonce: Hex,
    block_index: u64,
    aad: Hex,
    pt: Hex,
    ct: Hex,
    tag: Hex,
}

pub(crate) fn read(file: &File) -> Result<Vec<AeadCase>, Why> {
    let case = |test: Message| AeadCase {
        file: file.name.clone(),
        id: test.tc_id.to_string(),
        algorithm: match test.cipher {
            Cipher::Aes256Gcm => "aes-256-gcm".into(),
            Cipher::ChaCha20Poly1305 => "chacha20-poly1305".into(),
        },
        key: test.key.0,
        nonce: test.nonce.0,
        aad: [&test.aad.0[..], &test.block_index.to_le_bytes()].concat(),
        plaintext: test.pt.0,
        ciphertext: test.ct.0,
        tag: test.tag.0,
        result: Outcome::Valid,
    };
    Ok(tests(file)?.into_iter().map(case).collect())
}
