use super::algorithm::{Accepted, Alg, Cipher, Enc};
use super::content::{Sealed, encrypt_cbc};
use super::header::Header;
use super::key::ephemeral;
use super::manage::{agree, unwrapped, wrapped};
use super::*;
use crate::{KeyFile, LoadOptions, SecretKey};
use messages::Key;
use serde_json::json;
use std::time::{Duration, Instant};
use vectors::JwePart;

fn secret(jwk: &str) -> SecretKey {
    match Keys::parse(jwk).unwrap().0.pop().unwrap().material {
        key::Material::Secret(key) => key,
        _ => panic!("{jwk}"),
    }
}

/// RFC 7518, appendices B and C; RFC 8037, appendix A.6.
#[test]
fn contents_and_agreements_of_the_rfcs() {
    let mut checked = [0; 2];
    for case in vectors::jwe() {
        match case.part {
            JwePart::Content { enc, key, iv, aad, msg, ct, tag } => {
                let (enc, key) = (Enc::named(&enc).unwrap(), Key::from_bytes(&key));
                let Cipher::CbcHmac(hash, aes) = enc.cipher else { panic!("{}", case.id) };
                let fixed = iv[..].try_into().unwrap();
                let sealed = encrypt_cbc(*hash, aes, &key, &aad, fixed, &msg).unwrap();
                assert_eq!((&sealed.iv, &sealed.ciphertext, &sealed.tag), (&iv, &ct, &tag), "{}", case.id);
                enc.check(&sealed).unwrap();
                assert_eq!(*enc.decrypt(&key, &aad, &sealed).unwrap(), msg);
                checked[0] += 1;
            }
            JwePart::Agreement { alg, enc, key, epk, apu, apv, z, derived } => {
                let (alg, enc) = (Alg::named(&alg).unwrap(), Enc::named(&enc).unwrap());
                let (own, epk) = (secret(&key), ephemeral(&epk).unwrap());
                let shared = match (&own, &epk) {
                    (SecretKey::P256(own), crate::PublicKey::P256(epk)) => own.diffie_hellman(epk),
                    (SecretKey::X25519(own), crate::PublicKey::X25519(epk)) => own.diffie_hellman(epk),
                    _ => panic!("{}", case.id),
                };
                assert_eq!(shared.unwrap()[..], z);
                let members = [("apu".to_owned(), apu.into()), ("apv".to_owned(), apv.into())];
                let header = Header::new(alg, enc, members.into_iter().collect());
                assert_eq!(agree(&own, &epk, &header).unwrap().as_bytes(), derived, "{}", case.id);
                checked[1] += 1;
            }
            JwePart::Token { .. } => {}
        }
    }
    assert_eq!(checked, [3, 2]);
}

fn iv(sealed: &mut Sealed) -> &mut Vec<u8> {
    &mut sealed.iv
}

fn ciphertext(sealed: &mut Sealed) -> &mut Vec<u8> {
    &mut sealed.ciphertext
}

fn tag(sealed: &mut Sealed) -> &mut Vec<u8> {
    &mut sealed.tag
}

/// The HMAC is checked first, so a wrong padding under it is the same error as a wrong HMAC.
// claim: jwe-one-error
#[test]
fn every_change_of_a_content_is_one_error() {
    for enc in ["A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512", "A128GCM", "A192GCM", "A256GCM"] {
        let enc = Enc::named(enc).unwrap();
        let key = Key::generate(enc.key_len).unwrap();
        for len in [0, 1, 15, 16, 17, 64] {
            let sealed = enc.encrypt(&key, b"aad", &vec![7; len]).unwrap();
            let refused = |sealed: Sealed| {
                let found = enc.check(&sealed).and_then(|()| enc.decrypt(&key, b"aad", &sealed));
                assert!(matches!(found, Err(Error::Authentication)), "{} {len}", enc.name);
            };
            let copy = || Sealed {
                iv: sealed.iv.clone(),
                ciphertext: sealed.ciphertext.clone(),
                tag: sealed.tag.clone(),
            };
            for part in [iv as fn(&mut Sealed) -> &mut Vec<u8>, ciphertext, tag] {
                for at in 0..part(&mut copy()).len() {
                    let mut changed = copy();
                    part(&mut changed)[at] ^= 1;
                    refused(changed);
                }
            }
            assert!(matches!(enc.decrypt(&key, b"other", &sealed), Err(Error::Authentication)));
            for part in [iv as fn(&mut Sealed) -> &mut Vec<u8>, tag] {
                let (mut short, mut long) = (copy(), copy());
                part(&mut short).pop();
                part(&mut long).push(0);
                for other in [short, long] {
                    assert!(matches!(enc.check(&other), Err(Error::Format(_))), "{}", enc.name);
                }
            }
        }
    }
}

