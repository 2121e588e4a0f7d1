//! Messages of RSA and HPKE, whole: sizes, buffers of the caller's, every kind of wrong input.

use proptest::prelude::*;
use sealane::asymmetric::rsa::Oaep;
use sealane::asymmetric::{p256, rsa, x25519, xwing};
use sealane::hybrid::{self, hpke};
use sealane::{Aead, Algorithm, Error, Key, Misuse};
use std::sync::OnceLock;

/// Made once: it takes a while.
fn rsa_key() -> &'static rsa::PrivateKey {
    static KEY: OnceLock<rsa::PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| rsa::PrivateKey::generate(2048).unwrap())
}

fn hpke_keys() -> [hpke::PrivateKey; 3] {
    [
        x25519::PrivateKey::generate().unwrap().into(),
        p256::PrivateKey::generate().unwrap().into(),
        xwing::PrivateKey::generate().unwrap().into(),
    ]
}

const AEADS: [hpke::Aead; 3] = [hpke::Aead::Aes128Gcm, hpke::Aead::Aes256Gcm, hpke::Aead::ChaCha20Poly1305];

#[test]
fn rsa_messages_have_the_published_shape() {
    let public = rsa_key().public();
    for len in [0, 1, 16, 1000, 1 << 16] {
        let plaintext = vec![7; len];
        let message = hybrid::rsa::seal(&public, &plaintext, b"aad").unwrap();
        assert_eq!(message.len(), 256 + 12 + len + 16);
        assert_eq!(hybrid::rsa::open(rsa_key(), &message, b"aad").unwrap(), plaintext);
        // By hand: what follows the capsule is a sealed message of AES-256-GCM.
        let key = rsa_key().unwrap(Oaep::Sha256, b"", &message[..256]).unwrap();
        let aead = Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&key)).unwrap();
        assert_eq!(aead.open(&message[256..], b"aad").unwrap(), plaintext);
    }
    assert_ne!(hybrid::rsa::seal(&public, b"", b"").unwrap(), hybrid::rsa::seal(&public, b"", b"").unwrap());
}

#[test]
fn rsa_refuses_everything_else() {
    let public = rsa_key().public();
    let message = hybrid::rsa::seal(&public, b"plaintext", b"aad").unwrap();
    let refused = |message: &[u8], aad: &[u8]| {
        let mut out = [0xaa; 32];
        let opened = hybrid::rsa::open_into(rsa_key(), message, aad, &mut out);
        assert!(matches!(opened, Err(Error::Authentication)), "{opened:?}");
        let len = hybrid::rsa::opened_len(rsa_key(), message.len()).unwrap();
        assert!(out[..len].iter().all(|&byte| byte == 0) && out[len..].iter().all(|&byte| byte == 0xaa));
    };
    refused(&message, b"");
    for at in (0..message.len()).step_by(5).chain(250..message.len()) {
        let mut changed = message.clone();
        changed[at] ^= 1;
        refused(&changed, b"aad");
    }
    for len in 0..message.len() {
        match hybrid::rsa::open(rsa_key(), &message[..len], b"aad") {
            Err(Error::Truncated) => assert!(len < 256 + 12 + 16),
            Err(Error::Authentication) => assert!(len >= 256 + 12 + 16),
            other => panic!("{len}: {other:?}"),
        }
    }
    // Keys of other lengths, which AES has but this message has not, wrapped by somebody else.
    for len in [0, 16, 24, 31, 33, 190] {
        let capsule = public.wrap(Oaep::Sha256, b"", &vec![7; len]).unwrap();
        refused(&[&capsule[..], &message[256..]].concat(), b"aad");
    }
}

