//! A build with the feature `fips`: AES-GCM in the module of AWS-LC; everything else is refused.

use providers::{
    Algorithm, AuthenticationError, FIPS, InOut, KeyError, Provider, Reason, choose, entries, fips_module,
    listing, raw,
};
use vectors::Outcome;

const APPROVED: [Algorithm; 2] = [Algorithm::Aes128Gcm, Algorithm::Aes256Gcm];

#[test]
fn the_module_reproduces_the_published_vectors() {
    assert!(FIPS && fips_module().unwrap().starts_with("AWS-LC FIPS "));
    let mut checked = 0;
    for case in vectors::aead() {
        let algorithm = Algorithm::from_name(&case.algorithm).unwrap();
        if !APPROVED.contains(&algorithm) || case.nonce.len() != algorithm.nonce_len() {
            continue;
        }
        let name = format!("{} #{}", case.file, case.id);
        let entry = choose(algorithm, None).unwrap();
        assert_eq!(entry.provider, Provider::AwsLc, "{name}");
        let key = entry.key(&case.key).unwrap();
        let mut data = case.ciphertext.clone();
        let tag = case.tag[..].try_into().unwrap();
        let opened = key.open(&case.nonce, &case.aad, InOut::in_place(&mut data), tag);
        if case.result == Outcome::Invalid {
            assert_eq!(
                (opened, data.iter().all(|byte| *byte == 0)),
                (Err(AuthenticationError), true),
                "{name}"
            );
        } else {
            assert_eq!((opened, &data), (Ok(()), &case.plaintext), "{name}");
            let (mut sealed, mut made) = (vec![0; case.plaintext.len()], [0; 16]);
            key.seal(&case.nonce, &case.aad, InOut::apart(&case.plaintext, &mut sealed), &mut made).unwrap();
            assert_eq!((&sealed, &made[..]), (&case.ciphertext, &case.tag[..]), "{name}");
        }
        checked += 1;
    }
    assert!(checked > 100, "{checked} cases");
}

#[test]
fn the_module_generates_nonces() {
    for algorithm in APPROVED {
        let key = choose(algorithm, None).unwrap().key(&[7; 32][..algorithm.key_len()]).unwrap();
        let seal = |nonce: &mut [u8], len| {
            let (mut data, mut tag) = (vec![0; len], [0; 16]);
            let done = key.seal_fresh(nonce, b"aad", InOut::apart(&vec![1; len], &mut data), &mut tag);
            (done, data, tag)
        };
        let mut nonces = std::collections::HashSet::new();
        for len in [0, 1, 16, 5000] {
            let mut nonce = [0; 12];
            let (done, mut data, tag) = seal(&mut nonce, len);
            assert_eq!(done, Some(Ok(())));
            assert!(nonces.insert(nonce), "a nonce was used twice");
            assert_eq!(key.open(&nonce, b"aad", InOut::in_place(&mut data), &tag), Ok(()));
            assert_eq!(data, vec![1; len]);
        }
        assert!(matches!(seal(&mut [0; 11], 1), (Some(Err(_)), data, _) if data == [0]));
    }
}

#[test]
fn every_other_entry_is_refused() {
    let mut approved = Vec::new();
    for entry in entries() {
        if entry.provider == Provider::AwsLc && APPROVED.contains(&entry.algorithm) {
            approved.push(entry.algorithm);
            continue;
        }
        let name = entry.algorithm.name();
        assert_eq!(entry.available(), Err(Reason::NotApproved), "{name} from {}", entry.provider.name());
        let refused = entry.key(&[7; 32][..entry.algorithm.key_len()]).err();
        assert_eq!(refused, Some(KeyError::NotApproved(name)), "{}", entry.provider.name());
    }
    assert_eq!(approved, APPROVED);
    for &algorithm in Algorithm::ALL {
        match choose(algorithm, None) {
            Ok(entry) => assert!(APPROVED.contains(&algorithm) && entry.provider == Provider::AwsLc),
            Err(refused) => {
                assert!(!APPROVED.contains(&algorithm) && refused.reason == Reason::NotApproved);
                assert!(refused.to_string().contains("not approved in this FIPS build"), "{refused}");
            }
        }
        for provider in [Provider::Native, Provider::RustCrypto] {
            assert!(choose(algorithm, Some(provider)).is_err(), "{}", algorithm.name());
        }
    }
}

#[test]
fn an_entry_of_another_crate_is_refused() {
    static MINE: [providers::Entry; 1] =
        [providers::Entry::new(Algorithm::Aes256Gcm, Provider::new("mine"), 0, |_| {
            Err(KeyError::Unspecified)
        })];
    providers::register(&MINE).unwrap();
    assert_eq!(MINE[0].key(&[0; 32]).err(), Some(KeyError::NotApproved("aes-256-gcm")));
    assert_eq!(choose(Algorithm::Aes256Gcm, None).unwrap().provider, Provider::AwsLc);
}

#[test]
fn raw_ciphers_are_refused() {
    let key = [7; 32];
    let refused = [
        raw::aes(&key).map(drop),
        raw::chacha20(&key).map(drop),
        raw::xchacha20(&key).map(drop),
        raw::poly1305(&key).map(drop),
        raw::speck(raw::SpeckSize::ALL[9], &key, raw::ByteOrder::Big).map(drop),
        raw::siv(&key).map(drop),
        raw::gcm(&key).map(drop),
        raw::gcm_any_nonce(&key).map(drop),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(KeyError::NotApproved(_))), "{refused:?}");
    }
}

#[test]
fn the_listing_shows_what_is_approved() {
    let listed = listing();
    let available: Vec<_> =
        listed.iter().filter(|line| line.available).map(|line| (line.algorithm, line.provider)).collect();
    assert_eq!(available, [("aes-128-gcm", "aws-lc"), ("aes-256-gcm", "aws-lc")]);
    assert!(listed.iter().all(|line| line.available == line.chosen));
    let native = listed.iter().filter(|line| line.provider == "native");
    assert!(native.clone().count() > 20);
    assert!(native.into_iter().all(|line| line.reason == "not approved in this FIPS build"));
}
