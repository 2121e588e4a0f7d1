//! Published messages of the format, and files and keysets that are refused.

use super::cipher::Tink;
use super::file::TinkFile;
use super::parameters::TAG_LEN;
use super::*;
use crate::prelude::*;
use engine::pipeline::{OpenChunks, open_chunks, seal_chunks};
use keys::{KeyType, Prefix as IdPrefix};
use vectors::TinkHash;

/// Returns parameters for segments of 64 bytes: the first has 24 bytes of plaintext, the others 48.
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

fn decrypt_keyring(ring: &Keyring, aad: &[u8], file: &[u8]) -> Result<Vec<u8>, Error> {
    match tink_file(ring, aad).find(file, Prefix::Whole)? {
        Parsed::Ready(keys) => open_with(&*keys, file),
        Parsed::NeedsMore(_) => panic!("there is no more"),
    }
}

fn tink_file(ring: &Keyring, aad: &[u8]) -> TinkFile {
    TinkFile::new(ring.clone(), aad).unwrap()
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

// ---- keyrings ----

#[test]
fn the_primary_key_encrypts_and_every_enabled_one_decrypts() {
    let type_of = |template: &Template| KeyType::Streaming(template.parameters);
    let mut ring: Option<Keyring> = None;
    for template in &TEMPLATES {
        let key = Key::generate(template.key_len).unwrap();
        match &mut ring {
            None => ring = Some(Keyring::from_key(type_of(template), IdPrefix::Raw, &key).unwrap()),
            Some(ring) => {
                ring.add(type_of(template), IdPrefix::Raw, &key).unwrap();
            }
        }
    }
    let mut ring = ring.unwrap();
    for (info, template) in ring.keys().collect::<Vec<_>>().into_iter().zip(&TEMPLATES) {
        assert_eq!(info.key_type, Some(type_of(template)));
        ring.promote(info.id).unwrap();
        let (parameters, key) = ring.streaming().next().unwrap();
        assert_eq!(*parameters, template.parameters);
        let one = Keyring::from_key(type_of(template), IdPrefix::Raw, key).unwrap();
        let chunk = parameters.segment_len() - TAG_LEN;
        let first = chunk - parameters.header_len();
        for len in [0, 1, first - 1, first, first + 1, first + chunk, first + chunk + 1] {
            let file = encrypt(parameters, key, b"aad", &vec![1; len]);
            assert!(decrypt_keyring(&ring, b"aad", &file).unwrap() == vec![1; len]);
            assert!(matches!(decrypt_keyring(&ring, b"other", &file), Err(Error::NoMatchingKey)));
            // A single key is not tested before the first segment.
            assert!(matches!(decrypt_keyring(&one, b"other", &file), Err(Error::Authentication)));
            asks_for_enough(&ring, &file);
        }
    }
    let disabled = ring.keys().find(|info| !info.primary).unwrap();
    let file = {
        let (_, key) = ring.streaming().nth(1).unwrap();
        encrypt(&TEMPLATES[0].parameters, key, b"aad", b"plain")
    };
    assert_eq!(decrypt_keyring(&ring, b"aad", &file).unwrap(), b"plain");
    ring.disable(disabled.id).unwrap();
    assert!(matches!(decrypt_keyring(&ring, b"aad", &file), Err(Error::NoMatchingKey)));
}

/// Checks that a reader that supplies the requested number of bytes finds the same key.
fn asks_for_enough(ring: &Keyring, file: &[u8]) {
    let mut len = 0;
    loop {
        let extent = if len < file.len() { Prefix::Partial } else { Prefix::Whole };
        match tink_file(ring, b"aad").find(&file[..len.min(file.len())], extent).unwrap() {
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
    let mut ring = Keyring::generate("tink-4kb".parse().unwrap(), IdPrefix::Raw).unwrap();
    ring.add_new("tink-1mb".parse().unwrap(), IdPrefix::Raw).unwrap();
    let (parameters, key) = ring.streaming().next().unwrap();
    let first = 4096 - parameters.header_len() - TAG_LEN;
    let [whole, longer] = [first, first + 1].map(|len| encrypt(parameters, key, b"aad", &vec![1; len]));
    let tink = tink_file(&ring, b"aad");
    // With 4096 bytes we can choose a key only if we know whether more follow.
    assert!(matches!(tink.find(&longer[..4096], Prefix::Partial), Ok(Parsed::NeedsMore(_))));
    assert!(matches!(tink.find(&longer[..4097], Prefix::Partial), Ok(Parsed::Ready(_))));
    assert!(matches!(tink.find(&whole, Prefix::Whole), Ok(Parsed::Ready(_))));
    assert!(matches!(tink.find(&longer[..4096], Prefix::Whole), Err(Error::NoMatchingKey)));
    assert!(matches!(tink.find(&whole[..10], Prefix::Whole), Err(Error::Truncated)));
}
