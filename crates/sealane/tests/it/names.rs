//! Encrypted names of files and folders.

use proptest::prelude::*;
use sealane::file::NameKey;
use sealane::keys::{Keyring, Prefix};
use sealane::{DeterministicAead, DeterministicAlgorithm, Error, FolderError, Key, Misuse};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

const KEY: [u8; 64] = [7; 64];

fn names() -> NameKey {
    NameKey::new(&Key::from_bytes(&KEY)).unwrap()
}

fn ring(prefix: Prefix) -> Keyring {
    Keyring::generate("aes-256-siv".parse().unwrap(), prefix).unwrap()
}

/// Encodes as RFC 4648, section 7 says: 5 bits for each character, zeros at the end.
fn base32hex(data: &[u8]) -> String {
    let bit = |at: usize| data.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let value = |at: usize| (0..5).fold(0, |value, n| value << 1 | bit(at + n));
    let character = |at: usize| char::from(b"0123456789abcdefghijklmnopqrstuv"[usize::from(value(at))]);
    (0..data.len() * 8).step_by(5).map(character).collect()
}

/// Returns what another implementation computes.
fn encrypted(plain: &[u8], aad: &[u8]) -> OsString {
    let siv = DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, &Key::from_bytes(&KEY)).unwrap();
    base32hex(&siv.encrypt(plain, aad).unwrap()).into()
}

fn folder_error<T: std::fmt::Debug>(result: Result<T, Error>) -> FolderError {
    match result {
        Err(Error::Folder(error)) => error,
        other => panic!("expected an error of a folder, found {other:?}"),
    }
}

#[test]
fn names_are_base32hex_of_aes_siv() {
    for (folder, aad) in [("", ""), ("a", "a"), ("a/b c", "a/b c"), ("a//b/./c", "a/b/c")] {
        let folder = Path::new(folder);
        let name = names().encrypt(OsStr::new("letter"), folder, OsStr::new(".s")).unwrap();
        let expected = encrypted(b"letter", aad.as_bytes());
        assert_eq!(name, [expected.as_os_str(), OsStr::new(".s")].into_iter().collect::<OsString>());
        assert_eq!(names().decrypt(&expected, folder).unwrap(), "letter");
        // No upper case, and nothing that a system could refuse in a name.
        assert!(expected.as_bytes().iter().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()));
    }
    let text = names().encrypt_link(Path::new("../x"), Path::new("a/l")).unwrap();
    assert_eq!(text.as_os_str(), encrypted(b"../x", b"a/l/"));
    assert_eq!(names().decrypt_link(&text, Path::new("a/l")).unwrap(), Path::new("../x"));
    // The path of a link is no name, neither of another link nor in the folder of the same path.
    for link in ["l", "a", "a/l/x", "a/b"] {
        let moved = folder_error(names().decrypt_link(&text, Path::new(link)));
        assert_eq!(moved, FolderError::NameNotAuthentic, "{link}");
    }
    assert_eq!(
        folder_error(names().decrypt(text.as_os_str(), Path::new("a/l"))),
        FolderError::NameNotAuthentic
    );
}

#[test]
fn keys_of_other_kinds_are_refused() {
    for len in [16, 32, 48] {
        let refused = NameKey::new(&Key::generate(len).unwrap());
        assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyLength { .. }))), "{len}");
    }
    let aead = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
    assert!(matches!(NameKey::keyring(&aead), Err(Error::Misuse(Misuse::UnsuitableKey(_)))));
    assert!(!format!("{:?}", names()).contains("7, 7"));
}

#[test]
fn every_other_text_is_refused() {
    let folder = Path::new("a");
    let good = names().encrypt(OsStr::new("letter"), folder, OsStr::new("")).unwrap();
    let good = good.into_vec();
    let refused = |text: &[u8], folder: &Path| {
        let error = folder_error(names().decrypt(OsStr::from_bytes(text), folder));
        assert_eq!(error, FolderError::NameNotAuthentic, "{text:?}");
    };
    for at in 0..good.len() {
        for other in *b"0vw=A\xff" {
            let mut changed = good.clone();
            changed[at] = other;
            if changed != good {
                refused(&changed, folder);
            }
        }
        refused(&good[..at], folder);
    }
    refused(&good.to_ascii_uppercase(), folder);
    refused(&[&good[..], b"="].concat(), folder);
    refused(&[&good[..], b"0"].concat(), folder);
    for moved in ["", "b", "a/a"] {
        refused(&good, Path::new(moved));
    }
    let other = NameKey::new(&Key::from_bytes(&[8; 64])).unwrap();
    assert_eq!(folder_error(other.decrypt(OsStr::from_bytes(&good), folder)), FolderError::NameNotAuthentic);
}

