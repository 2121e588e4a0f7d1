//! JSON Web Encryption: published tokens, all algorithms, and headers that claim what the key does
//! not allow.

use base64ct::{Base64UrlUnpadded as Base64, Encoding};
use sealane::jwe::{self, Keys, Options, Serialization};
use sealane::keys::{Keyring, Kind, Prefix, SecretKey};
use sealane::{Error, Key, Misuse};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use vectors::{JwePart, Outcome};

const ENCS: [(&str, usize); 6] = [
    ("A128GCM", 16),
    ("A192GCM", 24),
    ("A256GCM", 32),
    ("A128CBC-HS256", 32),
    ("A192CBC-HS384", 48),
    ("A256CBC-HS512", 64),
];
const FORMS: [Serialization; 3] = [Serialization::Compact, Serialization::Flattened, Serialization::General];

fn bytes(len: usize) -> Keys {
    Key::from_bytes(&vec![7; len]).into()
}

fn private(kind: Kind) -> Keys {
    Keys::try_from(&SecretKey::generate(kind).unwrap()).unwrap()
}

fn compact(plaintext: &[u8], keys: &Keys, alg: &str, enc: &str) -> String {
    jwe::encrypt(plaintext, &[keys], alg, enc, Options::default()).unwrap()
}

/// Returns the token with the members of its header changed.
fn with_header(token: &str, change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> String {
    let (header, rest) = token.split_once('.').unwrap();
    let mut header: Value = serde_json::from_slice(&Base64::decode_vec(header).unwrap()).unwrap();
    change(header.as_object_mut().unwrap());
    format!("{}.{rest}", Base64::encode_string(header.to_string().as_bytes()))
}

fn header(token: &str) -> Value {
    serde_json::from_slice(&Base64::decode_vec(token.split('.').next().unwrap()).unwrap()).unwrap()
}

/// RFC 7516, appendix A, and Project Wycheproof, except what is not supported.
#[test]
fn published_tokens() {
    // RSA1_5, P-384 and compression.
    const UNSUPPORTED: [&str; 12] = [
        "RFC 7516 A.2",
        "RFC 7516 A.4, first recipient",
        "100",
        "101",
        "102",
        "103",
        "104",
        "105",
        "112",
        "128",
        "130",
        "135",
    ];
    // Invalid only where no JSON is expected.
    const JSON: &str = "22";
    let mut counts = [0; 3];
    for case in vectors::jwe() {
        let JwePart::Token { key, token, msg, result } = case.part else { continue };
        let found = Keys::parse(&key).and_then(|keys| keys.decrypt(&token, None));
        if UNSUPPORTED.contains(&case.id.as_str()) {
            assert!(
                matches!(found, Err(Error::HeaderParameter { .. } | Error::Format(_))),
                "{}: {found:?}",
                case.id
            );
            counts[0] += 1;
        } else if case.id == JSON {
            assert_eq!(*found.unwrap(), *b"foo");
        } else if result == Outcome::Valid {
            assert_eq!(*found.unwrap_or_else(|why| panic!("{}: {why}", case.id)), msg, "{}", case.id);
            counts[1] += 1;
        } else {
            assert!(found.is_err(), "{}", case.id);
            counts[2] += 1;
        }
    }
    assert_eq!(counts, [12, 58, 73]);
}

#[test]
fn every_algorithm_in_every_form() {
    let (p256, x25519, rsa) = (private(Kind::P256), private(Kind::X25519), private(Kind::Rsa2048));
    for (enc, len) in ENCS {
        for (alg, keys) in [
            ("dir", &bytes(len)),
            ("A128KW", &bytes(16)),
            ("A192KW", &bytes(24)),
            ("A256KW", &bytes(32)),
            ("A128GCMKW", &bytes(16)),
            ("A192GCMKW", &bytes(24)),
            ("A256GCMKW", &bytes(32)),
            ("ECDH-ES", &p256),
            ("ECDH-ES", &x25519),
            ("ECDH-ES+A128KW", &p256),
            ("ECDH-ES+A192KW", &p256),
            ("ECDH-ES+A192KW", &x25519),
            ("ECDH-ES+A256KW", &x25519),
            ("RSA-OAEP", &rsa),
            ("RSA-OAEP-256", &rsa),
            ("RSA-OAEP-384", &rsa),
            ("RSA-OAEP-512", &rsa),
        ] {
            for serialization in FORMS {
                let options = Options { headers: Some(r#"{"typ":"JWT","apu":"QQ"}"#), serialization };
                let token = jwe::encrypt(b"hello", &[keys], alg, enc, options).unwrap();
                assert_eq!(*keys.decrypt(&token, None).unwrap(), *b"hello", "{alg} {enc} {token}");
                assert_eq!(*keys.decrypt(&token, Some(&[alg, enc])).unwrap(), *b"hello");
                for others in [&["PBES2-HS256+A128KW"][..], &["A128GCM", "PBES2-HS256+A128KW"]] {
                    let refused = keys.decrypt(&token, Some(others));
                    assert!(matches!(refused, Err(Error::HeaderParameter { .. })), "{alg} {enc}");
                }
            }
        }
    }
    for (alg, len) in [("PBES2-HS256+A128KW", 9), ("PBES2-HS384+A192KW", 17), ("PBES2-HS512+A256KW", 32)] {
        let token = compact(b"hello", &bytes(len), alg, "A256GCM");
        assert_eq!(*bytes(len).decrypt(&token, Some(&[alg])).unwrap(), *b"hello");
        assert!(matches!(bytes(len + 1).decrypt(&token, Some(&[alg])), Err(Error::Authentication)));
        // A key is a password only if it or the caller says so.
        assert!(matches!(bytes(len).decrypt(&token, None), Err(Error::NoMatchingKey)));
        assert!(matches!(bytes(len).decrypt(&token, Some(&["A256GCM"])), Err(Error::NoMatchingKey)));
        let jwk = json!({"kty": "oct", "k": Base64::encode_string(&vec![7; len]), "alg": alg}).to_string();
        assert_eq!(*Keys::parse(&jwk).unwrap().decrypt(&token, None).unwrap(), *b"hello");
    }
}

#[test]
fn tokens_for_several_recipients() {
    let (a, b, other) = (private(Kind::X25519), private(Kind::P256), private(Kind::P256));
    let general = Options { serialization: Serialization::General, ..Options::default() };
    let token = jwe::encrypt(b"hello", &[&a, &b], "ECDH-ES+A256KW", "A256CBC-HS512", general).unwrap();
    for keys in [&a, &b, &Keys::join([other.clone(), b.clone()])] {
        assert_eq!(*keys.decrypt(&token, None).unwrap(), *b"hello");
    }
    assert!(matches!(other.decrypt(&token, None), Err(Error::Authentication)));
    assert!(matches!(bytes(32).decrypt(&token, None), Err(Error::NoMatchingKey)));
    for (recipients, alg, options) in [
        (&[&a, &b][..], "ECDH-ES", general),
        (&[&a, &b], "ECDH-ES+A256KW", Options::default()),
        (&[], "ECDH-ES+A256KW", general),
    ] {
        let refused = jwe::encrypt(b"", recipients, alg, "A256GCM", options);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::InvalidRecipients(_)))), "{refused:?}");
    }
    // Unknown algorithms of other recipients do not matter, but their number does.
    let mut token: Value = serde_json::from_str(&token).unwrap();
    let unknown = json!({"header": {"alg": "RSA1_5"}, "encrypted_key": "AAAA"});
    token["recipients"].as_array_mut().unwrap().insert(0, unknown.clone());
    assert_eq!(*b.decrypt(&token.to_string(), None).unwrap(), *b"hello");
    token["recipients"] = vec![unknown; 65].into();
    assert!(matches!(b.decrypt(&token.to_string(), None), Err(Error::LimitExceeded(_))));
}

