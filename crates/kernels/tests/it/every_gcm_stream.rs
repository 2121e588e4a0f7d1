//! Every variant of AES-GCM on messages in pieces, against a single call and the reference
//! implementation.

use crate::variants::{available, every};
use kernels::InOut;
use kernels::cpu::Features;
use kernels::error::{MessageError, Part};
use kernels::gcm::{self, Gcm, Stream};
use reference::gcm::Gcm as Reference;
use std::sync::Once;

const KEY: [u8; 32] = [0x5c; 32];
const CUTS: [usize; 9] = [1, 15, 16, 17, 63, 64, 100, 512, 570];

/// Test data with the period 251. It is a prime number, so all blocks are different.
fn pattern(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8 ^ seed).collect()
}

/// Returns a pseudorandom number below `end` and advances `state`.
fn random(state: &mut u64, end: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % end
}

/// Encrypts and decrypts in pieces whose lengths `cut` returns, and compares with `want`.
fn check(
    gcm: &Gcm,
    nonce: &[u8],
    aad: &[u8],
    plain: &[u8],
    want: (&[u8], [u8; 16]),
    mut cut: impl FnMut() -> usize,
) {
    for in_place in [true, false] {
        let (mut sealed, mut opened) = (plain.to_vec(), want.0.to_vec());
        let mut streams = [Stream::begin(gcm, nonce).unwrap(), Stream::begin(gcm, nonce).unwrap()];
        let mut at = 0;
        while at < aad.len() {
            let n = cut().min(aad.len() - at);
            streams.iter_mut().for_each(|stream| stream.aad(&aad[at..][..n]).unwrap());
            at += n;
        }
        let mut at = 0;
        while at < plain.len() {
            let n = cut().min(plain.len() - at);
            let [seal, open] = &mut streams;
            if in_place {
                seal.encrypt(InOut::in_place(&mut sealed[at..][..n])).unwrap();
                open.decrypt(InOut::in_place(&mut opened[at..][..n])).unwrap();
            } else {
                seal.encrypt(InOut::apart(&plain[at..][..n], &mut sealed[at..][..n])).unwrap();
                open.decrypt(InOut::apart(&want.0[at..][..n], &mut opened[at..][..n])).unwrap();
            }
            at += n;
        }
        assert!(sealed == want.0 && opened == plain, "{gcm:?} {} bytes", plain.len());
        for stream in streams {
            assert_eq!(stream.finish(), want.1, "{gcm:?} aad {} len {}", aad.len(), plain.len());
        }
    }
}

fn in_one_call(gcm: &Gcm, nonce: &[u8], aad: &[u8], plain: &[u8]) -> (Vec<u8>, [u8; 16]) {
    let (mut data, mut tag) = (plain.to_vec(), [0; 16]);
    gcm.seal(nonce, aad, InOut::in_place(&mut data), &mut tag).unwrap();
    (data, tag)
}

/// Returns whether a length is left out for the slow portable variant. Lengths above 80 are only
/// tested in steps of 17.
fn skip(gcm: &Gcm, len: usize) -> bool {
    static SAID: Once = Once::new();
    let skip = gcm.variant() == "portable" && len > 80 && !len.is_multiple_of(17);
    if skip {
        SAID.call_once(|| eprintln!("NOT RUN: variant portable with 16 of 17 lengths above 80"));
    }
    skip
}

fn each_key(mut each: impl FnMut(&Gcm)) {
    for (_, features) in available(gcm::variants()) {
        for len in [16, 24, 32] {
            each(&Gcm::new(&KEY[..len], features).unwrap());
        }
    }
}

