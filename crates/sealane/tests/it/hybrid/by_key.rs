//! Messages whose suite follows from the key, for every type of key.

use sealane::asymmetric::hpke;
use sealane::hybrid::{self, Opener, Options, Sealer, ecies};
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
fn every_key_type_round_trips() {
    for (kind, overhead) in KINDS {
        let (secret, public) = pair(kind);
        let sealer = hybrid::sealer(&public, Options::default()).unwrap();
        let opener = hybrid::opener(&secret, Options::default()).unwrap();
        for len in [0, 1, 140, 4096, 1 << 20] {
            let plaintext = vec![3; len];
            let message = sealer.seal(&plaintext, b"header").unwrap();
            assert_eq!(message.len(), len + overhead, "{kind}");
            assert_eq!(sealer.sealed_len(len).unwrap(), message.len());
            assert_eq!(opener.opened_len(message.len()).unwrap(), len);
            assert_eq!(opener.open(&message, b"header").unwrap(), plaintext);
            // Into longer buffers: the bytes after the message are not written.
            let mut out = vec![9; message.len() + 7];
            assert_eq!(sealer.seal_into(&plaintext, b"header", &mut out).unwrap(), message.len());
            assert_eq!(out[message.len()..], [9; 7]);
            let mut back = vec![9; len + 7];
            let opened = opener.open_into(&out[..message.len()], b"header", &mut back);
            assert_eq!(opened.unwrap(), len);
            assert_eq!((&back[..len], &back[len..]), (&plaintext[..], &[9; 7][..]));
        }
    }
}

#[test]
fn the_key_selects_the_suite() {
    let seal = |kind| {
        let (secret, public) = pair(kind);
        let message = hybrid::sealer(&public, Options::default()).unwrap().seal(b"hello", b"aad").unwrap();
        (secret, message)
    };
    let (SecretKey::Rsa(key), message) = seal(Kind::Rsa2048) else { panic!() };
    assert_eq!(key.open(&message, b"aad").unwrap(), b"hello");
    let (SecretKey::Secp256k1(key), message) = seal(Kind::Secp256k1) else { panic!() };
    let opener = ecies::EciesOpener::new(ecies::Config::default(), key.into()).unwrap();
    assert_eq!(opener.open(&message, b"aad").unwrap(), b"hello");
    for kind in [Kind::X25519, Kind::P256, Kind::XWing] {
        let (secret, message) = seal(kind);
        let key = hpke::PrivateKey::try_from(&secret).unwrap();
        let (encapsulation, ciphertext) = message.split_at(key.kem().enc_len());
        let opened = hpke::open(&key, hpke::Aead::Aes256Gcm, encapsulation, b"", b"aad", ciphertext);
        assert_eq!(opened.unwrap(), b"hello");
    }
}

// claim: public-key-changed
#[test]
fn rejects_other_keys_and_changed_messages() {
    for (kind, overhead) in KINDS {
        let ((secret, public), (other, _)) = (pair(kind), pair(kind));
        let sealer = hybrid::sealer(&public, Options::default()).unwrap();
        let message = sealer.seal(b"plaintext", b"header").unwrap();
        let refused = |key: &SecretKey, message: &[u8], aad: &[u8]| {
            let mut out = vec![9; message.len()];
            let opener = hybrid::opener(key, Options::default()).unwrap();
            let error = opener.open_into(message, aad, &mut out).unwrap_err();
            assert!(!out.starts_with(b"plain"), "{kind}");
            error
        };
        assert!(matches!(refused(&other, &message, b"header"), Error::Authentication), "{kind}");
        assert!(matches!(refused(&secret, &message, b""), Error::Authentication), "{kind}");
        let mut changed = message.clone();
        *changed.last_mut().unwrap() ^= 1;
        assert!(matches!(refused(&secret, &changed, b"header"), Error::Authentication), "{kind}");
        for len in [0, 1, overhead - 1] {
            assert!(matches!(refused(&secret, &message[..len], b"header"), Error::Truncated), "{kind} {len}");
        }
        let mut short = vec![0; message.len() - 1];
        let refused = sealer.seal_into(b"plaintext", b"header", &mut short);
        assert!(matches!(refused, Err(Error::Misuse(Misuse::OutputTooShort { .. }))), "{kind}");
    }
}

#[test]
fn info_and_suite_are_options_of_hpke() {
    for (kind, _) in KINDS {
        let (secret, public) = pair(kind);
        for suite in [hpke::Aead::Aes128Gcm, hpke::Aead::ChaCha20Poly1305] {
            let options = Options { info: b"exchange", suite: Some(suite) };
            if matches!(kind, Kind::Rsa2048 | Kind::Secp256k1) {
                for options in [Options { suite: None, ..options }, Options { info: b"", ..options }] {
                    assert!(unsuitable(hybrid::sealer(&public, options)), "{kind}");
                    assert!(unsuitable(hybrid::opener(&secret, options)), "{kind}");
                }
                continue;
            }
            let message = hybrid::sealer(&public, options).unwrap().seal(b"hello", b"").unwrap();
            assert_eq!(hybrid::opener(&secret, options).unwrap().open(&message, b"").unwrap(), b"hello");
            for other in [Options { info: b"other", ..options }, Options { suite: None, ..options }] {
                let opened = hybrid::opener(&secret, other).unwrap().open(&message, b"");
                assert!(matches!(opened, Err(Error::Authentication)));
            }
        }
    }
}

fn unsuitable<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::Misuse(Misuse::UnsuitableKey(_))))
}

#[test]
fn rejects_keys_that_are_not_for_messages() {
    for kind in [Kind::Age, Kind::AgePq] {
        let (secret, public) = pair(kind);
        assert!(unsuitable(hybrid::sealer(&public, Options::default())));
        assert!(unsuitable(hybrid::opener(&secret, Options::default())));
    }
    let symmetric = SecretKey::generate(Kind::Aes256).unwrap();
    assert!(unsuitable(hybrid::opener(&symmetric, Options::default())));
    let (secret, public) = pair(Kind::Secp256k1);
    assert!(hpke::PublicKey::try_from(&public).is_err());
    assert!(hpke::PrivateKey::try_from(&secret).is_err());
}

// claim: public-key-sender
#[test]
fn hpke_modes_authenticate_the_sender() {
    use sealane::hybrid::hpke::{HpkeOpener, HpkeSealer, Mode, Psk};
    let key = |kind| hpke::PrivateKey::try_from(&pair(kind).0).unwrap();
    let (recipient, sender, other) = (key(Kind::X25519), key(Kind::X25519), key(Kind::X25519));
    let (public, aead) = (recipient.public(), hpke::Aead::Aes256Gcm);
    let psk = Psk::new(&[1; 32], b"name").unwrap();
    let mut message = [0; 32 + 5 + 16];
    let sealer = HpkeSealer { public, aead, mode: Mode::AuthPsk(&sender, psk), info: b"info" };
    sealer.seal_into(b"hello", b"aad", &mut message).unwrap();
    let mut out = [0; 5];
    let (sender, other) = (sender.public(), other.public());
    let wrong = Psk::new(&[2; 32], b"name").unwrap();
    let mut open = |mode| {
        let opener = HpkeOpener { private: recipient.clone(), aead, mode, info: b"info" };
        opener.open_into(&message, b"aad", &mut out)
    };
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
