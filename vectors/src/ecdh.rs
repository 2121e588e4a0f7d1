//! Key agreements on X25519 and P-256: Project Wycheproof, with raw public keys, and RFC 7748.

use crate::folder::{self, File};
use crate::hex::Hex;
use crate::wycheproof::{Document, Source, counted};
use crate::{Agreement, Why, converted};
use serde::Deserialize;

const X25519: &str = "ecdh/wycheproof/x25519_test.json";
const P256: &str = "ecdh/wycheproof/ecdh_secp256r1_ecpoint_test.json";
const RFC7748: &str = "ecdh/x25519_rfc7748.json";

#[derive(Clone, Debug)]
pub struct EcdhCase {
    pub file: String,
    pub id: String,
    /// Public key: 32 bytes for X25519, a point for P-256; may be malformed in an invalid case.
    pub public: Vec<u8>,
    /// Private key: 32 bytes for X25519, a big-endian integer of any length for P-256.
    pub private: Vec<u8>,
    /// Shared secret: the x coordinate of the shared point.
    pub shared: Vec<u8>,
    pub result: Agreement,
    pub flags: Vec<EcdhFlag>,
}

/// One computation of RFC 7748.
#[derive(Clone, Debug)]
pub struct Rfc7748Case {
    pub file: String,
    pub id: String,
    pub part: Rfc7748Part,
}

/// A computation of RFC 7748 with operands and results.
#[derive(Clone, Debug)]
pub enum Rfc7748Part {
    /// The function X25519 of a scalar and a coordinate.
    Function { scalar: Vec<u8>, u: Vec<u8>, out: Vec<u8> },
    /// The function applied repeatedly to its own results, starting with the base point for both
    /// operands.
    Iterated { iterations: u32, out: Vec<u8> },
    Agreement {
        /// Private and public key of one side.
        a: (Vec<u8>, Vec<u8>),
        /// Private and public key of the other side.
        b: (Vec<u8>, Vec<u8>),
        shared: Vec<u8>,
    },
}

/// Purpose of a case: the flags in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum EcdhFlag {
    AdditionChain,
    CompressedPoint,
    CompressedPublic,
    #[serde(rename = "CVE-2017-8932")]
    Cve20178932,
    EdgeCaseDoubling,
    EdgeCaseEphemeralKey,
    EdgeCaseMultiplication,
    EdgeCasePrivateKey,
    EdgeCaseShared,
    EdgeCaseSharedSecret,
    InvalidCompressedPublic,
    InvalidCurveAttack,
    InvalidEncoding,
    Ktv,
    LowOrderPublic,
    NonCanonicalPublic,
    Normal,
    SmallPublicKey,
    SpecialPublicKey,
    Twist,
    WrongCurve,
    ZeroSharedSecret,
}

