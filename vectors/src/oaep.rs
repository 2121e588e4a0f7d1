//! RSAES-OAEP: RSA Laboratories' examples, Project Wycheproof's cases, and one case with a label.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::wycheproof::{Document, Source, counted};
use crate::{Outcome, Reader, Why, converted};
use serde::Deserialize;
use serde::de::IgnoredAny;

const RSA: &[(&str, Reader<OaepCase>)] = &[
    ("rsa/oaep_label.json", label),
    ("rsa/pkcs1_v2_1_oaep_vect.txt", examples),
    ("rsa/wycheproof/rsa_oaep_2048_sha256_mgf1sha256_test.json", wycheproof),
];

#[derive(Clone, Debug)]
pub struct OaepCase {
    pub file: String,
    pub id: String,
    pub key: RsaKey,
    /// Hash function of the padding and of MGF1, such as `"SHA-256"`.
    pub hash: String,
    pub label: Vec<u8>,
    /// The unwrapped key; empty if the wrapped key is invalid.
    pub message: Vec<u8>,
    /// The wrapped key: the RSA-OAEP ciphertext.
    pub ciphertext: Vec<u8>,
    pub result: Outcome,
}

/// A private key in the file's format.
#[derive(Clone, Debug)]
pub enum RsaKey {
    Pkcs8(Vec<u8>),
    /// Big-endian integers in the order of PKCS#1: n, e, d, p, q, dP, dQ, qInv.
    Numbers([Vec<u8>; 8]),
}

/// Returns every wrapped key of every file, valid and invalid.
///
/// # Panics
/// Panics if a file under `rsa` cannot be parsed or is missing.
pub fn oaep() -> Vec<OaepCase> {
    folder::read("rsa", RSA).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Labelled {
    tc_id: u32,
    private_key_pkcs8: Hex,
    hash: String,
    mgf_hash: String,
    label: Hex,
    ct: Hex,
    msg: Hex,
}

fn label(file: &File) -> Result<Vec<OaepCase>, Why> {
    let case = |test: Labelled| match (&*test.hash, &*test.mgf_hash) {
        ("SHA512", "sha512") => Ok(OaepCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            key: RsaKey::Pkcs8(test.private_key_pkcs8.0),
            hash: "SHA-512".into(),
            label: test.label.0,
            message: test.msg.0,
            ciphertext: test.ct.0,
            result: Outcome::Valid,
        }),
        _ => Err(Why::UnknownAlgorithm(format!("{} with {}", test.hash, test.mgf_hash))),
    };
    converted::tests(file)?.into_iter().map(case).collect()
}

#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
enum Flag {
    Constructed,
    EncryptionWithLabel,
    InvalidCiphertext,
    InvalidOaepPadding,
    Normal,
}

#[derive(Deserialize)]
enum GroupType {
    RsaesOaepDecrypt,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    _type: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    #[serde(rename = "keySize")]
    _key_size: usize,
    sha: String,
    mgf: String,
    mgf_sha: String,
    /// The same key as integers, PEM and JWK.
    #[serde(rename = "privateKey")]
    _numbers: IgnoredAny,
    private_key_pkcs8: Hex,
    #[serde(rename = "privateKeyPem")]
    _pem: String,
    #[serde(rename = "privateKeyJwk")]
    _jwk: IgnoredAny,
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
    msg: Hex,
    ct: Hex,
    label: Hex,
    result: Outcome,
}

fn wycheproof(file: &File) -> Result<Vec<OaepCase>, Why> {
    let document: Document<Flag, Group> = file.json()?;
    if document.algorithm != "RSAES-OAEP" {
        return Err(Why::UnknownAlgorithm(document.algorithm));
    }
    let mut cases = Vec::new();
    for group in document.test_groups {
        if group.mgf != "MGF1" || group.mgf_sha != group.sha {
            return Err(Why::UnknownAlgorithm(format!("{} with {}", group.mgf, group.mgf_sha)));
        }
        cases.extend(group.tests.into_iter().map(|test| OaepCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            key: RsaKey::Pkcs8(group.private_key_pkcs8.0.clone()),
            hash: group.sha.clone(),
            label: test.label.0,
            message: test.msg.0,
            ciphertext: test.ct.0,
            result: test.result,
        }));
    }
    counted(document.number_of_tests, cases)
}

