//! Tink's keysets, states of keys, and refused input.

use super::*;
use base64ct::Encoding;
use proptest::prelude::*;

/// Made by tink 1.16.1 in Python, one per streaming template.
const MADE_BY_TINK: [(&str, u32, &str); 4] = [
    ("AES128_GCM_HKDF_4KB", 1893034623, "EgcIgCAQEBgDGhCGhTCYiGbppDg3YXZH7uo/"),
    ("AES256_GCM_HKDF_4KB", 244810429, "EgcIgCAQIBgDGiC6cY/LQOZ9sMIpyx4d+kAZJI2lo954+7cSIXRZLN0ggA=="),
    ("AES128_GCM_HKDF_1MB", 622618541, "EggIgIBAEBAYAxoQEJkzHO35VLX1PGHnsZSE/Q=="),
    ("AES256_GCM_HKDF_1MB", 277367629, "EggIgIBAECAYAxog5GY4RgleSFcHuNRjGKkyrrY6cbJCHCm6baSbn9MYLjw="),
];

const STREAMING: &str = "type.googleapis.com/google.crypto.tink.AesGcmHkdfStreamingKey";

/// Returns a key in the layout of Tink's writers.
fn listed(id: u32, type_url: &str, value: &str, status: &str) -> String {
    format!(
        r#"    {{
      "keyData": {{
        "typeUrl": "{type_url}",
        "value": "{value}",
        "keyMaterialType": "SYMMETRIC"
      }},
      "status": "{status}",
      "keyId": {id},
      "outputPrefixType": "RAW"
    }}"#
    )
}

fn document(primary: u32, keys: &[String]) -> String {
    format!("{{\n  \"primaryKeyId\": {primary},\n  \"key\": [\n{}\n  ]\n}}\n", keys.join(",\n"))
}

/// Returns the key identifier in an error, and its source.
fn of_key(result: Result<impl fmt::Debug, Error>) -> (u32, Error) {
    match result {
        Err(Error::InKeyring { id, source }) => (id, *source),
        other => panic!("{other:?}"),
    }
}

fn named(name: &str) -> KeyType {
    name.parse().unwrap()
}

fn generated(key_type: KeyType) -> Keyring {
    Keyring::generate(key_type, Prefix::default_for(&key_type)).unwrap()
}

/// Returns a keyring of `n` keys of AES-256-GCM.
fn ring(n: usize) -> Keyring {
    let mut ring = generated(named("aes-256-gcm"));
    for _ in 1..n {
        ring.add_new(named("aes-256-gcm"), Prefix::Tink).unwrap();
    }
    ring
}

fn ids(ring: &Keyring) -> Vec<u32> {
    ring.keys().map(|info| info.id).collect()
}

#[test]
fn keysets_of_tink_round_trip() {
    for (name, id, value) in MADE_BY_TINK {
        let text = document(id, &[listed(id, STREAMING, value, "ENABLED")]);
        let ring = Keyring::from_json(&text).unwrap();
        let template = TEMPLATES.iter().find(|template| template.name == name).unwrap();
        let (parameters, key) = ring.streaming().next().unwrap();
        assert_eq!((*parameters, key.as_bytes().len()), (template.parameters, template.key_len));
        assert_eq!((ring.primary().id, ring.purpose()), (id, Purpose::Streaming));
        // Ours has the same members and values.
        let ours: serde_json::Value = serde_json::from_str(&ring.to_json()).unwrap();
        let theirs: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(ours, theirs);
    }
}

#[test]
fn accepts_base64_with_the_escapes_of_gson() {
    let (_, id, value) = MADE_BY_TINK[1];
    let escaped = value.replace('=', "\\u003d").replace('/', "\\/");
    let found = Keyring::from_json(&document(id, &[listed(id, STREAMING, &escaped, "ENABLED")])).unwrap();
    let plain = Keyring::from_json(&document(id, &[listed(id, STREAMING, value, "ENABLED")])).unwrap();
    assert_eq!(*found.to_bytes(), *plain.to_bytes());
}