/// RFC 3394, sections 4.3 and 4.5, and every changed byte and other length.
#[test]
fn keys_wrapped_by_keys_of_192_bits() {
    let hex = |text: &str| hex::decode(text).unwrap();
    let key = Key::from_bytes(&hex("000102030405060708090a0b0c0d0e0f1011121314151617"));
    for (cek, expected) in [
        ("00112233445566778899aabbccddeeff", "96778b25ae6ca435f92b5b97c050aed2468ab8a17ad84e5d"),
        (
            "00112233445566778899aabbccddeeff0001020304050607",
            "031d33264e15d33268f24ec260743edce1c6c7ddee725a936ba814915c6762d2",
        ),
    ] {
        let (cek, made) = wrapped(&key, Key::from_bytes(&hex(cek))).unwrap();
        assert_eq!(made, hex(expected));
        assert_eq!(unwrapped(&key, &made).unwrap(), cek);
        for at in 0..made.len() {
            let mut changed = made.clone();
            changed[at] ^= 1;
            assert!(matches!(unwrapped(&key, &changed), Err(Error::Authentication)));
            assert!(matches!(unwrapped(&key, &made[..at]), Err(Error::Authentication)));
        }
        assert!(matches!(unwrapped(&key, &[&made[..], &[0; 8]].concat()), Err(Error::Authentication)));
    }
}

/// An empty tag, a part of one and a tag of the whole hash are refused by their lengths.
#[test]
fn a_tag_is_half_of_the_hash() {
    let enc = Enc::named("A128CBC-HS256").unwrap();
    let key = Key::generate(32).unwrap();
    for len in [0, 8, 15, 32] {
        let sealed = enc.encrypt(&key, b"", b"hello").unwrap();
        let tag = sealed.tag.iter().copied().cycle().take(len).collect();
        assert!(enc.check(&Sealed { tag, ..sealed }).is_err(), "{len}");
    }
    let sealed = enc.encrypt(&key, b"", b"hello").unwrap();
    for len in [0, 1, 8, 15, 17] {
        assert!(
            enc.check(&Sealed { ciphertext: vec![0; len], ..enc.encrypt(&key, b"", b"").unwrap() }).is_err()
        );
    }
    assert_eq!(sealed.ciphertext.len(), 16);
}

/// Values of JSON take many times the memory of their text, and AES Key Wrap six passes.
// claim: jwe-limits
#[test]
fn what_is_too_long_is_refused_before_it_is_parsed_or_unwrapped() {
    let (keys, start) = (Keys::from(Key::from_bytes(&[7; 32])), Instant::now());
    for name in ["x", "ciphertext", "recipients"] {
        let many = format!(r#"{{"{name}":[{}0]}}"#, "0,".repeat(1 << 20));
        assert!(matches!(keys.decrypt(&many, None), Err(Error::LimitExceeded(_))), "{name}");
    }
    let token = encrypt(b"hello", &[&keys], "A256KW", "A256GCM", Options::default()).unwrap();
    let mut parts: Vec<_> = token.split('.').collect();
    let long = "A".repeat(64 << 20);
    parts[1] = &long;
    assert!(matches!(keys.decrypt(&parts.join("."), None), Err(Error::Authentication)));
    assert!(start.elapsed() < Duration::from_secs(2), "it was unwrapped");
}

#[test]
fn the_list_of_accepted_algorithms_restricts_one_sort_or_both() {
    let (dir, kw) = (Alg::named("dir").unwrap(), Alg::named("A256KW").unwrap());
    let (gcm, cbc) = (Enc::named("A256GCM").unwrap(), Enc::named("A128CBC-HS256").unwrap());
    let found = |names: Option<&[&str]>| {
        let accepted = Accepted::new(names).unwrap();
        ([dir, kw].map(|alg| accepted.has(alg.name)), [gcm, cbc].map(|enc| accepted.has(enc.name)))
    };
    assert_eq!(found(None), ([true; 2], [true; 2]));
    assert_eq!(found(Some(&["dir"])), ([true, false], [true; 2]));
    assert_eq!(found(Some(&["A256GCM"])), ([true; 2], [true, false]));
    assert_eq!(found(Some(&["A256GCM", "A256KW"])), ([false, true], [true, false]));
    for names in [&[][..], &["none"], &["dir", "RSA1_5"], &[""]] {
        let refused = Accepted::new(Some(names)).err().unwrap();
        assert!(refused.to_string().contains("expected one of dir, "), "{refused}");
    }
}

/// RFC 7517, section 4; RFC 7518, section 6; RFC 8037, section 2.
#[test]
fn keys_that_are_refused() {
    let p256 = secret(
        r#"{"kty":"EC","crv":"P-256","x":"weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ","y":"e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck","d":"VEmDZpDXXK8p8N0Cndsxs924q6nS1RXFASRl6BfUqdw"}"#,
    );
    assert!(matches!(p256, SecretKey::P256(_)));
    let (x, y) =
        ("weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ", "e8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck");
    let (short, other) = (&x[..42], "f8lnCO-AlStT-NJVX-crhB7QRYhiix03illJOVAOyck");
    let d = "0_NxaRPUMQoAJt50Gz8YiTr8gRTwyEaCumd-MToTmIo";
    for (key, what) in [
        (json!({"kty": "EC", "crv": "P-256", "x": x, "y": other}), "a point off the curve"),
        (json!({"kty": "EC", "crv": "P-384", "x": x, "y": y}), "another curve"),
        (json!({"kty": "EC", "crv": "P-256", "x": short, "y": y}), "a short number"),
        (json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "d": d}), "the private key of another"),
        (json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "d": 5}), "a number as d"),
        (json!({"kty": "EC", "crv": "X25519", "x": x, "y": y}), "the curve of another type"),
        (json!({"kty": "OKP", "crv": "Ed25519", "x": x}), "a key for signatures"),
        (json!({"kty": "OKP", "crv": "X25519", "x": x, "d": d}), "the private key of another"),
        (json!({"kty": "OKP", "crv": "X25519"}), "no key"),
        (json!({"kty": "RSA", "n": x, "e": "AQAB"}), "a short modulus"),
        (json!({"kty": "RSA", "e": "AQAB"}), "no modulus"),
        (json!({"kty": "oct"}), "no key"),
        (json!({"kty": "oct", "k": "AAAA="}), "padding"),
        (json!({"kty": "oct", "k": "AAAA", "use": "sig"}), "for signatures"),
        (json!({"kty": "EC", "crv": "P-256", "x": x, "y": y, "use": "sig"}), "for signatures"),
        (json!({"kty": "oct", "k": "AAAA", "key_ops": "encrypt"}), "no list"),
        (json!({"kty": "oct", "k": "AAAA", "alg": 5}), "no text"),
        (json!({"kty": "AKP", "pub": "AAAA"}), "another type"),
        (json!({"keys": []}), "no key"),
        (json!({"keys": [{"kty": "EC"}]}), "no key that can be used"),
    ] {
        let refused = Keys::parse(&key.to_string()).err().unwrap_or_else(|| panic!("{what}"));
        assert!(
            matches!(refused, Error::Format(_) | Error::Misuse(Misuse::UnsuitableKey(_))),
            "{what}: {refused}"
        );
    }
    let twice = format!(r#"{{"kty":"OKP","crv":"X25519","x":"{x}","x":"{x}"}}"#);
    assert!(matches!(Keys::parse(&twice), Err(Error::Format(_))));
    for other in ["", "{}", "[]", "age1", "{\"kty\":7}"] {
        assert!(matches!(Keys::parse(other), Err(Error::Format(_))), "{other}");
    }
}

