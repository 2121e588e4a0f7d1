//! RSA and HPKE messages: sizes, buffers of the caller, and inputs that must be rejected.

mod by_key;

use proptest::prelude::*;
use sealane::asymmetric::rsa::Oaep;
use sealane::asymmetric::{p256, rsa, x25519, xwing};
use sealane::hybrid::hpke::{self, HpkeOpener, HpkeSealer, Mode};
use sealane::hybrid::{self, Opener, Sealer};
use sealane::{Aead, Algorithm, Error, Key, Misuse};
use std::sync::OnceLock;

/// Returns an RSA key, which is generated once because that takes about a second.
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

fn hpke_sealer<'a>(aead: hpke::Aead, public: &hpke::PublicKey, info: &'a [u8]) -> HpkeSealer<'a> {
    HpkeSealer { public: public.clone(), aead, mode: Mode::Base, info }
}

fn hpke_opener<'a>(aead: hpke::Aead, private: &hpke::PrivateKey, info: &'a [u8]) -> HpkeOpener<'a> {
    HpkeOpener { private: private.clone(), aead, mode: Mode::Base, info }
}

const AEADS: [hpke::Aead; 3] = [hpke::Aead::Aes128Gcm, hpke::Aead::Aes256Gcm, hpke::Aead::ChaCha20Poly1305];

#[test]
fn rsa_messages_have_the_documented_layout() {
    let public = rsa_key().public();
    for len in [0, 1, 16, 1000, 1 << 16] {
        let plaintext = vec![7; len];
        let message = public.seal(&plaintext, b"aad").unwrap();
        assert_eq!(message.len(), 256 + 12 + len + 16);
        assert_eq!(rsa_key().open(&message, b"aad").unwrap(), plaintext);
        // Opened step by step: the bytes after the wrapped key are a sealed message of AES-256-GCM.
        let key = rsa_key().unwrap(Oaep::Sha256, b"", &message[..256]).unwrap();
        let aead = Aead::new(Algorithm::Aes256Gcm, &Key::from_bytes(&key)).unwrap();
        assert_eq!(aead.open(&message[256..], b"aad").unwrap(), plaintext);
    }
    assert_ne!(public.seal(b"", b"").unwrap(), public.seal(b"", b"").unwrap());
}

// claim: public-key-time
#[test]
fn rsa_rejects_changed_messages() {
    let public = rsa_key().public();
    let message = public.seal(b"plaintext", b"aad").unwrap();
    let refused = |message: &[u8], aad: &[u8]| {
        let mut out = [0xaa; 32];
        let opened = rsa_key().open_into(message, aad, &mut out);
        assert!(matches!(opened, Err(Error::Authentication)), "{opened:?}");
        let len = rsa_key().opened_len(message.len()).unwrap();
        assert!(out[..len].iter().all(|&byte| byte == 0) && out[len..].iter().all(|&byte| byte == 0xaa));
    };
    refused(&message, b"");
    for at in (0..message.len()).step_by(5).chain(250..message.len()) {
        let mut changed = message.clone();
        changed[at] ^= 1;
        refused(&changed, b"aad");
    }
    for len in 0..message.len() {
        match rsa_key().open(&message[..len], b"aad") {
            Err(Error::Truncated) => assert!(len < 256 + 12 + 16),
            Err(Error::Authentication) => assert!(len >= 256 + 12 + 16),
            other => panic!("{len}: {other:?}"),
        }
    }
    // Wrapped keys of other lengths, which AES accepts but this format does not.
    for len in [0, 16, 24, 31, 33, 190] {
        let wrapped_key = public.wrap(Oaep::Sha256, b"", &vec![7; len]).unwrap();
        refused(&[&wrapped_key[..], &message[256..]].concat(), b"aad");
    }
}

#[test]
fn rsa_opens_messages_in_parts() {
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
        let wrapped_key = public.wrap(Oaep::Sha1, b"", &key).unwrap();
        let parts = hybrid::rsa::Parts { wrapped_key: &wrapped_key, nonce: &[1; 12], ciphertext, tag };
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
        let changed = hybrid::rsa::Parts { ciphertext: &ciphertext[1..], ..parts };
        hybrid::rsa::open_parts_into(rsa_key(), Oaep::Sha1, changed, b"aad", &mut out).unwrap_err();
        assert_eq!(out, [0, 0, 0, 0, 0, 0, 0, 0, 0xaa, 0xaa]);
        assert_eq!(format!("{parts:?}"), "Parts([256, 12, 9, 16] bytes)");
    }
    let wrapped_key = public.wrap(Oaep::Sha1, b"", &[9; 20]).unwrap();
    let parts =
        hybrid::rsa::Parts { wrapped_key: &wrapped_key, nonce: &[1; 12], ciphertext: b"", tag: &[0; 16] };
    assert!(matches!(hybrid::rsa::open_parts(rsa_key(), Oaep::Sha1, parts, b""), Err(Error::Authentication)));
}

