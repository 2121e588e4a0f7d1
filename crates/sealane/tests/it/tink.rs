//! Tink AES-GCM-HKDF streaming: all interfaces, keysets of several keys, every changed byte and
//! truncation.

use sealane::file::tink::{Hash, Parameters, TEMPLATES};
use sealane::file::{
    self, DecryptParams, DecryptWith, Decryptor, EncryptParams, EncryptWith, Encryptor, Format, Options,
    Reader,
};
use sealane::keys::{KeyType, Keyring, Prefix};
use sealane::{Error, Key, Misuse};

/// Returns bytes with the period 251, so that any two segments differ.
fn plain(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

fn keyset(derived_len: usize, segment_len: usize) -> Keyring {
    let parameters = Parameters::new(Hash::Sha256, derived_len, segment_len).unwrap();
    Keyring::from_key(KeyType::Streaming(parameters), Prefix::Raw, &Key::generate(derived_len).unwrap())
        .unwrap()
}

/// Merges keysets into one keyset, whose primary key is the first key.
fn merged(keysets: &[Keyring]) -> Keyring {
    let documents = keysets.iter().map(|one| serde_json::from_str(&one.to_json()).unwrap());
    let documents: Vec<serde_json::Value> = documents.collect();
    let mut all = documents[0].clone();
    all["key"] = documents.iter().map(|document| document["key"][0].clone()).collect();
    Keyring::from_json(&all.to_string()).unwrap()
}

fn lock(keyset: &Keyring) -> EncryptWith {
    EncryptWith::keyring(keyset, b"context").unwrap()
}

fn unlock(keyset: &Keyring) -> DecryptWith {
    DecryptWith::keyring(keyset, b"context").unwrap()
}

fn decrypt_pieces(sealed: &[u8], piece: usize, unlock: &DecryptWith) -> Result<Vec<u8>, Error> {
    let mut decryptor = Decryptor::new(Vec::new(), unlock);
    for piece in sealed.chunks(piece) {
        decryptor.push(piece)?;
    }
    decryptor.finish()
}

fn all_interfaces(lock: &EncryptWith, unlock: &DecryptWith, plain: &[u8], pieces: usize) {
    let sealed = file::encrypt(plain, lock).unwrap();
    assert!(file::decrypt(&sealed, unlock).unwrap() == plain);
    assert!(decrypt_pieces(&sealed, pieces, unlock).unwrap() == plain);
    let reader = Reader::new(&sealed[..], unlock).unwrap();
    assert_eq!(reader.size(), plain.len() as u64);
    for (from, len) in [(0, plain.len() + 10), (plain.len() / 2, 100), (plain.len().saturating_sub(1), 2)] {
        let mut read = vec![0; len];
        let got = reader.read_at(from as u64, &mut read).unwrap();
        assert!(read[..got] == plain[from..][..len.min(plain.len() - from)]);
    }
    let mut encryptor = Encryptor::new(Vec::new(), lock).unwrap();
    for piece in plain.chunks(pieces) {
        encryptor.push(piece).unwrap();
    }
    let streamed = encryptor.finish().unwrap();
    assert_eq!(streamed.len(), sealed.len());
    assert!(file::decrypt(&streamed, unlock).unwrap() == plain);
}

fn encrypt_params<'a>(key: &Key, format: Format, context: &'a [u8]) -> EncryptParams<'a> {
    EncryptParams { key: Some(key.clone().into()), format: Some(format), context, ..Default::default() }
}

fn decrypt_params<'a>(key: &Key, format: Format, context: &'a [u8]) -> DecryptParams<'a> {
    DecryptParams { key: Some(key.clone().into()), format: Some(format), context, ..Default::default() }
}

#[test]
fn all_interfaces_agree_for_each_template() {
    for template in &TEMPLATES {
        let key = Key::generate(template.key_len).unwrap();
        let segment_len = template.parameters.segment_len();
        let format = if segment_len == 4096 { Format::Tink4Kb } else { Format::Tink1Mb };
        let lock = encrypt_params(&key, format, b"context").build().unwrap();
        let unlock = decrypt_params(&key, format, b"context").build().unwrap();
        let (first, chunk) = (segment_len - 24 - template.key_len, segment_len - 16);
        for len in [0, 1, first - 1, first, first + 1, first + chunk, first + chunk + 1, 3_000_000] {
            all_interfaces(&lock, &unlock, &plain(len), 99_991);
        }
    }
}

#[test]
fn segments_of_any_size() {
    for (derived_len, segment_len) in [(16, 41), (32, 57), (16, 100), (32, 70_001)] {
        let keyset = keyset(derived_len, segment_len);
        for len in [0, 1, 2, 40, 41, 57, 100, 1000, 70_000, 140_003] {
            all_interfaces(&lock(&keyset), &unlock(&keyset), &plain(len), 37);
        }
    }
}