/// Reads ten keys with six examples each. A key follows a line `# Example …`: the public key as two
/// integers, then the private key as eight integers, each after its name.
fn examples(file: &File) -> Result<Vec<OaepCase>, Why> {
    const KEY: [&str; 10] = [
        "Modulus",
        "Exponent",
        "Modulus",
        "Public exponent",
        "Exponent",
        "Prime 1",
        "Prime 2",
        "Prime exponent 1",
        "Prime exponent 2",
        "Coefficient",
    ];
    const CASE: [&str; 3] = ["Message", "Seed", "Encryption"];
    let keys = file.text.split("\n# Example ").skip(1);
    let mut cases = Vec::new();
    for of_key in keys {
        let mut parts = of_key.split("\n# OAEP Example ");
        let [_, _, n, e, d, p, q, dp, dq, qi] = values(parts.next().unwrap_or_default(), KEY)?;
        for part in parts {
            let id = part.lines().next().unwrap_or_default().trim();
            let [message, _, ciphertext] = values(part, CASE)?;
            let key = [&n, &e, &d, &p, &q, &dp, &dq, &qi].map(Vec::clone);
            cases.push(OaepCase {
                file: file.name.clone(),
                id: id.into(),
                key: RsaKey::Numbers(key),
                hash: "SHA-1".into(),
                label: Vec::new(),
                message,
                ciphertext,
                result: Outcome::Valid,
            });
        }
    }
    counted(10 * 6, cases)
}

/// Returns the values after lines `# name:`; the names must be exactly these, in order. Lines of
/// hex end with a blank.
fn values<const N: usize>(text: &str, names: [&str; N]) -> Result<[Vec<u8>; N], Why> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.lines().map(str::trim) {
        let named = line.strip_prefix("# ").and_then(|line| line.strip_suffix(':'));
        match (named, found.last_mut()) {
            (Some(name), _) => found.push((name, String::new())),
            (None, Some((_, hex))) if !line.starts_with('#') => {
                hex.extend(line.chars().filter(|c| *c != ' '));
            }
            _ => {}
        }
    }
    let given: Vec<_> = found.iter().map(|(name, _)| *name).collect();
    if given != names {
        return Err(Why::UnknownEntry(given.join(", ")));
    }
    let bytes: Result<Vec<_>, _> = found.iter().map(|(_, hex)| hex::decode(hex)).collect();
    let bytes = bytes.map_err(|_| Why::UnknownEntry("no hex".into()))?;
    bytes.try_into().map_err(|_| Why::UnknownEntry("another number of values".into()))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::folder::changed;

    #[test]
    fn rejects_unknown_contents() {
        for ((name, read), from, to) in [
            (RSA[0], "\"hash\": \"SHA512\"", "\"hash\": \"SHA513\""),
            (RSA[0], "\"label\"", "\"lable\""),
            (RSA[1], "# Prime 2:", "# Prime 3:"),
            (RSA[1], "# Seed:", "# Salt:"),
            (RSA[1], "# OAEP Example 1.2", "# Example of OAEP 1.2"),
            (RSA[1], "a8 b3 b2 84", "a8 b3 b2 8"),
            (RSA[2], "\"mgfSha\": \"SHA-256\"", "\"mgfSha\": \"SHA-1\""),
            (RSA[2], "\"result\": \"valid\"", "\"result\": \"acceptable\""),
            (RSA[2], "\"Constructed\"", "\"Built\""),
            (RSA[2], "\"numberOfTests\": 37", "\"numberOfTests\": 38"),
        ] {
            assert!(read(&changed(name, from, to)).is_err(), "{name}: {to} was accepted");
            assert!(read(&changed(name, from, from)).is_ok(), "{name}: rejected without a change");
        }
    }
}
