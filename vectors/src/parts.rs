//! Messages with an RSA-wrapped key, in separate parts as PyCryptodome returns them.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::{Reader, Why, converted};
use serde::Deserialize;

const PARTS: &[(&str, Reader<RsaPartsCase>)] = &[("hybrid/rsa_pycryptodome.json", read)];

#[derive(Clone, Debug)]
pub struct RsaPartsCase {
    pub file: String,
    pub id: String,
    /// The private key that unwraps the message key, in PKCS#8.
    pub key: Vec<u8>,
    /// Hash function of the padding and of MGF1, such as `"SHA-1"`.
    pub hash: String,
    /// The message key, wrapped for the RSA key.
    pub wrapped_key: Vec<u8>,
    pub nonce: Vec<u8>,
    pub aad: Vec<u8>,
    pub plaintext: Vec<u8>,
    /// The ciphertext, without the tag.
    pub ciphertext: Vec<u8>,
    pub tag: Vec<u8>,
}

/// Returns every message with wrapped key, nonce and tag.
///
/// # Panics
/// Panics if a file under `hybrid` cannot be parsed or is missing.
pub fn rsa_parts() -> Vec<RsaPartsCase> {
    folder::read("hybrid", PARTS).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
enum Hash {
    #[serde(rename = "SHA-1")]
    Sha1,
    #[serde(rename = "SHA-256")]
    Sha256,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    private_key_pkcs8: Hex,
    hash: Hash,
    #[serde(rename = "capsule")]
    wrapped_key: Hex,
    nonce: Hex,
    aad: Hex,
    ct: Hex,
    tag: Hex,
    msg: Hex,
}

fn read(file: &File) -> Result<Vec<RsaPartsCase>, Why> {
    let case = |test: Test| RsaPartsCase {
        file: file.name.clone(),
        id: test.tc_id.to_string(),
        key: test.private_key_pkcs8.0,
        hash: match test.hash {
            Hash::Sha1 => "SHA-1".into(),
            Hash::Sha256 => "SHA-256".into(),
        },
        wrapped_key: test.wrapped_key.0,
        nonce: test.nonce.0,
        aad: test.aad.0,
        plaintext: test.msg.0,
        ciphertext: test.ct.0,
        tag: test.tag.0,
    };
    Ok(converted::tests(file)?.into_iter().map(case).collect())
}
