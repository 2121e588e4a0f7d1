//! Valid key files that other programs write, whatever form the standard allows; and files with two
//! readings, which are refused.

use super::fixtures::*;
use base64ct::{Base64, Encoding};
use sealane::age::{Identity, Recipient, parse_recipients};
use sealane::interrupt::with_check;
use sealane::keys::{
    EncryptedKeyring, KeyFile, Keyring, LoadOptions, Prefix, SecretKey, parse_identity_file, text_of,
};
use sealane::signature::{NewSigningKey, Signers, SigningKey};
use sealane::{Error, Misuse};
use std::ops::ControlFlow;

const AGE: &str = "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX";

fn parse(content: &[u8]) -> Result<KeyFile, Error> {
    KeyFile::parse(content, LoadOptions::default())
}

fn refusal<T>(found: Result<T, Error>) -> String {
    found.map(drop).unwrap_err().to_string()
}

/// RFC 7468, section 2: text around a block has no meaning, whatever its encoding.
// claim: key-file-grammar
#[test]
fn text_around_pem() {
    let wanted = SecretKey::from_text(P256, None).unwrap();
    let certificate = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n";
    for (before, after) in [
        (&b"\xef\xbb\xbf"[..], &b""[..]),
        (b"Bag Attributes\n    friendlyName: J\xf6rg\n", b"J\xf6rg\n"),
        (b"\xff\xfe\x00\n", b"\x00\xff"),
        (certificate.as_bytes(), certificate.as_bytes()),
        (b"# age1...\r\n", b"\r\n\t\n"),
    ] {
        let found = parse(&[before, P256.as_bytes(), after].concat()).unwrap().into_secret().unwrap();
        assert_eq!(found, wanted, "{before:?}");
    }
    for other in [P256, X25519_PUBLIC, OPENSSH_ED25519, AGE] {
        let said = refusal(parse(format!("{P256}{other}\n").as_bytes()));
        assert!(said.contains("split the file"), "{said}");
    }
}

/// The fields of protocol buffers have any order.
// claim: key-file-grammar
#[test]
fn fields_of_binary_keysets() {
    let ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
    let bytes = ring.to_bytes();
    // The identifier of the primary key ends with the first byte below 80.
    let end = 2 + bytes[1..].iter().position(|byte| *byte < 0x80).unwrap();
    let swapped = [&bytes[end..], &bytes[..end]].concat();
    assert!(matches!(parse(&swapped), Ok(KeyFile::Keyring(found)) if *found.to_bytes() == *bytes));
}

/// Some programs write the label of another structure. OpenSSL looks at the structure too.
// claim: key-file-grammar
#[test]
fn labels_of_other_structures() {
    let relabeled = |text: &str, from, to| text.replace(from, to);
    for (text, from, to) in [
        (RSA, "PRIVATE KEY", "RSA PRIVATE KEY"),
        (RSA_PKCS1, "RSA PRIVATE KEY", "PRIVATE KEY"),
        (P256, "PRIVATE KEY", "EC PRIVATE KEY"),
        (P256_SEC1, "EC PRIVATE KEY", "PRIVATE KEY"),
        (RSA_PUBLIC, "PUBLIC KEY", "RSA PUBLIC KEY"),
        (RSA_PUBLIC_PKCS1, "RSA PUBLIC KEY", "PUBLIC KEY"),
    ] {
        let found = format!("{:?}", parse(relabeled(text, from, to).as_bytes()).unwrap());
        assert_eq!(found, format!("{:?}", parse(text.as_bytes()).unwrap()), "{to}");
    }
    // Encrypted or not, as the structure says.
    let encrypted = relabeled(X25519_SCRYPT, "ENCRYPTED PRIVATE KEY", "PRIVATE KEY");
    assert!(matches!(parse(encrypted.as_bytes()), Err(Error::Misuse(Misuse::KeyPassphraseRequired))));
    let plain = relabeled(X25519, "PRIVATE KEY", "ENCRYPTED PRIVATE KEY");
    assert!(parse(plain.as_bytes()).is_ok());
}

/// sshd(8): fields are separated by blanks, and a comment may hold anything.
// claim: key-file-grammar
#[test]
fn lines_of_openssh() {
    let mut fields = OPENSSH_ED25519_PUBLIC.split_whitespace();
    let (kind, key) = (fields.next().unwrap(), fields.next().unwrap());
    let wanted: Recipient = OPENSSH_ED25519_PUBLIC.trim().parse().unwrap();
    for line in [
        format!("{kind}\t{key}"),
        format!("{kind}  {key} \t a  b"),
        format!("\u{feff}# list\r\n\r\n  {kind} {key}\r\n"),
    ] {
        assert_eq!(parse_recipients(&line).unwrap(), std::slice::from_ref(&wanted), "{line}");
        assert!(Signers::parse(line.as_bytes()).is_ok(), "{line}");
    }
    let latin1 = [format!("{kind} {key} J").as_bytes(), b"\xf6rg\n"].concat();
    assert_eq!(parse_recipients(&text_of(&latin1)).unwrap(), [wanted]);
    assert!(Signers::parse(&latin1).is_ok() && parse(&latin1).is_ok());
    for other in ["ecdsa-sha2-nistp256 AAAA", "sk-ssh-ed25519@openssh.com AAAA", "ssh-dss AAAA x", "ssh-x"] {
        let said = refusal(other.parse::<Recipient>());
        assert!(said.contains("type of SSH key"), "{said}");
        assert!(refusal(parse(other.as_bytes())).contains("type of SSH key"), "{other}");
    }
}