/// A test that is small enough for Miri.
#[test]
fn selected_lengths() {
    let key = &KEY[..16];
    let gcm = Gcm::new(key, Features::detect()).unwrap();
    let (nonce, aad, plain) = (pattern(12, 9), pattern(21, 7), pattern(60, 1));
    let (sealed, tag) = Reference::new_vartime(key).seal_vartime(&nonce, &aad, &plain);
    check(&gcm, &nonce, &aad, &plain, (&sealed, tag), || 26);
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn every_length_in_equal_pieces() {
    each_key(|gcm| {
        for len in every(0..=600).filter(|len| !skip(gcm, *len)) {
            let (nonce, aad, plain) = (pattern(12, 9), pattern(len % 70, 7), pattern(len, 1));
            let (sealed, tag) = in_one_call(gcm, &nonce, &aad, &plain);
            for cut in CUTS {
                check(gcm, &nonce, &aad, &plain, (&sealed, tag), || cut);
            }
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn random_pieces() {
    let mut state = 1;
    each_key(|gcm| {
        let max = if gcm.variant() == "portable" { 4000 } else { 40_000 };
        for round in 0..60 {
            let len = random(&mut state, max);
            let nonce = pattern([12, 12, 1, 16, 60][round % 5], round as u8);
            let (aad, plain) = (pattern(random(&mut state, 3000), 7), pattern(len, 1));
            let (sealed, tag) = in_one_call(gcm, &nonce, &aad, &plain);
            let longest = [20, 300, 10_000, 50_000][round % 4];
            check(gcm, &nonce, &aad, &plain, (&sealed, tag), || random(&mut state, longest));
        }
    });
}

#[test]
#[cfg_attr(miri, ignore = "large")]
fn the_counter_wraps_in_its_word() {
    const REST: u128 = 0x0011_2233_ffff_ffff_ffff_ffff_0000_0000;
    for (name, features) in available(gcm::variants()) {
        let (gcm, reference) = (Gcm::new(&KEY, features).unwrap(), Reference::new_vartime(&KEY));
        for before in [0, 1, 2, 3, 9, 33, 65] {
            let nonce = reference.nonce_for_vartime(REST | u128::from(0u32.wrapping_sub(before)));
            let (aad, plain) = (pattern(5, 7), pattern(1500, 1));
            let (sealed, tag) = reference.seal_vartime(&nonce, &aad, &plain);
            assert!(in_one_call(&gcm, &nonce, &aad, &plain) == (sealed.clone(), tag), "{name} {before}");
            for cut in [1, 17, 64, 500, 1500] {
                check(&gcm, &nonce, &aad, &plain, (&sealed, tag), || cut);
            }
        }
    }
}

#[test]
fn rejects_late_associated_data() {
    let gcm = Gcm::new(&KEY, Features::detect()).unwrap();
    let mut stream = Stream::begin(gcm, &[1; 12]).unwrap();
    stream.encrypt(InOut::in_place(&mut [])).unwrap();
    stream.aad(b"still").unwrap();
    stream.encrypt(InOut::in_place(&mut [0])).unwrap();
    assert_eq!(stream.aad(b"late"), Err(MessageError::LateAssociatedData));
    let once = Stream::begin(Gcm::new(&KEY, Features::detect()).unwrap(), &[1; 12]);
    let mut once = once.unwrap();
    once.aad(b"still").unwrap();
    once.encrypt(InOut::in_place(&mut [0])).unwrap();
    assert_eq!(stream.finish(), once.finish(), "the rejected call changed the state");
}

#[test]
fn streams_are_send_and_sync_and_debug_hides_the_key() {
    fn crosses<T: Send + Sync + 'static>(_: &T) {}
    let stream = Stream::begin(Gcm::new(&KEY, Features::NONE).unwrap(), &[1; 12]).unwrap();
    crosses(&stream);
    assert_eq!(stream.variant(), "portable");
    assert_eq!(format!("{stream:?}"), "Stream { gcm: Gcm { size: Bits256, variant: \"portable\", .. }, .. }");
}

/// Limits in bytes of the data and of the associated data (SP 800-38D, section 5.2.1.1).
const MAX_DATA_LEN: u64 = (1 << 36) - 32;
const MAX_AAD_LEN: u64 = (1 << 61) - 1;

/// Returns a stream as it is after that many bytes, without processing them.
fn at(aad_len: u64, data_len: u64) -> Stream<Gcm> {
    let gcm = Gcm::new(&KEY[..16], Features::detect()).unwrap();
    let mut stream = Stream::begin(gcm, &[0xff; 12]).unwrap();
    stream.skip_to(aad_len, data_len);
    stream
}

/// Returns the error for one byte more than the limit.
fn too_long(part: Part, limit: u64) -> Result<(), MessageError> {
    let limit = u128::from(limit);
    Err(MessageError::TooLong { part, found: limit + 1, limit })
}

#[test]
fn rejects_pieces_beyond_the_limits() {
    let mut data = [0xee; 64];
    for at_once in [Stream::encrypt, Stream::decrypt] {
        let mut stream = at(0, MAX_DATA_LEN - 32);
        let beyond = at_once(&mut stream, InOut::in_place(&mut data[..33]));
        assert_eq!(beyond, too_long(Part::Data, MAX_DATA_LEN));
        assert_eq!(data, [0xee; 64], "written");
        assert_eq!(at_once(&mut stream, InOut::in_place(&mut [0; 32])), Ok(()));
        let beyond = at_once(&mut stream, InOut::in_place(&mut data[..1]));
        assert_eq!(beyond, too_long(Part::Data, MAX_DATA_LEN));
        assert_eq!(at_once(&mut stream, InOut::in_place(&mut [])), Ok(()));
    }
    let mut stream = at(MAX_AAD_LEN - 1, 0);
    assert_eq!(stream.aad(&[0; 2]), too_long(Part::AssociatedData, MAX_AAD_LEN));
    assert_eq!(stream.aad(&[0]), Ok(()));
}

/// Checks the counter of the last block of the longest message, 2^32 - 1, after which the counter
/// would wrap.
#[test]
fn the_last_block_has_the_last_counter() {
    let mut last = [0; 16];
    at(0, MAX_DATA_LEN - 16).encrypt(InOut::in_place(&mut last)).unwrap();
    let reference = reference::aes::Aes::new_vartime(&KEY[..16]);
    assert_eq!(last, reference.encrypt_block_vartime(&[0xff; 16]));
}
