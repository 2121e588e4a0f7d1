//! Decryption of a file whose bytes arrive slowly: each chunk is returned with its last byte, and
//! the end is verified.

use sealane::age::Armor;
use sealane::age::{Identity, Kind};
use sealane::file::tink::{Hash, Parameters};
use sealane::file::{self, DecryptWith, Decryptor, EncryptWith, Reader};
use sealane::keys::{KeyType, Keyring, Prefix};
use sealane::{Error, Key, Misuse};

struct Case {
    name: &'static str,
    lock: EncryptWith,
    unlock: DecryptWith,
    /// Number of plaintext bytes in a full chunk.
    chunk: usize,
    /// Number of plaintext bytes by which the first chunk is shorter.
    lead: usize,
}

fn cases() -> Vec<Case> {
    let key = Key::from_bytes(&[7; 32]);
    let identity = Identity::generate(Kind::X25519).unwrap();
    let tink = Keyring::from_key(
        KeyType::Streaming(Parameters::new(Hash::Sha256, 16, 4096).unwrap()),
        Prefix::Raw,
        &Key::generate(16).unwrap(),
    )
    .unwrap();
    vec![
        Case {
            name: "chunked",
            lock: EncryptWith::key(&key, b"context"),
            unlock: DecryptWith::key(&key, b"context"),
            chunk: 16_384,
            lead: 0,
        },
        Case {
            name: "age",
            lock: EncryptWith::age(&[identity.recipient()], Armor::Binary),
            unlock: DecryptWith::age(&[identity]),
            chunk: 65_536,
            lead: 0,
        },
        Case {
            name: "tink",
            lock: EncryptWith::keyring(&tink, b"context").unwrap(),
            unlock: DecryptWith::keyring(&tink, b"context").unwrap(),
            chunk: 4096 - 16,
            lead: 24,
        },
    ]
}

fn plain(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// Returns the length of the header. A last chunk that is neither empty nor full has a tag of 16
/// bytes.
fn header_len(case: &Case) -> usize {
    file::encrypt(b"1", &case.lock).unwrap().len() - 17
}

#[test]
fn a_chunk_is_returned_with_its_last_byte() {
    for case in cases() {
        let plain = plain(4 * case.chunk + 100);
        let sealed = file::encrypt(&plain, &case.lock).unwrap();
        let header = header_len(&case);
        let mut decryptor = Decryptor::new(Vec::new(), &case.unlock);
        decryptor.push(&sealed[..header]).unwrap();
        let mut at = header;
        for chunk in 1..=4 {
            let end = header + chunk * (case.chunk + 16) - case.lead;
            let before = decryptor.get_mut().len();
            decryptor.push(&sealed[at..end - 1]).unwrap();
            assert_eq!(decryptor.get_mut().len(), before, "{}", case.name);
            decryptor.push(&sealed[end - 1..end]).unwrap();
            assert_eq!(decryptor.get_mut().len(), chunk * case.chunk - case.lead, "{}", case.name);
            at = end;
        }
        decryptor.push(&sealed[at..]).unwrap();
        assert!(decryptor.finish().unwrap() == plain, "{}", case.name);
    }
}

#[test]
fn every_length_and_every_piece() {
    for case in cases() {
        let chunk = case.chunk;
        for len in [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk - case.lead, 3 * chunk, 20 * chunk + 5] {
            let plain = plain(len);
            let sealed = file::encrypt(&plain, &case.lock).unwrap();
            let header = header_len(&case);
            for piece in [333, chunk + 16, chunk + 15, 2 * (chunk + 16), 1 << 20, usize::MAX] {
                for first in
                    [1, header, header + chunk + 16 - case.lead, header + 2 * (chunk + 16) - case.lead]
                {
                    let (start, rest) = sealed.split_at(first.min(sealed.len()));
                    let mut decryptor = Decryptor::new(Vec::new(), &case.unlock);
                    decryptor.push(start).unwrap();
                    for piece in rest.chunks(piece) {
                        decryptor.push(piece).unwrap();
                        decryptor.push(&[]).unwrap();
                    }
                    assert!(decryptor.finish().unwrap() == plain, "{} {len} {piece} {first}", case.name);
                }
            }
        }
    }
}

/// A file that is cut after a chunk, of which all have arrived and were opened as chunks before the
/// last one.
#[test]
fn a_missing_last_chunk_is_noticed() {
    for case in cases() {
        let header = header_len(&case);
        for chunks in 1..4 {
            let sealed = file::encrypt(&plain(chunks * case.chunk + 100), &case.lock).unwrap();
            let cut = header + chunks * (case.chunk + 16) - case.lead;
            for piece in [case.chunk + 16, 1000, usize::MAX] {
                let mut decryptor = Decryptor::new(Vec::new(), &case.unlock);
                decryptor.push(&sealed[..cut - (case.chunk + 16 - case.lead)]).unwrap();
                for piece in sealed[cut - (case.chunk + 16 - case.lead)..cut].chunks(piece) {
                    decryptor.push(piece).unwrap();
                }
                let error = decryptor.finish().unwrap_err();
                let reader = Reader::new(&sealed[..cut], &case.unlock).unwrap_err();
                // A reader has not opened a chunk yet, so it does not know a key of Tink to be
                // right.
                let same = error.to_string() == reader.to_string();
                let later = matches!((&error, &reader), (Error::DamagedChunk { .. }, Error::Authentication));
                assert!(same || later, "{} {chunks} {error} {reader}", case.name);
            }
        }
    }
}

/// A full chunk that does not verify may be the last one. It is returned neither now nor later if
/// it is changed.
#[test]
fn a_changed_chunk_is_never_returned() {
    for case in cases() {
        let header = header_len(&case);
        let full = 3 * case.chunk - case.lead;
        for (len, more) in [(full, false), (full + 1, true), (full + 2 * case.chunk, true)] {
            let plain = plain(len);
            let mut sealed = file::encrypt(&plain, &case.lock).unwrap();
            let end = header + 3 * (case.chunk + 16) - case.lead;
            sealed[end - 40] ^= 1;
            let mut decryptor = Decryptor::new(Vec::new(), &case.unlock);
            let result = decryptor.push(&sealed[..end]);
            assert!(*decryptor.get_mut() == plain[..2 * case.chunk - case.lead] || result.is_err());
            assert!(decryptor.get_mut().len() <= 2 * case.chunk, "{}", case.name);
            let error = match result {
                Err(error) => error,
                Ok(()) if more => {
                    let error = decryptor.push(&sealed[end..end + 1]).unwrap_err();
                    assert!(matches!(decryptor.push(&[0]), Err(Error::Misuse(Misuse::Poisoned))));
                    assert!(decryptor.get_mut().len() <= 2 * case.chunk);
                    error
                }
                Ok(()) => decryptor.finish().unwrap_err(),
            };
            assert!(
                matches!(error, Error::DamagedChunk { index: 2, .. } | Error::Authentication),
                "{} {error}",
                case.name
            );
        }
    }
}

/// The last chunk cannot be followed by another one, also if it was returned before.
#[test]
fn bytes_after_the_last_chunk_are_an_error() {
    for case in cases() {
        for len in [case.chunk - case.lead, 2 * case.chunk - case.lead, 100] {
            let sealed = file::encrypt(&plain(len), &case.lock).unwrap();
            let mut decryptor = Decryptor::new(Vec::new(), &case.unlock);
            decryptor.push(&sealed).unwrap();
            let more = vec![0; 2 * case.chunk];
            assert!(decryptor.push(&more).is_err() || decryptor.finish().is_err(), "{} {len}", case.name);
        }
    }
}