#[test]
fn every_type_round_trips_in_both_formats() {
    for name in KeyType::NAMES {
        let mut ring = generated(named(name));
        assert_eq!(ring.primary().key_type.unwrap().name(), name);
        let second = ring.rotate().unwrap();
        let old = ids(&ring)[0];
        assert_eq!((ring.primary().id, ring.enabled().next().unwrap().id), (second, second));
        ring.disable(old).unwrap();
        let third = ring.add_new(named(name), ring.primary().prefix).unwrap();
        ring.destroy(third).unwrap();
        for again in
            [Keyring::from_json(&ring.to_json()).unwrap(), Keyring::from_bytes(&ring.to_bytes()).unwrap()]
        {
            assert!(again.keys().eq(ring.keys()), "{again:?}");
            assert_eq!(*again.to_bytes(), *ring.to_bytes());
        }
        let states: Vec<_> = ring.keys().map(|info| info.state.name()).collect();
        assert_eq!(states, ["disabled", "enabled", "destroyed"]);
    }
    for salt in 8..12 {
        let short = KeyType::XaesShortSalt(salt);
        let ring = generated(short);
        let again = Keyring::from_bytes(&ring.to_bytes()).unwrap();
        assert_eq!(again.primary().key_type, Some(short));
        assert_eq!(short.name(), "xaes-256-gcm");
    }
    for parameters in
        [Parameters::new(Hash::Sha1, 16, 41).unwrap(), Parameters::new(Hash::Sha512, 32, 1 << 24).unwrap()]
    {
        let ring =
            Keyring::from_key(KeyType::Streaming(parameters), Prefix::Raw, &Key::generate(40).unwrap())
                .unwrap();
        let again = Keyring::from_json(&ring.to_json()).unwrap();
        assert_eq!(again.streaming().next(), ring.streaming().next());
    }
}

#[test]
fn every_prefix_round_trips() {
    let mut ring = ring(1);
    for prefix in Prefix::ALL {
        let id = ring.add_new(named("xchacha20-poly1305"), prefix).unwrap();
        let again = Keyring::from_json(&ring.to_json()).unwrap();
        assert_eq!(again.keys().last().unwrap().prefix, prefix);
        let expected = match prefix.name() {
            "tink" => Some(1),
            "raw" => None,
            _ => Some(0),
        };
        let bytes = prefix.bytes(id);
        assert_eq!(bytes.map(|bytes| bytes[0]), expected);
        assert!(bytes.is_none_or(|bytes| bytes[1..] == id.to_be_bytes()));
    }
}

#[test]
fn states_change_as_asked() {
    let mut ring = ring(3);
    let [a, b, c] = ids(&ring)[..] else { panic!() };
    ring.promote(b).unwrap();
    ring.disable(a).unwrap();
    assert_eq!(ring.enabled().map(|key| key.id).collect::<Vec<_>>(), [b, c]);
    let refused = |result: Result<(), Error>, id: u32, text: &str| {
        let message = result.as_ref().unwrap_err().to_string();
        let (found, source) = of_key(result);
        assert_eq!(found, id);
        assert!(matches!(source, Error::Misuse(Misuse::UnsuitableKey(_))), "{source:?}");
        assert!(message.contains(text) && message.contains(&id.to_string()), "{message}");
    };
    refused(ring.promote(a), a, "found a disabled one");
    refused(ring.disable(b), b, "promote another key first");
    refused(ring.destroy(b), b, "promote another key first");
    ring.enable(a).unwrap();
    ring.promote(a).unwrap();
    ring.destroy(b).unwrap();
    refused(ring.promote(b), b, "destroyed");
    refused(ring.enable(b), b, "destroyed");
    refused(ring.disable(b), b, "destroyed");
    refused(ring.destroy(b), b, "destroyed");
    let unknown = ids(&ring).into_iter().fold(1, |id: u32, other| if id == other { id + 1 } else { id });
    for result in [ring.promote(unknown), ring.enable(unknown), ring.disable(unknown), ring.destroy(unknown)]
    {
        refused(result, unknown, "no key with this identifier");
    }
}

#[test]
fn deleted_keys_are_gone() {
    let mut ring = ring(5);
    let [a, b, c, d, e] = ids(&ring)[..] else { panic!() };
    ring.promote(c).unwrap();
    ring.destroy(a).unwrap();
    ring.disable(e).unwrap();
    // Before and after the primary key, in each state.
    for (id, left) in [(a, vec![b, c, d, e]), (d, vec![b, c, e]), (e, vec![b, c]), (b, vec![c])] {
        ring.delete(id).unwrap();
        assert_eq!((ids(&ring), ring.primary().id), (left, c));
        assert!(Keyring::from_bytes(&ring.to_bytes()).unwrap().keys().eq(ring.keys()));
    }
    for (id, text) in [(c, "promote another key first"), (a, "no key with this identifier")] {
        let (found, source) = of_key(ring.delete(id));
        assert!(found == id && source.to_string().contains(text), "{source}");
    }
    // A destroyed key counts for the limit, a deleted one does not.
    let more = ring.rotate().unwrap();
    ring.delete(c).unwrap();
    assert_eq!((ids(&ring), ring.primary().id), (vec![more], more));
}

