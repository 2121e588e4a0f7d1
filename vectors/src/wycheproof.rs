//! The AEAD files of Project Wycheproof, version 1.

use crate::folder::File;
use crate::hex::Hex;
use crate::{AeadCase, Outcome, Why};
use serde::Deserialize;
use std::collections::BTreeMap;

/// What every Wycheproof file has around its groups. `F` is the type of the flags.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Document<F: Ord, G> {
    pub(crate) algorithm: String,
    #[serde(rename = "schema")]
    _schema: String,
    pub(crate) number_of_tests: usize,
    #[serde(rename = "header")]
    _header: Vec<String>,
    #[serde(rename = "notes")]
    _notes: BTreeMap<F, Note>,
    pub(crate) test_groups: Vec<G>,
}

/// The description of a flag.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Note {
    #[serde(rename = "bugType")]
    _bug_type: String,
    #[serde(rename = "description")]
    _description: String,
    #[serde(rename = "effect")]
    _effect: Option<String>,
    #[serde(rename = "links", default)]
    _links: Vec<String>,
    #[serde(rename = "cves", default)]
    _cves: Vec<String>,
}

/// The tool that generated a group's cases.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Source {
    #[serde(rename = "name")]
    _name: String,
    #[serde(rename = "version")]
    _version: String,
}

/// Purpose of a case: the flags in its file. They do not affect the result, but we parse them to
/// notice new kinds of cases.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Flag {
    CounterWrap,
    EdgeCaseCiphertext,
    EdgeCasePoly1305,
    EdgeCasePolyKey,
    EdgeCaseTag,
    InvalidNonceSize,
    Ktv,
    LongIv,
    ModifiedTag,
    Pseudorandom,
    SmallIv,
    SpecialCase,
    ZeroLengthIv,
}

#[derive(Deserialize)]
enum GroupType {
    AeadTest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    _type: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    key_size: usize,
    iv_size: usize,
    tag_size: usize,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    #[serde(rename = "comment")]
    _comment: String,
    flags: Vec<Flag>,
    key: Hex,
    iv: Hex,
    aad: Hex,
    msg: Hex,
    ct: Hex,
    tag: Hex,
    result: Outcome,
}

pub(crate) fn read(file: &File) -> Result<Vec<AeadCase>, Why> {
    let document: Document<Flag, Group> = file.json()?;
    let mut cases = Vec::new();
    for group in document.test_groups {
        let algorithm = match (&document.algorithm[..], group.key_size) {
            ("AES-GCM", bits @ (128 | 192 | 256)) => format!("aes-{bits}-gcm"),
            ("CHACHA20-POLY1305", 256) => "chacha20-poly1305".into(),
            ("XCHACHA20-POLY1305", 256) => "xchacha20-poly1305".into(),
            (other, _) => return Err(Why::UnknownAlgorithm(other.into())),
        };
        for test in group.tests {
            // A nonce of wrong length has no tag, and the file has none.
            let tag_size = if test.flags.contains(&Flag::InvalidNonceSize) { 0 } else { group.tag_size };
            let sizes = [&test.key, &test.iv, &test.tag].map(|Hex(bytes)| bytes.len() * 8);
            if sizes != [group.key_size, group.iv_size, tag_size] {
                return Err(Why::Length(test.tc_id.to_string()));
            }
            cases.push(AeadCase {
                file: file.name.clone(),
                id: test.tc_id.to_string(),
                algorithm: algorithm.clone(),
                key: test.key.0,
                nonce: test.iv.0,
                aad: test.aad.0,
                plaintext: test.msg.0,
                ciphertext: test.ct.0,
                tag: test.tag.0,
                result: test.result,
            });
        }
    }
    counted(document.number_of_tests, cases)
}

/// Returns the cases if there are as many as announced.
pub(crate) fn counted<T>(announced: usize, cases: Vec<T>) -> Result<Vec<T>, Why> {
    if cases.len() == announced { Ok(cases) } else { Err(Why::Count { announced, found: cases.len() }) }
}
