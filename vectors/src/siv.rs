//! Reads the files for AES-SIV: Project Wycheproof's, and the examples of RFC 5297.

use crate::converted::tests;
use crate::folder::File;
use crate::hex::Hex;
use crate::wycheproof::{Document, Source, counted};
use crate::{Outcome, SivCase, Why};
use serde::Deserialize;

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Flag {
    EdgeCaseSiv,
}

#[derive(Deserialize)]
enum GroupType {
    DaeadTest,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    _type: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    key_size: usize,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    #[serde(rename = "comment")]
    _comment: String,
    #[serde(rename = "flags", default)]
    _flags: Vec<Flag>,
    key: Hex,
    aad: Hex,
    msg: Hex,
    ct: Hex,
    result: Outcome,
}

/// A case of the RFC: the associated data is a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Listed {
    tc_id: u32,
    name: String,
    key: Hex,
    aad: Vec<Hex>,
    pt: Hex,
    tag: Hex,
    ct: Hex,
}

pub(crate) fn wycheproof(file: &File) -> Result<Vec<SivCase>, Why> {
    let document: Document<Flag, Group> = file.json()?;
    if document.algorithm != "AES-SIV-CMAC" {
        return Err(Why::UnknownAlgorithm(document.algorithm));
    }
    let mut cases = Vec::new();
    for group in document.test_groups {
        for test in group.tests {
            if test.key.0.len() * 8 != group.key_size {
                return Err(Why::Length(test.tc_id.to_string()));
            }
            cases.push(SivCase {
                file: file.name.clone(),
                id: test.tc_id.to_string(),
                key: test.key.0,
                headers: vec![test.aad.0],
                plaintext: test.msg.0,
                sealed: test.ct.0,
                result: test.result,
            });
        }
    }
    counted(document.number_of_tests, cases)
}

pub(crate) fn rfc5297(file: &File) -> Result<Vec<SivCase>, Why> {
    let case = |test: Listed| {
        if test.name != format!("aes-{}-siv", test.key.0.len() * 4) {
            return Err(Why::Length(test.tc_id.to_string()));
        }
        Ok(SivCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            key: test.key.0,
            headers: test.aad.into_iter().map(|Hex(header)| header).collect(),
            plaintext: test.pt.0,
            sealed: [test.tag.0, test.ct.0].concat(),
            result: Outcome::Valid,
        })
    };
    tests(file)?.into_iter().map(case).collect()
}