#[test]
fn keys_of_another_use_or_length_are_refused() {
    let mut messages = ring(1);
    for name in ["aes-256-siv", "tink-4kb"] {
        let (_, source) = of_key(messages.add_new(named(name), Prefix::Raw));
        assert!(source.to_string().contains("another use"), "{source}");
        let mut other = generated(named(name));
        assert!(other.add_new(named("aes-128-gcm"), Prefix::Raw).is_err());
    }
    let short = Key::generate(16).unwrap();
    let refused = messages.add(named("aes-256-gcm"), Prefix::Tink, &short);
    assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyLength { got: 16, want: &[32] }))));
    let refused = Keyring::from_key(named("tink-1mb"), Prefix::Tink, &Key::generate(32).unwrap());
    assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    for prefix in [Prefix::Crunchy, Prefix::Legacy] {
        for key_type in [named("xaes-256-gcm"), KeyType::XaesShortSalt(8)] {
            let refused = Keyring::generate(key_type, prefix);
            assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{key_type:?}");
        }
    }
    let text = generated(named("xaes-256-gcm")).to_json().replace("TINK", "LEGACY");
    assert!(matches!(of_key(Keyring::from_json(&text)).1, Error::Format(_)));
    for wrong in [KeyType::Aead(Algorithm::Aegis256), KeyType::XaesShortSalt(7), KeyType::XaesShortSalt(12)] {
        assert!(Keyring::generate(wrong, Prefix::Tink).is_err(), "{wrong:?}");
    }
    assert!("aegis-256".parse::<KeyType>().unwrap_err().to_string().contains("aes-256-gcm"));
}

#[test]
fn a_keyring_has_a_limited_number_of_keys() {
    let mut ring = ring(MAX_KEYS);
    assert!(matches!(ring.rotate(), Err(Error::LimitExceeded(_))));
    assert!(ring.to_json().len() < MAX_LEN);
    assert_eq!(Keyring::from_json(&ring.to_json()).unwrap().keys().len(), MAX_KEYS);
    let mut keyset = ring.keyset();
    keyset.key.push(Entry::write(&self::ring(1).keys[0]));
    assert!(matches!(Keyring::from_bytes(&proto::encode(&keyset)), Err(Error::LimitExceeded(_))));
    let long = " ".repeat(MAX_LEN + 1);
    for refused in [Keyring::from_json(&long), Keyring::from_bytes(long.as_bytes())] {
        assert!(matches!(refused, Err(Error::Format(text)) if text.contains("256 KiB")));
    }
    assert!(matches!(Keyring::from_jwk_set(&long), Err(Error::Format(text)) if text.contains("256 KiB")));
}

#[test]
fn keysets_without_a_usable_primary_key_are_refused() {
    let (_, id, value) = MADE_BY_TINK[0];
    let keys = [
        listed(1, STREAMING, value, "DISABLED"),
        r#"{"status":"DESTROYED","keyId":3,"outputPrefixType":"RAW"}"#.into(),
        listed(id, STREAMING, value, "ENABLED"),
    ];
    let ring = Keyring::from_json(&document(id, &keys)).unwrap();
    assert_eq!((ring.keys().len(), ring.enabled().count()), (3, 1));
    for (primary, text) in [(1, "disabled"), (3, "destroyed"), (4, "no key")] {
        let (found, source) = of_key(Keyring::from_json(&document(primary, &keys)));
        assert!(found == primary && source.to_string().contains(text), "{primary} {source}");
    }
    let twice =
        document(id, &[listed(id, STREAMING, value, "ENABLED"), listed(id, STREAMING, value, "DISABLED")]);
    let (found, source) = of_key(Keyring::from_json(&twice));
    assert!(found == id && source.to_string().contains("found two"), "{source}");
}

