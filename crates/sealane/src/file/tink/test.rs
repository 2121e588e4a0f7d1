//! Published messages of the format, and files and keysets that are refused.

use super::cipher::Tink;
use super::parameters::TAG_LEN;
use super::*;
use crate::engine::pipeline::{ChunkCipher, open_chunks, seal_chunks};
use crate::engine::prefix::{Parsed, Prefix};
use crate::{Error, Key, Misuse};
use proptest::prelude::*;
use vectors::TinkHash;

/// Returns parameters for segments of 64 bytes. The first has 24 bytes of plaintext, the others 48.
fn small() -> Parameters {
    Parameters::new(Hash::Sha256, 16, 64).unwrap()
}

fn key(len: usize) -> Key {
    Key::from_bytes(&(0..len as u8).collect::<Vec<_>>())
}

fn seal(tink: &Tink, header: &[u8], plain: &[u8]) -> Vec<u8> {
    let plan = tink.layout().plan_plain(plain.len() as u64).unwrap();
    let mut file = vec![0; plan.sealed_len() as usize];
    file[..header.len()].copy_from_slice(header);
    for job in (0..plan.jobs()).map(|at| plan.job(at)) {
        let span = |range: &std::ops::Range<u64>| range.start as usize..range.end as usize;
        seal_chunks(tink, &job, &plain[span(&job.plain)], &mut file[span(&job.sealed)]).unwrap();
    }
    file
}

fn open_with(tink: &dyn ChunkCipher, file: &[u8]) -> Result<Vec<u8>, Error> {
    let plan = tink.layout().plan_sealed(file.len() as u64)?;
    let mut plain = vec![0; plan.plain_len as usize];
    for job in (0..plan.jobs()).map(|at| plan.job(at)) {
        let span = |range: &std::ops::Range<u64>| range.start as usize..range.end as usize;
        open_chunks(tink, &job, &file[span(&job.sealed)], &mut plain[span(&job.plain)])?;
    }
    Ok(plain)
}

fn encrypt(parameters: &Parameters, key: &Key, aad: &[u8], plain: &[u8]) -> Vec<u8> {
    let (tink, header) = Tink::create(parameters, key, aad).unwrap();
    seal(&tink, &header, plain)
}

fn decrypt(parameters: &Parameters, key: &Key, aad: &[u8], file: &[u8]) -> Result<Vec<u8>, Error> {
    let header = file.get(..parameters.header_len()).ok_or(Error::Truncated)?;
    open_with(&Tink::open(parameters, key, aad, header)?, file)
}

fn decrypt_keyset(keyset: &Keyset, aad: &[u8], file: &[u8]) -> Result<Vec<u8>, Error> {
    match keyset.find(aad, file, Prefix::Whole)? {
        Parsed::Ready(keys) => open_with(&*keys, file),
        Parsed::NeedsMore(_) => panic!("there is no more"),
    }
}

#[test]
fn published_messages() {
    for case in vectors::tink() {
        let hash = match case.hash {
            TinkHash::Sha1 => Hash::Sha1,
            TinkHash::Sha256 => Hash::Sha256,
            TinkHash::Sha512 => Hash::Sha512,
        };
        let parameters = Parameters::new(hash, case.derived_len, case.segment_len).unwrap();
        let key = Key::from_bytes(&case.key);
        let plain = decrypt(&parameters, &key, &case.aad, &case.ciphertext).unwrap();
        assert_eq!(plain, case.plaintext, "{} {}", case.file, case.id);
        // And written again under the same header.
        let header = &case.ciphertext[..parameters.header_len()];
        let tink = Tink::open(&parameters, &key, &case.aad, header).unwrap();
        assert_eq!(seal(&tink, header, &plain), case.ciphertext, "{} {}", case.file, case.id);
    }
}

