//! Messages whose key RSA wraps, in parts, as PyCryptodome makes them.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::{Reader, Why, converted};
use serde::Deserialize;

const PARTS: &[(&str, Reader<RsaPartsCase>)] = &[("hybrid/rsa_pycryptodome.json", read)];

/// One message.
#[derive(Clone, Debug)]
pub struct RsaPartsCase {
    /// The file, relative to this folder.
    pub file: String,
    /// The number of the case within the file.
    pub id: String,
    /// The private key, PKCS#8.
    pub key: Vec<u8>,
    /// The hash of the padding, and of its mask: `"SHA-1"`.
    pub hash: String,
    /// The wrapped key.
    pub capsule: Vec<u8>,
    /// The nonce.
    pub nonce: Vec<u8>,
    /// The associated data.
    pub aad: Vec<u8>,
    /// The plaintext.
    pub plaintext: Vec<u8>,
    /// The ciphertext, without the tag.
    pub ciphertext: Vec<u8>,
    /// The tag.
    pub tag: Vec<u8>,
}

/// Every message.
///
/// # Panics
/// Where a file under `hybrid` is not understood or missing.
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
    capsule: Hex,
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
        capsule: test.capsule.0,
        nonce: test.nonce.0,
        aad: test.aad.0,
        plaintext: test.msg.0,
        ciphertext: test.ct.0,
        tag: test.tag.0,
    };
    Ok(converted::tests(file)?.into_iter().map(case).collect())
}
