//! Deterministic encryption: published vectors, packed messages, and what is refused.

use sealane::keys::{Keyring, Prefix};
use sealane::{DeterministicAead, DeterministicAlgorithm, Error, Key, KeyringDeterministicAead, Misuse};
use std::num::NonZeroUsize;
use vectors::Outcome;

fn daead(key: &[u8]) -> DeterministicAead {
    DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &Key::from_bytes(key)).unwrap()
}

fn pattern(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

/// The cases with one header and a key of this algorithm. The tests of the crate `providers` run
/// all of them.
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
    assert!(daead.seal_packed_into(b"hello", &[0, 5], b"", &mut out).is_err());
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
            let error = daead.open_packed_into(&sealed, &out_offsets, b"", &mut out).unwrap_err();
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
    assert!(matches!(daead.sealed_offsets(&[0, i32::MAX - 15], usize::MAX), Err(Error::LimitExceeded(_))));
}

fn siv() -> sealane::keys::KeyType {
    "aes-256-siv".parse().unwrap()
}

/// The prefix precedes what the key alone returns, as in Tink.
#[test]
fn keyrings_decrypt_what_each_enabled_key_encrypted() {
    let key = Key::generate(64).unwrap();
    let alone = DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &key).unwrap();
    let mut ring = Keyring::from_key(siv(), Prefix::Raw, &key).unwrap();
    let mut stored = vec![alone.encrypt(b"hello", b"aad").unwrap()];
    assert_eq!(KeyringDeterministicAead::new(&ring).unwrap().encrypt(b"hello", b"aad").unwrap(), stored[0]);
    for (prefix, first) in [(Prefix::Tink, 1), (Prefix::Crunchy, 0), (Prefix::Legacy, 0)] {
        let id = ring.add(siv(), prefix, &key).unwrap();
        ring.promote(id).unwrap();
        let daead = KeyringDeterministicAead::new(&ring).unwrap();
        let message = daead.encrypt(b"hello", b"aad").unwrap();
        assert_eq!(message, [&[first][..], &id.to_be_bytes(), &stored[0]].concat());
        assert_eq!(daead.overhead() + 5, message.len());
        let mut out = vec![7; message.len() + 1];
        assert_eq!(daead.encrypt_into(b"hello", b"aad", &mut out).unwrap(), message.len());
        assert_eq!(out, [&message[..], &[7]].concat());
        assert!(daead.encrypt_into(b"hello", b"aad", &mut out[..message.len() - 1]).is_err());
        stored.push(message);
    }
    ring.rotate().unwrap();
    let daead = KeyringDeterministicAead::new(&ring).unwrap();
    stored.push(daead.encrypt(b"hello", b"aad").unwrap());
    let all = daead.encrypt_with_all_keys(b"hello", b"aad").unwrap();
    // The primary key is the first one.
    assert_eq!((all.len(), &all[0], daead.len()), (5, &stored[4], 5));
    assert!(stored.iter().all(|message| all.contains(message)));
    for message in &stored {
        assert_eq!(daead.decrypt(message, b"aad").unwrap(), b"hello");
        for at in 0..message.len() {
            let mut changed = message.clone();
            changed[at] ^= 1;
            assert!(matches!(daead.decrypt(&changed, b"aad"), Err(Error::Authentication)), "byte {at}");
            assert!(matches!(daead.decrypt(&message[..at], b"aad"), Err(Error::Authentication)), "cut {at}");
        }
    }
    let newest = stored.pop().unwrap();
    let ids: Vec<u32> = ring.keys().map(|info| info.id).collect();
    ring.promote(ids[0]).unwrap();
    ring.disable(ids[4]).unwrap();
    let daead = KeyringDeterministicAead::new(&ring).unwrap();
    assert!(matches!(daead.decrypt(&newest, b"aad"), Err(Error::Authentication)));
    assert_eq!(daead.encrypt_with_all_keys(b"hello", b"aad").unwrap().len(), 4);
}

/// Enough messages for several threads, under one key and under two.
#[test]
fn columns_of_keyrings() {
    let mut ring = Keyring::generate(siv(), Prefix::Tink).unwrap();
    let old = KeyringDeterministicAead::new(&ring).unwrap();
    ring.rotate().unwrap();
    let new = KeyringDeterministicAead::new(&ring).unwrap();
    let data = pattern(64 * 20_000);
    let offsets: Vec<i32> = (0..=20_000).map(|i| 64 * i).collect();
    let (mut column, mut ends) = old.encrypt_packed(&data, &offsets, b"c").unwrap();
    assert_eq!(&column[..85], old.encrypt(&data[..64], b"c").unwrap());
    assert_eq!(&column[85 * 19_999..], old.encrypt(&data[64 * 19_999..], b"c").unwrap());
    assert_eq!(new.decrypt_packed(&column, &ends, b"c").unwrap(), (data.clone(), offsets.clone()));
    assert!(matches!(new.decrypt_packed(&column, &ends, b"d"), Err(Error::InBatch { .. })));
    column.extend(new.encrypt(b"new", b"c").unwrap());
    ends.push(column.len() as i32);
    let (plain, found) = new.decrypt_packed(&column, &ends, b"c").unwrap();
    assert_eq!((&plain[data.len()..], found[20_001]), (&b"new"[..], data.len() as i32 + 3));
    column[85 * 9_000 + 30] ^= 1;
    for range in [0..=20_000, 0..=20_001] {
        let error = new.decrypt_packed(&column, &ends[range], b"c").unwrap_err();
        assert!(matches!(error, Error::InBatch { index: 9_000, .. }), "{error}");
    }
    // Too short for the prefix and the synthetic IV.
    let short = old.encrypt(b"", b"c").unwrap();
    for cut in [0, 4, 5, 20] {
        let error = new.decrypt_packed(&short, &[0, cut], b"c").unwrap_err();
        assert!(matches!(error, Error::InBatch { index: 0, .. }), "{cut}: {error}");
    }
    assert_eq!(new.decrypt_packed(&short, &[0, 21], b"c").unwrap(), (vec![], vec![0, 0]));
    assert_eq!(new.decrypt_packed(&short, &[7], b"c").unwrap(), (vec![], vec![0]));
    assert!(matches!(new.encrypt_packed(b"", &[0, 1], b""), Err(Error::Misuse(Misuse::Offsets(_)))));
}

#[test]
fn keyrings_of_another_use_are_refused() {
    for name in ["aes-256-gcm", "tink-4kb"] {
        let ring = Keyring::generate(name.parse().unwrap(), Prefix::Raw).unwrap();
        let refused = KeyringDeterministicAead::new(&ring).unwrap_err();
        assert!(refused.to_string().contains("expected a keyring of aes-256-siv keys"), "{refused}");
    }
}