#[test]
fn round_trip_at_every_length() {
    let plain: Vec<u8> = (0..=255).cycle().take(400).collect();
    for hash in [Hash::Sha1, Hash::Sha256, Hash::Sha512] {
        for (derived_len, segment_len) in [(16, 41), (16, 64), (32, 57), (32, 64), (32, 100)] {
            let parameters = Parameters::new(hash, derived_len, segment_len).unwrap();
            for len in 0..plain.len() {
                let file = encrypt(&parameters, &key(32), b"context", &plain[..len]);
                let found = decrypt(&parameters, &key(32), b"context", &file).unwrap();
                assert_eq!(found, plain[..len]);
            }
        }
    }
}

#[test]
fn round_trip_around_the_segments_of_the_templates() {
    for template in &TEMPLATES {
        let key = key(template.key_len);
        let (chunk, header) = (template.parameters.segment_len() - TAG_LEN, template.parameters.header_len());
        let first = chunk - header;
        for len in [0, 1, first - 1, first, first + 1, first + chunk - 1, first + chunk, first + chunk + 1] {
            let plain = vec![len as u8; len];
            let file = encrypt(&template.parameters, &key, b"", &plain);
            let segments = if len <= first { 1 } else { 1 + (len - first).div_ceil(chunk) };
            assert_eq!(file.len(), header + len + TAG_LEN * segments, "{} {len}", template.name);
            assert!(decrypt(&template.parameters, &key, b"", &file).unwrap() == plain);
        }
    }
}

#[test]
fn finds_templates_by_key_length() {
    for template in &TEMPLATES {
        let segment = if template.name.ends_with("4KB") { Segment::Kb4 } else { Segment::Mb1 };
        assert_eq!(Template::for_key(segment, &key(template.key_len)).unwrap(), template);
    }
    let refused = Template::for_key(Segment::Mb1, &key(24));
    assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyLength { got: 24, want: &[16, 32] }))));
}

#[test]
fn rejects_every_truncation_and_change() {
    for len in [0, 1, 24, 25, 24 + 48, 24 + 49, 24 + 96] {
        let file = encrypt(&small(), &key(16), b"", &vec![7; len]);
        for cut in 0..file.len() {
            let result = decrypt(&small(), &key(16), b"", &file[..cut]);
            assert!(
                matches!(result, Err(Error::Truncated | Error::Authentication | Error::DamagedChunk { .. })),
                "{len} {cut}: {result:?}"
            );
        }
        for at in 0..file.len() {
            let mut other = file.clone();
            other[at] ^= 1;
            match decrypt(&small(), &key(16), b"", &other) {
                Err(Error::Format(_)) => assert_eq!(at, 0),
                Err(Error::Authentication) => assert_ne!(at, 0),
                // The first segment is good, so the key is.
                Err(Error::DamagedChunk { index, .. }) => assert_eq!(index as usize, at / 64),
                other => panic!("{len} {at}: {other:?}"),
            }
        }
        for more in [&[0][..], &[0; 17], &[0; 64], &file] {
            assert!(decrypt(&small(), &key(16), b"", &[&file, more].concat()).is_err());
        }
        assert!(matches!(decrypt(&small(), &key(16), b"x", &file), Err(Error::Authentication)));
        let other = Key::from_bytes(&[9; 16]);
        assert!(matches!(decrypt(&small(), &other, b"", &file), Err(Error::Authentication)));
    }
}

#[test]
fn rejects_moved_segments() {
    let file = encrypt(&small(), &key(16), b"", &[7; 24 + 4 * 48]);
    assert_eq!(file.len(), 5 * 64);
    let segments: Vec<_> = file.chunks(64).collect();
    for (order, whole) in [
        (&[0, 1, 2, 3, 4][..], true),
        (&[0, 2, 1, 3, 4], false),
        (&[0, 1, 2, 4, 3], false),
        (&[0, 1, 1, 3, 4], false),
        (&[0, 1, 2, 3, 4, 4], false),
        (&[0, 1, 2, 3], false),
        (&[0, 1, 4], false),
        (&[0], false),
    ] {
        let file: Vec<u8> = order.iter().flat_map(|at| segments[*at].to_vec()).collect();
        assert_eq!(decrypt(&small(), &key(16), b"", &file).is_ok(), whole, "{order:?}");
    }
}