// claim: key-file-grammar
#[test]
fn identity_files() {
    let wanted = [AGE.parse::<Identity>().unwrap()];
    let latin1 = [b"# J\xf6rg\r\n", AGE.as_bytes(), b" \r\n\t\r\n"].concat();
    for content in [latin1, format!("\u{feff}{AGE}\n").into_bytes(), format!("  {AGE}").into_bytes()] {
        assert_eq!(parse_identity_file(&content, None).unwrap(), wanted);
        assert!(parse(&content).is_ok());
    }
    let ssh = [Identity::from_ssh(OPENSSH_ED25519, None).unwrap()];
    for before in ["# my key\n", "\u{feff}", "\r\n"] {
        let content = format!("{before}{OPENSSH_ED25519}");
        assert_eq!(parse_identity_file(content.as_bytes(), None).unwrap(), ssh, "{before}");
        assert!(SigningKey::parse(content.as_bytes(), None).is_ok() && parse(content.as_bytes()).is_ok());
    }
    let both = refusal(parse_identity_file(format!("{AGE}\n{OPENSSH_ED25519}").as_bytes(), None));
    assert!(both.contains("age identity"), "{both}");
    // A byte that is not UTF-8 is no part of a key.
    let damaged = [&AGE.as_bytes()[..40], b"\xff", &AGE.as_bytes()[41..]].concat();
    assert!(parse_identity_file(&damaged, None).is_err());
}

/// ProtoJSON: enumerations as numbers, numbers in strings or with a fraction, both names of a
/// member, `null` for the default, and base64 in both alphabets.
// claim: key-file-grammar
#[test]
fn forms_of_tink_json() {
    let canonical = r#"{"primaryKeyId":7,"key":[{"keyData":{"typeUrl":"type.googleapis.com/google.crypto.tink.AesGcmKey","value":"GiDPBFhILCuKsgqufVyLfHWQqHMkyiyrtFU23kuA2BWGRQ==","keyMaterialType":"SYMMETRIC"},"status":"ENABLED","keyId":7,"outputPrefixType":"TINK"}]}"#;
    let wanted = Keyring::from_json(canonical).unwrap().to_json();
    let original = canonical
        .replace("primaryKeyId", "primary_key_id")
        .replace("keyData", "key_data")
        .replace("typeUrl", "type_url")
        .replace("keyMaterialType", "key_material_type")
        .replace("keyId", "key_id")
        .replace("outputPrefixType", "output_prefix_type");
    for form in [
        canonical.replace("\"ENABLED\"", "1").replace("\"TINK\"", "1").replace("\"SYMMETRIC\"", "1"),
        canonical.replace("Id\":7", "Id\":\"7\""),
        canonical.replace("Id\":7", "Id\":7.0"),
        canonical.replace("Id\":7", "Id\":\"70e-1\""),
        canonical.replace("RQ==", "RQ"),
        canonical.replace("GiDP", "\\u0047i\\u0044P"),
        canonical.replace("\"key\":[", "\"encryptedKeyset\":null,\"key\":["),
        original,
        format!("\u{feff}{canonical}"),
    ] {
        let KeyFile::Keyring(found) = parse(form.as_bytes()).unwrap() else { panic!("{form}") };
        assert_eq!(*found.to_json(), *wanted, "{form}");
    }
    for form in [
        canonical.replace("\"key\":[", "\"primary_key_id\":7,\"key\":["),
        canonical.replace("\"status\"", "\"status\":\"ENABLED\",\"status\""),
        canonical.replace("RQ==", "RR=="),
        canonical.replace("RQ==", "RQ="),
        canonical.replace("keyId\":7", "keyId\":7.5"),
        canonical.replace("ENABLED", "\\ud800"),
        canonical.replace("\"ENABLED\"", "9"),
        canonical.replace("\"status\"", "\"other\":1,\"status\""),
    ] {
        assert!(Keyring::from_json(&form).is_err(), "{form}");
    }
    let encrypted = EncryptedKeyring::new(&Keyring::from_json(canonical).unwrap(), &[0xfb, 0xff]).to_json();
    let wanted = EncryptedKeyring::parse(encrypted.as_bytes()).unwrap();
    for form in [
        encrypted.replace("+/8=", "-_8"),
        encrypted.replace("\"ENABLED\"", "1").replace("Id\":7", "Id\":\"7\""),
        encrypted.replace("encryptedKeyset", "encrypted_keyset").replace("keyInfo", "key_info"),
        format!("\u{feff}{encrypted}"),
    ] {
        assert_eq!(EncryptedKeyring::parse(form.as_bytes()).unwrap(), wanted, "{form}");
    }
}

