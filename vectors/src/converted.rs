//! Files converted to JSON from specifications. Each file names its source.

use crate::folder::File;
use crate::hex::Hex;
use crate::wycheproof::counted;
use crate::{AeadCase, CtrCase, MacCase, Outcome, Why};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Document<T> {
    #[serde(rename = "algorithm")]
    _algorithm: String,
    #[serde(rename = "source")]
    _source: String,
    #[serde(rename = "licence")]
    _licence: String,
    #[serde(rename = "notes")]
    _notes: String,
    number_of_tests: usize,
    tests: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Message {
    tc_id: u32,
    #[serde(rename = "section")]
    _section: Option<String>,
    #[serde(rename = "name")]
    _name: Option<String>,
    key_size: Option<usize>,
    key: Hex,
    #[serde(alias = "iv")]
    nonce: Hex,
    aad: Hex,
    pt: Hex,
    ct: Hex,
    tag: Hex,
    #[serde(rename = "poly1305_key")]
    _poly1305_key: Option<Hex>,
}

/// Entries of the ChaCha files. Entries other than messages are parsed, to notice mistakes, but not
/// returned.
#[derive(Deserialize)]
#[serde(tag = "kind")]
enum Entry {
    #[serde(rename = "aead")]
    Message(Message),
    #[serde(rename = "poly1305")]
    Mac(Mac),
    #[serde(
        rename = "chacha20_block",
        alias = "chacha20_encrypt",
        alias = "hchacha20",
        alias = "poly1305_key_gen",
        alias = "xchacha20_encrypt"
    )]
    Part(#[allow(dead_code, reason = "read to be checked")] Part),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Mac {
    tc_id: u32,
    #[serde(rename = "section")]
    _section: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    key: Hex,
    msg: Hex,
    tag: Hex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    #[serde(rename = "tcId")]
    _id: u32,
    #[serde(rename = "section")]
    _section: String,
    #[serde(rename = "name")]
    _name: Option<String>,
    #[serde(rename = "key")]
    _key: Hex,
    #[serde(rename = "nonce")]
    _nonce: Option<Hex>,
    #[serde(rename = "counter")]
    _counter: Option<u32>,
    #[serde(rename = "keystream")]
    _keystream: Option<Hex>,
    #[serde(rename = "pt")]
    _pt: Option<Hex>,
    #[serde(rename = "ct")]
    _ct: Option<Hex>,
    #[serde(rename = "poly1305_key")]
    _poly1305_key: Option<Hex>,
    #[serde(rename = "subkey")]
    _subkey: Option<Hex>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Stream {
    #[serde(rename = "tcId")]
    _id: u32,
    name: String,
    key: Hex,
    iv: Hex,
    pt: Hex,
    ct: Hex,
}

pub(crate) fn aes_gcm(file: &File) -> Result<Vec<AeadCase>, Why> {
    tests(file)?.into_iter().map(|test: Message| by_key_size(test, file, "gcm")).collect()
}

pub(crate) fn aes_gcm_siv(file: &File) -> Result<Vec<AeadCase>, Why> {
    tests(file)?.into_iter().map(|test: Message| by_key_size(test, file, "gcm-siv")).collect()
}

pub(crate) fn xaes(file: &File) -> Result<Vec<AeadCase>, Why> {
    Ok(tests(file)?.into_iter().map(|test: Message| case(test, file, "xaes-256-gcm")).collect())
}

pub(crate) fn chacha(file: &File) -> Result<Vec<AeadCase>, Why> {
    messages(file, "chacha20-poly1305")
}

pub(crate) fn poly1305(file: &File) -> Result<Vec<MacCase>, Why> {
    let case = |entry| match entry {
        Entry::Mac(test) => Some(MacCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            key: test.key.0,
            message: test.msg.0,
            tag: test.tag.0,
        }),
        Entry::Message(_) | Entry::Part(_) => None,
    };
    Ok(tests(file)?.into_iter().filter_map(case).collect())
}

pub(crate) fn xchacha(file: &File) -> Result<Vec<AeadCase>, Why> {
    messages(file, "xchacha20-poly1305")
}

pub(crate) fn aes_ctr(file: &File) -> Result<Vec<CtrCase>, Why> {
    let case = |test: Stream| {
        let iv = test.iv.0.try_into().map_err(|_| Why::Length(test.name.clone()))?;
        Ok(CtrCase {
            file: file.name.clone(),
            id: test.name,
            key: test.key.0,
            iv,
            plaintext: test.pt.0,
            ciphertext: test.ct.0,
        })
    };
    tests(file)?.into_iter().map(case).collect()
}

pub(crate) fn tests<T: DeserializeOwned>(file: &File) -> Result<Vec<T>, Why> {
    let document: Document<T> = file.json()?;
    counted(document.number_of_tests, document.tests)
}

fn messages(file: &File, algorithm: &str) -> Result<Vec<AeadCase>, Why> {
    let message = |entry| match entry {
        Entry::Message(test) => Some(case(test, file, algorithm)),
        Entry::Mac(_) | Entry::Part(_) => None,
    };
    Ok(tests(file)?.into_iter().filter_map(message).collect())
}

fn by_key_size(test: Message, file: &File, mode: &str) -> Result<AeadCase, Why> {
    match test.key_size {
        Some(bits) if bits == test.key.0.len() * 8 => Ok(case(test, file, &format!("aes-{bits}-{mode}"))),
        _ => Err(Why::Length(test.tc_id.to_string())),
    }
}

fn case(test: Message, file: &File, algorithm: &str) -> AeadCase {
    AeadCase {
        file: file.name.clone(),
        id: test.tc_id.to_string(),
        algorithm: algorithm.into(),
        key: test.key.0,
        nonce: test.nonce.0,
        aad: test.aad.0,
        plaintext: test.pt.0,
        ciphertext: test.ct.0,
        tag: test.tag.0,
        result: Outcome::Valid,
    }
}
