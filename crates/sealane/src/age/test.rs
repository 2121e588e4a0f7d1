//! What the testkit says of plaintext that is released before a payload fails, chunk by chunk.

use super::payload::{CHUNK_LEN, Payload};
use super::{Armor, Identity, armor};
use crate::engine::pipeline::ChunkCipher;
use crate::engine::plan::ChunkPosition;
use crate::engine::prefix::Parsed;
use sha2::{Digest, Sha256};
use vectors::{AgeCase, AgeOutcome};

fn binary(case: &AgeCase) -> Vec<u8> {
    match Armor::detect(&case.age) {
        Some(Armor::Ascii) => {
            let (mut decoder, mut binary) = (armor::Decoder::new(), Vec::new());
            decoder.push(&case.age, &mut binary).unwrap();
            decoder.finish(&mut binary).unwrap();
            binary
        }
        _ => case.age.clone(),
    }
}

/// Opens chunks in turn until one does not open, is the last, or there are no bytes left. A chunk that is not the last
/// where the file ends opens too: whoever reads a stream has its plaintext before they know.
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
fn what_is_released_before_a_failure_is_what_it_should_be() {
    let (mut opened, mut failed) = (0, 0);
    for case in vectors::age().into_iter().filter(|case| case.payload.is_some()) {
        let identities: Vec<Identity> = case.identities.iter().map(|text| text.parse().unwrap()).collect();
        let passphrases = case.passphrases.iter().map(|text| Identity::passphrase(text));
        let identities: Vec<_> = identities.into_iter().chain(passphrases).collect();
        let binary = binary(&case);
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

/// The file keys are those of the testkit.
#[test]
fn file_keys_are_those_of_the_testkit() {
    for case in vectors::age().into_iter().filter(|case| case.expect == AgeOutcome::Success) {
        let identities: Vec<Identity> = case.identities.iter().map(|text| text.parse().unwrap()).collect();
        let passphrases = case.passphrases.iter().map(|text| Identity::passphrase(text));
        let identities: Vec<_> = identities.into_iter().chain(passphrases).collect();
        let (header, _) = super::Header::parse_whole(&binary(&case)).unwrap();
        let key = super::identity::file_key(&header, &identities).unwrap();
        assert_eq!(key.as_bytes()[..], case.file_key, "{}", case.file);
    }
}
