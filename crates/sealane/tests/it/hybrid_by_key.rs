//! Messages whose suite follows from the key: all kinds of keys, and what one kind knows and another does not.

use sealane::asymmetric::hpke;
use sealane::hybrid::{self, Terms, ecies, rsa};
use sealane::keys::{Kind, PublicKey, SecretKey};
use sealane::{Error, Misuse};

const KINDS: [(Kind, usize); 5] = [
    (Kind::Rsa2048, 256 + 12 + 16),
    (Kind::Secp256k1, 65 + 16 + 16),
    (Kind::X25519, 32 + 16),
    (Kind::P256, 65 + 16),
    (Kind::XWing, 1120 + 16),
];

fn pair(kind: Kind) -> (SecretKey, PublicKey) {
    let secret = SecretKey::generate(kind).unwrap();
    let public = secret.public().unwrap();
    (secret, public)
}

#[test]
fn there_and_back() {
    for (kind, overhead) in KINDS {
        let (secret, public) = pair(kind);
        let terms = Terms { aad: b"header", ..Terms::default() };
        for len in [0, 1, 140, 4096, 1 << 20] {
            let plaintext = vec![3; len];
            let message = hybrid::seal(&public, &plaintext, &terms).unwrap();
            assert_eq!(message.len(), len + overhead, "{kind}");
            assert_eq!(hybrid::sealed_len(&public, len).unwrap(), message.len());
            assert_eq!(hybrid::opened_len(&secret, message.len()).unwrap(), len);
            assert_eq!(hybrid::open(&secret, &message, &terms).unwrap(), plaintext);
            // Into buffers of the caller's, which are longer; what follows stays as it was.
            let mut out = vec![9; message.len() + 7];
            assert_eq!(hybrid::seal_into(&public, &plaintext, &terms, &mut out).unwrap(), message.len());
            assert_eq!(out[message.len()..], [9; 7]);
            let mut back = vec![9; len + 7];
            let opened = hybrid::open_into(&secret, &out[..message.len()], &terms, &mut back);
            assert_eq!(opened.unwrap(), len);
            assert_eq!((&back[..len], &back[len..]), (&plaintext[..], &[9; 7][..]));
        }
    }
}

#[test]
fn it_is_the_suite_that_the_table_says() {
    let terms = Terms { aad: b"aad", ..Terms::default() };
    let seal = |kind| {
        let (secret, public) = pair(kind);
        (secret, hybrid::seal(&public, b"hello", &terms).unwrap())
    };
    let (SecretKey::Rsa(key), message) = seal(Kind::Rsa2048) else { panic!() };
    assert_eq!(rsa::open(&key, &message, b"aad").unwrap(), b"hello");
    let (SecretKey::Secp256k1(key), message) = seal(Kind::Secp256k1) else { panic!() };
    assert_eq!(ecies::open(&ecies::Config::default(), &key.into(), &message, b"aad").unwrap(), b"hello");
    for kind in [Kind::X25519, Kind::P256, Kind::XWing] {
        let (secret, message) = seal(kind);
        let key = hpke::PrivateKey::try_from(&secret).unwrap();
        let (encapsulation, ciphertext) = message.split_at(key.kem().enc_len());
        let opened = hpke::open(&key, hpke::Aead::Aes256Gcm, encapsulation, b"", b"aad", ciphertext);
        assert_eq!(opened.unwrap(), b"hello");
    }
}

#[test]
fn everything_else_is_refused() {
    for (kind, overhead) in KINDS {
        let ((secret, public), (other, _)) = (pair(kind), pair(kind));
        let terms = Terms { aad: b"header", ..Terms::default() };
        let message = hybrid::seal(&public, b"plaintext", &terms).unwrap();
        let refused = |key: &SecretKey, message: &[u8], terms: &Terms<'_>| {
            let mut out = vec![9; message.len()];
            let error = hybrid::open_into(key, message, terms, &mut out).unwrap_err();
            assert!(!out.starts_with(b"plain"), "{kind}");
            error
        };
        assert!(matches!(refused(&other, &message, &terms), Error::Authentication), "{kind}");
        assert!(matches!(refused(&secret, &message, &Terms::default()), Error::Authentication), "{kind}");
        let mut changed = message.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(matches!(refused(&secret, &changed, &terms), Error::Authentication), "{kind}");
        for len in [0, 1, overhead - 1] {
            assert!(matches!(refused(&secret, &message[..len], &terms), Error::Truncated), "{kind} {len}");
        }
        let mut short = vec![0; message.len() - 1];
        let refused = hybrid::seal_into(&public, b"plaintext", &terms, &mut short);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::OutputTooShort { .. }))), "{kind}");
    }
}

