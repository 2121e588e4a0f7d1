//! A build with the feature `fips`: what the module of AWS-LC computes, and the refusal of
//! everything else by name.

use sealane::age::{self, Armor, Identity, Recipient};
use sealane::asymmetric::{ed25519, hpke, mlkem768_p256, p256, rsa, secp256k1, x25519, xwing};
use sealane::fernet::Fernet;
use sealane::file::{self, DecryptWith, EncryptWith};
use sealane::hazmat::{AeadEncryptor, AesCtr, ByteOrder, ChaCha20, Poly1305, Speck, SpeckSize};
use sealane::hybrid::ecies;
use sealane::jwe;
use sealane::keys::{Cost, Kind, SecretKey, derive};
use sealane::provider::{FIPS, computations};
use sealane::signature::{Signers, SigningKey};
use sealane::{Aead, Algorithm, DeterministicAead, DeterministicAlgorithm, Error, Key};
use sha2::{Digest, Sha512};
use std::collections::BTreeSet;
use vectors::Outcome;

const KEY: [u8; 32] = [7; 32];

#[test]
fn messages_of_aes_gcm() {
    assert!(FIPS);
    for algorithm in [Algorithm::Aes128Gcm, Algorithm::Aes256Gcm] {
        let aead = Aead::new(algorithm, &Key::generate(algorithm.key_len()).unwrap()).unwrap();
        assert_eq!(aead.provider().name(), "aws-lc");
        let sealed = aead.seal(b"hello", b"aad").unwrap();
        assert_eq!(aead.open(&sealed, b"aad").unwrap(), b"hello");
        assert!(matches!(aead.open(&sealed, b"other"), Err(Error::Authentication)));
        assert_ne!(aead.seal(b"hello", b"aad").unwrap()[..12], sealed[..12]);

        let messages: Vec<Vec<u8>> = (0..200).map(|len| vec![len as u8; len]).collect();
        let messages: Vec<&[u8]> = messages.iter().map(|message| &message[..]).collect();
        let sealed = aead.seal_many(&messages, None).unwrap();
        let nonces: BTreeSet<&[u8]> = sealed.iter().map(|sealed| &sealed[..12]).collect();
        assert_eq!(nonces.len(), messages.len());
        let sealed: Vec<&[u8]> = sealed.iter().map(|sealed| &sealed[..]).collect();
        assert_eq!(aead.open_many(&sealed, None).unwrap(), messages);
    }
}

#[test]
fn the_published_chunked_files() {
    let mut opened = 0;
    for case in vectors::chunked() {
        let with = DecryptWith::key(&Key::from_bytes(&case.key), &case.context);
        let found = file::decrypt(&case.ciphertext, &with).ok().map(|plain| Sha512::digest(&plain).to_vec());
        let valid = case.result == Outcome::Valid;
        assert_eq!(found, case.message_sha512.filter(|_| valid), "{}", case.id);
        opened += usize::from(valid);
    }
    assert_eq!(opened, 10);
    for len in [16, 32] {
        let key = Key::generate(len).unwrap();
        let data: Vec<u8> = (0..100_000).map(|i| (i % 251) as u8).collect();
        let encrypted = file::encrypt(&data, &EncryptWith::key(&key, b"context")).unwrap();
        assert_eq!(file::decrypt(&encrypted, &DecryptWith::key(&key, b"context")).unwrap(), data);
    }
}

#[test]
fn approved_computations() {
    let (a, b) = (p256::PrivateKey::generate().unwrap(), p256::PrivateKey::generate().unwrap());
    assert_eq!(a.diffie_hellman(&b.public()).unwrap(), b.diffie_hellman(&a.public()).unwrap());
    let fernet = Fernet::new(&Key::from_bytes(&KEY)).unwrap();
    let token = fernet.encrypt(b"hello", 1).unwrap();
    let token = sealane::fernet::Token::parse(&token).unwrap();
    assert_eq!(&*fernet.decrypt(&token).unwrap().1, b"hello");
    let keys = jwe::Keys::from(Key::from_bytes(&KEY));
    for (alg, enc) in [("dir", "A256GCM"), ("A256KW", "A128CBC-HS256"), ("A256GCMKW", "A256CBC-HS512")] {
        let token = jwe::encrypt(b"hello", &[&keys], alg, enc, jwe::Options::default()).unwrap();
        assert_eq!(*keys.decrypt(&token, None).unwrap(), *b"hello");
    }
}

#[test]
fn every_other_algorithm_is_refused() {
    for &algorithm in Algorithm::ALL {
        if matches!(algorithm, Algorithm::Aes128Gcm | Algorithm::Aes256Gcm) {
            continue;
        }
        let key = Key::generate(algorithm.key_len()).unwrap();
        match Aead::new(algorithm, &key) {
            Err(error @ Error::ProviderUnavailable(_)) => {
                assert!(error.to_string().contains("not approved in this FIPS build"), "{error}");
            }
            other => panic!("{}: {other:?}", algorithm.name()),
        }
    }
    let refused = [
        AesCtr::new(&KEY, &[0; 16]).map(drop),
        ChaCha20::new(&KEY, &[0; 12], 0).map(drop),
        Poly1305::new(&KEY).map(drop),
        Speck::new(SpeckSize::ALL[9], &KEY, ByteOrder::Big).map(drop),
        AeadEncryptor::new(Algorithm::Aes256Gcm, &KEY, &[0; 12]).map(drop),
        DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &Key::generate(64).unwrap()).map(drop),
    ];
    for refused in refused {
        assert!(matches!(refused, Err(Error::NotApproved(_))), "{refused:?}");
    }
}

