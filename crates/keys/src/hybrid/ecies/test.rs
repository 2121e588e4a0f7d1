//! Published values of eciespy and its siblings, and inputs to reject.

use super::keys::{derive, derive_secp256k1};
use super::*;
use crate::asymmetric::{ed25519, secp256k1, x25519};
use base::Misuse;
use proptest::prelude::*;
use vectors::{EciesCurve, EciesPart, EciesSymmetric};
use zeroize::Zeroizing;

fn seal(config: &Config, public: &PublicKey, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
    EciesSealer::new(*config, *public)?.seal(plaintext, aad)
}

fn open(config: &Config, private: &PrivateKey, message: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
    EciesOpener::new(*config, private.clone())?.open(message, aad)
}

fn open_into(
    config: &Config,
    private: &PrivateKey,
    message: &[u8],
    aad: &[u8],
    out: &mut [u8],
) -> Result<usize, Error> {
    EciesOpener::new(*config, private.clone())?.open_into(message, aad, out)
}

fn sealed_len(config: &Config, len: usize) -> Result<usize, Error> {
    EciesSealer::new(*config, generate(config.curve).public())?.sealed_len(len)
}

const CURVES: [Curve; 3] = [Curve::Secp256k1, Curve::X25519, Curve::Ed25519];

fn curve(curve: EciesCurve) -> Curve {
    match curve {
        EciesCurve::Secp256k1 => Curve::Secp256k1,
        EciesCurve::X25519 => Curve::X25519,
        EciesCurve::Ed25519 => Curve::Ed25519,
    }
}

fn encoding(compressed: bool) -> Encoding {
    if compressed { Encoding::Compressed } else { Encoding::Uncompressed }
}

fn symmetric(symmetric: EciesSymmetric) -> Symmetric {
    match symmetric {
        EciesSymmetric::Aes256Gcm => Symmetric::Aes256Gcm,
        EciesSymmetric::XChaCha20 => Symmetric::XChaCha20,
    }
}

fn configs() -> Vec<Config> {
    let mut configs = Vec::new();
    for curve in CURVES {
        for ephemeral_key in [Encoding::Uncompressed, Encoding::Compressed] {
            for hkdf_key in [Encoding::Uncompressed, Encoding::Compressed] {
                for (symmetric, nonce_len) in [
                    (Symmetric::Aes256Gcm, 16),
                    (Symmetric::Aes256Gcm, 12),
                    (Symmetric::Aes256Gcm, 7),
                    (Symmetric::XChaCha20, 16),
                ] {
                    configs.push(Config { curve, ephemeral_key, hkdf_key, symmetric, nonce_len });
                }
            }
        }
    }
    configs
}

fn generate(curve: Curve) -> PrivateKey {
    match curve {
        Curve::Secp256k1 => secp256k1::PrivateKey::generate().unwrap().into(),
        Curve::X25519 => x25519::PrivateKey::generate().unwrap().into(),
        Curve::Ed25519 => ed25519::PrivateKey::generate().unwrap().into(),
    }
}

/// Returns the public key of `private` and the shared point.
fn agree(private: &PrivateKey, public: &PublicKey) -> (Vec<u8>, Vec<u8>) {
    match (private, public) {
        (PrivateKey::Secp256k1(private), PublicKey::Secp256k1(public)) => {
            (private.public().to_bytes(Encoding::Uncompressed), private.shared_point(public).to_vec())
        }
        (PrivateKey::X25519(private), PublicKey::X25519(public)) => {
            (private.public().as_bytes().to_vec(), private.diffie_hellman(public).unwrap().to_vec())
        }
        (PrivateKey::Ed25519(private), PublicKey::Ed25519(public)) => {
            (private.public().as_bytes().to_vec(), private.shared_point(public).to_vec())
        }
        _ => panic!("two curves"),
    }
}