#[test]
fn rejects_invalid_parameters() {
    for (derived_len, segment_len) in [(16, 40), (32, 56), (24, 4096), (0, 4096), (16, 0)] {
        let refused = Parameters::new(Hash::Sha256, derived_len, segment_len);
        assert!(
            matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))),
            "{derived_len} {segment_len}"
        );
    }
    for segment_len in [(1 << 24) + 1, usize::MAX] {
        assert!(matches!(Parameters::new(Hash::Sha256, 16, segment_len), Err(Error::LimitExceeded(_))));
    }
    for (derived_len, got) in [(16, 15), (32, 31), (32, 16), (16, 0)] {
        let parameters = Parameters::new(Hash::Sha256, derived_len, 4096).unwrap();
        match Tink::create(&parameters, &key(got), b"") {
            Err(Error::Misuse(Misuse::KeyLength { got: said, want })) => {
                assert_eq!((said, want[0]), (got, parameters.derived_len()));
            }
            other => panic!("{other:?}"),
        }
    }
}

// ---- keysets ------------------------------------------------------------------------------------------------------

/// Made by tink 1.16.1 in Python, one for each template.
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

#[test]
fn keysets_of_tink_round_trip() {
    for (name, id, value) in MADE_BY_TINK {
        let keyset = Keyset::from_json(&document(id, &[listed(id, STREAMING, value, "ENABLED")])).unwrap();
        let template = TEMPLATES.iter().find(|template| template.name == name).unwrap();
        let (parameters, key) = keyset.primary();
        assert_eq!((*parameters, key.as_bytes().len()), (template.parameters, template.key_len));
        // Ours has the same members and values.
        let ours: serde_json::Value = serde_json::from_str(&keyset.to_json()).unwrap();
        let theirs: serde_json::Value =
            serde_json::from_str(&document(id, &[listed(id, STREAMING, value, "ENABLED")])).unwrap();
        assert_eq!(ours, theirs);
        assert_eq!(format!("{keyset:?}"), "Keyset(1 AES-GCM-HKDF streaming keys)");
    }
}

#[test]
fn accepts_base64_with_the_escapes_of_gson() {
    let (_, id, value) = MADE_BY_TINK[1];
    let escaped = value.replace('=', "\\u003d").replace('/', "\\/");
    let keyset = Keyset::from_json(&document(id, &[listed(id, STREAMING, &escaped, "ENABLED")])).unwrap();
    let plain = Keyset::from_json(&document(id, &[listed(id, STREAMING, value, "ENABLED")])).unwrap();
    assert_eq!(keyset.primary().1.as_bytes(), plain.primary().1.as_bytes());
}

#[test]
fn the_primary_key_encrypts_and_every_enabled_one_decrypts() {
    let all = MADE_BY_TINK.map(|(_, id, value)| listed(id, STREAMING, value, "ENABLED"));
    let keyset = Keyset::from_json(&document(MADE_BY_TINK[2].1, &all)).unwrap();
    assert_eq!(keyset.len(), 4);
    assert_eq!(keyset.primary().0, &TEMPLATES[2].parameters);
    for (_, id, value) in MADE_BY_TINK {
        let one = Keyset::from_json(&document(id, &[listed(id, STREAMING, value, "ENABLED")])).unwrap();
        let (first, chunk) = (
            one.primary().0.segment_len() - one.primary().0.header_len() - TAG_LEN,
            one.primary().0.segment_len() - TAG_LEN,
        );
        for len in [0, 1, first - 1, first, first + 1, first + chunk, first + chunk + 1] {
            let plain = vec![1; len];
            let (tink, header) = one.create(b"aad").unwrap();
            let file = seal(&tink, &header, &plain);
            assert!(decrypt_keyset(&keyset, b"aad", &file).unwrap() == plain);
            assert!(matches!(decrypt_keyset(&keyset, b"other", &file), Err(Error::NoMatchingKey)));
            // A single key is not tested before the first segment.
            assert!(matches!(decrypt_keyset(&one, b"other", &file), Err(Error::Authentication)));
            asks_for_enough(&keyset, &file);
        }
    }
}