/// Each computation that the listing calls refused is refused under that name.
#[test]
fn every_other_computation_is_refused() {
    let p256 = p256::PrivateKey::generate().unwrap();
    let passphrase = || Recipient::passphrase("passphrase").unwrap();
    let cost = Cost { memory_kib: 64, passes: 1, lanes: 1 };
    let age_file = b"age-encryption.org/v1\n-> X25519 TEiF0ypqr+bpvcqXNyCVJpL7OuwPdVwPL7KQEbFDOCc\n\
        EmECAEcKN+n/Vs9SbWiV+Hu0r+E8R77DdWYyd83nw7U\n--- Vn+54jqiiUCE+WZcEVY3f1sqHjlu/z1LCQ/T7Xm7qI0\n\
        0123456789abcdef0123456789abcdef";
    let attempts: Vec<(&str, Result<(), Error>)> = vec![
        ("the age format", age::seal(b"", &[passphrase()], Armor::Binary).map(drop)),
        ("the age format", file::encrypt(b"", &EncryptWith::age(&[passphrase()], Armor::Binary)).map(drop)),
        ("the age format", age::open(age_file, &[Identity::passphrase("passphrase")]).map(drop)),
        ("Argon2id", derive(b"passphrase", &[0; 16], 32, cost).map(drop)),
        ("scrypt", SecretKey::P256(p256.clone()).to_text(Some("a long passphrase")).map(drop)),
        ("X25519", x25519::PrivateKey::generate().map(drop)),
        ("X25519", x25519::PrivateKey::from_bytes(&KEY).map(drop)),
        ("X25519", Identity::generate(age::Kind::X25519).map(drop)),
        ("X25519", SecretKey::generate(Kind::Age).map(drop)),
        ("X-Wing", xwing::PrivateKey::generate().map(drop)),
        ("X-Wing", xwing::PublicKey::from_bytes(&[0; xwing::PUBLIC_LEN]).map(drop)),
        ("MLKEM768-P256", mlkem768_p256::PrivateKey::generate().map(drop)),
        ("MLKEM768-P256", mlkem768_p256::PublicKey::from_bytes(&[0; mlkem768_p256::PUBLIC_LEN]).map(drop)),
        ("secp256k1", secp256k1::PrivateKey::generate().map(drop)),
        ("secp256k1", secp256k1::PrivateKey::from_bytes(&KEY).map(drop)),
        ("secp256k1", secp256k1::PublicKey::from_bytes(&[2; 33]).map(drop)),
        ("edwards25519", ed25519::PrivateKey::generate().map(drop)),
        ("edwards25519", ed25519::PrivateKey::from_bytes(&KEY).map(drop)),
        ("edwards25519", ed25519::PublicKey::from_bytes(&KEY).map(drop)),
        ("RSA-OAEP", rsa::PrivateKey::generate(2048).map(drop)),
        ("RSA-OAEP", rsa::PrivateKey::from_pkcs8(b"").map(drop)),
        ("RSA-OAEP", rsa::PublicKey::from_spki(b"").map(drop)),
        ("HPKE", hpke::seal(&p256.public().into(), hpke::Aead::Aes256Gcm, b"", b"", b"").map(drop)),
        ("HPKE", hpke::open(&p256.clone().into(), hpke::Aead::Aes256Gcm, &[4; 65], b"", b"", b"").map(drop)),
        ("A192KW of JWE", {
            let keys = jwe::Keys::from(Key::from_bytes(&KEY[..24]));
            jwe::encrypt(b"", &[&keys], "A192KW", "A256GCM", jwe::Options::default()).map(drop)
        }),
        ("ECDH-ES of JWE", {
            let keys = jwe::Keys::try_from(&SecretKey::P256(p256.clone())).unwrap();
            jwe::encrypt(b"", &[&keys], "ECDH-ES", "A256GCM", jwe::Options::default()).map(drop)
        }),
        ("signatures of SSH and minisign", SigningKey::parse(b"", None).map(drop)),
        ("signatures of SSH and minisign", Signers::parse(b"").map(drop)),
    ];
    let mut seen = BTreeSet::new();
    for (name, result) in attempts {
        match result {
            Err(error @ Error::NotApproved(found)) => {
                assert_eq!(found, name);
                assert!(error.to_string().starts_with(&format!("{name}: not approved in this FIPS build; ")));
                seen.insert(name);
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    // ECIES fails at its keys already. The others are parameters of formats that the crate refuses
    // inside.
    let inside = ["ECIES", "HKDF without associated data or context"];
    let refused = ecies::PrivateKey::from_bytes(ecies::Curve::X25519, &KEY);
    assert!(matches!(refused, Err(Error::NotApproved("X25519"))));
    for (name, approved) in computations() {
        let weak = name.starts_with("PBKDF2 with");
        assert!(approved || weak || inside.contains(&name) || seen.contains(name), "{name} is not tested");
    }
}
