//! Key files as other software writes them: PEM with other line lengths and blanks (RFC 7468,
//! section 2), DER, and compressed points.

use super::fixtures::*;
use base64ct::{Base64, Encoding};
use sealane::Error;
use sealane::keys::{KeyFile, LoadOptions, PublicKey, SecretKey};

const PRIVATE: [&str; 8] = [X25519, P256, P256_SEC1, SECP256K1, SECP256K1_SEC1, RSA, RSA_PKCS1, X_WING];
const PUBLIC: [&str; 6] =
    [X25519_PUBLIC, P256_PUBLIC, P256_PUBLIC_COMPRESSED, RSA_PUBLIC, RSA_PUBLIC_PKCS1, X_WING_PUBLIC];

/// Splits a PEM file into its first line, its base64 and its last line. A block of parameters
/// before it is dropped.
fn parts(pem: &str) -> (&str, String, &str) {
    let start = pem.rfind("-----BEGIN").unwrap();
    let mut lines: Vec<_> = pem[start..].lines().collect();
    let (first, last) = (lines.remove(0), lines.pop().unwrap());
    (first, lines.concat(), last)
}

fn to_der(pem: &str) -> Vec<u8> {
    Base64::decode_vec(&parts(pem).1).unwrap()
}

/// Returns the same key with lines of `columns` characters, and `before` and `after` around each.
fn wrapped(pem: &str, columns: usize, before: &str, after: &str) -> String {
    let (first, base64, last) = parts(pem);
    let lines = base64.as_bytes().chunks(columns).map(|line| std::str::from_utf8(line).unwrap());
    [first].into_iter().chain(lines).chain([last]).map(|line| format!("{before}{line}{after}")).collect()
}

#[test]
fn pem_in_lines_of_any_length() {
    for (columns, before, after) in [
        (76, "", "\r\n"),
        (60, "", "\n"),
        (64, "  ", " \t\n"),
        (1 << 20, "", "\n"),
        (64, "", "\n\n"),
        (1 << 20, "", " "),
    ] {
        for pem in PRIVATE {
            let text = wrapped(pem, columns, before, after);
            let key = SecretKey::from_text(&text, None).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_eq!(
                *key.to_text(None).unwrap(),
                *SecretKey::from_text(pem, None).unwrap().to_text(None).unwrap()
            );
        }
        for pem in PUBLIC {
            let text = wrapped(pem, columns, before, after);
            assert_eq!(PublicKey::from_text(&text).unwrap(), PublicKey::from_text(pem).unwrap(), "{text}");
        }
        let text = wrapped(X25519_SCRYPT_SMALL, columns, before, after);
        assert!(SecretKey::from_text(&text, Some("hunter2")).is_ok(), "{text}");
        let text = wrapped(OPENSSH_ED25519, columns, before, after);
        assert_eq!(
            SecretKey::from_text(&text, None).unwrap().public(),
            SecretKey::from_text(OPENSSH_ED25519, None).unwrap().public(),
            "{text}"
        );
    }
}

#[test]
fn keys_in_der() {
    let parse = |der: &[u8], passphrase| KeyFile::parse(der, LoadOptions::passphrase(passphrase));
    for pem in PRIVATE {
        let key = parse(&to_der(pem), None).unwrap().into_secret().unwrap();
        assert_eq!(
            *key.to_text(None).unwrap(),
            *SecretKey::from_text(pem, None).unwrap().to_text(None).unwrap()
        );
    }
    for pem in PUBLIC {
        let key = parse(&to_der(pem), None).unwrap().into_public().unwrap();
        assert_eq!(key, PublicKey::from_text(pem).unwrap(), "{pem}");
    }
    let encrypted = to_der(X25519_SCRYPT_SMALL);
    assert!(parse(&encrypted, Some("hunter2")).unwrap().into_secret().is_ok());
    assert!(matches!(parse(&encrypted, Some("x")), Err(Error::WrongPassphrase)));
    // Each truncation, and bytes after the end.
    for pem in [X25519, P256, X25519_PUBLIC, RSA_PUBLIC_PKCS1] {
        let der = to_der(pem);
        for len in 0..der.len() {
            assert!(parse(&der[..len], None).is_err(), "{len} of {pem}");
        }
        assert!(parse(&[&der[..], b"\n"].concat(), None).is_err(), "{pem}");
    }
}

#[test]
fn ed25519_in_pkcs8_gets_a_hint_that_works() {
    let refused = SecretKey::from_text(ED25519, None).unwrap_err();
    assert!(matches!(refused, Error::Format(text) if text.contains("OpenSSH 9.6")), "{refused}");
    let refused = ED25519.parse::<sealane::age::Identity>().unwrap_err();
    assert!(matches!(refused, Error::Format(text) if text.contains("OpenSSH 9.6")), "{refused}");
}

#[test]
fn long_content_is_no_key() {
    let path = std::env::temp_dir().join(format!("sealane-long-key-{}", std::process::id()));
    for (len, is_key) in [(1 << 18, true), ((1 << 18) + 1, false)] {
        let text = format!("{X25519}{}", " ".repeat(len - X25519.len()));
        std::fs::write(&path, &text).unwrap();
        for found in [SecretKey::from_text(&text, None), SecretKey::load(&path, None)] {
            match is_key {
                true => assert_eq!(found.unwrap(), SecretKey::from_text(X25519, None).unwrap()),
                false => assert!(matches!(found, Err(Error::Format(text)) if text.contains("256 KiB"))),
            }
        }
    }
    std::fs::remove_file(&path).unwrap();
}