#[test]
fn rejects_other_texts() {
    let (_, id, value) = MADE_BY_TINK[0];
    let whole = document(id, &[listed(id, STREAMING, value, "ENABLED")]);
    assert!(Keyring::from_json(&whole).is_ok());
    for (from, to) in [
        ("SYMMETRIC", "REMOTE"),
        ("RAW", "TINK"),
        ("RAW", "OTHER"),
        ("ENABLED", "UNKNOWN_STATUS"),
        ("\"keyId\": 1893034623", "\"keyId\": 1893034624"),
        ("7uo/", "7uo"),
        ("7uo/", "+uo_"),
        ("7uo/", "7uo/\\n"),
        ("EgcI", "EgkI"),
    ] {
        assert!(whole.contains(from));
        let (_, source) = of_key(Keyring::from_json(&whole.replacen(from, to, 1)));
        assert!(matches!(source, Error::Format(_)), "{to}: {source:?}");
    }
    for (from, to) in [
        ("\"keyId\": 1893034623", "\"keyId\": -1"),
        ("primaryKeyId", "primary"),
        ("\"primaryKeyId\": 1893034623", "\"primaryKeyId\": 4294967296"),
        ("keyData", "data"),
    ] {
        let refused = Keyring::from_json(&whole.replacen(from, to, 1));
        assert!(matches!(refused, Err(Error::Format(_))), "{to}: {refused:?}");
    }
    let encrypted = r#"{"keysetInfo":{"primaryKeyId":1,"keyInfo":[]},"encryptedKeyset":"AAAA"}"#;
    for text in ["", "{}", "[]", "{\"primaryKeyId\":1}", "{\"primaryKeyId\":1,\"key\":[]}", encrypted] {
        assert!(Keyring::from_json(text).is_err(), "{text}");
    }
    let said = Keyring::from_json(encrypted).unwrap_err().to_string();
    assert!(said.contains("encrypted"), "{said}");
}

#[test]
fn unknown_types_are_named() {
    let (_, id, value) = MADE_BY_TINK[0];
    for (url, name) in [
        ("type.googleapis.com/google.crypto.tink.AesEaxKey", "AesEaxKey"),
        ("type.googleapis.com/google.crypto.tink.", ""),
        ("other", "other"),
    ] {
        // A disabled key too: saving the keyring must not lose it.
        for status in ["ENABLED", "DISABLED"] {
            let keys = [listed(7, url, value, status), listed(id, STREAMING, value, "ENABLED")];
            let (found, source) = of_key(Keyring::from_json(&document(id, &keys)));
            assert_eq!(found, 7);
            assert!(matches!(&source, Error::UnknownKeyType(found) if found == name), "{source:?}");
        }
    }
    let long = format!("type.googleapis.com/{}", "é".repeat(1000));
    let said =
        Keyring::from_json(&document(7, &[listed(7, &long, value, "ENABLED")])).unwrap_err().to_string();
    assert!(said.len() < 300, "{said}");
}