#[test]
fn info_and_suite_are_those_of_hpke() {
    for (kind, _) in KINDS {
        let (secret, public) = pair(kind);
        for suite in [hpke::Aead::Aes128Gcm, hpke::Aead::ChaCha20Poly1305] {
            let terms = Terms { aad: b"", info: b"exchange", suite: Some(suite) };
            if matches!(kind, Kind::Rsa2048 | Kind::Secp256k1) {
                for terms in [Terms { suite: None, ..terms }, Terms { info: b"", ..terms }] {
                    let refused = hybrid::seal(&public, b"", &terms);
                    assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{kind}");
                    let message = hybrid::seal(&public, b"", &Terms::default()).unwrap();
                    let refused = hybrid::open(&secret, &message, &terms);
                    assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{kind}");
                }
                continue;
            }
            let message = hybrid::seal(&public, b"hello", &terms).unwrap();
            assert_eq!(hybrid::open(&secret, &message, &terms).unwrap(), b"hello");
            for other in [Terms { info: b"other", ..terms }, Terms { suite: None, ..terms }] {
                assert!(matches!(hybrid::open(&secret, &message, &other), Err(Error::Authentication)));
            }
        }
    }
}

#[test]
fn keys_that_are_not_for_messages() {
    let misuse =
        |result: Result<Vec<u8>, Error>| matches!(result, Err(Error::Misuse(Misuse::UnsuitableKey(_))));
    for kind in [Kind::Age, Kind::AgePq] {
        let (secret, public) = pair(kind);
        assert!(misuse(hybrid::seal(&public, b"", &Terms::default())));
        assert!(misuse(hybrid::open(&secret, &[0; 2000], &Terms::default())));
    }
    let symmetric = SecretKey::generate(Kind::Aes256).unwrap();
    assert!(misuse(hybrid::open(&symmetric, &[0; 2000], &Terms::default())));
    let (secret, public) = pair(Kind::Secp256k1);
    assert!(hpke::PublicKey::try_from(&public).is_err());
    assert!(hpke::PrivateKey::try_from(&secret).is_err());
}

#[test]
fn hpke_may_tell_who_the_sender_is() {
    use sealane::hybrid::hpke::{Mode, Psk, open_as_into, seal_as_into};
    let key = |kind| hpke::PrivateKey::try_from(&pair(kind).0).unwrap();
    let (recipient, sender, other) = (key(Kind::X25519), key(Kind::X25519), key(Kind::X25519));
    let (public, aead) = (recipient.public(), hpke::Aead::Aes256Gcm);
    let psk = Psk::new(&[1; 32], b"name").unwrap();
    let mut message = [0; 32 + 5 + 16];
    let mode = Mode::AuthPsk(&sender, psk);
    seal_as_into(aead, &public, mode, b"hello", b"aad", b"info", &mut message).unwrap();
    let mut out = [0; 5];
    let (sender, other) = (sender.public(), other.public());
    let wrong = Psk::new(&[2; 32], b"name").unwrap();
    let mut open = |mode| open_as_into(aead, &recipient, mode, &message, b"aad", b"info", &mut out);
    assert_eq!(open(Mode::AuthPsk(&sender, psk)).unwrap(), 5);
    for mode in [
        Mode::Base,
        Mode::Psk(psk),
        Mode::Auth(&sender),
        Mode::AuthPsk(&sender, wrong),
        Mode::AuthPsk(&other, psk),
    ] {
        assert!(matches!(open(mode), Err(Error::Authentication)));
    }
}
