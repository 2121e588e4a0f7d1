//! Deterministic encryption: published vectors, packed messages, and what is refused.

use sealane::{DeterministicAead, DeterministicAlgorithm, Error, Key, Misuse};
use std::num::NonZeroUsize;
use vectors::Outcome;

fn daead(key: &[u8]) -> DeterministicAead {
    DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &Key::from_bytes(key)).unwrap()
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// The cases with one header and a key of this algorithm. The tests of the crate `providers` run all of them.
#[test]
fn published_vectors() {
    let mut checked = [0; 2];
    for case in vectors::siv() {
        let ([aad], 64) = (&case.headers[..], case.key.len()) else { continue };
        let (daead, name) = (daead(&case.key), format!("{} #{}", case.file, case.id));
        let opened = daead.decrypt(&case.sealed, aad);
        if case.result == Outcome::Valid {
            assert_eq!(daead.encrypt(&case.plaintext, aad).unwrap(), case.sealed, "{name}");
            assert_eq!(opened.unwrap(), case.plaintext, "{name}");
            checked[0] += 1;
        } else {
            assert!(matches!(opened, Err(Error::Authentication)), "{name}");
            checked[1] += 1;
        }
    }
    assert_eq!(checked, [40, 108]);
}

#[test]
fn keys_of_other_lengths_are_refused() {
    for len in (0..130).filter(|len| *len != 64) {
        let made = DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &Key::from_bytes(&vec![1; len]));
        let Err(Error::Misuse(misuse)) = made else { panic!("{len}: {made:?}") };
        assert_eq!(misuse, Misuse::KeyLength { got: len, want: &[64] });
    }
    assert_eq!(DeterministicAlgorithm::from_name("aes-256-siv"), Some(DeterministicAlgorithm::Aes256Siv));
    assert_eq!(DeterministicAlgorithm::from_name("aes-256-gcm"), None);
}

#[test]
fn keys_describe_themselves() {
    let daead = daead(&[1; 64]);
    assert_eq!(daead.algorithm().key_len(), 64);
    assert_eq!(daead.overhead(), daead.encrypt(b"", b"").unwrap().len());
    // Both take the best variant of AES of this machine.
    let ctr = sealane::hazmat::AesCtr::new(&[1; 32], &[0; 16]).unwrap();
    assert_eq!(daead.variant(), ctr.variant());
}

#[test]
fn debug_shows_no_key() {
    let text = format!("{:?}", daead(&[7; 64]));
    assert!(
        text.starts_with("DeterministicAead { algorithm: \"aes-256-siv\"") && !text.contains('7'),
        "{text}"
    );
}

#[test]
fn outputs_that_are_too_short_are_unchanged() {
    let daead = daead(&[1; 64]);
    let mut out = [0xab; 20];
    let error = daead.encrypt_into(b"hello", b"", &mut out).unwrap_err();
    assert!(matches!(error, Error::Misuse(Misuse::OutputTooShort { got: 20, need: 21 })), "{error}");
    let sealed = daead.encrypt(&[1; 21], b"").unwrap();
    assert!(daead.decrypt_into(&sealed, b"", &mut out).is_err());
    assert!(daead.encrypt_packed_into(b"hello", &[0, 5], b"", &mut out).is_err());
    assert_eq!(out, [0xab; 20]);
}

#[test]
fn a_forgery_leaves_zeros() {
    let daead = daead(&[1; 64]);
    for len in [1, 15, 16, 17, 40, 1000] {
        let mut sealed = daead.encrypt(&pattern(len), b"aad").unwrap();
        for at in [0, 15, 16, sealed.len() - 1] {
            let mut out = vec![0xab; len];
            sealed[at] ^= 1;
            let error = daead.decrypt_into(&sealed, b"aad", &mut out).unwrap_err();
            assert!(matches!(error, Error::Authentication) && out == vec![0; len], "{len} {at}");
            sealed[at] ^= 1;
        }
    }
    for len in 0..16 {
        assert!(matches!(daead.decrypt(&vec![0; len], b""), Err(Error::Authentication)), "{len}");
    }
}

#[test]
fn packed_messages_equal_single_ones() {
    let daead = daead(&[1; 64]);
    let lens = [0, 1, 16, 17, 64, 5, 300, 64];
    let mut offsets = vec![3];
    for len in lens {
        offsets.push(offsets[offsets.len() - 1] + len as i32);
    }
    let data = pattern(3 + lens.iter().sum::<usize>());
    let (sealed, out_offsets) = daead.encrypt_packed(&data, &offsets, b"column").unwrap();
    for (pair, out) in offsets.windows(2).zip(out_offsets.windows(2)) {
        let message = &data[pair[0] as usize..pair[1] as usize];
        assert_eq!(sealed[out[0] as usize..out[1] as usize], daead.encrypt(message, b"column").unwrap());
    }
    let (opened, again) = daead.decrypt_packed(&sealed, &out_offsets, b"column").unwrap();
    assert_eq!(opened, data[3..]);
    assert_eq!(again, offsets.iter().map(|offset| offset - 3).collect::<Vec<_>>());
}

/// Enough messages for several threads.
#[test]
fn large_columns() {
    let (key, data) = ([1; 64], pattern(64 * 20_000));
    let offsets: Vec<i64> = (0..=20_000).map(|i| 64 * i).collect();
    let one = daead(&key).with_threads(NonZeroUsize::MIN);
    let many = daead(&key);
    let (mut sealed, out_offsets) = one.encrypt_packed(&data, &offsets, b"").unwrap();
    assert_eq!(many.encrypt_packed(&data, &offsets, b"").unwrap(), (sealed.clone(), out_offsets.clone()));
    assert_eq!(many.decrypt_packed(&sealed, &out_offsets, b"").unwrap(), (data, offsets));
    for index in [19_999, 7_000, 11] {
        sealed[80 * index + 20] ^= 1;
        for daead in [&one, &many] {
            let mut out = vec![0xab; 64 * 20_000];
            let error = daead.decrypt_packed_into(&sealed, &out_offsets, b"", &mut out).unwrap_err();
            let Error::InBatch { index: found, source } = error else { panic!("{error}") };
            assert!(found == index && matches!(*source, Error::Authentication), "{found}");
            assert!(out.iter().all(|byte| *byte == 0));
        }
    }
}

#[test]
fn offsets_are_checked() {
    let daead = daead(&[1; 64]);
    for offsets in [&[][..], &[-1, 3], &[3, 2], &[0, 6]] {
        let error = daead.encrypt_packed(b"hello", offsets, b"").unwrap_err();
        assert!(matches!(error, Error::Misuse(Misuse::Offsets(_))), "{error}");
    }
    let error = daead.decrypt_packed(&[0; 40], &[0, 16, 31], b"").unwrap_err();
    assert!(matches!(error, Error::InBatch { index: 1, .. }), "{error}");
    assert!(matches!(daead.encrypted_offsets(&[0, i32::MAX - 15], usize::MAX), Err(Error::LimitExceeded(_))));
}
