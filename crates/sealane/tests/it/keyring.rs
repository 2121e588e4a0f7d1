//! Keyrings: messages with prefixes, and files of several keys.

use sealane::file::{
    self, DecryptParams, DecryptWith, EncryptParams, EncryptWith, Format, RangeDecryptor, Reader,
};
use sealane::keys::{KeyType, Keyring, Prefix};
use sealane::{Aead, Algorithm, Error, InOut, Key, KeyringAead, KeyringDeterministicAead, Misuse, Provider};

const AEADS: [&str; 7] = [
    "aes-256-gcm",
    "aes-128-gcm",
    "aes-256-gcm-siv",
    "aes-128-gcm-siv",
    "chacha20-poly1305",
    "xchacha20-poly1305",
    "xaes-256-gcm",
];

fn named(name: &str) -> KeyType {
    name.parse().unwrap()
}

/// Returns a keyring with a key of each type that seals messages, with each prefix.
fn every_key() -> Keyring {
    let mut ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let short = (8..12).map(KeyType::XaesShortSalt);
    for key_type in AEADS.map(named).into_iter().chain(short) {
        let is_xaes = key_type.name() == "xaes-256-gcm";
        // Tink has no keys of XAES-256-GCM with the other prefixes.
        for prefix in
            Prefix::ALL.into_iter().filter(|prefix| !is_xaes || matches!(prefix, Prefix::Tink | Prefix::Raw))
        {
            ring.add_new(key_type, prefix).unwrap();
        }
    }
    ring
}

fn prefix(first: u8, id: u32) -> Vec<u8> {
    [&[first][..], &id.to_be_bytes()].concat()
}

#[test]
fn every_enabled_key_opens_what_it_sealed() {
    let mut ring = every_key();
    let mut sealed = Vec::new();
    for info in ring.keys().collect::<Vec<_>>() {
        ring.promote(info.id).unwrap();
        let aead = KeyringAead::new(&ring).unwrap();
        let message = aead.seal(b"hello", b"aad").unwrap();
        assert_eq!(message.len(), 5 + aead.overhead());
        match info.prefix {
            Prefix::Tink => assert!(message.starts_with(&prefix(1, info.id))),
            Prefix::Crunchy | Prefix::Legacy => assert!(message.starts_with(&prefix(0, info.id))),
            _ => assert_eq!(aead.head_len(), aead.primary().nonce_len()),
        }
        let mut out = vec![0; message.len() + 7];
        assert_eq!(aead.seal_into(b"hello", &mut out, b"aad").unwrap(), message.len());
        sealed.extend([message, out[..out.len() - 7].to_vec()]);
        let short = aead.seal_into(b"hello", &mut out[..20], b"");
        assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { .. }))));
    }
    let aead = KeyringAead::new(&ring).unwrap();
    for message in &sealed {
        assert_eq!(aead.open(message, b"aad").unwrap(), b"hello");
        assert!(matches!(aead.open(message, b"other"), Err(Error::Authentication)));
        for cut in [0, 4, 5, 17, message.len() - 1] {
            assert!(matches!(aead.open(&message[..cut], b"aad"), Err(Error::Authentication)));
        }
        for at in 0..message.len() {
            let mut changed = message.clone();
            changed[at] ^= 1;
            assert!(matches!(aead.open(&changed, b"aad"), Err(Error::Authentication)), "byte {at}");
        }
    }
    let references: Vec<_> = sealed.iter().map(|message| &message[..]).collect();
    assert!(
        aead.open_many(&references, Some(&vec![&b"aad"[..]; sealed.len()]))
            .unwrap()
            .iter()
            .all(|m| m == b"hello")
    );
}

#[test]
fn disabled_and_destroyed_keys_open_nothing() {
    let mut ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let first = ring.primary().id;
    let old = KeyringAead::new(&ring).unwrap().seal(b"old", b"").unwrap();
    ring.rotate().unwrap();
    let opens = |ring: &Keyring| KeyringAead::new(ring).unwrap().open(&old, b"").is_ok();
    assert!(opens(&ring));
    ring.disable(first).unwrap();
    assert!(!opens(&ring));
    ring.enable(first).unwrap();
    assert!(opens(&ring));
    ring.destroy(first).unwrap();
    assert!(!opens(&ring));
}