#[test]
fn rsa_parts_of_others_are_read() {
    let public = rsa_key().public();
    for (key_len, algorithm) in
        [(16, Algorithm::Aes128Gcm), (24, Algorithm::Aes192Gcm), (32, Algorithm::Aes256Gcm)]
    {
        let key = vec![9; key_len];
        let sealed = Aead::new(algorithm, &Key::from_bytes(&key))
            .unwrap()
            .encrypt(&[1; 12], b"plaintext", b"aad")
            .unwrap();
        let (ciphertext, tag) = sealed.split_at(9);
        let capsule = public.wrap(Oaep::Sha1, b"", &key).unwrap();
        let parts = hybrid::rsa::Parts { capsule: &capsule, nonce: &[1; 12], ciphertext, tag };
        let open = |oaep, parts, aad: &[u8]| hybrid::rsa::open_parts(rsa_key(), oaep, parts, aad);
        assert_eq!(open(Oaep::Sha1, parts, b"aad").unwrap(), b"plaintext");
        assert!(matches!(open(Oaep::Sha256, parts, b"aad"), Err(Error::Authentication)));
        assert!(matches!(open(Oaep::Sha1, parts, b""), Err(Error::Authentication)));
        let other = hybrid::rsa::Parts { nonce: &[1; 16], ..parts };
        assert!(matches!(open(Oaep::Sha1, other, b"aad"), Err(Error::Authentication)));
        let none = hybrid::rsa::Parts { nonce: &[], ..parts };
        assert!(matches!(open(Oaep::Sha1, none, b"aad"), Err(Error::Misuse(Misuse::NonceLength { .. }))));
        let short = hybrid::rsa::Parts { tag: &tag[..12], ..parts };
        assert!(matches!(open(Oaep::Sha1, short, b"aad"), Err(Error::Misuse(Misuse::TagLength { .. }))));
        let mut out = [0xaa; 10];
        let forged = hybrid::rsa::Parts { ciphertext: &ciphertext[1..], ..parts };
        hybrid::rsa::open_parts_into(rsa_key(), Oaep::Sha1, forged, b"aad", &mut out).unwrap_err();
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xaa]);
        assert_eq!(format!("{parts:?}"), "Parts([256, 12, 9, 16] bytes)");
    }
    let capsule = public.wrap(Oaep::Sha1, b"", &[9; 20]).unwrap();
    let parts = hybrid::rsa::Parts { capsule: &capsule, nonce: &[1; 12], ciphertext: b"", tag: &[0; 16] };
    assert!(matches!(hybrid::rsa::open_parts(rsa_key(), Oaep::Sha1, parts, b""), Err(Error::Authentication)));
}

/// The notebook's form among them: SHA-1 and nonces of 16 bytes.
#[test]
fn rsa_parts_of_pycryptodome_are_read() {
    let cases = vectors::rsa_parts();
    for case in &cases {
        let key = rsa::PrivateKey::from_pkcs8(&case.key).unwrap();
        let oaep = match &*case.hash {
            "SHA-1" => Oaep::Sha1,
            "SHA-256" => Oaep::Sha256,
            other => panic!("no hash {other}"),
        };
        let parts = hybrid::rsa::Parts {
            capsule: &case.wrapped_key,
            nonce: &case.nonce,
            ciphertext: &case.ciphertext,
            tag: &case.tag,
        };
        let opened = hybrid::rsa::open_parts(&key, oaep, parts, &case.aad).unwrap();
        assert_eq!(opened, case.plaintext, "{} #{}", case.file, case.id);
    }
    assert_eq!(cases.iter().filter(|case| case.nonce.len() == 16).count(), 8);
}

#[test]
fn hpke_messages_are_encapsulation_and_ciphertext() {
    for (key, len) in hpke_keys().iter().zip([32, 65, 1120]) {
        for aead in AEADS {
            for plaintext in [vec![], vec![7; 1000]] {
                let message = hpke::seal(aead, &key.public(), &plaintext, b"aad", b"info").unwrap();
                assert_eq!(message.len(), len + plaintext.len() + 16);
                assert_eq!(hpke::open(aead, key, &message, b"aad", b"info").unwrap(), plaintext);
                let (sent, ciphertext) = message.split_at(len);
                let opened = sealane::asymmetric::hpke::open(key, aead, sent, b"info", b"aad", ciphertext);
                assert_eq!(opened.unwrap(), plaintext);
            }
        }
    }
}