#[test]
fn rejects_malformed_messages() {
    let with = |message: &str| {
        let bytes = hex::decode(message.replace(' ', "")).unwrap();
        let value = base64ct::Base64::encode_string(&bytes);
        match Keyring::from_json(&document(1, &[listed(1, STREAMING, &value, "ENABLED")])) {
            Err(Error::InKeyring { id: 1, source }) => Err(*source),
            other => other,
        }
    };
    let (params, key) = ("120708802010101803", "1a1000112233445566778899aabbccddeeff");
    assert!(with(&format!("{params}{key}")).is_ok());
    assert!(with(&format!("{key}{params}")).is_ok());
    assert!(with(&format!("0800{params}{key}")).is_ok());
    // A number may have leading zeros, but not more than 64 bits.
    let padded = |last: &str| format!("08{}{last}{params}{key}", "80".repeat(9));
    assert!(with(&padded("00")).is_ok());
    assert!(matches!(with(&padded("02")), Err(Error::Format(_))));
    for (message, why) in [
        (format!("0801{params}{key}"), "a later version"),
        (format!("088080808010{params}{key}"), "a version of 2^32"),
        (params.to_string(), "no key"),
        (format!("{params}1a00"), "an empty key"),
        (key.to_string(), "no parameters"),
        (format!("{params}{params}{key}"), "parameters twice"),
        (format!("{params}{key}{key}"), "a key twice"),
        (format!("{params}{key}20"), "a number without a value"),
        (format!("{params}{key}2000"), "an unknown field"),
        (format!("{params}{key}22017f"), "an unknown field of bytes"),
        (format!("{params}{key}00"), "field 0"),
        (format!("{params}{key}fa0f00"), "field 255"),
        (format!("{params}{key}0d00000000"), "a fixed number"),
        (format!("{params}{key}1b1c"), "a group"),
        (format!("{params}1a1100112233445566778899aabbccddeeff"), "a key that ends too early"),
        (format!("{params}1affffffffffffffffff01"), "a length that no memory has"),
        (format!("{params}1affffffffffffffffff02"), "a number of 65 bits"),
        (format!("{params}1affffffffffffffffffff01"), "a number of 11 bytes"),
        (format!("1003{key}"), "parameters that are a number"),
        (format!("120908802010101803{key}2001"), "a field too many among the parameters"),
        (format!("12060880201010{key}"), "parameters that end in a key"),
    ] {
        assert!(matches!(with(&message), Err(Error::Format(_))), "{why}: {:?}", with(&message));
    }
    for (message, why) in [
        (format!("120708802010101802{key}"), "SHA-384"),
        (format!("120508802010 10{key}"), "no hash"),
        (format!("120708802010181803{key}"), "a derived key of 24 bytes"),
        (format!("12060828 10101803{key}"), "segments of 40 bytes"),
    ] {
        let refused = with(&message);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{why}: {refused:?}");
    }
    let long = with(&format!("120908ffffffff0710101803{key}").replace("1209", "120a"));
    assert!(matches!(long, Err(Error::LimitExceeded(_))), "{long:?}");
    let short = with(&format!("{params}1a0f00112233445566778899aabbccddee"));
    assert!(matches!(short, Err(Error::Misuse(Misuse::KeyLength { got: 15, .. }))));
}

/// Keys of the other types: wrong lengths, versions and parameters.
#[test]
fn rejects_malformed_keys_of_messages() {
    let key = |bytes: usize| format!("{bytes:02x}{}", "ab".repeat(bytes));
    for (name, message, ok) in [
        ("AesGcmKey", format!("1a{}", key(16)), true),
        ("AesGcmKey", format!("1a{}", key(32)), true),
        ("AesGcmKey", format!("1a{}", key(24)), false),
        ("AesGcmKey", format!("12{}", key(16)), false),
        ("AesGcmKey", format!("0801 1a{}", key(16)), false),
        ("AesGcmKey", String::new(), false),
        ("AesGcmSivKey", format!("1a{}", key(16)), true),
        ("AesGcmSivKey", format!("1a{}", key(15)), false),
        ("XChaCha20Poly1305Key", format!("1a{}", key(32)), true),
        ("XChaCha20Poly1305Key", format!("1a{}", key(16)), false),
        ("ChaCha20Poly1305Key", format!("12{}", key(32)), true),
        ("ChaCha20Poly1305Key", format!("1a{}", key(32)), false),
        ("AesSivKey", format!("12{}", key(64)), true),
        ("AesSivKey", format!("12{}", key(32)), false),
        ("XAesGcmKey", format!("12020808 1a{}", key(32)), true),
        ("XAesGcmKey", format!("1202080c 1a{}", key(32)), true),
        ("XAesGcmKey", format!("12020807 1a{}", key(32)), false),
        ("XAesGcmKey", format!("1202080d 1a{}", key(32)), false),
        ("XAesGcmKey", format!("120308 8802 1a{}", key(32)), false),
        ("XAesGcmKey", format!("1202080c 1a{}", key(16)), false),
        ("XAesGcmKey", format!("1a{}", key(32)), false),
    ] {
        let bytes = hex::decode(message.replace(' ', "")).unwrap();
        let value = base64ct::Base64::encode_string(&bytes);
        let url = format!("type.googleapis.com/google.crypto.tink.{name}");
        let found = Keyring::from_json(&document(1, &[listed(1, &url, &value, "ENABLED")]));
        assert_eq!(found.is_ok(), ok, "{name} {message}: {found:?}");
        if let Err(error) = found {
            assert!(!error.to_string().contains("abab"));
            assert_eq!(of_key(Err::<(), _>(error)).0, 1);
        }
    }
}