/// With the prefix RAW, a keyring opens what the key sealed without a keyring, and the reverse.
#[test]
fn raw_keys_and_plain_keys_agree() {
    for name in AEADS {
        let algorithm = Algorithm::from_name(name).unwrap();
        let key = Key::generate(algorithm.key_len()).unwrap();
        let mut ring = Keyring::from_key(named(name), Prefix::Raw, &key).unwrap();
        let (plain, raw) = (Aead::new(algorithm, &key).unwrap(), KeyringAead::new(&ring).unwrap());
        assert_eq!(raw.open(&plain.seal(b"hello", b"aad").unwrap(), b"aad").unwrap(), b"hello");
        assert_eq!(plain.open(&raw.seal(b"hello", b"aad").unwrap(), b"aad").unwrap(), b"hello");
        // Without its prefix, a message of a key is a message of the same key.
        let id = ring.add(named(name), Prefix::Tink, &key).unwrap();
        ring.promote(id).unwrap();
        let sealed = KeyringAead::new(&ring).unwrap().seal(b"hello", b"aad").unwrap();
        assert_eq!(plain.open(&sealed[5..], b"aad").unwrap(), b"hello");
    }
}

/// A message of a RAW key that begins with the prefix of another key is found by trying.
#[test]
fn a_raw_message_can_begin_like_a_prefix() {
    let key = Key::generate(32).unwrap();
    let mut ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let id = ring.primary().id;
    ring.add(named("aes-256-gcm"), Prefix::Raw, &key).unwrap();
    let nonce = [&prefix(1, id)[..], &[7; 7]].concat();
    let body = Aead::new(Algorithm::Aes256Gcm, &key).unwrap().encrypt(&nonce, b"hello", b"").unwrap();
    let sealed = [nonce, body].concat();
    let aead = KeyringAead::new(&ring).unwrap();
    assert!(aead.only_candidate(&sealed).is_none());
    assert_eq!(aead.open(&sealed, b"").unwrap(), b"hello");
}

#[test]
fn batches_agree_with_single_messages() {
    let mut ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    ring.add_new(named("xaes-256-gcm"), Prefix::Raw).unwrap();
    let aead = KeyringAead::new(&ring).unwrap();
    let messages: Vec<Vec<u8>> = (0..300).map(|len| vec![len as u8; len]).collect();
    let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
    let aads: Vec<&[u8]> = messages.iter().map(|message| &message[..message.len() / 2]).collect();
    let sealed = aead.seal_many(&messages, Some(&aads)).unwrap();
    let mut references: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
    assert!(sealed.iter().zip(&aads).zip(&messages).all(|((s, a), m)| aead.open(s, a).unwrap() == *m));
    assert_eq!(aead.open_many(&references, Some(&aads)).unwrap(), messages);
    let few = aead.open_many(&references, Some(&aads[1..]));
    assert!(matches!(few, Err(Error::Misuse(Misuse::CountPerMessage { .. }))));
    // Under another key of the ring, and damaged.
    ring.promote(ring.keys().last().unwrap().id).unwrap();
    let other = KeyringAead::new(&ring).unwrap();
    let raw = other.seal(messages[9], aads[9]).unwrap();
    references[9] = &raw;
    assert_eq!(other.open_many(&references, Some(&aads)).unwrap(), messages);
    references[11] = b"too short";
    for aead in [&aead, &other] {
        let refused = aead.open_many(&references, Some(&aads));
        assert!(matches!(refused, Err(Error::InBatch { index: 11, .. })), "{refused:?}");
    }
    assert!(aead.open_many(&[], None).unwrap().is_empty());

    let (data, offsets) = (b"xxonetwo", [2_i32, 5, 8, 8]);
    for aad in [&b""[..], b"column"] {
        let (packed, ends) = other.seal_packed(data, &offsets, aad).unwrap();
        assert_eq!(ends, [0, 43, 86, 126]);
        assert_eq!(other.open_packed(&packed, &ends, aad).unwrap(), (b"onetwo".to_vec(), vec![0, 3, 6, 6]));
        assert_eq!(aead.open_packed(&packed, &ends, aad).unwrap().1, [0, 3, 6, 6]);
        let (mut packed, ends) = aead.seal_packed(data, &offsets.map(i64::from), aad).unwrap();
        assert_eq!(ends, [0, 36, 72, 105]);
        assert_eq!(aead.open_packed(&packed, &ends, aad).unwrap().0, b"onetwo");
        packed[50] ^= 1;
        for ring in [&aead, &other] {
            assert!(matches!(ring.open_packed(&packed, &ends, aad), Err(Error::InBatch { index: 1, .. })));
        }
    }
    assert!(aead.seal_packed(data, &[0_i32, 9], b"").is_err());
    assert!(aead.open_packed(data, &[3_i32, 2], b"").is_err());
}