/// Checks that a reader which supplies the requested number of bytes finds the same key.
fn asks_for_enough(keyset: &Keyset, file: &[u8]) {
    let mut len = 0;
    loop {
        let extent = if len < file.len() { Prefix::Partial } else { Prefix::Whole };
        match keyset.find(b"aad", &file[..len.min(file.len())], extent).unwrap() {
            Parsed::Ready(keys) => {
                open_with(&*keys, file).unwrap();
                return;
            }
            Parsed::NeedsMore(more) => {
                assert!(more > len && len < file.len(), "{len} {more}");
                len = more;
            }
        }
    }
}

#[test]
fn first_segment_may_end_with_the_file() {
    let all = MADE_BY_TINK.map(|(_, id, value)| listed(id, STREAMING, value, "ENABLED"));
    let keyset = Keyset::from_json(&document(MADE_BY_TINK[0].1, &all)).unwrap();
    let first = 4096 - 24 - TAG_LEN;
    let (tink, header) = keyset.create(b"aad").unwrap();
    let (whole, longer) = (seal(&tink, &header, &vec![1; first]), seal(&tink, &header, &vec![1; first + 1]));
    // With 4096 bytes a key can be chosen only if it is known whether more bytes follow.
    assert!(matches!(keyset.find(b"aad", &longer[..4096], Prefix::Partial), Ok(Parsed::NeedsMore(_))));
    assert!(matches!(keyset.find(b"aad", &longer[..4097], Prefix::Partial), Ok(Parsed::Ready(_))));
    assert!(matches!(keyset.find(b"aad", &whole, Prefix::Whole), Ok(Parsed::Ready(_))));
    assert!(matches!(keyset.find(b"aad", &longer[..4096], Prefix::Whole), Err(Error::NoMatchingKey)));
    assert!(matches!(keyset.find(b"aad", &whole[..10], Prefix::Whole), Err(Error::Truncated)));
}

#[test]
fn ignores_disabled_and_destroyed_keys() {
    let (_, id, value) = MADE_BY_TINK[0];
    let keys = [
        listed(1, STREAMING, "AAAA", "DISABLED"),
        listed(2, "type.googleapis.com/google.crypto.tink.AesGcmKey", value, "DISABLED"),
        r#"{"status":"DESTROYED","keyId":3,"outputPrefixType":"RAW"}"#.into(),
        listed(id, STREAMING, value, "ENABLED"),
    ];
    assert_eq!(Keyset::from_json(&document(id, &keys)).unwrap().len(), 1);
    for primary in [1, 2, 3, 4] {
        assert!(matches!(Keyset::from_json(&document(primary, &keys)), Err(Error::Format(_))));
    }
}

#[test]
fn rejects_other_texts() {
    let (_, id, value) = MADE_BY_TINK[0];
    let whole = document(id, &[listed(id, STREAMING, value, "ENABLED")]);
    assert!(Keyset::from_json(&whole).is_ok());
    for (from, to) in [
        ("AesGcmHkdfStreamingKey", "AesCtrHmacStreamingKey"),
        ("SYMMETRIC", "REMOTE"),
        ("RAW", "TINK"),
        ("ENABLED", "UNKNOWN_STATUS"),
        ("\"keyId\": 1893034623", "\"keyId\": 1893034624"),
        ("\"keyId\": 1893034623", "\"keyId\": -1"),
        ("primaryKeyId", "primary"),
        ("\"primaryKeyId\": 1893034623", "\"primaryKeyId\": 4294967296"),
        ("keyData", "data"),
        ("7uo/", "7uo"),
        ("7uo/", "7uo_"),
        ("7uo/", "7uo/\\n"),
        ("EgcI", "EgkI"),
    ] {
        assert!(whole.contains(from));
        let refused = Keyset::from_json(&whole.replacen(from, to, 1));
        assert!(matches!(refused, Err(Error::Format(_))), "{to}: {refused:?}");
    }
    let twice =
        document(id, &[listed(id, STREAMING, value, "ENABLED"), listed(id, STREAMING, value, "ENABLED")]);
    let encrypted = r#"{"keysetInfo":{"primaryKeyId":1,"keyInfo":[]},"encryptedKeyset":"AAAA"}"#;
    for text in ["", "{}", "[]", "{\"primaryKeyId\":1}", "{\"primaryKeyId\":1,\"key\":[]}", &twice, encrypted]
    {
        assert!(matches!(Keyset::from_json(text), Err(Error::Format(_))), "{text}");
    }
    let said = Keyset::from_json(encrypted).unwrap_err().to_string();
    assert!(said.contains("encrypted"), "{said}");
}