#[test]
fn headers_that_are_no_objects() {
    let keys = Keys::from(Key::from_bytes(&[7; 32]));
    let deep = format!("{{\"alg\":\"dir\",\"x\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for header in ["", "x", "[]", "{\"alg\":\"dir\"", "{\"alg\":\"dir\",\"alg\":\"dir\"}", &deep] {
        let token = format!("{}..AAAAAAAAAAAAAAAA.AA.AAAAAAAAAAAAAAAAAAAAAA", BASE64.encode(header));
        let why = keys.decrypt(&token, None).unwrap_err().to_string();
        assert!(why.contains("the header of a JWE"), "{header}: {why}");
    }
}

/// RFC 7517, section 5: what other keys of a set are does not matter, unless no key is left.
#[test]
fn sets_and_key_files() {
    let x = "weNJy2HscCSM6AEDTDg04biOvhFhyyWvOHQfeF_PxMQ";
    let set = json!({"keys": [
        {"kty": "EC", "crv": "P-521", "x": x},
        {"kty": "oct", "k": "AAAA", "use": "sig", "kid": "signs"},
        {"kty": "OKP", "crv": "X25519", "x": x, "kid": "encrypts"},
    ]});
    let keys = Keys::parse(&set.to_string()).unwrap();
    assert_eq!(keys.0.iter().map(|key| key.kid.as_deref()).collect::<Vec<_>>(), [Some("encrypts")]);
    for kind in [crate::Kind::P256, crate::Kind::X25519, crate::Kind::Aes256] {
        let key = SecretKey::generate(kind).unwrap();
        let text = key.to_text(None).unwrap();
        let read = KeyFile::parse(text.as_bytes(), LoadOptions::default()).unwrap();
        assert_eq!(read.into_secret().unwrap(), key);
        assert_eq!(Keys::parse(&text).unwrap().0.len(), 1);
    }
    for kind in [crate::Kind::Age, crate::Kind::Secp256k1, crate::Kind::XWing] {
        let key = SecretKey::generate(kind).unwrap();
        assert!(matches!(Keys::try_from(&key), Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{kind}");
        let public = key.public().unwrap();
        assert!(matches!(Keys::try_from(&public), Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{kind}");
    }
    assert!(!format!("{keys:?}").contains("AAAA"));
}