#[test]
fn reproduces_every_published_value() {
    let mut counts = [0; 6];
    for case in vectors::ecies() {
        let name = format!("{} {}", case.file, case.id);
        let kind = match case.part {
            EciesPart::Message {
                curve: c,
                ephemeral_compressed,
                hkdf_compressed,
                symmetric: s,
                nonce_len,
                private,
                public,
                plaintext,
                message,
            } => {
                let config = Config {
                    curve: curve(c),
                    ephemeral_key: encoding(ephemeral_compressed),
                    hkdf_key: encoding(hkdf_compressed),
                    symmetric: symmetric(s),
                    nonce_len,
                };
                let key = PrivateKey::from_bytes(config.curve, &private).unwrap();
                assert_eq!(open(&config, &key, &message, b"").unwrap(), plaintext, "{name}");
                let hex = hex::encode(private);
                assert_eq!(ecies_decrypt(&hex, &message, &config).unwrap(), plaintext, "{name}");
                if let Some(public) = public {
                    let public = PublicKey::from_bytes(config.curve, &public).unwrap();
                    assert_eq!(public, key.public(), "{name}");
                }
                assert_eq!(message.len(), sealed_len(&config, plaintext.len()).unwrap(), "{name}");
                0
            }
            EciesPart::Kem { curve: c, compressed, ephemeral, private, key } => {
                let ephemeral = PrivateKey::from_bytes(curve(c), &ephemeral).unwrap();
                let private = PrivateKey::from_bytes(curve(c), &private).unwrap();
                let config = Config { curve: curve(c), hkdf_key: encoding(compressed), ..Config::default() };
                let (public, shared) = agree(&ephemeral, &private.public());
                let sent = match curve(c) {
                    Curve::Secp256k1 => {
                        let mut point: [u8; 65] = public[..].try_into().unwrap();
                        let shared: [u8; 65] = shared.try_into().unwrap();
                        derive_secp256k1(&config, &mut point, Zeroizing::new(shared))
                    }
                    _ => derive(&public, &shared),
                };
                assert_eq!(*sent, key, "{name}");
                assert_eq!(*private.decapsulate(&config, &public).unwrap(), key, "{name}");
                1
            }
            EciesPart::PublicKey { curve: c, private, public } => {
                let private = PrivateKey::from_bytes(curve(c), &private).unwrap();
                assert_eq!(private.public(), PublicKey::from_bytes(curve(c), &public).unwrap(), "{name}");
                2
            }
            EciesPart::SharedPoint { curve: c, private, public, shared } => {
                let private = PrivateKey::from_bytes(curve(c), &private).unwrap();
                let public = PublicKey::from_bytes(curve(c), &public).unwrap();
                let (_, found) = agree(&private, &public);
                match curve(c) {
                    Curve::Secp256k1 => {
                        let point = secp256k1::PublicKey::from_bytes(&found).unwrap();
                        assert_eq!(point.to_bytes(Encoding::Compressed), shared, "{name}");
                    }
                    _ => assert_eq!(found, shared, "{name}"),
                }
                3
            }
            EciesPart::Symmetric { symmetric: s, key, nonce, aad, plaintext, ciphertext, tag } => {
                let mut data = ciphertext;
                let tag: [u8; 16] = tag.try_into().unwrap();
                let config = Config { symmetric: symmetric(s), ..Config::default() };
                let cipher = config.cipher(&key).unwrap();
                cipher.open(&nonce, &aad, InOut::in_place(&mut data), &tag).unwrap();
                assert_eq!(data, plaintext, "{name}");
                4
            }
            EciesPart::Hkdf { ikm, okm } => {
                for cut in 0..ikm.len() {
                    assert_eq!(*derive(&ikm[..cut], &ikm[cut..]), okm, "{name}");
                }
                5
            }
        };
        counts[kind] += 1;
    }
    assert_eq!(counts, [42, 6, 2, 2, 6, 1]);
}

#[test]
fn every_configuration_round_trips() {
    for config in configs() {
        let private = generate(config.curve);
        for len in [0, 1, 140, 5000] {
            let plaintext = vec![7; len];
            for aad in [&b""[..], b"context"] {
                let message = seal(&config, &private.public(), &plaintext, aad).unwrap();
                assert_eq!(message.len(), sealed_len(&config, len).unwrap());
                assert_eq!(open(&config, &private, &message, aad).unwrap(), plaintext);
                let other = open(&config, &private, &message, b"another");
                assert!(matches!(other, Err(Error::Authentication)));
            }
        }
    }
}

#[test]
fn messages_have_the_documented_overhead() {
    let x25519 = Config { curve: Curve::X25519, ..Config::default() };
    assert_eq!(sealed_len(&Config::default(), 0).unwrap(), 97);
    assert_eq!(sealed_len(&x25519, 0).unwrap(), 64);
    assert!(sealed_len(&x25519, usize::MAX).is_err());
}

