//! Key files: round trips, permissions, and output of `Debug`.

use sealane::keys::{
    self, Existing, KeyFile, Keyring, Kind, LoadOptions, Prefix, PublicKey, Reference, SecretKey,
};
use sealane::{Error, Misuse, age};
use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use zeroize::Zeroizing;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sealane-keys-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn all_kinds_round_trip() {
    let folder = folder("kinds");
    // Age keys with a passphrase take about a second each, the cost of scrypt.
    for kind in Kind::ALL {
        let key = SecretKey::generate(kind).unwrap();
        assert_eq!(key.kind(), Some(kind));
        let text = key.to_text(None).unwrap();
        for passphrase in [None, Some("naïve passphrase")] {
            let path = folder.join(format!("{kind}-{}", passphrase.is_some()));
            key.save(&path, passphrase, Existing::Refuse).unwrap();
            let again = SecretKey::load(&path, passphrase).unwrap();
            assert_eq!(*again.to_text(None).unwrap(), *text, "{kind}");
            assert_eq!(again.public(), key.public());
            assert_eq!(again, key);
            assert_ne!(again, SecretKey::generate(Kind::X25519).unwrap());
            let other = SecretKey::load(&path, Some("naive passphrase"));
            match passphrase {
                None => assert!(matches!(other, Err(Error::Misuse(Misuse::KeyNotEncrypted))), "{other:?}"),
                Some(_) => {
                    assert!(matches!(other, Err(Error::WrongPassphrase)), "{kind}: {other:?}");
                    let without = SecretKey::load(&path, None);
                    assert!(
                        matches!(without, Err(Error::Misuse(Misuse::KeyPassphraseRequired))),
                        "{without:?}"
                    );
                    let content = fs::read_to_string(&path).unwrap();
                    assert!(!content.contains(text.lines().nth(1).unwrap_or(&text)), "{kind}");
                }
            }
        }
        if let Some(public) = key.public() {
            let path = folder.join(format!("{kind}-public"));
            public.save(&path, Existing::Refuse).unwrap();
            assert_eq!(PublicKey::load(&path).unwrap(), public);
            assert_eq!(public.kind(), Some(kind));
            assert_eq!(PublicKey::from_text(&public.to_string()).unwrap(), public, "{kind}");
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

/// Tests key files that are encrypted to recipients, with a symmetric key and a key in PEM.
#[test]
fn keys_for_recipients() {
    let folder = folder("recipients");
    let readers: Vec<_> =
        ["age", "age"].iter().map(|kind| SecretKey::generate(kind.parse().unwrap()).unwrap()).collect();
    let recipients: Vec<_> = readers
        .iter()
        .map(|reader| match reader.public() {
            Some(PublicKey::Age(recipient)) => recipient,
            other => panic!("{other:?}"),
        })
        .collect();
    let identity = |at: usize| match SecretKey::from_text(&readers[at].to_text(None).unwrap(), None) {
        Ok(SecretKey::Age(identity)) => [identity],
        other => panic!("{other:?}"),
    };
    for kind in [Kind::Aes256, Kind::P256] {
        let key = SecretKey::generate(kind).unwrap();
        let path = folder.join(kind.name());
        key.save_for(&path, &recipients[..1], Existing::Refuse).unwrap();
        assert!(fs::read_to_string(&path).unwrap().starts_with("-----BEGIN AGE ENCRYPTED FILE-----\n"));
        let again = SecretKey::load_with(&path, &identity(0)).unwrap();
        assert_eq!(*again.to_text(None).unwrap(), *key.to_text(None).unwrap());
        assert!(matches!(SecretKey::load_with(&path, &identity(1)), Err(Error::NoMatchingKey)));
        assert!(matches!(SecretKey::load(&path, None), Err(Error::Misuse(Misuse::KeyIdentityRequired))));
        assert!(matches!(SecretKey::load(&path, Some("x")), Err(Error::Misuse(Misuse::KeyIdentityRequired))));
        key.save(&path, None, Existing::Replace).unwrap();
        assert!(matches!(
            SecretKey::load_with(&path, &identity(0)),
            Err(Error::Misuse(Misuse::KeyNotEncrypted))
        ));
    }
    // The key inside an age file has no further encryption.
    let path = folder.join("twice");
    let inner = SecretKey::generate(Kind::P256).unwrap().to_text(Some("inner")).unwrap();
    fs::write(&path, age::seal(inner.as_bytes(), &recipients[..1], age::Armor::Ascii).unwrap()).unwrap();
    let refused = SecretKey::load_with(&path, &identity(0));
    assert!(matches!(refused, Err(Error::Format(text)) if text.contains("decrypt the age file first")));
    let path = folder.join("identities");
    readers[0].save(&path, None, Existing::Refuse).unwrap();
    let loaded = keys::load_identities(&path, None).unwrap();
    assert_eq!(loaded.iter().map(age::Identity::recipient).collect::<Vec<_>>(), recipients[..1]);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn files_are_private_and_not_overwritten() {
    let folder = folder("owner");
    let (path, open) = (folder.join("key"), folder.join("open"));
    let (first, second) =
        (SecretKey::generate(Kind::Aes256).unwrap(), SecretKey::generate(Kind::X25519).unwrap());
    first.save(&path, None, Existing::Refuse).unwrap();
    let taken = second.save(&path, None, Existing::Refuse);
    assert!(matches!(taken, Err(Error::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists));
    assert_eq!(SecretKey::load(&path, None).unwrap().kind(), Some(Kind::Aes256));
    fs::write(&open, "others may read this").unwrap();
    for path in [&path, &open] {
        second.save(path, None, Existing::Replace).unwrap();
        assert_eq!(SecretKey::load(path, None).unwrap().kind(), Some(Kind::X25519));
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap()) & 0o777, 0o600);
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn rejects_other_files() {
    let folder = folder("foreign");
    let path = folder.join("file");
    for content in [
        &b""[..],
        b"\n",
        b"hello",
        b"\x7fELF\x02\x01\x01",
        &[0x30, 0x82, 0x04, 0xbd],
        b"# a comment alone\n",
        b"{}",
        &b"a".repeat(1 << 18),
        &b"a\n".repeat(1 << 18),
        b"AGE-SECRET-KEY-1\nAGE-SECRET-KEY-1\n",
    ] {
        fs::write(&path, content).unwrap();
        assert!(matches!(SecretKey::load(&path, None), Err(Error::Format(_))), "{content:.20?}");
        assert!(matches!(PublicKey::load(&path), Err(Error::Format(_))), "{content:.20?}");
    }
    let missing = SecretKey::load(&folder.join("missing"), None);
    assert!(
        matches!(missing, Err(Error::Io { path: Some(_), source }) if source.kind() == ErrorKind::NotFound)
    );
    assert!(matches!(SecretKey::load(&folder, None), Err(Error::Io { .. })));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn load_returns_the_kind_of_the_file() {
    let folder = folder("load");
    let path = folder.join("file");
    let load = |text: &str, options| {
        fs::write(&path, text).unwrap();
        keys::load(&path, options)
    };
    let none = LoadOptions::default();
    for kind in Kind::ALL {
        let key = SecretKey::generate(kind).unwrap();
        let found = load(&key.to_text(None).unwrap(), none).unwrap();
        assert!(matches!(&found, KeyFile::Secret(found) if *found == key), "{kind}: {found:?}");
        let Some(public) = key.public() else {
            let refused = found.into_public().unwrap_err().to_string();
            assert!(refused.contains("expected a public key, found a symmetric key"), "{refused}");
            continue;
        };
        assert!(
            found
                .into_public()
                .unwrap_err()
                .to_string()
                .contains("expected a public key, found a private key")
        );
        let found = load(&public.to_text().unwrap(), none).unwrap();
        assert!(matches!(&found, KeyFile::Public(found) if *found == public), "{kind}: {found:?}");
        assert!(
            found
                .into_secret()
                .unwrap_err()
                .to_string()
                .contains("expected a private key, found a public key")
        );
        let refused = load(&public.to_text().unwrap(), LoadOptions::passphrase(Some("x")));
        assert!(matches!(refused, Err(Error::Misuse(Misuse::KeyNotEncrypted))), "{kind}: {refused:?}");
    }
    let ring = Keyring::generate("aes-256-gcm".parse().unwrap(), Prefix::Tink).unwrap();
    fs::write(&path, &*ring.to_bytes()).unwrap();
    for found in [load(&ring.to_json(), none).unwrap(), keys::load(&path, none).unwrap()] {
        assert!(
            matches!(&found, KeyFile::Keyring(found) if *found.to_json() == *ring.to_json()),
            "{found:?}"
        );
        assert!(found.into_secret().unwrap_err().to_string().contains("found a keyring"));
    }

    let set =
        r#"{"keys":[{"kty":"oct","kid":"a","k":"AAAA"},{"kty":"oct","kid":"b","use":"enc","k":"AAAB"}]}"#;
    let Ok(KeyFile::Secret(SecretKey::Symmetric(jwk))) = load(set, LoadOptions { kid: Some("b"), ..none })
    else {
        panic!()
    };
    assert_eq!((jwk.key.as_bytes(), jwk.usage.as_deref()), (&[0, 0, 1][..], Some("enc")));
    assert_eq!(
        *SecretKey::Symmetric(jwk).to_text(None).unwrap(),
        "{\"kty\":\"oct\",\"k\":\"AAAB\",\"kid\":\"b\",\"use\":\"enc\"}\n"
    );
    assert!(matches!(load(set, none), Err(Error::Misuse(Misuse::KeyId { .. }))));

    let reference = Reference::parse(format!("file:{}", path.display()).as_ref()).unwrap();
    assert_eq!(*reference.read().unwrap(), set.as_bytes());
    fs::remove_dir_all(&folder).unwrap();
}

/// Found by the fuzz target `jwk_set`.
#[test]
fn a_member_of_a_tink_keyset_as_a_value_is_no_keyset() {
    for name in ["primaryKeyId", "encryptedKeyset"] {
        let jwk = format!(r#"{{"kty":"oct","kid":"{name}","k":"AAAA"}}"#);
        for text in [format!(r#"{{"keys":[{jwk}]}}"#), jwk] {
            let found = KeyFile::parse(text.as_bytes(), LoadOptions::default()).unwrap();
            assert!(matches!(found, KeyFile::Secret(SecretKey::Symmetric(_))), "{text}: {found:?}");
        }
    }
    for keyset in [r#"{"encryptedKeyset":"AAAA"}"#, r#"{"primaryKeyId":1,"ke"#] {
        let found = KeyFile::parse(keyset.as_bytes(), LoadOptions::default());
        assert!(matches!(&found, Err(Error::Format(text)) if text.contains("keyset")), "{keyset}: {found:?}");
    }
}

#[test]
fn rejects_an_empty_passphrase() {
    for kind in [Kind::Aes256, Kind::X25519, Kind::Age] {
        let refused = SecretKey::generate(kind).unwrap().to_text(Some(""));
        assert!(matches!(refused, Err(Error::Misuse(Misuse::UnsuitableKey(_)))), "{kind}");
    }
}

/// A keyring belongs to the program, so only its first function counts, whose answers are the text
/// of key files.
#[test]
fn the_keyring_of_the_program() {
    fn lookup(service: &str, user: &str) -> Result<Zeroizing<String>, String> {
        match (service, user) {
            ("sealane", "somebody/else") => {
                Ok(Zeroizing::new(r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#.into()))
            }
            _ => Err("no such entry".into()),
        }
    }
    let read = |text: &str| Reference::parse(text.as_ref()).unwrap().read();
    assert!(keys::set_keyring(lookup));
    assert!(!keys::set_keyring(|_, _| Err("another function".into())));
    let content = read("keyring:sealane/somebody/else").unwrap();
    let key = KeyFile::parse(&content, LoadOptions::default()).unwrap().into_secret().unwrap();
    assert_eq!(key, SecretKey::from_text(r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUg"}"#, None).unwrap());
    let refused = read("keyring:sealane/nobody").unwrap_err();
    assert!(matches!(&refused, Error::KeyNotFound(_)));
    assert_eq!(refused.to_string(), "keyring:sealane/nobody: no such entry");
}

/// The output of `Debug` contains no four bytes of the secret, as text or in hexadecimal.
#[test]
fn debug_shows_the_kind_only() {
    let symmetric = SecretKey::from_text(r#"{"kty":"oct","k":"GawgguFyGrWKav7AX4VKUgGawg"}"#, None).unwrap();
    assert_eq!(format!("{symmetric:?}"), "SecretKey(19 bytes)");
    for kind in Kind::ALL {
        let key = SecretKey::generate(kind).unwrap();
        assert_eq!(format!("{key:?}"), format!("SecretKey({kind})"));
        let shown = format!("{key:?} {key:#?}").to_lowercase();
        let text = key.to_text(None).unwrap();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.starts_with('-')) {
            let hex = hex::encode(line.as_bytes());
            let windows = |digits: &str| {
                digits
                    .as_bytes()
                    .windows(8)
                    .any(|part| shown.contains(&String::from_utf8_lossy(part).to_lowercase()[..]))
            };
            assert!(!windows(&hex), "{kind}");
            assert!(!windows(line.rsplit('1').next().unwrap_or(line)), "{kind}");
        }
    }
}
