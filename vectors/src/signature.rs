//! Detached signatures made by `ssh-keygen -Y sign` and `minisign -S`.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::{Reader, Why, converted};
use serde::Deserialize;

const SIGNATURES: &[(&str, Reader<SignatureCase>)] = &[("signature/programs.json", read)];

#[derive(Clone, Debug)]
pub struct SignatureCase {
    pub file: String,
    pub id: String,
    /// The secret key, as the program wrote it.
    pub secret_key: String,
    /// The passphrase of the secret key, if it is encrypted.
    pub passphrase: Option<String>,
    /// The public key, as the program wrote it.
    pub public_key: String,
    pub message: Vec<u8>,
    pub signature: String,
    pub result: SignatureResult,
}

/// Whether a signature is valid for the namespace `sealane-inventory`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum SignatureResult {
    #[serde(rename = "valid")]
    Valid,
    /// The signature has another namespace, or its message was not hashed first.
    #[serde(rename = "invalid")]
    Invalid,
    /// The key is not an Ed25519 key.
    #[serde(rename = "other type")]
    OtherType,
}

/// Returns every signature with its keys.
///
/// # Panics
/// Panics if a file under `signature` cannot be parsed or is missing.
pub fn signatures() -> Vec<SignatureCase> {
    folder::read("signature", SIGNATURES).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
enum Program {
    #[serde(rename = "OpenSSH 9.2p1")]
    OpenSsh,
    #[serde(rename = "minisign 0.11")]
    Minisign,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    #[serde(rename = "program")]
    _program: Program,
    #[serde(rename = "comment")]
    _comment: String,
    secret_key: String,
    passphrase: Option<String>,
    public_key: String,
    msg: Hex,
    signature: String,
    result: SignatureResult,
}

fn read(file: &File) -> Result<Vec<SignatureCase>, Why> {
    let case = |test: Test| SignatureCase {
        file: file.name.clone(),
        id: test.tc_id.to_string(),
        secret_key: test.secret_key,
        passphrase: test.passphrase,
        public_key: test.public_key,
        message: test.msg.0,
        signature: test.signature,
        result: test.result,
    };
    Ok(converted::tests(file)?.into_iter().map(case).collect())
}
