//! Truncated and changed key files give an error or a different key, never a panic or unlimited
//! work.

use super::fixtures::*;
use sealane::Error;
use sealane::keys::{PublicKey, SecretKey};

const JWK: &str = r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#;
const HEX: &str = "0x0000000000000000000000000000000000000000000000000000000000000001";

/// Key files that need no slow key derivation, so that each of many changes can be tested.
const SECRETS: [&str; 9] =
    [JWK, HEX, X25519, P256, P256_SEC1, SECP256K1_SEC1, X_WING, X25519_PBKDF2, X25519_SCRYPT_SMALL];

fn read(text: &str) -> Result<SecretKey, Error> {
    SecretKey::from_text(text, text.contains("ENCRYPTED").then_some("hunter2"))
}

// claim: key-file
#[test]
fn every_truncation() {
    for text in SECRETS {
        for len in 0..text.trim_end().len() {
            let cut = read(&text[..len]);
            assert!(cut.is_err(), "{len} of {text}");
        }
        assert!(read(text.trim_end()).is_ok());
    }
    for text in [X25519_PUBLIC, P256_PUBLIC, SECP256K1_PUBLIC] {
        for len in 0..text.trim_end().len() {
            assert!(PublicKey::from_text(&text[..len]).is_err(), "{len} of {text}");
        }
    }
}

/// Some changes give a different key. A file without the public key, and without encryption that
/// authenticates, does not detect them.
// claim: key-file
#[test]
fn every_changed_byte() {
    for text in SECRETS {
        let (mut refused, mut accepted) = (0, 0);
        for at in 0..text.len() {
            for bit in [0x01, 0x02, 0x20, 0x40] {
                let mut changed = text.as_bytes().to_vec();
                changed[at] ^= bit;
                let Ok(changed) = String::from_utf8(changed) else { continue };
                match read(&changed) {
                    Ok(_) => accepted += 1,
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > accepted / 4, "{refused} {accepted} {text}");
    }
}

/// The files of P-256 and secp256k1 contain the public key, so that each change is detected.
#[test]
fn changed_numbers_of_a_curve() {
    use base64ct::{Base64, Encoding};
    let der = |text: &str| {
        let lines: String = text.lines().filter(|line| !line.starts_with('-')).collect();
        Base64::decode_vec(&lines).unwrap()
    };
    let pem = |der: &[u8]| {
        let text = Base64::encode_string(der);
        let lines: Vec<_> =
            text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"))
    };
    for text in [P256, SECP256K1] {
        let der = der(text);
        assert_eq!(pem(&der), text);
        for at in 0..der.len() {
            for change in 1..=255 {
                let mut changed = der.clone();
                changed[at] ^= change;
                // A point in hybrid form (06 or 07 for 04) is the same point.
                let hybrid = der[at] == 4 && matches!(changed[at], 6 | 7);
                if let Ok(found) = read(&pem(&changed)) {
                    assert!(hybrid && found == read(text).unwrap(), "byte {at} changed by {change}");
                }
            }
        }
        let mut longer = der.clone();
        longer.push(0);
        assert!(read(&pem(&longer)).is_err());
    }
    for text in [X25519, X_WING] {
        let mut longer = der(text);
        longer.push(0);
        assert!(read(&pem(&longer)).is_err());
        longer.truncate(longer.len() - 2);
        assert!(read(&pem(&longer)).is_err());
    }
}

proptest::proptest! {
    /// Text between the markers that select a parser.
    // claim: input-no-crash
    #[test]
    fn anything(start in 0..MARKERS.len(), middle in ".{0,200}", end in 0..MARKERS.len(), passphrase in "[a-z]{0,2}") {
        let text = format!("{}{middle}{}", MARKERS[start], MARKERS[end]);
        let _ = (SecretKey::from_text(&text, None), SecretKey::from_text(&text, Some(&passphrase)), PublicKey::from_text(&text));
    }

    /// DER with a valid outer SEQUENCE.
    // claim: key-file, input-no-crash
    #[test]
    fn any_der(label in 0..LABELS.len(), start in 0..6usize, der in proptest::collection::vec(proptest::num::u8::ANY, 0..128)) {
        use base64ct::{Base64, Encoding};
        let whole = [&[0x30, der.len() as u8][..], &der].concat();
        let text = Base64::encode_string(&whole[start.min(1)..]);
        let lines: Vec<_> = text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
        let text = format!("-----BEGIN {0}-----\n{1}\n-----END {0}-----\n", LABELS[label], lines.join("\n"));
        proptest::prop_assert!(SecretKey::from_text(&text, None).is_err());
        proptest::prop_assert!(SecretKey::from_text(&text, Some("x")).is_err());
        proptest::prop_assert!(PublicKey::from_text(&text).is_err());
    }
}

const LABELS: [&str; 6] = [
    "PRIVATE KEY",
    "EC PRIVATE KEY",
    "RSA PRIVATE KEY",
    "ENCRYPTED PRIVATE KEY",
    "PUBLIC KEY",
    "RSA PUBLIC KEY",
];

const MARKERS: [&str; 9] = [
    "",
    "\n",
    "{\"kty\":\"oct\",\"k\":\"",
    "\"}",
    "-----BEGIN PRIVATE KEY-----\n",
    "\n-----END PRIVATE KEY-----",
    "AGE-SECRET-KEY-1",
    "age-encryption.org/v1\n",
    "0x",
];