#[test]
fn rejects_changed_messages() {
    for config in configs() {
        let private = generate(config.curve);
        let message = seal(&config, &private.public(), b"hello", b"").unwrap();
        for at in 0..message.len() {
            for bit in [1, 0x80] {
                let mut other = message.clone();
                other[at] ^= bit;
                let mut out = [0xaa; 5];
                let result = open_into(&config, &private, &other, b"", &mut out);
                let key = at < config.ephemeral_len();
                assert!(
                    matches!(result, Err(Error::Authentication))
                        || key && matches!(result, Err(Error::Format(_))),
                    "{config:?}: {at} ^ {bit}"
                );
                assert_eq!(out, [0; 5]);
            }
        }
        for len in 0..message.len() {
            let result = open(&config, &private, &message[..len], b"");
            let short = len < sealed_len(&config, 0).unwrap();
            assert_eq!(matches!(result, Err(Error::Truncated)), short);
            assert_eq!(matches!(result, Err(Error::Authentication)), !short);
        }
        let other_key = open(&config, &generate(config.curve), &message, b"");
        assert!(matches!(other_key, Err(Error::Authentication)));
    }
}

/// Encodes the same point in another way that eciespy accepts.
#[test]
fn ephemeral_keys_have_one_encoding() {
    let config = Config::default();
    let private = generate(config.curve);
    let mut message = seal(&config, &private.public(), b"hello", b"").unwrap();
    message[0] = 6 | (message[64] & 1);
    assert!(matches!(open(&config, &private, &message, b""), Err(Error::Format(_))));

    let config = Config { curve: Curve::X25519, ..config };
    let private = generate(config.curve);
    let mut message = seal(&config, &private.public(), b"hello", b"").unwrap();
    message[31] |= 0x80;
    assert!(matches!(open(&config, &private, &message, b""), Err(Error::Format(_))));
}