/// The keys that are tested first have longer segments, shorter segments or another header length.
#[test]
fn each_key_of_a_keyset_decrypts() {
    let keysets = [keyset(16, 4096), keyset(16, 100), keyset(32, 8192), keyset(16, 4096), keyset(32, 57)];
    let all = merged(&keysets);
    assert_eq!(all.keys().len(), 5);
    let unrelated = keyset(16, 4096);
    for one in &keysets {
        for len in [0, 1, 60, 61, 100, 4055, 4056, 4057, 8136, 8137, 20_000] {
            let plain = plain(len);
            let sealed = file::encrypt(&plain, &lock(one)).unwrap();
            for unlock in [unlock(one), unlock(&all)] {
                assert!(file::decrypt(&sealed, &unlock).unwrap() == plain);
                for pieces in [1, 1000, 1 << 20] {
                    assert!(decrypt_pieces(&sealed, pieces, &unlock).unwrap() == plain, "{len} {pieces}");
                }
                assert_eq!(Reader::new(&sealed[..], &unlock).unwrap().size(), len as u64);
            }
            let others: Vec<_> = keysets.iter().filter(|other| !std::ptr::eq(*other, one)).cloned().collect();
            for result in [
                file::decrypt(&sealed, &unlock(&merged(&others))),
                decrypt_pieces(&sealed, 1000, &unlock(&merged(&others))),
            ] {
                assert!(matches!(result, Err(Error::NoMatchingKey)), "{len} {result:?}");
            }
            match file::decrypt(&sealed, &unlock(&unrelated)) {
                Err(Error::Authentication | Error::Truncated | Error::Format(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    // The first key is the primary key.
    let sealed = file::encrypt(b"hello", &lock(&all)).unwrap();
    assert_eq!(file::decrypt(&sealed, &unlock(&keysets[0])).unwrap(), b"hello");
}

// claim: file-changed
#[test]
fn rejects_every_changed_byte_and_truncation() {
    let one = keyset(16, 64);
    let all = merged(&[keyset(32, 100), one.clone(), keyset(16, 41)]);
    for len in [0, 24, 25, 72, 73, 120] {
        let sealed = file::encrypt(&plain(len), &lock(&one)).unwrap();
        for unlock in [unlock(&one), unlock(&all)] {
            for cut in 0..sealed.len() {
                for result in
                    [file::decrypt(&sealed[..cut], &unlock), decrypt_pieces(&sealed[..cut], 10, &unlock)]
                {
                    let refused = matches!(
                        result,
                        Err(Error::Truncated
                            | Error::Authentication
                            | Error::DamagedChunk { .. }
                            | Error::NoMatchingKey)
                    );
                    assert!(refused, "{len} {cut}: {result:?}");
                }
                assert!(Reader::new(&sealed[..cut], &unlock).is_err());
            }
            for at in 0..sealed.len() {
                let mut other = sealed.clone();
                other[at] ^= 1;
                assert!(file::decrypt(&other, &unlock).is_err());
                assert!(decrypt_pieces(&other, 10, &unlock).is_err());
            }
            assert!(file::decrypt(&[&sealed[..], &[0]].concat(), &unlock).is_err());
        }
        let other = DecryptWith::keyring(&one, b"other").unwrap();
        assert!(matches!(file::decrypt(&sealed, &other), Err(Error::Authentication)));
    }
}

#[test]
fn encrypts_and_decrypts_paths() {
    let folder = std::env::temp_dir().join(format!("sealane-tink-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [from, sealed, back] = ["from", "sealed", "back"].map(|name| folder.join(name));
    let keyset = merged(&[keyset(32, 1 << 20), keyset(16, 4096)]);
    for len in [0, 1, 4056, (1 << 20) - 56, (1 << 20) - 55, 5_000_000] {
        std::fs::write(&from, plain(len)).unwrap();
        file::encrypt_file(&from, &sealed, &lock(&keyset), Options::default()).unwrap();
        file::decrypt_file(&sealed, &back, &unlock(&keyset), Options::default()).unwrap();
        assert!(std::fs::read(&back).unwrap() == plain(len), "{len}");
    }
    let other = DecryptWith::keyring(&keyset, b"").unwrap();
    std::fs::remove_file(&back).unwrap();
    let refused = file::decrypt_file(&sealed, &back, &other, Options::default());
    assert!(matches!(refused, Err(Error::NoMatchingKey)));
    assert!(!back.exists());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn rejects_other_key_lengths() {
    for len in [0, 15, 24, 33] {
        let key = Key::from_bytes(&vec![7; len]);
        let refused = encrypt_params(&key, Format::Tink1Mb, b"").build();
        assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyLength { got, .. })) if got == len));
        assert!(decrypt_params(&key, Format::Tink1Mb, b"").build().is_err());
    }
}