/// The key may have been used for something else, or its holder may attack a restoration.
#[test]
fn decrypted_names_are_checked() {
    for bad in [&b""[..], b".", b"..", b"/", b"a/", b"/a", b"a/b", b"a/..", b"./a", b"a\0", b"\0"] {
        let name = encrypted(bad, b"");
        assert_eq!(folder_error(names().decrypt(&name, Path::new(""))), FolderError::NameInvalid, "{bad:?}");
    }
    for bad in [&b""[..], b"a\0b"] {
        let text = PathBuf::from(encrypted(bad, b"l/"));
        let error = folder_error(names().decrypt_link(&text, Path::new("l")));
        assert_eq!(error, FolderError::NameInvalid, "{bad:?}");
    }
    for good in [&b"..."[..], b" ", b"-rf", b"\xff\n", b"a\\b"] {
        assert_eq!(names().decrypt(&encrypted(good, b""), Path::new("")).unwrap().as_bytes(), good);
    }
}

#[test]
fn names_that_do_not_fit_are_refused() {
    let keyring = NameKey::keyring(&ring(Prefix::Tink)).unwrap();
    for (key, suffix, expected) in [
        (&names(), "", 143),
        (&names(), ".age", 140),
        (&names(), ".sealed", 139),
        (&keyring, "", 138),
        (&keyring, ".sealed", 134),
    ] {
        let suffix = OsStr::new(suffix);
        let name = |len| OsString::from("x".repeat(len));
        let longest = key.encrypt(&name(expected), Path::new(""), suffix).unwrap();
        assert!(longest.len() <= 255, "{expected}");
        let error = folder_error(key.encrypt(&name(expected + 1), Path::new(""), suffix));
        assert_eq!(error, FolderError::NameTooLong { found: expected + 1, max: expected });
        let text = error.to_string();
        assert!(text.contains(&expected.to_string()) && text.contains(&(expected + 1).to_string()), "{text}");
    }
    let huge = "s".repeat(300);
    let error = folder_error(names().encrypt(OsStr::new("x"), Path::new(""), OsStr::new(&huge)));
    assert_eq!(error, FolderError::NameTooLong { found: 1, max: 0 });
    let text = |len| PathBuf::from("x".repeat(len));
    let longest = names().encrypt_link(&text(2543), Path::new("l")).unwrap();
    assert!(longest.as_os_str().len() <= 4095);
    let error = folder_error(names().encrypt_link(&text(2544), Path::new("l")));
    assert_eq!(error, FolderError::LinkTooLong { found: 2544, max: 2543 });
}

#[test]
fn each_enabled_key_of_a_keyring_decrypts() {
    for prefix in [Prefix::Tink, Prefix::Raw] {
        let mut ring = ring(prefix);
        let old = ring.primary().id;
        let encrypt = |ring: &Keyring| {
            let key = NameKey::keyring(ring).unwrap();
            key.encrypt(OsStr::new("x"), Path::new("a"), OsStr::new("")).unwrap()
        };
        let first = encrypt(&ring);
        ring.rotate().unwrap();
        let second = encrypt(&ring);
        assert_ne!(first, second);
        let key = NameKey::keyring(&ring).unwrap();
        for name in [&first, &second] {
            assert_eq!(key.decrypt(name, Path::new("a")).unwrap(), "x");
        }
        ring.disable(old).unwrap();
        let key = NameKey::keyring(&ring).unwrap();
        assert_eq!(folder_error(key.decrypt(&first, Path::new("a"))), FolderError::NameNotAuthentic);
    }
}

/// Names of any bytes that a file system takes, up to the longest.
fn name() -> impl Strategy<Value = OsString> {
    let byte = any::<u8>().prop_filter("not in a name", |byte| ![0, b'/'].contains(byte));
    let name = prop::collection::vec(byte, 1..=139).prop_map(OsString::from_vec);
    name.prop_filter("not a name", |name| name != "." && name != "..")
}

proptest! {
    #[test]
    fn any_path_round_trips(path in prop::collection::vec(name(), 1..5), other in name()) {
        let (mut plain, mut sealed) = (PathBuf::new(), PathBuf::new());
        for name in &path {
            let encrypted = names().encrypt(name, &plain, OsStr::new(".sealed")).unwrap();
            prop_assert!(encrypted.len() <= 255);
            let encrypted = encrypted.to_str().unwrap().strip_suffix(".sealed").unwrap().to_owned();
            prop_assert_eq!(&names().decrypt(OsStr::new(&encrypted), &plain).unwrap(), name);
            let elsewhere = plain.join(&other);
            prop_assert!(names().decrypt(OsStr::new(&encrypted), &elsewhere).is_err());
            sealed.push(encrypted);
            plain.push(name);
        }
        prop_assert_eq!(names().decrypt_path(&sealed).unwrap(), plain.clone());
        let text = names().encrypt_link(&plain, Path::new("l")).unwrap();
        prop_assert_eq!(names().decrypt_link(&text, Path::new("l")).unwrap(), plain);
    }

    #[test]
    fn no_text_decrypts_by_chance(text in "[0-9a-v]{0,80}", folder in "[a-z]{0,3}") {
        prop_assert!(names().decrypt(OsStr::new(&text), Path::new(&folder)).is_err());
        prop_assert!(names().decrypt_link(Path::new(&text), Path::new(&folder)).is_err());
    }
}
