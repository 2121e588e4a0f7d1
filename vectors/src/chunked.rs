//! The file of Project Wycheproof for C2SP chunked-encryption (Cobblestone).

use crate::folder::File;
use crate::hex::Hex;
use crate::wycheproof::{Document, Source, counted};
use crate::{Outcome, Why};
use serde::Deserialize;

#[derive(Clone, Debug)]
pub struct ChunkedCase {
    pub file: String,
    pub id: String,
    /// Algorithm of the file, such as `"Cobblestone-128"`.
    pub algorithm: String,
    /// AEAD of the group, such as `"AEAD_AES_128_GCM"`.
    pub aead: String,
    /// Hash function of the group, such as `"SHA-512"`.
    pub sha: String,
    pub comment: String,
    /// The message's key; of wrong length in some invalid cases.
    pub key: Vec<u8>,
    pub context: Vec<u8>,
    /// The encrypted message. The file has it as a zlib stream; this is decompressed.
    pub ciphertext: Vec<u8>,
    /// Derived key, if the header is valid.
    pub aead_key: Option<Vec<u8>>,
    /// Derived first nonce, if the header is valid.
    pub base_nonce: Option<Vec<u8>>,
    /// Number of plaintext bytes; in an invalid case, those of the valid chunks before the first
    /// invalid one.
    pub message_len: Option<u64>,
    /// SHA-512 of the plaintext bytes counted by `message_len`.
    pub message_sha512: Option<Vec<u8>>,
    pub result: Outcome,
    pub flags: Vec<ChunkedFlag>,
}

/// Purpose of a case: the flags in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum ChunkedFlag {
    ChunkReordering,
    CounterRollover,
    HeaderFailure,
    InvalidKeySize,
    ModifiedCiphertext,
    PartialPlaintext,
    TrailingData,
    Truncation,
    ValidFinalChunk,
    WrongContext,
    WrongKey,
}

#[derive(Deserialize)]
enum GroupType {
    ChunkedEncryption,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    _type: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    aead: String,
    sha: String,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    comment: String,
    key: Hex,
    ctx: Hex,
    ct: Hex,
    aead_key: Option<Hex>,
    base_nonce: Option<Hex>,
    msg_length: Option<u64>,
    msg_sha512: Option<Hex>,
    result: Outcome,
    flags: Vec<ChunkedFlag>,
}

pub(crate) fn read(file: &File) -> Result<Vec<ChunkedCase>, Why> {
    let document: Document<ChunkedFlag, Group> = file.json()?;
    let mut cases = Vec::new();
    for group in document.test_groups {
        for test in group.tests {
            let id = test.tc_id.to_string();
            let ciphertext = miniz_oxide::inflate::decompress_to_vec_zlib(&test.ct.0)
                .map_err(|_| Why::Compression(id.clone()))?;
            cases.push(ChunkedCase {
                file: file.name.clone(),
                id,
                algorithm: document.algorithm.clone(),
                aead: group.aead.clone(),
                sha: group.sha.clone(),
                comment: test.comment,
                key: test.key.0,
                context: test.ctx.0,
                ciphertext,
                aead_key: test.aead_key.map(|Hex(bytes)| bytes),
                base_nonce: test.base_nonce.map(|Hex(bytes)| bytes),
                message_len: test.msg_length,
                message_sha512: test.msg_sha512.map(|Hex(bytes)| bytes),
                result: test.result,
                flags: test.flags,
            });
        }
    }
    counted(document.number_of_tests, cases)
}
