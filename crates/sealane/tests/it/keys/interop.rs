//! Tests that key files of OpenSSL, `cryptography` and the X-Wing draft can be loaded.

use super::fixtures::*;
use sealane::keys::{Kind, PublicKey, SecretKey};
use sealane::{Error, Misuse};

fn secret(text: &str) -> SecretKey {
    SecretKey::from_text(text, None).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn encrypted_key(text: &str) -> SecretKey {
    SecretKey::from_text(text, Some("hunter2")).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

fn public(text: &str) -> PublicKey {
    PublicKey::from_text(text).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

#[test]
fn private_keys_match_their_public_keys() {
    for (kind, theirs, privates) in [
        (Kind::X25519, X25519_PUBLIC, &[X25519][..]),
        (Kind::P256, P256_PUBLIC, &[P256, P256_SEC1, P256_COMPRESSED]),
        (Kind::Secp256k1, SECP256K1_PUBLIC, &[SECP256K1, SECP256K1_SEC1]),
        (Kind::Rsa2048, RSA_PUBLIC, &[RSA, RSA_PKCS1]),
        (Kind::Rsa2048, RSA_PUBLIC_PKCS1, &[RSA]),
        (Kind::XWing, X_WING_PUBLIC, &[X_WING]),
    ] {
        let theirs = public(theirs);
        assert_eq!(theirs.kind(), Some(kind));
        for text in privates {
            let key = secret(text);
            assert_eq!((key.kind(), key.public().as_ref()), (Some(kind), Some(&theirs)), "{text}");
        }
    }
}

#[test]
fn encrypted_keys_match_the_plain_keys() {
    for (plain, encrypted) in [
        (X25519, &[X25519_SCRYPT, X25519_SCRYPT_SMALL, X25519_PBKDF2][..]),
        (P256, &[P256_AES128_SHA1, P256_AES192_SHA384, P256_PYCA]),
        (SECP256K1, &[SECP256K1_SHA512]),
        (RSA, &[RSA_PBKDF2]),
    ] {
        let plain = secret(plain);
        for text in encrypted {
            assert_eq!(*encrypted_key(text).to_text(None).unwrap(), *plain.to_text(None).unwrap(), "{text}");
            let wrong = SecretKey::from_text(text, Some("hunter3"));
            assert!(matches!(wrong, Err(Error::WrongPassphrase)), "{wrong:?}");
            assert!(matches!(SecretKey::from_text(text, Some("")), Err(Error::WrongPassphrase)));
            let without = SecretKey::from_text(text, None);
            assert!(matches!(without, Err(Error::Misuse(Misuse::KeyPassphraseRequired))), "{without:?}");
        }
        assert!(matches!(
            SecretKey::from_text(&plain.to_text(None).unwrap(), Some("hunter2")),
            Err(Error::Misuse(Misuse::KeyNotEncrypted))
        ));
    }
}

/// Tests that a key that was loaded from a file is saved with the same bytes.
#[test]
fn saved_files_are_identical() {
    for text in [X25519, P256, SECP256K1, RSA, X_WING] {
        assert_eq!(*secret(text).to_text(None).unwrap(), text);
    }
    for text in [X25519_PUBLIC, P256_PUBLIC, SECP256K1_PUBLIC, RSA_PUBLIC, X_WING_PUBLIC] {
        assert_eq!(public(text).to_text().unwrap(), text);
    }
}

#[test]
fn rejected_files_have_reasons() {
    let refused = |text: &str, passphrase| SecretKey::from_text(text, passphrase).unwrap_err().to_string();
    for (text, says) in [
        (ED25519, "OpenSSH 9.6 or newer"),
        (P384, "RSA, P-256, secp256k1, X25519 and X-Wing are supported"),
        (P256_EXPLICIT, "RSA, P-256, secp256k1, X25519 and X-Wing are supported"),
        (RSA_1024, "less than 2048 bits"),
        (RSA_OLD_ENCRYPTION, "openssl pkcs8 -topk8"),
        (X25519_PUBLIC, "found a public key"),
        (RSA_PUBLIC_PKCS1, "found a public key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nMAA=\n-----END OPENSSH PRIVATE KEY-----\n", "SSH"),
        ("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----"),
    ] {
        let said = refused(text, None);
        assert!(said.contains(says), "{said}\n{text}");
    }
    for text in [P256_DES3, P256_PBES1, P256_SHA224] {
        let said = refused(text, Some("hunter2"));
        assert!(said.contains("PBES2 with scrypt or PBKDF2 and AES-CBC"), "{said}");
    }
    for (text, says) in [
        (X25519, "found a private key"),
        (P256_SEC1, "found a private key"),
        (X25519_SCRYPT, "found a private key"),
        (P256_PUBLIC_EXPLICIT, "RSA, P-256, secp256k1, X25519 and X-Wing are supported"),
        ("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", "-----BEGIN PUBLIC KEY-----"),
        (r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#, "found a symmetric key"),
    ] {
        let said = PublicKey::from_text(text).unwrap_err().to_string();
        assert!(said.contains(says), "{said}\n{text}");
    }
}

/// The encodings of eciespy and eth-keys: with and without `0x`, in either case.
#[test]
fn secp256k1_in_hexadecimal() {
    // The public key of the private key 1 is the generator (SEC 2, section 2.4.1).
    let one = format!("{:064x}", 1);
    let x = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
    let y = "483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
    let key = secret(&one);
    assert_eq!(key.kind(), Some(Kind::Secp256k1));
    assert_eq!(key.public().unwrap().to_string(), format!("04{x}{y}"));
    for text in [format!("02{x}"), format!("04{x}{y}"), format!("{x}{y}")] {
        for text in [text.clone(), format!("0x{text}\n"), text.to_uppercase()] {
            assert_eq!(Some(public(&text)), key.public(), "{text}");
        }
    }
    assert_eq!(secret(&format!("0x{one}")).public(), key.public());

    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    for text in
        [order, &"0".repeat(64), &"f".repeat(64), &"g".repeat(64), &one[1..], &format!("0x0x{}", &one[4..])]
    {
        assert!(matches!(SecretKey::from_text(text, None), Err(Error::Format(_))), "{text}");
    }
    for text in [
        format!("05{x}"),
        format!("06{x}{y}"),
        format!("04{y}{x}"),
        format!("{y}{x}"),
        format!("02{}", "f".repeat(64)),
        format!("0g{x}"),
        one.clone(),
    ] {
        assert!(matches!(PublicKey::from_text(&text), Err(Error::Format(_))), "{text}");
    }
}

/// OpenSSH keys are identities of age files, and cannot be saved.
#[test]
fn openssh_keys() {
    let theirs = public(OPENSSH_ED25519_PUBLIC);
    for (text, passphrase) in [(OPENSSH_ED25519, None), (OPENSSH_ED25519_ENCRYPTED, Some("hunter2"))] {
        let key = SecretKey::from_text(text, passphrase).unwrap();
        assert_eq!((key.kind(), key.public().as_ref()), (None, Some(&theirs)));
        assert_eq!(format!("{key:?}"), "SecretKey(age)");
        assert!(matches!(key.to_text(None), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    }
    let refused = |text, passphrase| SecretKey::from_text(text, passphrase).unwrap_err();
    assert!(matches!(refused(OPENSSH_ED25519, Some("hunter2")), Error::Misuse(Misuse::KeyNotEncrypted)));
    assert!(matches!(refused(OPENSSH_ED25519_ENCRYPTED, None), Error::Misuse(Misuse::KeyPassphraseRequired)));
    assert!(matches!(refused(OPENSSH_ED25519_ENCRYPTED, Some("hunter3")), Error::WrongPassphrase));
}
