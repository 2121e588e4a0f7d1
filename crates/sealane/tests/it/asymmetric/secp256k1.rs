//! Tests ECDH on the curve secp256k1 with the vectors of Project Wycheproof.

use pkcs8::SubjectPublicKeyInfoRef;
use pkcs8::der::Decode;
use sealane::asymmetric::secp256k1::{PrivateKey, PublicKey};
use std::collections::BTreeMap;
use vectors::Agreement;

const EC_PUBLIC_KEY: &str = "1.2.840.10045.2.1";
const SECP256K1: &str = "1.3.132.0.10";

/// Returns the point in a SubjectPublicKeyInfo (RFC 5480, section 2), or the reason why there is
/// none.
fn point(spki: &[u8]) -> Result<&[u8], &'static str> {
    let spki = SubjectPublicKeyInfoRef::from_der(spki).map_err(|_| "no strict DER")?;
    if spki.algorithm.oid.to_string() != EC_PUBLIC_KEY {
        return Err("another algorithm");
    }
    match spki.algorithm.parameters_oid() {
        Ok(oid) if oid.to_string() == SECP256K1 => {
            spki.subject_public_key.as_bytes().ok_or("bits that are no bytes")
        }
        Ok(_) => Err("another curve"),
        Err(_) => Err("no curve by name"),
    }
}

/// Converts a big-endian integer of any length to the 32 bytes of a private key.
fn private(integer: &[u8]) -> [u8; 32] {
    let zeros = integer.iter().take_while(|byte| **byte == 0).count();
    let (significant, mut bytes) = (&integer[zeros..], [0; 32]);
    bytes[32 - significant.len()..].copy_from_slice(significant);
    bytes
}

#[test]
fn wycheproof() {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in vectors::ecdh_secp256k1() {
        let name = format!("{} {} {} {:?}", case.file, case.id, case.comment, case.flags);
        let result = match case.result {
            Agreement::Valid => "valid",
            Agreement::Invalid => "invalid",
            Agreement::Acceptable => "acceptable",
        };
        let read = point(&case.public).and_then(|point| {
            PublicKey::from_bytes(point).map_err(|_| "no point of the curve in a strict encoding")
        });
        let outcome = match read {
            Ok(public) => {
                let shared = PrivateKey::from_bytes(&private(&case.private)).unwrap().shared_point(&public);
                assert_eq!(shared[1..33], case.shared, "{name}");
                "computed"
            }
            Err(why) => why,
        };
        match case.result {
            Agreement::Valid => assert_eq!(outcome, "computed", "{name}"),
            Agreement::Invalid => assert_ne!(outcome, "computed", "{name}"),
            Agreement::Acceptable => {}
        }
        *counts.entry((result, outcome)).or_default() += 1;
    }
    // An "acceptable" vector can be refused or computed, but no result differs from the vector.
    let expected = [
        (("acceptable", "computed"), 3),
        (("acceptable", "another algorithm"), 13),
        (("acceptable", "another curve"), 10),
        (("acceptable", "bits that are no bytes"), 3),
        (("acceptable", "no curve by name"), 18),
        (("acceptable", "no point of the curve in a strict encoding"), 6),
        (("acceptable", "no strict DER"), 177),
        (("invalid", "another curve"), 20),
        (("invalid", "no curve by name"), 7),
        (("invalid", "no point of the curve in a strict encoding"), 22),
        (("valid", "computed"), 473),
    ];
    assert_eq!(counts, BTreeMap::from(expected));
}