#[test]
fn rejects_other_binary_keysets() {
    let mut ring = ring(2);
    // Otherwise, the first key alone is a keyset.
    ring.promote(ids(&ring)[1]).unwrap();
    let whole = ring.to_bytes();
    assert!(Keyring::from_bytes(&whole).is_ok());
    for cut in 0..whole.len() {
        assert!(Keyring::from_bytes(&whole[..cut]).is_err(), "{cut}");
    }
    for more in ["00", "0801", "1800", "1a00", "12", "1205", "2200"] {
        let more = hex::decode(more).unwrap();
        assert!(Keyring::from_bytes(&[&whole[..], &more].concat()).is_err(), "{more:?}");
    }
    // An `EncryptedKeyset` has other fields.
    assert!(Keyring::from_bytes(&hex::decode("1204deadbeef").unwrap()).is_err());
}

#[test]
fn jwk_sets_in_and_out() {
    let set = r#"{"keys":[
        {"kty":"RSA","n":"AQAB"},
        {"kty":"oct","kid":"7","alg":"A128GCM","k":"GawgguFyGrWKav7AX4VKUg"},
        {"kty":"oct","kid":"2026-11","use":"enc","k":"AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"}]}"#;
    let mut ring = Keyring::from_jwk_set(set).unwrap();
    let [first, second] = ids(&ring)[..] else { panic!() };
    assert_eq!((ring.primary().id, first), (7, 7));
    assert!(ring.keys().all(|info| info.prefix == Prefix::Raw));
    ring.promote(second).unwrap();
    let text = ring.to_jwk_set().unwrap();
    let again = Keyring::from_jwk_set(&text).unwrap();
    assert_eq!((again.primary().id, ids(&again)), (second, vec![second, first]));
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["keys"][1]["k"], "GawgguFyGrWKav7AX4VKUg");
    assert_eq!(
        (&document["keys"][0]["alg"], &document["keys"][0]["use"]),
        (&"A256GCM".into(), &"enc".into())
    );
    ring.disable(first).unwrap();
    assert_eq!(Keyring::from_jwk_set(&ring.to_jwk_set().unwrap()).unwrap().keys().len(), 1);
    // One key without a set.
    assert_eq!(
        Keyring::from_jwk_set(r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#).unwrap().keys().len(),
        1
    );
    for (text, why) in [
        (r#"{"keys":[]}"#, "found none"),
        (r#"{"keys":[{"kty":"RSA","n":"AQAB"}]}"#, "found none"),
        (r#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "another length"),
        (r#"{"keys":[{"kty":"oct","alg":"A256GCM","k":"GawgguFyGrWKav7AX4VKUg"}]}"#, "another alg"),
        (r#"{"keys":[{"kty":"oct","alg":"HS256","k":"GawgguFyGrWKav7AX4VKUg"}]}"#, "another alg"),
        (&set.replace("2026-11", "7"), "key 7 of the keyring"),
        ("{}", "JSON Web Key"),
    ] {
        let said = Keyring::from_jwk_set(text).unwrap_err().to_string();
        assert!(said.contains(why), "{text}: {said}");
    }
    let other = generated(named("xchacha20-poly1305"));
    let (id, source) = of_key(other.to_jwk_set());
    assert!(id == other.primary().id && source.to_string().contains("AES-GCM keys only"));
}

#[test]
fn nothing_shows_a_secret() {
    let key = Key::from_bytes(&[0xab; 32]);
    let ring = Keyring::from_key(named("aes-256-gcm"), Prefix::Tink, &key).unwrap();
    let mut shown = format!("{ring:?} {:?}", ring.keyset());
    for name in KeyType::NAMES {
        let key_type = named(name);
        let key = Key::from_bytes(&vec![0xab; key_type.key_len()]);
        shown += &format!("{:?}", Keyring::from_key(key_type, Prefix::Raw, &key).unwrap().keyset());
    }
    assert!(!shown.contains("171, 171") && !shown.contains("abab") && !shown.contains("q6ur"), "{shown}");
    assert!(shown.contains("KeyData("));
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        prop_assert!(Keyring::from_json(&text).is_err());
        let _ = Keyring::from_jwk_set(&text);
    }

    #[test]
    fn no_message_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let value = base64ct::Base64::encode_string(&bytes);
        for name in ["AesGcmHkdfStreamingKey", "AesGcmKey", "XAesGcmKey", "AesSivKey"] {
            let url = format!("type.googleapis.com/google.crypto.tink.{name}");
            let _ = Keyring::from_json(&document(1, &[listed(1, &url, &value, "ENABLED")]));
        }
        let _ = Keyring::from_bytes(&bytes);
    }
}