#[test]
fn hpke_refuses_everything_else() {
    let aead = hpke::Aead::Aes256Gcm;
    for key in hpke_keys() {
        let message = hpke::seal(aead, &key.public(), b"plaintext", b"aad", b"info").unwrap();
        let least = message.len() - 9;
        let refused = |aead, message: &[u8], aad: &[u8], info: &[u8]| {
            let mut out = [0xaa; 32];
            let opened = hpke::open_into(aead, &key, message, aad, info, &mut out);
            assert!(matches!(opened, Err(Error::Authentication)), "{opened:?}");
            let len = message.len() - least;
            assert!(out[..len].iter().all(|&byte| byte == 0) && out[len..].iter().all(|&byte| byte == 0xaa));
        };
        refused(aead, &message, b"aaD", b"info");
        refused(aead, &message, b"aad", b"");
        refused(hpke::Aead::Aes128Gcm, &message, b"aad", b"info");
        for at in (0..message.len()).step_by(11).chain(least - 16..message.len()) {
            let mut changed = message.clone();
            changed[at] ^= 1;
            refused(aead, &changed, b"aad", b"info");
        }
        for len in (0..message.len()).step_by(3).chain(least - 3..message.len()) {
            match hpke::open(aead, &key, &message[..len], b"aad", b"info") {
                Err(Error::Truncated) => assert!(len < least),
                Err(Error::Authentication) => assert!(len >= least),
                other => panic!("{len}: {other:?}"),
            }
        }
    }
}

#[test]
fn buffers_of_the_callers() {
    let (key, public) = (rsa_key(), rsa_key().public());
    let need = hybrid::rsa::sealed_len(&public, 100).unwrap();
    let mut out = vec![0xaa; need + 5];
    assert_eq!(hybrid::rsa::seal_into(&public, &[7; 100], b"", &mut out).unwrap(), need);
    assert_eq!(out[need..], [0xaa; 5]);
    let mut opened = [0xaa; 105];
    assert_eq!(hybrid::rsa::open_into(key, &out[..need], b"", &mut opened).unwrap(), 100);
    assert!(opened[..100] == [7; 100] && opened[100..] == [0xaa; 5]);
    let short = hybrid::rsa::seal_into(&public, &[7; 100], b"", &mut out[..need - 1]);
    assert!(
        matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { got, need: n })) if (got, n) == (need - 1, need))
    );
    let short = hybrid::rsa::open_into(key, &out[..need], b"", &mut opened[..99]);
    assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { got: 99, need: 100 }))));
    assert!(matches!(hybrid::rsa::sealed_len(&public, usize::MAX), Err(Error::LimitExceeded(_))));

    let aead = hpke::Aead::default();
    for key in hpke_keys() {
        let public = key.public();
        let need = hpke::sealed_len(&public, 100).unwrap();
        let mut out = vec![0xaa; need + 5];
        assert_eq!(hpke::seal_into(aead, &public, &[7; 100], b"", b"", &mut out).unwrap(), need);
        assert_eq!(out[need..], [0xaa; 5]);
        let mut opened = [0xaa; 105];
        assert_eq!(hpke::open_into(aead, &key, &out[..need], b"", b"", &mut opened).unwrap(), 100);
        assert!(opened[..100] == [7; 100] && opened[100..] == [0xaa; 5]);
        let short = hpke::seal_into(aead, &public, &[7; 100], b"", b"", &mut out[..need - 1]);
        assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { .. }))));
        let short = hpke::open_into(aead, &key, &out[..need], b"", b"", &mut opened[..99]);
        assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { .. }))));
        assert!(matches!(hpke::sealed_len(&public, usize::MAX), Err(Error::LimitExceeded(_))));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_was_sealed_is_opened(
        plaintext in proptest::collection::vec(any::<u8>(), 0..2000),
        aad in proptest::collection::vec(any::<u8>(), 0..50),
        info in proptest::collection::vec(any::<u8>(), 0..50),
        aead in proptest::sample::select(&AEADS[..]),
    ) {
        let message = hybrid::rsa::seal(&rsa_key().public(), &plaintext, &aad).unwrap();
        prop_assert_eq!(&hybrid::rsa::open(rsa_key(), &message, &aad).unwrap(), &plaintext);
        for key in hpke_keys() {
            let message = hpke::seal(aead, &key.public(), &plaintext, &aad, &info).unwrap();
            prop_assert_eq!(&hpke::open(aead, &key, &message, &aad, &info).unwrap(), &plaintext);
        }
    }

    #[test]
    fn nothing_else_panics(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        prop_assert!(hybrid::rsa::open(rsa_key(), &bytes, b"").is_err());
        prop_assert!(rsa::PrivateKey::from_pkcs8(&bytes).is_err());
        prop_assert!(rsa::PublicKey::from_spki(&bytes).is_err());
        for key in hpke_keys() {
            prop_assert!(hpke::open(hpke::Aead::Aes256Gcm, &key, &bytes, b"", b"").is_err());
        }
    }
}