/// The cases include the defaults of PyCryptodome: SHA-1 and nonces of 16 bytes.
#[test]
fn rsa_opens_parts_of_pycryptodome() {
    let cases = vectors::rsa_parts();
    for case in &cases {
        let key = rsa::PrivateKey::from_pkcs8(&case.key).unwrap();
        let oaep = match &*case.hash {
            "SHA-1" => Oaep::Sha1,
            "SHA-256" => Oaep::Sha256,
            other => panic!("no hash {other}"),
        };
        let parts = hybrid::rsa::Parts {
            wrapped_key: &case.wrapped_key,
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
fn hpke_messages_are_enc_and_ciphertext() {
    for (key, len) in hpke_keys().iter().zip([32, 65, 1120]) {
        for aead in AEADS {
            for plaintext in [vec![], vec![7; 1000]] {
                let message = hpke_sealer(aead, &key.public(), b"info").seal(&plaintext, b"aad").unwrap();
                assert_eq!(message.len(), len + plaintext.len() + 16);
                assert_eq!(hpke_opener(aead, key, b"info").open(&message, b"aad").unwrap(), plaintext);
                let (sent, ciphertext) = message.split_at(len);
                let opened = sealane::asymmetric::hpke::open(key, aead, sent, b"info", b"aad", ciphertext);
                assert_eq!(opened.unwrap(), plaintext);
            }
        }
    }
}

#[test]
fn hpke_rejects_changed_messages() {
    let aead = hpke::Aead::Aes256Gcm;
    for key in hpke_keys() {
        let message = hpke_sealer(aead, &key.public(), b"info").seal(b"plaintext", b"aad").unwrap();
        let least = message.len() - 9;
        let refused = |aead, message: &[u8], aad: &[u8], info: &[u8]| {
            let mut out = [0xaa; 32];
            let opened = hpke_opener(aead, &key, info).open_into(message, aad, &mut out);
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
            match hpke_opener(aead, &key, b"info").open(&message[..len], b"aad") {
                Err(Error::Truncated) => assert!(len < least),
                Err(Error::Authentication) => assert!(len >= least),
                other => panic!("{len}: {other:?}"),
            }
        }
    }
}

#[test]
fn seals_and_opens_into_buffers() {
    let (key, public) = (rsa_key(), rsa_key().public());
    let need = public.sealed_len(100).unwrap();
    let mut out = vec![0xaa; need + 5];
    assert_eq!(public.seal_into(&[7; 100], b"", &mut out).unwrap(), need);
    assert_eq!(out[need..], [0xaa; 5]);
    let mut opened = [0xaa; 105];
    assert_eq!(key.open_into(&out[..need], b"", &mut opened).unwrap(), 100);
    assert!(opened[..100] == [7; 100] && opened[100..] == [0xaa; 5]);
    let short = public.seal_into(&[7; 100], b"", &mut out[..need - 1]);
    assert!(
        matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { got, need: n })) if (got, n) == (need - 1, need))
    );
    let short = key.open_into(&out[..need], b"", &mut opened[..99]);
    assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { got: 99, need: 100 }))));
    assert!(matches!(public.sealed_len(usize::MAX), Err(Error::LimitExceeded(_))));

    let aead = hpke::Aead::default();
    for key in hpke_keys() {
        let public = key.public();
        let need = hpke_sealer(aead, &public, b"").sealed_len(100).unwrap();
        let mut out = vec![0xaa; need + 5];
        assert_eq!(hpke_sealer(aead, &public, b"").seal_into(&[7; 100], b"", &mut out).unwrap(), need);
        assert_eq!(out[need..], [0xaa; 5]);
        let mut opened = [0xaa; 105];
        assert_eq!(hpke_opener(aead, &key, b"").open_into(&out[..need], b"", &mut opened).unwrap(), 100);
        assert!(opened[..100] == [7; 100] && opened[100..] == [0xaa; 5]);
        let short = hpke_sealer(aead, &public, b"").seal_into(&[7; 100], b"", &mut out[..need - 1]);
        assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { .. }))));
        let short = hpke_opener(aead, &key, b"").open_into(&out[..need], b"", &mut opened[..99]);
        assert!(matches!(short, Err(Error::Misuse(Misuse::OutputTooShort { .. }))));
        assert!(matches!(
            hpke_sealer(aead, &public, b"").sealed_len(usize::MAX),
            Err(Error::LimitExceeded(_))
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn sealed_messages_round_trip(
        plaintext in proptest::collection::vec(any::<u8>(), 0..2000),
        aad in proptest::collection::vec(any::<u8>(), 0..50),
        info in proptest::collection::vec(any::<u8>(), 0..50),
        aead in proptest::sample::select(&AEADS[..]),
    ) {
        let message = rsa_key().public().seal(&plaintext, &aad).unwrap();
        prop_assert_eq!(&rsa_key().open(&message, &aad).unwrap(), &plaintext);
        for key in hpke_keys() {
            let message = hpke_sealer(aead, &key.public(), &info).seal(&plaintext, &aad).unwrap();
            prop_assert_eq!(&hpke_opener(aead, &key, &info).open(&message, &aad).unwrap(), &plaintext);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..1500)) {
        prop_assert!(rsa_key().open(&bytes, b"").is_err());
        prop_assert!(rsa::PrivateKey::from_pkcs8(&bytes).is_err());
        prop_assert!(rsa::PublicKey::from_spki(&bytes).is_err());
        for key in hpke_keys() {
            prop_assert!(hpke_opener(hpke::Aead::Aes256Gcm, &key, b"").open(&bytes, b"").is_err());
        }
    }
}
