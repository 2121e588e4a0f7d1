//! Published vectors of Diffie-Hellman and RSA-OAEP, through the key pair types.

mod ml_kem;
mod secp256k1;

use sealane::asymmetric::rsa::Oaep;
use sealane::asymmetric::{p256, rsa, x25519, xwing};
use sealane::{Error, Misuse};
use std::collections::HashMap;
use vectors::{Agreement, EcdhFlag, Outcome, Rfc7748Part, RsaKey};

fn x25519_of(scalar: &[u8], u: &[u8]) -> Result<[u8; 32], Error> {
    let private = x25519::PrivateKey::from_bytes(scalar.try_into().unwrap())?;
    Ok(*private.diffie_hellman(&x25519::PublicKey::from_bytes(u.try_into().unwrap()))?)
}

/// The "acceptable" vectors have public keys on the twist or not reduced. They are accepted, unless
/// the secret is zero.
// claim: public-key-changed
#[test]
fn x25519_wycheproof() {
    let mut zero = 0;
    for case in vectors::ecdh_x25519() {
        let name = format!("{} #{}", case.file, case.id);
        let secret = x25519_of(&case.private, &case.public);
        if case.flags.contains(&EcdhFlag::ZeroSharedSecret) {
            assert!(case.shared.iter().all(|&byte| byte == 0) && case.result == Agreement::Acceptable);
            assert!(matches!(secret, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{name}: {secret:?}");
            zero += 1;
        } else {
            assert_eq!(secret.unwrap()[..], case.shared, "{name}");
        }
    }
    assert_eq!(zero, 31);
}

fn iterated(iterations: u32) -> [u8; 32] {
    let mut base = [0; 32];
    base[0] = 9;
    let (mut k, mut u) = (base, base);
    for _ in 0..iterations {
        let next = x25519_of(&k, &u).unwrap();
        (k, u) = (next, k);
    }
    k
}

#[test]
fn x25519_rfc_7748() {
    let mut left = 0;
    for case in vectors::rfc7748() {
        match case.part {
            Rfc7748Part::Function { scalar, u, out } => assert_eq!(x25519_of(&scalar, &u).unwrap()[..], out),
            Rfc7748Part::Iterated { iterations: 1_000_000, .. } => left += 1,
            Rfc7748Part::Iterated { iterations, out } => assert_eq!(iterated(iterations)[..], out),
            Rfc7748Part::Agreement { a, b, shared } => {
                for (own, other) in [(&a, &b), (&b, &a)] {
                    let private = x25519::PrivateKey::from_bytes(own.0[..].try_into().unwrap()).unwrap();
                    assert_eq!(private.public().as_bytes()[..], own.1);
                    assert_eq!(x25519_of(&own.0, &other.1).unwrap()[..], shared);
                }
            }
        }
    }
    assert_eq!(left, 1, "one vector is in the ignored test, which takes a minute");
}

#[test]
#[ignore = "takes a minute"]
fn x25519_one_million_iterations() {
    let cases = vectors::rfc7748();
    let found = cases.iter().find_map(|case| match &case.part {
        Rfc7748Part::Iterated { iterations: 1_000_000, out } => Some(out),
        _ => None,
    });
    assert_eq!(iterated(1_000_000)[..], found.unwrap()[..]);
}

/// Converts a big-endian integer of any length to 32 bytes, the length of a P-256 private key.
fn in_32_bytes(integer: &[u8]) -> [u8; 32] {
    let digits = &integer[integer.iter().take_while(|&&byte| byte == 0).count()..];
    let mut bytes = [0; 32];
    bytes[32 - digits.len()..].copy_from_slice(digits);
    bytes
}

/// The "acceptable" vector has a compressed point, which is refused.
// claim: public-key-changed
#[test]
fn p256_wycheproof() {
    let (mut valid, mut refused, mut compressed) = (0, 0, 0);
    for case in vectors::ecdh_p256() {
        let name = format!("{} #{}", case.file, case.id);
        let public = p256::PublicKey::from_bytes(&case.public);
        match case.result {
            Agreement::Valid => {
                let private = p256::PrivateKey::from_bytes(&in_32_bytes(&case.private)).unwrap();
                assert_eq!(private.diffie_hellman(&public.unwrap()).unwrap()[..], case.shared, "{name}");
                valid += 1;
            }
            Agreement::Invalid => {
                assert!(matches!(public, Err(Error::Format(_))), "{name}: {public:?}");
                refused += 1;
            }
            Agreement::Acceptable => {
                assert!(case.flags.contains(&EcdhFlag::CompressedPublic), "{name}");
                assert!(matches!(public, Err(Error::Format(_))), "{name}: {public:?}");
                compressed += 1;
            }
        }
    }
    assert_eq!((valid, refused, compressed), (330, 24, 1));
}

#[test]
fn xwing_decapsulation_vectors() {
    for case in vectors::xwing() {
        let key = xwing::PrivateKey::from_seed(&case.seed).unwrap();
        assert_eq!(key.public().as_bytes()[..], case.public, "{} #{}", case.file, case.id);
        assert_eq!(xwing::PublicKey::from_bytes(&case.public).unwrap(), key.public());
        assert_eq!(*key.decapsulate(&case.encapsulation).unwrap(), case.shared, "{} #{}", case.file, case.id);
    }
}

#[test]
fn rsa_oaep_vectors() {
    let (mut valid, mut refused, mut short) = (0, 0, 0);
    let mut keys: HashMap<Vec<u8>, rsa::PrivateKey> = HashMap::new();
    for case in vectors::oaep() {
        let name = format!("{} #{}", case.file, case.id);
        let der = match &case.key {
            RsaKey::Pkcs8(der) => der.clone(),
            RsaKey::Numbers(numbers) => pkcs8(numbers),
        };
        if !keys.contains_key(&der) {
            match rsa::PrivateKey::from_pkcs8(&der) {
                Ok(key) => {
                    assert_eq!(rsa::PublicKey::from_spki(key.public().to_spki()).unwrap(), key.public());
                    keys.insert(der.clone(), key);
                }
                Err(Error::Misuse(Misuse::UnsuitableKey(text))) => {
                    assert!(text.contains("less than 2048 bits"), "{name}: {text}");
                    short += 1;
                    continue;
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
        let (key, oaep) = (&keys[&der], oaep(&case.hash));
        let unwrapped = key.unwrap(oaep, &case.label, &case.ciphertext);
        match case.result {
            Outcome::Valid => {
                assert_eq!(*unwrapped.unwrap(), case.message, "{name}");
                let wrapped = key.public().wrap(oaep, &case.label, &case.message).unwrap();
                assert_eq!(*key.unwrap(oaep, &case.label, &wrapped).unwrap(), case.message, "{name}");
                valid += 1;
            }
            Outcome::Invalid => {
                assert!(matches!(unwrapped, Err(Error::Authentication)), "{name}: {unwrapped:?}");
                refused += 1;
            }
        }
    }
    // Nine of the ten keys of RSA Laboratories have 1024 to 1536 bits.
    assert_eq!((valid, refused, short), (18 + 1 + 6, 19, 9 * 6));
}

fn oaep(hash: &str) -> Oaep {
    match hash {
        "SHA-1" => Oaep::Sha1,
        "SHA-256" => Oaep::Sha256,
        "SHA-512" => Oaep::Sha512,
        other => panic!("no hash {other}"),
    }
}

/// Encodes a PKCS#8 with an RSAPrivateKey (RFC 8017, appendix A.1.2).
fn pkcs8(numbers: &[Vec<u8>; 8]) -> Vec<u8> {
    const RSA_ENCRYPTION: &[u8] = &[0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 5, 0];
    let mut key = der(2, &[0]);
    for number in numbers {
        let digits = &number[number.iter().take_while(|&&byte| byte == 0).count()..];
        key.extend(der(2, &[&[0][..usize::from(digits[0] >> 7)], digits].concat()));
    }
    der(0x30, &[&der(2, &[0])[..], RSA_ENCRYPTION, &der(4, &der(0x30, &key))].concat())
}

fn der(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = content.len().to_be_bytes();
    let digits = &len[len.iter().take_while(|&&byte| byte == 0).count().min(7)..];
    let mut out = vec![tag];
    if content.len() >= 128 {
        out.push(0x80 | digits.len() as u8);
    }
    out.extend(digits);
    out.extend(content);
    out
}
