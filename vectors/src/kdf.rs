//! Reads the files for Argon2, HKDF, PBKDF2 and scrypt.

use crate::converted::tests;
use crate::folder::File;
use crate::hex::Hex;
use crate::{Argon2Variant, KdfCase, KdfHash, KdfPart, Why};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Argon2 {
    tc_id: u32,
    variant: Argon2Variant,
    version: u32,
    password: Hex,
    salt: Hex,
    secret: Hex,
    ad: Hex,
    time_cost: u32,
    #[serde(rename = "memoryKiB")]
    memory_kib: u32,
    lanes: u32,
    tag_len: usize,
    tag: Hex,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Hkdf {
    #[serde(rename = "tcId")]
    id: u32,
    #[serde(rename = "name")]
    _name: String,
    hash: String,
    ikm: Hex,
    salt: Hex,
    info: Hex,
    #[serde(rename = "L")]
    len: usize,
    prk: Hex,
    okm: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Password {
    tc_id: u32,
    kind: Option<String>,
    password: Hex,
    salt: Hex,
    #[serde(rename = "N")]
    n: Option<u64>,
    r: Option<u32>,
    p: Option<u32>,
    iterations: Option<u32>,
    dk_len: usize,
    dk: Hex,
}

pub(crate) fn argon2(file: &File) -> Result<Vec<KdfCase>, Why> {
    let case = |test: Argon2| {
        if test.version != 0x13 {
            return Err(Why::UnknownAlgorithm(format!("Argon2 version {}", test.version)));
        }
        let part = KdfPart::Argon2 {
            variant: test.variant,
            secret: test.secret.0,
            data: test.ad.0,
            passes: test.time_cost,
            memory_kib: test.memory_kib,
            lanes: test.lanes,
        };
        made(file, test.tc_id, test.password, test.salt, (test.tag_len, test.tag), part)
    };
    tests(file)?.into_iter().map(case).collect()
}

pub(crate) fn hkdf(file: &File) -> Result<Vec<KdfCase>, Why> {
    let case = |test: Hkdf| {
        let hash = hash(&test.hash)?;
        let part = KdfPart::Hkdf { hash, info: test.info.0, extracted: test.prk.0 };
        made(file, test.id, test.ikm, test.salt, (test.len, test.okm), part)
    };
    tests(file)?.into_iter().map(case).collect()
}

pub(crate) fn pbkdf2_sha1(file: &File) -> Result<Vec<KdfCase>, Why> {
    tests(file)?.into_iter().map(|test| password(file, test, "pbkdf2-hmac-sha1")).collect()
}

pub(crate) fn scrypt_pbkdf2(file: &File) -> Result<Vec<KdfCase>, Why> {
    tests(file)?.into_iter().map(|test| password(file, test, "")).collect()
}

/// Reads a case of PBKDF2 or scrypt. `kind` is the function, for cases that do not name one.
fn password(file: &File, test: Password, kind: &str) -> Result<KdfCase, Why> {
    let id = test.tc_id;
    let part = match (test.kind.as_deref().unwrap_or(kind), test.n, test.r, test.p, test.iterations) {
        ("scrypt", Some(n), Some(r), Some(p), None) if n.is_power_of_two() => {
            KdfPart::Scrypt { log_n: n.ilog2() as u8, r, p }
        }
        ("pbkdf2-hmac-sha1", None, None, None, Some(rounds)) => {
            KdfPart::Pbkdf2 { hash: KdfHash::Sha1, rounds }
        }
        ("pbkdf2-hmac-sha256", None, None, None, Some(rounds)) => {
            KdfPart::Pbkdf2 { hash: KdfHash::Sha256, rounds }
        }
        _ => return Err(Why::UnknownEntry(id.to_string())),
    };
    made(file, id, test.password, test.salt, (test.dk_len, test.dk), part)
}

fn hash(name: &str) -> Result<KdfHash, Why> {
    match name {
        "SHA-1" => Ok(KdfHash::Sha1),
        "SHA-256" => Ok(KdfHash::Sha256),
        _ => Err(Why::UnknownAlgorithm(name.into())),
    }
}

fn made(
    file: &File,
    id: u32,
    secret: Hex,
    salt: Hex,
    (len, output): (usize, Hex),
    part: KdfPart,
) -> Result<KdfCase, Why> {
    if output.0.len() != len {
        return Err(Why::Length(id.to_string()));
    }
    Ok(KdfCase {
        file: file.name.clone(),
        id: id.to_string(),
        secret: secret.0,
        salt: salt.0,
        output: output.0,
        part,
    })
}