/// Returns every X25519 key agreement of Wycheproof.
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn ecdh_x25519() -> Vec<EcdhCase> {
    folder::read_one(X25519, |file| read(file, "XDH")).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every P-256 key agreement of Wycheproof.
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn ecdh_p256() -> Vec<EcdhCase> {
    folder::read_one(P256, |file| read(file, "ECDH")).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns every X25519 computation for which RFC 7748 gives results.
///
/// # Panics
/// Panics if the file cannot be parsed or is missing.
pub fn rfc7748() -> Vec<Rfc7748Case> {
    folder::read_one(RFC7748, read_rfc7748).unwrap_or_else(|error| panic!("{error}"))
}

#[derive(Deserialize)]
enum GroupType {
    XdhComp,
    EcdhEcpointTest,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CurveName {
    Curve25519,
    Secp256r1,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    Ecpoint,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    #[serde(rename = "type")]
    kind: GroupType,
    #[serde(rename = "source")]
    _source: Source,
    curve: CurveName,
    encoding: Option<Encoding>,
    tests: Vec<Test>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Test {
    tc_id: u32,
    #[serde(rename = "comment")]
    _comment: String,
    flags: Vec<EcdhFlag>,
    public: Hex,
    private: Hex,
    shared: Hex,
    result: Agreement,
}

fn read(file: &File, algorithm: &str) -> Result<Vec<EcdhCase>, Why> {
    let document: Document<EcdhFlag, Group> = file.json()?;
    if document.algorithm != algorithm {
        return Err(Why::UnknownAlgorithm(document.algorithm));
    }
    let mut cases = Vec::new();
    for group in document.test_groups {
        let fits = match (algorithm, group.kind, group.curve) {
            ("XDH", GroupType::XdhComp, CurveName::Curve25519) => group.encoding.is_none(),
            ("ECDH", GroupType::EcdhEcpointTest, CurveName::Secp256r1) => group.encoding.is_some(),
            _ => false,
        };
        if !fits {
            return Err(Why::UnknownAlgorithm(document.algorithm));
        }
        cases.extend(group.tests.into_iter().map(|test| EcdhCase {
            file: file.name.clone(),
            id: test.tc_id.to_string(),
            public: test.public.0,
            private: test.private.0,
            shared: test.shared.0,
            result: test.result,
            flags: test.flags,
        }));
    }
    counted(document.number_of_tests, cases)
}

#[derive(Deserialize)]
#[serde(tag = "kind")]
enum Entry {
    #[serde(rename = "x25519")]
    Function(Function),
    #[serde(rename = "x25519_iterated")]
    Iterated(Iterated),
    #[serde(rename = "dh")]
    Both(Both),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Function {
    tc_id: u32,
    #[serde(rename = "section")]
    _section: String,
    scalar: Hex,
    u: Hex,
    out: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Iterated {
    tc_id: u32,
    #[serde(rename = "section")]
    _section: String,
    iterations: u32,
    out: Hex,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Both {
    tc_id: u32,
    #[serde(rename = "section")]
    _section: String,
    private_a: Hex,
    public_a: Hex,
    private_b: Hex,
    public_b: Hex,
    shared: Hex,
}

fn read_rfc7748(file: &File) -> Result<Vec<Rfc7748Case>, Why> {
    let case = |entry| {
        let (id, part) = match entry {
            Entry::Function(of) => {
                (of.tc_id, Rfc7748Part::Function { scalar: of.scalar.0, u: of.u.0, out: of.out.0 })
            }
            Entry::Iterated(of) => {
                (of.tc_id, Rfc7748Part::Iterated { iterations: of.iterations, out: of.out.0 })
            }
            Entry::Both(of) => {
                let (a, b) = ((of.private_a.0, of.public_a.0), (of.private_b.0, of.public_b.0));
                (of.tc_id, Rfc7748Part::Agreement { a, b, shared: of.shared.0 })
            }
        };
        Rfc7748Case { file: file.name.clone(), id: id.to_string(), part }
    };
    Ok(converted::tests(file)?.into_iter().map(case).collect())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::folder::changed;

    #[test]
    fn rejects_unknown_contents() {
        let of = |name| if name == X25519 { "XDH" } else { "ECDH" };
        for (name, from, to) in [
            (X25519, "\"result\": \"valid\"", "\"result\": \"fine\""),
            (X25519, "\"Twist\"", "\"Twisted\""),
            (X25519, "\"curve\": \"curve25519\"", "\"curve\": \"secp256r1\""),
            (X25519, "\"numberOfTests\": 518", "\"numberOfTests\": 519"),
            (P256, "\"encoding\": \"ecpoint\"", "\"encoding\": \"asn\""),
            (P256, "\"type\": \"EcdhEcpointTest\"", "\"type\": \"EcdhTest\""),
            (P256, "\"algorithm\": \"ECDH\"", "\"algorithm\": \"XDH\""),
        ] {
            assert!(read(&changed(name, from, to), of(name)).is_err(), "{name}: {to} was accepted");
            assert!(read(&changed(name, from, from), of(name)).is_ok(), "{name}: rejected without a change");
        }
        assert!(read_rfc7748(&changed(RFC7748, "\"kind\": \"dh\"", "\"kind\": \"ecdh\"")).is_err());
        assert!(read_rfc7748(&changed(RFC7748, "\"privateA\"", "\"private\"")).is_err());
    }
}