#[test]
fn rejects_malformed_messages() {
    let with = |message: &str| {
        let bytes = hex::decode(message).unwrap();
        let value = <base64ct::Base64 as base64ct::Encoding>::encode_string(&bytes);
        Keyset::from_json(&document(1, &[listed(1, STREAMING, &value, "ENABLED")]))
    };
    let (params, key) = ("120708802010101803", "1a1000112233445566778899aabbccddeeff");
    assert!(with(&format!("{params}{key}")).is_ok());
    assert!(with(&format!("{key}{params}")).is_ok());
    assert!(with(&format!("0800{params}{key}")).is_ok());
    // A number can have leading zeros, but not more than 64 bits.
    let padded = |last: &str| format!("08{}{last}{params}{key}", "80".repeat(9));
    assert!(with(&padded("00")).is_ok());
    assert!(matches!(with(&padded("02")), Err(Error::Format(_))));
    for (message, why) in [
        (format!("0801{params}{key}"), "a later version"),
        (params.to_string(), "no key"),
        (key.to_string(), "no parameters"),
        (format!("{params}{params}{key}"), "parameters twice"),
        (format!("{params}{key}{key}"), "a key twice"),
        (format!("{params}{key}20"), "a number without a value"),
        (format!("{params}{key}2000"), "an unknown field"),
        (format!("{params}{key}22017f"), "an unknown field of bytes"),
        (format!("{params}{key}00"), "field 0"),
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
        (format!("120508802010 10{key}").replace(' ', ""), "no hash"),
        (format!("120708802010181803{key}"), "a derived key of 24 bytes"),
        (format!("12060828 10101803{key}").replace(' ', ""), "segments of 40 bytes"),
    ] {
        assert!(
            matches!(with(&message), Err(Error::Misuse(Misuse::UnsuitableKey(_)))),
            "{why}: {:?}",
            with(&message)
        );
    }
    let long = with(&format!("120908ffffffff0710101803{key}").replace("1209", "120a"));
    assert!(matches!(long, Err(Error::LimitExceeded(_))), "{long:?}");
    let short = with(&format!("{params}1a0f00112233445566778899aabbccddee"));
    assert!(matches!(short, Err(Error::Misuse(Misuse::KeyLength { got: 15, .. }))));
}

#[test]
fn keyset_of_one_key_round_trips() {
    for template in &TEMPLATES {
        let keyset = Keyset::from_key(template.parameters, &key(template.key_len)).unwrap();
        let read = Keyset::from_json(&keyset.to_json()).unwrap();
        assert_eq!(read.primary().0, &template.parameters);
        assert_eq!(read.primary().1.as_bytes(), key(template.key_len).as_bytes());
    }
    assert!(Keyset::from_key(TEMPLATES[1].parameters, &key(16)).is_err());
}

proptest! {
    #[test]
    fn no_text_panics(text in ".*") {
        prop_assert!(Keyset::from_json(&text).is_err());
    }

    #[test]
    fn no_message_panics(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        let value = <base64ct::Base64 as base64ct::Encoding>::encode_string(&bytes);
        let _ = Keyset::from_json(&document(1, &[listed(1, STREAMING, &value, "ENABLED")]));
    }
}