/// An error names a cause only if it was found.
#[test]
fn errors_of_encrypted_ssh_keys() {
    let key = NewSigningKey::generate(Some("right")).unwrap();
    let changed = |from: &[u8], to: &[u8]| {
        let body: String = key.text().lines().filter(|line| !line.starts_with('-')).collect();
        let bytes = Base64::decode_vec(&body).unwrap();
        let at = bytes.windows(from.len()).position(|found| found == from).unwrap();
        let bytes = [&bytes[..at], to, &bytes[at + from.len()..]].concat();
        let body = Base64::encode_string(&bytes);
        format!("-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----\n")
    };
    assert!(matches!(Identity::from_ssh(key.text(), Some("wrong")), Err(Error::WrongPassphrase)));
    for cipher in [&b"\0\0\0\x083des-cbc"[..], b"\0\0\0\x0cblowfish-cbc", b"\0\0\0\x01\xff"] {
        let text = changed(b"\0\0\0\x0aaes256-ctr", cipher);
        for refused in [
            refusal(Identity::from_ssh(&text, Some("right"))),
            refusal(SigningKey::parse(text.as_bytes(), Some("right"))),
        ] {
            assert!(refused.contains("3des-cbc"), "{refused}");
        }
    }
    // No rounds, and too many.
    let rounds = |count: [u8; 4]| changed(&[0, 0, 0, 24, 0, 0, 0, 1], &[&count[..], &[0, 0, 0, 1]].concat());
    let none = Identity::from_ssh(&rounds([0; 4]), Some("right"));
    assert!(matches!(none, Err(Error::Format(_))), "{none:?}");
    let many = Identity::from_ssh(&rounds([0, 0, 4, 1]), Some("right"));
    assert!(matches!(many, Err(Error::LimitExceeded(_))), "{many:?}");
}

/// `keygen -t ed25519`
#[test]
fn new_ed25519_keys() {
    for passphrase in [None, Some("right")] {
        let key = NewSigningKey::generate(passphrase).unwrap();
        let signer = SigningKey::parse(key.text().as_bytes(), passphrase).unwrap();
        let signers = Signers::parse(key.public().as_bytes()).unwrap();
        assert_eq!(signers.verify(b"list", &signer.sign(b"list", "").unwrap()), Ok(()));
        let identity = Identity::from_ssh(key.text(), passphrase).unwrap();
        assert_eq!(identity.recipient().to_string(), key.public().trim_end());
    }
    assert!(matches!(NewSigningKey::generate(Some("")), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
}

/// Only JSON Web Keys have a `kid`: one that selects nothing is a mistake.
#[test]
fn a_kid_of_other_keys() {
    for text in [P256, AGE, OPENSSH_ED25519, X25519_SCRYPT] {
        let options = LoadOptions { kid: Some("a"), ..LoadOptions::default() };
        let found = KeyFile::parse(text.as_bytes(), options);
        assert!(matches!(found, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{text}");
    }
}

/// A minisign key of 158 bytes must not take years, nor all memory, whatever it requests; and what
/// is cancelled stops in its loops.
// claim: key-file
// claim: input-stops
#[test]
fn work_of_minisign_keys() {
    let key = |operations: u64, memory: u64| {
        let head = [&b"EdScB2"[..], &[7; 32], &operations.to_le_bytes(), &memory.to_le_bytes()].concat();
        format!("untrusted comment: x\n{}\n", Base64::encode_string(&[&head[..], &[7; 104]].concat()))
    };
    for (operations, memory) in
        [(8 * 0x3fff_ffff, 2048), (1 << 40, 1 << 30), (u64::MAX, u64::MAX), (1 << 44, 1 << 30)]
    {
        let refused = SigningKey::parse(key(operations, memory).as_bytes(), Some("x"));
        assert!(matches!(refused, Err(Error::LimitExceeded(_))), "{operations} {memory}: {refused:?}");
    }
    // Within the limits, 2 GiB of work.
    let long = key(1 << 26, 1 << 25);
    let stopped = with_check(|| ControlFlow::Break(()), || SigningKey::parse(long.as_bytes(), Some("x")));
    assert!(matches!(stopped, Err(Error::Cancelled)), "{stopped:?}");
    let short = SigningKey::parse(key(32768, 1 << 20).as_bytes(), Some("x"));
    assert!(matches!(short, Err(Error::WrongPassphrase)), "{short:?}");
}