/// The header asks for something that the type, the length or the members of the key do not allow.
// claim: jwe-key-decides
#[test]
fn the_key_decides_about_the_algorithm() {
    let (p256, x25519, rsa) = (private(Kind::P256), private(Kind::X25519), private(Kind::Rsa2048));
    let token = compact(b"hello", &bytes(32), "A256KW", "A256GCM");
    for alg in
        ["dir", "A128KW", "A128GCMKW", "ECDH-ES", "ECDH-ES+A256KW", "RSA-OAEP-256", "PBES2-HS256+A128KW"]
    {
        let confused = with_header(&token, |header| {
            header.insert("alg".into(), alg.into());
            header.insert("p2c".into(), 1000.into());
        });
        for keys in [&p256, &x25519, &rsa, &bytes(24), &bytes(48)] {
            let found = keys.decrypt(&confused, None);
            let is_own = match alg {
                "RSA-OAEP-256" => std::ptr::eq(keys, &raw const rsa),
                _ => {
                    alg.starts_with("ECDH")
                        && [&raw const p256, &raw const x25519].contains(&std::ptr::from_ref(keys))
                }
            };
            assert_eq!(matches!(found, Err(Error::NoMatchingKey)), !is_own, "{alg}: {found:?}");
            assert!(found.is_err());
        }
    }
    // Its own members restrict a key that fits.
    let jwk = |more: &str| {
        Keys::parse(&format!(r#"{{"kty":"oct","k":"{}"{more}}}"#, Base64::encode_string(&[7; 32])))
    };
    let tokens = ["dir", "A256KW", "A256GCMKW"].map(|alg| compact(b"hello", &bytes(32), alg, "A256GCM"));
    for (more, allowed) in [
        ("", [true; 3]),
        (r#","use":"enc""#, [true; 3]),
        (r#","alg":"A256KW""#, [false, true, false]),
        (r#","alg":"A256GCMKW""#, [false, false, true]),
        (r#","alg":"A256GCM""#, [true, false, false]),
        (r#","alg":"dir""#, [true, false, false]),
        (r#","alg":"A128CBC-HS256""#, [false; 3]),
        (r#","alg":"HS256""#, [false; 3]),
        (r#","alg":"RSA-OAEP-256""#, [false; 3]),
        (r#","key_ops":["decrypt"]"#, [true; 3]),
        (r#","key_ops":["unwrapKey"]"#, [false, true, true]),
        (r#","key_ops":["verify","encrypt"]"#, [false; 3]),
        (r#","key_ops":[]"#, [false; 3]),
    ] {
        let keys = jwk(more).unwrap();
        let found = tokens.each_ref().map(|token| keys.decrypt(token, None).is_ok());
        assert_eq!(found, allowed, "{more}");
    }
    let only_decrypts = jwk(r#","key_ops":["decrypt"]"#).unwrap();
    let refused = jwe::encrypt(b"", &[&only_decrypts], "dir", "A256GCM", Options::default());
    assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    assert!(matches!(jwk(r#","use":"sig""#), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    // A public key encrypts only.
    let secret = SecretKey::generate(Kind::P256).unwrap();
    let public = Keys::try_from(&secret.public().unwrap()).unwrap();
    let token = compact(b"hello", &public, "ECDH-ES", "A256GCM");
    assert!(matches!(public.decrypt(&token, None), Err(Error::NoMatchingKey)));
}

/// What `decrypt` would refuse as too long or too much work is not written.
// claim: jwe-limits
#[test]
fn new_tokens_keep_the_limits_of_reading() {
    let shared: Vec<_> = (0..65).map(|i| Keys::from(Key::from_bytes(&[i; 32]))).collect();
    let secret = |i| format!(r#"{{"kty":"oct","k":"AAA{i}","alg":"PBES2-HS256+A128KW"}}"#);
    let passwords: Vec<_> = (0..4).map(|i| Keys::parse(&secret(i)).unwrap()).collect();
    for (keys, alg, most) in [(&shared, "A256KW", 64), (&passwords, "PBES2-HS256+A128KW", 3)] {
        let options = Options { serialization: Serialization::General, ..Options::default() };
        let all: Vec<_> = keys.iter().collect();
        let token = jwe::encrypt(b"hello", &all[..most], alg, "A256GCM", options).unwrap();
        assert_eq!(*all[most - 1].decrypt(&token, None).unwrap(), *b"hello");
        let found = jwe::encrypt(b"hello", &all[..=most], alg, "A256GCM", options);
        assert!(matches!(found, Err(Error::LimitExceeded(_))), "{alg}: {found:?}");
    }
    let headers = json!({"typ": "x".repeat(50_000)}).to_string();
    let options = Options { headers: Some(&headers), ..Options::default() };
    let found = jwe::encrypt(b"hello", &[&bytes(32)], "dir", "A256GCM", options);
    assert!(matches!(found, Err(Error::LimitExceeded(_))), "{found:?}");
}

// claim: jwe-limits
#[test]
fn work_that_a_token_asks_for_is_limited() {
    let start = Instant::now();
    let keys = Keys::parse(r#"{"kty":"oct","k":"AAAA","alg":"PBES2-HS512+A256KW"}"#).unwrap();
    let token = compact(b"hello", &keys, "PBES2-HS512+A256KW", "A256GCM");
    for (rounds, limited) in [
        (json!(1_000_001), true),
        (json!(4_294_967_296_u64), true),
        (json!(u64::MAX), true),
        (json!(-1), false),
        (json!(1.5), false),
        (json!(1e300), false),
        (json!("1000"), false),
        (json!(0), false),
        (Value::Null, false),
    ] {
        let asks = with_header(&token, |header| drop(header.insert("p2c".into(), rounds.clone())));
        let found = keys.decrypt(&asks, None);
        match limited {
            true => assert!(matches!(found, Err(Error::LimitExceeded(_))), "{rounds}: {found:?}"),
            false => assert!(matches!(found, Err(Error::Format(_))), "{rounds}: {found:?}"),
        }
    }
    // RFC 7518, section 4.8.1.1.
    for (salt, what) in [("", "none"), ("AAAAAAAAAA", "7 bytes")] {
        let asks = with_header(&token, |header| drop(header.insert("p2s".into(), salt.into())));
        assert!(
            matches!(keys.decrypt(&asks, None), Err(Error::Format(why)) if why.contains("p2s")),
            "{what}"
        );
    }
    // The limit is for all attempts together.
    let asks = with_header(&token, |header| drop(header.insert("p2c".into(), 600_000.into())));
    let both = Keys::join([keys.clone(), keys.clone()]);
    assert!(matches!(both.decrypt(&asks, None), Err(Error::LimitExceeded(_))));
    let other = compact(b"hello", &bytes(32), "dir", "A256GCM");
    let key = Keys::from(Key::from_bytes(&[8; 32]));
    let many = Keys::join((0..65).map(|_| key.clone()));
    assert!(matches!(many.decrypt(&other, None), Err(Error::LimitExceeded(_))));
    let long = with_header(&other, |header| drop(header.insert("typ".into(), "x".repeat(50_000).into())));
    assert!(matches!(key.decrypt(&long, None), Err(Error::LimitExceeded(_))));
    // Shared parameters are copied for each recipient.
    let large = json!({"unprotected": {"x": "x".repeat(1 << 20)}, "recipients": vec![json!({}); 64]});
    assert!(matches!(key.decrypt(&large.to_string(), None), Err(Error::LimitExceeded(_))));
    let options = Options { serialization: Serialization::General, ..Options::default() };
    let content = vec![7; 3 << 20];
    let token = jwe::encrypt(&content, &[&bytes(32)], "A256KW", "A256GCM", options).unwrap();
    assert_eq!(*bytes(32).decrypt(&token, None).unwrap(), content);
    let deep = format!("{}.a.a.a.a", Base64::encode_string("[".repeat(40_000).as_bytes()));
    assert!(matches!(key.decrypt(&deep, None), Err(Error::Format(_))));
    assert!(start.elapsed() < Duration::from_secs(60));
}

/// What no key can verify is refused before a key is used.
// claim: jwe-header
#[test]
fn headers_that_are_refused() {
    let keys = bytes(32);
    let token = compact(b"hello", &keys, "dir", "A256GCM");
    for (name, value) in [
        ("zip", json!("DEF")),
        ("zip", Value::Null),
        ("crit", json!(["exp"])),
        ("crit", json!([])),
        ("alg", json!("none")),
        ("alg", json!("RSA1_5")),
        ("alg", json!("DIR")),
        ("alg", json!(["dir"])),
        ("alg", Value::Null),
        ("enc", json!("A256CTR")),
        ("enc", json!("A256KW")),
        ("kid", json!(7)),
    ] {
        let found = keys
            .decrypt(&with_header(&token, |header| drop(header.insert(name.into(), value.clone()))), None);
        match found {
            Err(Error::HeaderParameter { name: found, .. }) => assert_eq!(found, name),
            other => panic!("{name} {value}: {other:?}"),
        }
    }
    // A terminal would act on the text of the attacker.
    let long = format!("\u{1b}[31m\u{202e}{}", "x".repeat(1000));
    let shown = with_header(&token, |header| drop(header.insert("alg".into(), long.into())));
    let shown = keys.decrypt(&shown, None).unwrap_err().to_string();
    assert!(shown.is_ascii() && !shown.contains('\u{1b}') && shown.len() < 200, "{shown}");
    let missing = with_header(&token, |header| drop(header.remove("enc")));
    assert!(matches!(keys.decrypt(&missing, None), Err(Error::HeaderParameter { name: "enc", .. })));
    let (_, rest) = token.split_once('.').unwrap();
    for header in [
        r#"{"alg":"dir","enc":"A256GCM","alg":"dir"}"#,
        r#"{"alg":"dir","enc":"A256GCM","\u0061lg":"dir"}"#,
        r#"{"alg":"dir","enc":"A256GCM","typ":"a","typ":"a"}"#,
        r#"{"alg":"dir","enc":"A256GCM","x":{"a":1,"a":1}}"#,
        r#"{"alg":"dir","enc":"A256GCM","x":[{"a":[],"a":[]}]}"#,
        r#"{"alg":"dir","enc":"A256GCM"} x"#,
        r#"["alg","dir"]"#,
        "\u{feff}{}",
        "",
    ] {
        let token = format!("{}.{rest}", Base64::encode_string(header.as_bytes()));
        assert!(matches!(keys.decrypt(&token, None), Err(Error::Format(_))), "{header}");
    }
    for text in [
        "",
        ".",
        "....",
        "{}",
        "[]",
        &token[1..],
        &format!("{token}."),
        &format!("{token}="),
        &format!("{token}\n"),
        &format!(" {token}"),
        &token.replacen("..", ".AAAA.", 1),
        &token.replacen('.', ".=", 1),
    ] {
        assert!(
            matches!(keys.decrypt(text, None), Err(Error::Format(_) | Error::HeaderParameter { .. })),
            "{text}"
        );
    }
}

#[test]
fn json_that_is_refused() {
    let keys = bytes(32);
    for form in [Serialization::Flattened, Serialization::General] {
        let options = Options { serialization: form, ..Options::default() };
        let token = jwe::encrypt(b"hello", &[&keys], "A256KW", "A256GCM", options).unwrap();
        let good: Value = serde_json::from_str(&token).unwrap();
        assert_eq!(*keys.decrypt(&format!(" {good:#}\n"), None).unwrap(), *b"hello");
        let refused = |change: &dyn Fn(&mut Value)| {
            let mut changed = good.clone();
            change(&mut changed);
            keys.decrypt(&changed.to_string(), None).unwrap_err()
        };
        for name in ["protected", "iv", "ciphertext", "tag"] {
            assert!(matches!(refused(&|token| token[name] = 7.into()), Error::Format(_)), "{name}");
            assert!(
                matches!(
                    refused(&|token| drop(token.as_object_mut().unwrap().remove(name))),
                    Error::Format(_) | Error::HeaderParameter { .. } | Error::Authentication
                ),
                "{name}"
            );
            let twice = token.replacen('{', &format!("{{\"{name}\":\"\","), 1);
            assert!(matches!(keys.decrypt(&twice, None), Err(Error::Format(_))), "{name}");
        }
        // A parameter in two parts, or where it is not integrity protected.
        assert!(matches!(
            refused(&|token| token["unprotected"] = json!({"enc": "A256GCM"})),
            Error::Format(_)
        ));
        assert!(matches!(refused(&|token| token["unprotected"] = "{}".into()), Error::Format(_)));
        for name in ["zip", "crit"] {
            let found = refused(&|token| token["unprotected"] = json!({name: "DEF"}));
            assert!(matches!(found, Error::HeaderParameter { .. }), "{name}: {found}");
        }
        assert!(matches!(refused(&|token| token["aad"] = "QUFE".into()), Error::Authentication));
        assert!(matches!(refused(&|token| token["aad"] = "".into()), Error::Authentication));
        assert!(matches!(refused(&|token| token["aad"] = "=".into()), Error::Format(_)));
        let key = json!({"encrypted_key": "AAAA"});
        for recipients in [json!([]), json!({}), json!(["x"]), json!([key, 7])] {
            assert!(matches!(refused(&|token| token["recipients"] = recipients.clone()), Error::Format(_)));
        }
        assert!(matches!(
            refused(&|token| {
                token["encrypted_key"] = "AAAA".into();
                token["recipients"] = json!([key]);
            }),
            Error::Format(_)
        ));
    }
}

/// A CEK wrapped by AES-GCM has no additional data, like the content of a token without a protected
/// header.
// claim: jwe-key-decides
#[test]
fn a_wrapped_key_is_no_content() {
    let keys = bytes(32);
    let token = compact(b"hello", &keys, "A256GCMKW", "A256GCM");
    let (header, encrypted_key) = (header(&token), token.split('.').nth(1).unwrap());
    let mut attack = json!({
        "unprotected": {"alg": "dir", "enc": "A256GCM"},
        "iv": header["iv"], "ciphertext": encrypted_key, "tag": header["tag"],
    });
    for protected in [None, Some("")] {
        if let Some(protected) = protected {
            attack["protected"] = protected.into();
        }
        let found = keys.decrypt(&attack.to_string(), None);
        assert!(matches!(found, Err(Error::Format(why)) if why.contains("protected")), "{found:?}");
    }
}

// claim: jwe-points
#[test]
fn ephemeral_keys_that_are_refused() {
    let (p256, x25519) = (private(Kind::P256), private(Kind::X25519));
    let tokens = [&p256, &x25519].map(|keys| compact(b"hello", keys, "ECDH-ES", "A256GCM"));
    let points = tokens.each_ref().map(|token| header(token)["epk"].clone());
    let with = |at: usize, epk: Value| {
        let token = with_header(&tokens[at], |header| drop(header.insert("epk".into(), epk)));
        [&p256, &x25519][at].decrypt(&token, None).unwrap_err()
    };
    let changed = |at: usize, name: &str, value: Value| {
        let mut epk: Value = points[at].clone();
        epk[name] = value;
        with(at, epk)
    };
    assert!(matches!(changed(0, "y", points[0]["x"].clone()), Error::Format(_)), "not on the curve");
    assert!(matches!(changed(0, "x", "AAAA".into()), Error::Format(_)), "a short number");
    assert!(matches!(changed(0, "crv", "P-384".into()), Error::Format(_)), "another curve");
    assert!(matches!(changed(0, "d", points[0]["x"].clone()), Error::Format(_)), "a private key");
    assert!(matches!(with(0, points[1].clone()), Error::Format(_)), "the curve of another key");
    assert!(matches!(with(1, points[0].clone()), Error::Format(_)), "the curve of another key");
    assert!(matches!(with(0, Value::Null), Error::Format(_)), "no key");
    assert!(matches!(with(0, "{}".into()), Error::Format(_)), "a text");
    let zero = Base64::encode_string(&[0; 32]);
    assert!(matches!(changed(1, "x", zero.into()), Error::Authentication), "low order");
    for name in ["apu", "apv"] {
        let token = with_header(&tokens[0], |header| drop(header.insert(name.into(), "=".into())));
        assert!(matches!(p256.decrypt(&token, None), Err(Error::Format(_))), "{name}");
    }
}

// claim: jwe-one-error
#[test]
fn every_changed_character_is_refused() {
    let rsa = private(Kind::Rsa2048);
    let gcm = bytes(32);
    for (keys, alg, enc) in
        [(&gcm, "A256KW", "A128CBC-HS256"), (&gcm, "A256GCMKW", "A256GCM"), (&rsa, "RSA-OAEP-256", "A128GCM")]
    {
        let token = compact(b"sixteen bytes ..", keys, alg, enc);
        let start = token.find('.').unwrap() + 1;
        for at in start..token.len() {
            let old = token.as_bytes()[at];
            if old == b'.' {
                continue;
            }
            let mut changed = token.clone().into_bytes();
            changed[at] = if old == b'A' { b'B' } else { b'A' };
            let found = keys.decrypt(str::from_utf8(&changed).unwrap(), None);
            // The last character of a part may have bits that belong to no byte.
            assert!(matches!(found, Err(Error::Authentication | Error::Format(_))), "{alg} {at}");
            let is_last = token.as_bytes().get(at + 1).is_none_or(|next| *next == b'.');
            assert!(is_last || matches!(found, Err(Error::Authentication)), "{alg} {at}");
        }
        let other = with_header(&token, |header| drop(header.insert("typ".into(), "x".into())));
        assert!(matches!(keys.decrypt(&other, None), Err(Error::Authentication)));
    }
    // A wrapped CEK of another length; anybody with the public key can make one.
    let short = compact(b"hello", &rsa, "RSA-OAEP-256", "A128GCM");
    let long = with_header(&short, |header| drop(header.insert("enc".into(), "A256GCM".into())));
    assert!(matches!(rsa.decrypt(&long, None), Err(Error::Authentication)));
}

#[test]
fn the_kid_selects_the_key() {
    let key =
        |kid: &str, byte: u8| json!({"kty": "oct", "kid": kid, "k": Base64::encode_string(&[byte; 32])});
    let set = Keys::parse(&json!({"keys": [key("a", 1), key("b", 2)]}).to_string()).unwrap();
    let (a, b) = (key("a", 1).to_string(), key("b", 2).to_string());
    let (a, b) = (Keys::parse(&a).unwrap(), Keys::parse(&b).unwrap());
    let token = compact(b"hello", &set, "dir", "A256GCM");
    assert_eq!(header(&token)["kid"], "a");
    assert_eq!(*a.decrypt(&token, None).unwrap(), *b"hello");
    assert!(matches!(b.decrypt(&token, None), Err(Error::NoMatchingKey)));
    let options = Options { headers: Some(r#"{"kid":"b"}"#), ..Options::default() };
    let token = jwe::encrypt(b"hello", &[&set], "dir", "A256GCM", options).unwrap();
    assert_eq!(*b.decrypt(&token, None).unwrap(), *b"hello");
    assert_eq!(*set.decrypt(&token, None).unwrap(), *b"hello");
    assert!(matches!(a.decrypt(&token, None), Err(Error::NoMatchingKey)));
    // A key without a kid may be meant by any; the kid is still authenticated.
    let bare = Keys::from(Key::from_bytes(&[2; 32]));
    assert_eq!(*bare.decrypt(&token, None).unwrap(), *b"hello");
    let renamed = with_header(&token, |header| drop(header.insert("kid".into(), "a".into())));
    assert!(matches!(set.decrypt(&renamed, None), Err(Error::Authentication)));
    let options = Options { headers: Some(r#"{"kid":"c"}"#), ..Options::default() };
    let refused = jwe::encrypt(b"hello", &[&set], "dir", "A256GCM", options);
    assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
}

#[test]
fn keyrings_rotate() {
    let mut ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
    let old = compact(b"hello", &Keys::try_from(&ring).unwrap(), "dir", "A256GCM");
    assert_eq!(header(&old)["kid"], ring.primary().id.to_string());
    let first = ring.primary().id;
    ring.rotate().unwrap();
    let keys = Keys::try_from(&ring).unwrap();
    let new = compact(b"hello", &keys, "dir", "A256GCM");
    assert_eq!(header(&new)["kid"], ring.primary().id.to_string());
    for token in [&old, &new] {
        assert_eq!(*keys.decrypt(token, None).unwrap(), *b"hello");
    }
    // The key is for AES-256-GCM, as it stands in the keyring.
    for (alg, enc) in [("A256KW", "A256GCM"), ("dir", "A128CBC-HS256"), ("dir", "A128GCM")] {
        let refused = jwe::encrypt(b"", &[&keys], alg, enc, Options::default());
        assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{alg} {enc}");
    }
    ring.disable(first).unwrap();
    let keys = Keys::try_from(&ring).unwrap();
    assert!(matches!(keys.decrypt(&old, None), Err(Error::NoMatchingKey)));
    let siv = Keyring::generate("aes-256-siv".parse().unwrap(), Prefix::Raw).unwrap();
    assert!(matches!(Keys::try_from(&siv), Err(Error::InKeyring { .. })));
}

#[test]
fn calls_that_are_refused() {
    let keys = bytes(32);
    for (alg, enc) in
        [("none", "A256GCM"), ("dir", "none"), ("RSA1_5", "A256GCM"), ("A256GCM", "dir"), ("", "")]
    {
        let refused = jwe::encrypt(b"", &[&keys], alg, enc, Options::default());
        assert!(matches!(refused, Err(Error::Misuse(Misuse::UnknownName { .. }))), "{alg} {enc}");
    }
    for (alg, enc) in
        [("dir", "A128GCM"), ("dir", "A256CBC-HS512"), ("A128KW", "A256GCM"), ("ECDH-ES", "A256GCM")]
    {
        let refused = jwe::encrypt(b"", &[&keys], alg, enc, Options::default());
        assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{alg} {enc}");
    }
    for headers in [
        "",
        "[]",
        "{",
        r#"{"alg":"dir"}"#,
        r#"{"enc":"A256GCM"}"#,
        r#"{"zip":"DEF"}"#,
        r#"{"crit":[]}"#,
        r#"{"epk":{}}"#,
        r#"{"p2c":1}"#,
        r#"{"p2s":""}"#,
        r#"{"iv":""}"#,
        r#"{"tag":""}"#,
        r#"{"b64":false}"#,
        r#"{"kid":7}"#,
        r#"{"apu":"="}"#,
        r#"{"apv":7}"#,
        r#"{"a":1,"a":1}"#,
    ] {
        let options = Options { headers: Some(headers), ..Options::default() };
        let refused = jwe::encrypt(b"", &[&keys], "dir", "A256GCM", options);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::TokenHeaders))), "{headers}");
    }
}