#[test]
fn keyrings_of_another_use_have_no_messages() {
    for name in ["aes-256-siv", "tink-4kb"] {
        let ring = Keyring::generate(named(name), Prefix::Raw).unwrap();
        assert!(matches!(KeyringAead::new(&ring), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    }
    let ring = Keyring::generate(named("aes-256-siv"), Prefix::Tink).unwrap();
    assert!(EncryptWith::keyring(&ring, b"").is_err() && DecryptWith::keyring(&ring, b"").is_err());
    let ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let aead = KeyringAead::with_provider(&ring, Some(Provider::RustCrypto)).unwrap();
    assert_eq!(aead.primary().provider(), Provider::RustCrypto);
    assert!(!format!("{aead:?}").is_empty());
}

// claim: message-limit
#[test]
fn the_messages_of_a_key_are_counted() {
    let key = Key::generate(32).unwrap();
    for &algorithm in Algorithm::ALL {
        let aead = Aead::new(algorithm, &Key::generate(algorithm.key_len()).unwrap()).unwrap();
        aead.seal(b"", b"").unwrap();
        // AES-GCM-SIV has nonces of 96 bits too, and may repeat one.
        let limited = ["aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305"];
        let counted = limited.contains(&algorithm.name()).then_some(1);
        assert_eq!(aead.sealed_messages(), counted, "{}", algorithm.name());
        assert_eq!(aead.count_messages(u64::MAX).is_err(), counted.is_some());
    }
    let aead = Aead::new(Algorithm::Aes256Gcm, &key).unwrap();
    aead.count_messages((1 << 32) - 3).unwrap();
    assert!(aead.take_limit_warning() && !aead.take_limit_warning());
    let exceeded = |result: Result<(), Error>| {
        assert!(matches!(result, Err(Error::LimitExceeded(text)) if text.contains("rotate")), "{result:?}");
    };
    let four = [&b"message"[..]; 4];
    exceeded(aead.seal_many(&four, None).map(drop));
    exceeded(aead.seal_packed(b"message", &[0_i64, 1, 2, 3, 4], b"").map(drop));
    let sealed = aead.seal_many(&four[..2], None).unwrap();
    let mut buffer = *b"------------hello----------------";
    assert_eq!(aead.seal_in_place(&mut buffer, 5, b"").unwrap(), 33);
    let before = *b"------------hello----------------";
    let mut unchanged = before;
    exceeded(aead.seal_in_place(&mut unchanged, 5, b"").map(drop));
    assert_eq!(unchanged, before);
    exceeded(aead.seal(b"", b"").map(drop));
    // Nonces of the caller are the caller's, and messages still open.
    aead.encrypt(&[0; 12], b"", b"").unwrap();
    assert_eq!(aead.open(&sealed[1], b"").unwrap(), b"message");
    // The count is that of the primary key.
    let ring = Keyring::from_key(named("aes-256-gcm"), Prefix::Tink, &key).unwrap();
    let ring = KeyringAead::new(&ring).unwrap();
    ring.seal(b"", b"").unwrap();
    assert_eq!(ring.primary().sealed_messages(), Some(1));
}

#[test]
fn files_of_every_enabled_key_are_decrypted() {
    let plain: Vec<u8> = (0..40_000_u32).map(|i| (i % 251) as u8).collect();
    let mut ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let mut files = Vec::new();
    for name in AEADS {
        let id = ring.add_new(named(name), Prefix::Tink).unwrap();
        ring.promote(id).unwrap();
        let encrypt = EncryptWith::keyring(&ring, b"context").unwrap();
        let sealed = file::encrypt(&plain, &encrypt).unwrap();
        assert_eq!(file::decrypt(&sealed, encrypt.to_decrypt().unwrap()).unwrap(), plain);
        files.push((id, sealed));
    }
    let decrypt = DecryptWith::keyring(&ring, b"context").unwrap();
    for (_, sealed) in &files {
        assert_eq!(file::decrypt(sealed, &decrypt).unwrap(), plain);
        let reader = Reader::new(&sealed[..], &decrypt).unwrap();
        let mut part = [0; 100];
        assert_eq!(reader.read_at(20_000, &mut part).unwrap(), 100);
        assert_eq!(part, plain[20_000..20_100]);
        let other = DecryptWith::keyring(&ring, b"other").unwrap();
        assert!(matches!(file::decrypt(sealed, &other), Err(Error::Authentication)));
        assert!(RangeDecryptor::new(&sealed[..file::HEADER_LEN], &decrypt).is_ok());
    }
    ring.disable(files[0].0).unwrap();
    let decrypt = DecryptWith::keyring(&ring, b"context").unwrap();
    assert!(matches!(file::decrypt(&files[0].1, &decrypt), Err(Error::Authentication)));
    assert_eq!(file::decrypt(&files[1].1, &decrypt).unwrap(), plain);
}

/// The bytes of a key in a keyring make the same files as the key alone.
#[test]
fn a_keyring_of_one_key_has_the_files_of_the_key() {
    let key = Key::generate(16).unwrap();
    let ring = Keyring::from_key(named("aes-128-gcm"), Prefix::Raw, &key).unwrap();
    let sealed = file::encrypt(b"hello", &EncryptWith::keyring(&ring, b"c").unwrap()).unwrap();
    assert_eq!(file::decrypt(&sealed, &DecryptWith::key(&key, b"c")).unwrap(), b"hello");
    for format in [None, Some(Format::Chunked)] {
        let params = DecryptParams {
            key: Some(ring.clone().into()),
            context: b"c",
            format,
            ..DecryptParams::default()
        };
        assert_eq!(file::decrypt(&sealed, &params.build().unwrap()).unwrap(), b"hello");
    }
    for (name, format) in
        [("aes-128-gcm", Format::Tink4Kb), ("aes-128-gcm", Format::Age), ("tink-4kb", Format::Chunked)]
    {
        let prefix = Prefix::default_for(&named(name));
        let key = Some(Keyring::generate(named(name), prefix).unwrap().into());
        let refused = EncryptParams { key, format: Some(format), ..EncryptParams::default() }.build();
        assert!(matches!(refused, Err(Error::Misuse(Misuse::KeysetHasFormat))), "{name} {refused:?}");
    }
}

/// The primary key alone of two can have sealed a message with its prefix. Every key can have
/// sealed one without any.
#[test]
fn the_only_key_of_a_message() {
    let mut ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let first = ring.primary().id;
    let second = ring.add_new(named("aes-128-gcm"), Prefix::Tink).unwrap();
    let aead = KeyringAead::new(&ring).unwrap();
    assert_eq!(aead.len(), 2);
    for (id, algorithm) in [(first, Algorithm::Aes256Gcm), (second, Algorithm::Aes128Gcm)] {
        let (found, len) = aead.only_candidate(&prefix(1, id)).unwrap();
        assert_eq!((found.algorithm(), len), (algorithm.name(), 5));
    }
    assert!(aead.only_candidate(&prefix(1, first ^ 1)).is_none() && aead.only_candidate(b"").is_none());
    ring.delete(second).unwrap();
    assert_eq!(KeyringAead::new(&ring).unwrap().len(), 1);
    let mut siv = Keyring::generate(named("aes-256-siv"), Prefix::Tink).unwrap();
    let id = siv.primary().id;
    siv.add_new(named("aes-256-siv"), Prefix::Tink).unwrap();
    let aead = KeyringDeterministicAead::new(&siv).unwrap();
    assert_eq!(aead.only_candidate(&prefix(1, id)).unwrap().1, 5);
    assert!(aead.only_candidate(&prefix(0, id)).is_none());
}

#[test]
fn messages_in_parts() {
    let ring = Keyring::generate(named("aes-256-gcm"), Prefix::Tink).unwrap();
    let aead = KeyringAead::new(&ring).unwrap();
    assert_eq!(aead.head_len(), 17);
    let (mut head, mut data, mut tag) = ([0; 17], *b"hello", [0; 16]);
    aead.seal_parts(&mut head, b"aad", InOut::in_place(&mut data), &mut tag).unwrap();
    let sealed = [&head[..], &data, &tag].concat();
    assert!(sealed.starts_with(&prefix(1, ring.primary().id)));
    assert_eq!(aead.open(&sealed, b"aad").unwrap(), b"hello");
    for len in [0, 5, 16, 18] {
        let before = data;
        let found = aead.seal_parts(&mut vec![0; len], b"", InOut::in_place(&mut data), &mut tag);
        let Err(Error::Misuse(Misuse::NonceLength { got, want })) = found else { panic!("{found:?}") };
        assert_eq!((got, want, data), (len, 17, before));
    }
}

#[test]
fn names_of_prefixes() {
    for prefix in Prefix::ALL {
        assert_eq!(prefix.name().parse::<Prefix>().unwrap(), prefix);
    }
    for name in ["", "TINK", "tink ", "other"] {
        assert!(matches!(name.parse::<Prefix>(), Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{name}");
    }
}
