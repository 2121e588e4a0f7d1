//! Project Wycheproof's file for ECDH on secp256k1. Public keys are X.509 SubjectPublicKeyInfo
//! structures.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::wycheproof::{Document, Source, counted};
use crate::{Reader, Why};
use serde::Deserialize;

pub(crate) const SECP256K1: (&str, Reader<Secp256k1Case>) =
    ("ecdh/wycheproof/ecdh_secp256k1_test.json", read);

#[derive(Clone, Debug)]
pub struct Secp256k1Case {
    pub file: String,
    pub id: String,
    pub comment: String,
    /// Public key, a SubjectPublicKeyInfo; may be malformed in an invalid case.
    pub public: Vec<u8>,
    /// Private key, a big-endian integer of any length.
    pub private: Vec<u8>,
    /// Shared secret: the x coordinate of the shared point.
    pub shared: Vec<u8>,
    pub result: Agreement,
    pub flags: Vec<Secp256k1Flag>,
}

/// Expected result of a key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Agreement {
    /// The key agreement must succeed and return these bytes.
    Valid,
    /// The public key is invalid: the key agreement must be rejected.
    Invalid,
    /// The key agreement may be rejected, or return these bytes.
    Acceptable,
}

/// Purpose of a case: the flags in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Secp256k1Flag {
    AdditionChain,
    CompressedPoint,
    CompressedPublic,
    EdgeCaseDoubling,
    EdgeCaseEphemeralKey,
    EdgeCaseSharedSecret,
    InvalidAsn,
    InvalidCompressedPublic,
    InvalidCurveAttack,
    InvalidEncoding,
    InvalidPublic,
    LargeCofactor,
    ModifiedCofactor,
    ModifiedCurveParameter,
    ModifiedGenerator,
    ModifiedGroup,
    ModifiedPrime,
    ModifiedPublicPoint,
    NegativeCofactor,
    NoCofactor,
    Normal,
    UnnamedCurve,
    UnusedParam,
    WeakPublicKey,
    WrongCurve,
    WrongOrder,
}

/// Returns every secp256k1 key agreement, valid and invalid.
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn ecdh_secp256k1() -> Vec<Secp256k1Case> {
    folder::read_one(SECP256K1.0, SECP256K1.1).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
enum GroupType {
    EcdhTest,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CurveName {
    Secp256k1,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Asn,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    _type: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    #[serde(rename = "curve")]
    _curve: CurveName,
    #[serde(rename = "encoding")]
    _encoding: Encoding,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    comment: String,
    flags: Vec<Secp256k1Flag>,
    public: Hex,
    private: Hex,
    shared: Hex,
    result: Agreement,
}

fn read(file: &File) -> Result<Vec<Secp256k1Case>, Why> {
    let document: Document<Secp256k1Flag, Group> = file.json()?;
    if document.algorithm != "ECDH" {
        return Err(Why::UnknownAlgorithm(document.algorithm));
    }
    let tests = document.test_groups.into_iter().flat_map(|group| group.tests);
    let cases = tests.map(|test| Secp256k1Case {
        file: file.name.clone(),
        id: test.tc_id.to_string(),
        comment: test.comment,
        public: test.public.0,
        private: test.private.0,
        shared: test.shared.0,
        result: test.result,
        flags: test.flags,
    });
    counted(document.number_of_tests, cases.collect())
}
