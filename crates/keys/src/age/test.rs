//! The testkit's file keys, and the plaintext released before a payload fails.

use super::payload::{CHUNK_LEN, Payload};
use super::{Identity, armor};
use engine::pipeline::OpenChunks;
use engine::plan::ChunkPosition;
use engine::prefix::Parsed;
use sha2::{Digest, Sha256};
use vectors::AgeOutcome;

/// Decrypts chunks in order until one fails or is the last, or no bytes are left. A chunk that is
/// not the last is released even if the file ends after it: the reader of a stream cannot know that
/// yet.
fn release(payload: &Payload, mut sealed: &[u8], out: &mut Sha256) -> bool {
    for index in 0.. {
        let len = sealed.len().min(CHUNK_LEN + 16);
        let (chunk, rest) = sealed.split_at(len);
        let Some(plain_len) = len.checked_sub(16) else { return false };
        let mut plain = vec![0; plain_len];
        let full = plain_len == CHUNK_LEN;
        if full && payload.open(ChunkPosition { index, last: false }, chunk, &mut plain).is_ok() {
            out.update(&plain);
        } else if payload.open(ChunkPosition { index, last: true }, chunk, &mut plain).is_ok() {
            out.update(&plain);
            return rest.is_empty();
        } else {
            return false;
        }
        sealed = rest;
    }
    false
}

#[test]
fn plaintext_released_before_a_failure() {
    let (mut opened, mut failed) = (0, 0);
    for case in vectors::age().into_iter().filter(|case| case.payload.is_some()) {
        let identities: Vec<Identity> = case.identities.iter().map(|text| text.parse().unwrap()).collect();
        let passphrases = case.passphrases.iter().map(|text| Identity::passphrase(text));
        let identities: Vec<_> = identities.into_iter().chain(passphrases).collect();
        let binary = armor::decode(&case.age).unwrap();
        let Parsed::Ready(payload) = Payload::begin(&binary, &identities).unwrap() else {
            panic!("{}: no header", case.file)
        };
        let mut sum = Sha256::new();
        let whole = release(&payload, &binary[payload.layout().header as usize..], &mut sum);
        assert_eq!(whole, case.expect == AgeOutcome::Success, "{}", case.file);
        assert_eq!(Some(sum.finalize().into()), case.payload, "{}", case.file);
        if whole { opened += 1 } else { failed += 1 }
    }
    assert_eq!((opened, failed), (18, 16));
}

#[test]
fn file_keys_of_the_testkit() {
    for case in vectors::age().into_iter().filter(|case| case.expect == AgeOutcome::Success) {
        let identities: Vec<Identity> = case.identities.iter().map(|text| text.parse().unwrap()).collect();
        let passphrases = case.passphrases.iter().map(|text| Identity::passphrase(text));
        let identities: Vec<_> = identities.into_iter().chain(passphrases).collect();
        let (header, _) = super::Header::parse_whole(&armor::decode(&case.age).unwrap()).unwrap();
        let key = super::identity::file_key(&header, &identities).unwrap();
        assert_eq!(key.as_bytes()[..], case.file_key, "{}", case.file);
    }
}