#[test]
fn rejects_x25519_keys_that_are_not_reduced_or_of_low_order() {
    let mut big = [0xff; 32];
    (big[0], big[31]) = (0xec, 0x7f);
    // p - 1 has low order, p - 2 does not.
    for (low, high, taken) in
        [(0xeb, 0x7f, true), (0xed, 0x7f, false), (0xff, 0x7f, false), (0xeb, 0xff, false), (0, 0x80, false)]
    {
        (big[0], big[31]) = (low, high);
        assert_eq!(PublicKey::from_bytes(Curve::X25519, &big).is_ok(), taken, "{low:02x} {high:02x}");
    }
    let config = Config { curve: Curve::X25519, ..Config::default() };
    let private = generate(Curve::X25519);
    (big[0], big[31]) = (0xec, 0x7f);
    let mut one = [0; 32];
    one[0] = 1;
    for low in [[0; 32], one, big] {
        let public = PublicKey::from_bytes(Curve::X25519, &low).unwrap();
        assert!(matches!(seal(&config, &public, b"", b""), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
        let message = [&low[..], &[0; 32]].concat();
        assert!(matches!(open(&config, &private, &message, b""), Err(Error::Format(_))));
    }
}

#[test]
fn rejects_ed25519_ephemeral_keys_of_low_order() {
    let config = Config { curve: Curve::Ed25519, ..Config::default() };
    let private = generate(Curve::Ed25519);
    let mut one = [0; 32];
    one[0] = 1;
    assert!(PublicKey::from_bytes(Curve::Ed25519, &one).is_err());
    let message = [&one[..], &[0; 32]].concat();
    assert!(matches!(open(&config, &private, &message, b""), Err(Error::Format(_))));
}

#[test]
fn rejects_keys_on_another_curve() {
    for curve in CURVES {
        for other in CURVES.into_iter().filter(|other| *other != curve) {
            let (config, private) = (Config { curve, ..Config::default() }, generate(other));
            let sealed = seal(&config, &private.public(), b"", b"");
            assert!(matches!(sealed, Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
            assert!(matches!(
                open(&config, &private, &[0; 200], b""),
                Err(Error::Misuse(Misuse::UnsuitableKey(_)))
            ));
        }
    }
}

#[test]
fn nonces_have_1_to_64_bytes() {
    let private = generate(Curve::Secp256k1);
    for nonce_len in 0..=66 {
        let config = Config { nonce_len, ..Config::default() };
        let message = seal(&config, &private.public(), b"hello", b"");
        assert_eq!(message.is_ok(), (1..=64).contains(&nonce_len));
        match message {
            Ok(message) => assert_eq!(open(&config, &private, &message, b"").unwrap(), b"hello"),
            Err(error) => assert!(matches!(error, Error::Misuse(Misuse::NonceLength { .. }))),
        }
        // The length applies to AES only.
        let config = Config { symmetric: Symmetric::XChaCha20, ..config };
        assert!(seal(&config, &private.public(), b"hello", b"").is_ok());
    }
}

#[test]
fn hex_with_or_without_0x() {
    let config = Config::default();
    let private = secp256k1::PrivateKey::generate().unwrap();
    let secret = hex::encode(private.as_bytes());
    let public = private.public();
    for bytes in [
        public.to_bytes(Encoding::Compressed),
        public.to_bytes(Encoding::Uncompressed),
        public.to_bytes(Encoding::Uncompressed)[1..].to_vec(),
    ] {
        for text in [
            hex::encode(&bytes),
            format!("0x{}", hex::encode(&bytes)),
            format!("0X{}", hex::encode_upper(&bytes)),
        ] {
            let message = ecies_encrypt(&text, b"hello", &config).unwrap();
            for secret in [secret.clone(), format!("0x{secret}"), secret.to_uppercase()] {
                assert_eq!(ecies_decrypt(&secret, &message, &config).unwrap(), b"hello");
            }
        }
    }
}

#[test]
fn rejects_invalid_keys() {
    for curve in CURVES {
        let config = Config { curve, ..Config::default() };
        let message = seal(&config, &generate(curve).public(), b"hello", b"").unwrap();
        // eciespy uses a random key instead of an empty one.
        for (text, got) in [("", 0), ("0x", 0), ("00", 1), (&*"00".repeat(31), 31), (&*"00".repeat(33), 33)] {
            match ecies_decrypt(text, &message, &config) {
                Err(Error::Misuse(Misuse::KeyLength { got: said, .. })) => assert_eq!(said, got),
                other => panic!("{other:?}"),
            }
        }
        for text in [&*"0g".repeat(32), &*format!("0x0x{}", "0".repeat(62)), &*"é".repeat(32)] {
            let refused = ecies_decrypt(text, &message, &config);
            assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{text}: {refused:?}");
        }
        for text in ["", "0x", "00", &*"00".repeat(500), &*"04".repeat(66)] {
            assert!(matches!(ecies_encrypt(text, b"", &config), Err(Error::Format(_))), "{curve:?} {text}");
        }
        for text in ["0", "zz", "0x 4", &*"0".repeat(65), "é"] {
            let refused = ecies_encrypt(text, b"", &config);
            assert!(
                matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))),
                "{curve:?} {text}: {refused:?}"
            );
        }
    }
    let zero = "00".repeat(32);
    assert!(matches!(
        ecies_decrypt(&zero, &[0; 200], &Config::default()),
        Err(Error::Misuse(Misuse::UnsuitableKey(_)))
    ));
}

#[test]
fn a_short_output_buffer_is_rejected_unwritten() {
    let config = Config::default();
    let private = generate(config.curve);
    let message = seal(&config, &private.public(), b"hello", b"").unwrap();
    let mut out = [0xaa; 101];
    let refused = EciesSealer::new(config, private.public()).unwrap().seal_into(b"hello", b"", &mut out);
    assert!(matches!(refused, Err(Error::Misuse(Misuse::OutputTooShort { got: 101, need: 102 }))));
    let refused = open_into(&config, &private, &message, b"", &mut out[..4]);
    assert!(matches!(refused, Err(Error::Misuse(Misuse::OutputTooShort { got: 4, need: 5 }))));
    assert_eq!(out, [0xaa; 101]);
    assert_eq!(open_into(&config, &private, &message, b"", &mut out).unwrap(), 5);
    assert_eq!(out[..6], *b"hello\xaa");
}

#[test]
fn parses_the_names_of_eciespy() {
    assert_eq!("secp256k1".parse::<Curve>().unwrap(), Curve::Secp256k1);
    assert_eq!("xchacha20".parse::<Symmetric>().unwrap(), Symmetric::XChaCha20);
    assert!(matches!("P-256".parse::<Curve>(), Err(Error::Format(_))));
    assert!(matches!("aes-128-gcm".parse::<Symmetric>(), Err(Error::Format(_))));
}

#[test]
fn debug_shows_no_secret() {
    for curve in CURVES {
        let key = PrivateKey::from_bytes(curve, &[7; 32]).unwrap();
        assert!(!format!("{key:?}").contains("07"), "{key:?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_messages_do_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0..48usize) {
        let config = configs()[at];
        let private = PrivateKey::from_bytes(config.curve, &[7; 32]).unwrap();
        prop_assert!(open(&config, &private, &bytes, b"").is_err());
    }
}
