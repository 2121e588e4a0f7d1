//! Readers of JSON Web Encryption: the examples of the RFCs, and Project Wycheproof.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::wycheproof::{Note, Source, counted};
use crate::{Outcome, Reader, Why, converted};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const JWE: &[(&str, Reader<JweCase>)] =
    &[("jwe/rfc.json", rfc), ("jwe/wycheproof/json_web_encryption_test.json", wycheproof)];

#[derive(Clone, Debug)]
pub struct JweCase {
    pub file: String,
    pub id: String,
    pub part: JwePart,
}

#[derive(Clone, Debug)]
pub enum JwePart {
    Token {
        key: String,
        token: String,
        msg: Vec<u8>,
        result: Outcome,
    },
    /// The encryption of a token's content.
    Content {
        enc: String,
        key: Vec<u8>,
        iv: Vec<u8>,
        aad: Vec<u8>,
        msg: Vec<u8>,
        ct: Vec<u8>,
        tag: Vec<u8>,
    },
    /// A key that both sides derive. `apu` and `apv` are in base64url.
    Agreement {
        alg: String,
        enc: String,
        key: String,
        epk: String,
        apu: String,
        apv: String,
        z: Vec<u8>,
        derived: Vec<u8>,
    },
}

/// Returns every case of JSON Web Encryption.
///
/// # Panics
/// Panics if a file under `jwe` cannot be parsed or is missing.
pub fn jwe() -> Vec<JweCase> {
    folder::read("jwe", JWE).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
enum RfcTest {
    Token {
        #[serde(rename = "tcId")]
        _id: u32,
        name: String,
        jwk: String,
        jwe: String,
        msg: Hex,
        result: Outcome,
    },
    Content {
        #[serde(rename = "tcId")]
        _id: u32,
        name: String,
        enc: String,
        key: Hex,
        iv: Hex,
        aad: Hex,
        msg: Hex,
        ct: Hex,
        tag: Hex,
    },
    Agreement {
        #[serde(rename = "tcId")]
        _id: u32,
        name: String,
        alg: String,
        enc: String,
        jwk: String,
        epk: String,
        apu: String,
        apv: String,
        z: Hex,
        key: Hex,
    },
}

fn rfc(file: &File) -> Result<Vec<JweCase>, Why> {
    let case = |test| {
        let (id, part) = match test {
            RfcTest::Token { name, jwk, jwe, msg, result, .. } => {
                (name, JwePart::Token { key: jwk, token: jwe, msg: msg.0, result })
            }
            RfcTest::Content { name, enc, key, iv, aad, msg, ct, tag, .. } => {
                let [key, iv, aad, msg, ct, tag] = [key, iv, aad, msg, ct, tag].map(|Hex(bytes)| bytes);
                (name, JwePart::Content { enc, key, iv, aad, msg, ct, tag })
            }
            RfcTest::Agreement { name, alg, enc, jwk, epk, apu, apv, z, key, .. } => {
                (name, JwePart::Agreement { alg, enc, key: jwk, epk, apu, apv, z: z.0, derived: key.0 })
            }
        };
        JweCase { file: file.name.clone(), id, part }
    };
    Ok(converted::tests(file)?.into_iter().map(case).collect())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document {
    number_of_tests: usize,
    #[serde(rename = "header")]
    _header: Vec<String>,
    #[serde(rename = "notes")]
    _notes: BTreeMap<Flag, Note>,
    #[serde(rename = "schema")]
    _schema: String,
    test_groups: Vec<Group>,
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Flag {
    CompressedPlaintext,
    JsonSerialization,
    ModifiedPkcs15Padding,
    Pkcs15WithOaepKey,
    Pkcs5Padding,
    WrongCipher,
}

#[derive(Deserialize)]
enum GroupType {
    JsonWebEncryption,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    _type: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    #[serde(rename = "comment")]
    _comment: String,
    #[serde(rename = "public")]
    _public: Option<Value>,
    private: Value,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    #[serde(rename = "comment")]
    _comment: String,
    #[serde(rename = "flags")]
    _flags: Vec<Flag>,
    #[serde(rename = "enc")]
    _enc: Option<String>,
    jwe: String,
    /// Missing in invalid cases.
    #[serde(default)]
    pt: Hex,
    result: Outcome,
}

fn wycheproof(file: &File) -> Result<Vec<JweCase>, Why> {
    let document: Document = file.json()?;
    let mut cases = Vec::new();
    for group in document.test_groups {
        let key = group.private.to_string();
        cases.extend(group.tests.into_iter().map(|test| JweCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            part: JwePart::Token { key: key.clone(), token: test.jwe, msg: test.pt.0, result: test.result },
        }));
    }
    counted(document.number_of_tests, cases)
}
