//! Vaults that no tool makes: configurations, names and folders of an attacker.

use crate::keys::{CryptomatorKeys, GocryptfsNames};
use crate::memory::Memory;
use crate::tree::open;
use engine::io::ReadAt;
use sealane::error::Kind;
use sealane::vault::{Entry, EntryKind, Listing, Storage, Walk, detect, unlock};
use sealane::{Error, FolderError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Instant;
use vectors::{Stored, VaultCase};

fn case(tool: &str, name: &str) -> (Memory, VaultCase) {
    let case = vectors::vaults(tool).into_iter().find(|case| case.file.ends_with(&format!("/{name}.json")));
    let case = case.unwrap_or_else(|| panic!("no {name}"));
    (Memory::new(&case.stored), case)
}

/// Opens a vault with a changed JSON file, and returns the error.
fn refused(vault: &Memory, password: &str, file: &str, change: impl FnOnce(&mut Value)) -> Error {
    let mut vault = vault.clone();
    vault.edit(file.as_bytes(), |bytes| {
        let mut value = serde_json::from_slice(bytes).unwrap();
        change(&mut value);
        *bytes = value.to_string().into_bytes();
    });
    open(&vault, password).map(drop).expect_err("the change is accepted")
}

/// Returns the error inside one that names `file`.
fn inside(error: Error, file: &str) -> Error {
    match error {
        Error::InVault { path, source } if path.to_str() == Some(file) => *source,
        other => panic!("{other:?} does not name {file}"),
    }
}

// claim: vault-limits
#[test]
fn configurations_of_gocryptfs() {
    let (vault, case) = case("gocryptfs", "gcm");
    const FILE: &str = "gocryptfs.conf";
    let header = |change: &dyn Fn(&mut Value)| {
        let error = inside(refused(&vault, &case.password, FILE, change), FILE);
        assert!(matches!(error, Error::Header(_) | Error::UnsupportedVersion(_)), "{error:?}");
        error.to_string()
    };
    let flags = |flags: &[&str]| header(&|config| config["FeatureFlags"] = json!(flags));
    assert!(flags(&["HKDF", "GCMIV128", "DirIV", "EMENames", "Quantum"]).contains("does not know"));
    assert!(flags(&["HKDF", "GCMIV128", "DirIV", "EMENames", "FIDO2"]).contains("FIDO2"));
    for bad in [
        &["HKDF", "EMENames"][..],
        &["HKDF", "AESSIV", "EMENames"],
        &["HKDF", "XChaCha20Poly1305", "GCMIV128", "EMENames"],
        &["HKDF", "XChaCha20Poly1305", "AESSIV", "EMENames"],
        &["XChaCha20Poly1305", "EMENames"],
        &["HKDF", "GCMIV128"],
        &["HKDF", "GCMIV128", "DirIV"],
        &["HKDF", "GCMIV128", "PlaintextNames", "EMENames"],
        &["HKDF", "GCMIV128", "PlaintextNames", "Raw64"],
        &["HKDF", "GCMIV128", "EMENames", "LongNameMax"],
    ] {
        flags(bad);
    }
    header(&|config| config["LongNameMax"] = json!(100));
    for version in [0, 1, 3] {
        assert!(header(&|config| config["Version"] = json!(version)).contains("version 2"));
    }
    for (field, value) in
        [("N", 1023), ("N", 0), ("N", 1), ("R", 0), ("P", 0), ("KeyLen", 64), ("KeyLen", 31)]
    {
        header(&|config| config["ScryptObject"][field] = json!(value));
    }
    for (field, value) in [("EncryptedKey", "?"), ("FeatureFlags", ""), ("ScryptObject", "")] {
        header(&|config| config[field] = json!(value));
    }
    // The cost is refused before it is paid.
    let start = Instant::now();
    for (field, value) in [("N", 1_u64 << 40), ("N", 1 << 63), ("R", u64::from(u32::MAX)), ("P", 1 << 40)] {
        let error =
            refused(&vault, &case.password, FILE, |config| config["ScryptObject"][field] = json!(value));
        assert!(matches!(inside(error, FILE), Error::LimitExceeded(_)), "{field}");
    }
    assert!(start.elapsed().as_secs() < 20);
    // A member twice: other readers may take the other one.
    for member in ["\"Version\":2,", "\"EncryptedKey\":\"AAAA\",", "\"FeatureFlags\":[],"] {
        let mut vault = vault.clone();
        vault.edit(FILE.as_bytes(), |bytes| drop(bytes.splice(1..1, member.bytes())));
        let error = open(&vault, &case.password).map(drop).unwrap_err();
        assert!(matches!(inside(error, FILE), Error::Header(_)), "{member}");
    }
    // A key that was cut is named as such; a damaged one looks like a wrong passphrase.
    for cut in ["AAAA", ""] {
        assert!(header(&|config| config["EncryptedKey"] = json!(cut)).contains("cut or changed"));
    }
    let damaged = |config: &mut Value| {
        let mut key = config["EncryptedKey"].as_str().unwrap().to_owned();
        key.replace_range(..4, "AAAA");
        config["EncryptedKey"] = json!(key);
    };
    let error = refused(&vault, &case.password, FILE, damaged);
    assert!(matches!(error, Error::WrongPassphrase), "{error:?}");
    assert!(matches!(open(&vault, "wrong").map(drop), Err(Error::WrongPassphrase)));
}

#[test]
fn configurations_of_cryptomator() {
    const KEYS: &str = "masterkey.cryptomator";
    const CONFIG: &str = "vault.cryptomator";
    let (mut vault, case) = case("cryptomator", "v8-siv-gcm");
    let keys = CryptomatorKeys::of(&vault, &case.password);
    keys.rewrap(&mut vault, &case.password);
    let header = json!({"kid": "masterkeyfile:masterkey.cryptomator", "typ": "JWT", "alg": "HS256"});
    let payload = json!({"format": 8, "shorteningThreshold": 220, "jti": "x", "cipherCombo": "SIV_GCM"});
    let with = |header: &Value, payload: &Value| {
        let mut vault = vault.clone();
        vault.edit(CONFIG.as_bytes(), |bytes| *bytes = keys.token(header, payload));
        open(&vault, &case.password)
    };
    let set = |value: &Value, field: &str, to: Value| {
        let mut value = value.clone();
        value[field] = to;
        value
    };
    for alg in ["HS256", "HS384", "HS512"] {
        with(&set(&header, "alg", alg.into()), &payload).unwrap().list(b"").and_then(Listing::whole).unwrap();
    }
    for alg in ["none", "None", "RS256", "", "HS1"] {
        let error = with(&set(&header, "alg", alg.into()), &payload).map(drop).unwrap_err();
        assert!(matches!(inside(error, CONFIG), Error::Header(_)), "{alg}");
    }
    for kid in [
        "masterkeyfile:../masterkey.cryptomator",
        "masterkeyfile:/etc/passwd",
        "masterkeyfile:d/x",
        "masterkeyfile:..",
        "masterkeyfile:",
        "masterkeyfile:a\\u{1b}[2J",
        "http://example.invalid/",
        "",
    ] {
        let error = with(&set(&header, "kid", kid.into()), &payload).map(drop).unwrap_err();
        assert!(matches!(inside(error, CONFIG), Error::Header(_)), "{kid}");
    }
    let hub = with(&set(&header, "kid", "hub+https://example.invalid/vault".into()), &payload);
    assert!(hub.map(drop).unwrap_err().to_string().contains("Hub"));
    let other = with(&set(&header, "kid", "masterkeyfile:other.cryptomator".into()), &payload);
    assert_eq!(other.map(drop).unwrap_err().kind(), Kind::Io);
    for (field, value) in [("format", json!(9)), ("format", json!(7)), ("cipherCombo", json!("SIV_ROT13"))] {
        let error = inside(with(&header, &set(&payload, field, value)).map(drop).unwrap_err(), CONFIG);
        assert!(matches!(error, Error::Header(_) | Error::UnsupportedVersion(_)), "{error:?}");
    }
    // Not signed with the keys of the vault: no field is believed, not even a wrong one.
    let mut unsigned = vault.clone();
    unsigned.edit(CONFIG.as_bytes(), |bytes| {
        *bytes = keys.token(&header, &set(&payload, "format", json!(9)));
        *bytes.last_mut().unwrap() = if bytes.ends_with(b"A") { b'E' } else { b'A' };
    });
    assert!(matches!(
        inside(open(&unsigned, &case.password).map(drop).unwrap_err(), CONFIG),
        Error::Authentication
    ));
    for text in ["", ".", "..", "a.b.c", "e30.e30.e30", "e30.e30.e30.e30"] {
        let mut vault = vault.clone();
        vault.edit(CONFIG.as_bytes(), |bytes| *bytes = text.into());
        assert!(matches!(
            inside(open(&vault, &case.password).map(drop).unwrap_err(), CONFIG),
            Error::Header(_)
        ));
    }
    let start = Instant::now();
    for (field, value) in [("scryptCostParam", 1_u64 << 40), ("scryptBlockSize", 1 << 40)] {
        let error = refused(&vault, &case.password, KEYS, |file| file[field] = json!(value));
        assert!(matches!(inside(error, KEYS), Error::LimitExceeded(_)), "{field}");
    }
    assert!(start.elapsed().as_secs() < 20);
    for (field, value) in [("scryptCostParam", 3), ("scryptCostParam", 1), ("scryptBlockSize", 0)] {
        let error = refused(&vault, &case.password, KEYS, |file| file[field] = json!(value));
        assert!(matches!(inside(error, KEYS), Error::Header(_)), "{field}");
    }
    for field in ["primaryMasterKey", "hmacMasterKey"] {
        let error = refused(&vault, &case.password, KEYS, |file| file[field] = json!("AAAA"));
        assert!(inside(error, KEYS).to_string().contains("cut or changed"), "{field}");
        let error =
            refused(&vault, &case.password, KEYS, |file| file[field] = json!("AAAA".repeat(13) + "AA=="));
        assert!(matches!(error, Error::WrongPassphrase), "{error:?}");
    }
    assert!(matches!(open(&vault, "wrong").map(drop), Err(Error::WrongPassphrase)));
}

/// Without its configuration, a vault of format 8 is not taken for one of format 7, whatever its
/// key file says.
#[test]
fn a_vault_of_format_8_is_not_read_as_format_7() {
    const KEYS: &str = "masterkey.cryptomator";
    let (mut vault, case) = case("cryptomator", "v8-siv-ctrmac");
    CryptomatorKeys::of(&vault, &case.password).rewrap(&mut vault, &case.password);
    vault.0.remove(&b"vault.cryptomator"[..]);
    let missing = inside(open(&vault, &case.password).map(drop).unwrap_err(), KEYS);
    assert!(missing.to_string().contains("vault.cryptomator is missing"), "{missing}");
    let error = refused(&vault, &case.password, KEYS, |file| file["version"] = json!(7));
    assert!(inside(error, KEYS).to_string().contains("not authentic"));
}

/// A passphrase is normalized, and tried as it is too.
#[test]
fn passphrases_in_other_forms_of_unicode() {
    let (vault, case) = case("cryptomator", "v7-unicode-pass");
    let decomposed = case.password.replace('é', "e\u{301}").replace('Ü', "U\u{308}").replace('ï', "i\u{308}");
    assert_ne!(decomposed, case.password);
    open(&vault, &decomposed).unwrap();
}

/// Where a name is that no folder has, or that is there twice, the folder is not listed, and the
/// error names the stored file.
#[test]
fn names_of_gocryptfs() {
    let (vault, case) = case("gocryptfs", "gcm");
    let names = GocryptfsNames::of(&vault, &case.password);
    let Stored::File(iv) = &vault.0[&b"gocryptfs.diriv"[..]] else { unreachable!() };
    let iv: [u8; 16] = iv[..].try_into().unwrap();
    // The test's own names are those of the tool.
    assert!(vault.0.contains_key(&names.name(&iv, b"n")));
    let refused = |stored: &[(Vec<u8>, &[u8])]| {
        let mut vault = vault.clone();
        for (name, content) in stored {
            vault.0.insert(name.clone(), Stored::File(content.to_vec()));
        }
        match open(&vault, &case.password).unwrap().list(b"").and_then(Listing::whole) {
            Err(Error::InVault { path, source }) => {
                let named = stored.iter().any(|(name, _)| path.to_str().map(str::as_bytes) == Some(name));
                assert!(named, "{path:?}");
                *source
            }
            other => panic!("{other:?}"),
        }
    };
    for name in ["..", ".", "a/b", "/etc", "nul\0", "../../x"] {
        let error = refused(&[(names.name(&iv, name.as_bytes()), b"")]);
        assert!(matches!(error, Error::Folder(FolderError::NameInvalid)), "{name}: {error:?}");
    }
    let mut sixteen = *b"fifteen bytes..\x02";
    let not_padded = [
        names.name(&iv, b""),
        names.text(&iv, &sixteen),
        names.text(&iv, &[17; 32]),
        names.text(&iv, &[0; 16]),
    ];
    sixteen[15] = 3;
    for name in
        not_padded.into_iter().chain([names.text(&iv, &sixteen), b"AAAA".to_vec(), b"notes.txt".to_vec()])
    {
        let error = refused(&[(name, b"")]);
        assert!(matches!(error, Error::Folder(FolderError::NameNotAuthentic)), "{error:?}");
    }
    // Base64 has one form.
    let loose = names.name(&iv, b"loose");
    for text in [
        [&loose[..], b"=="].concat(),
        [&loose[..], b"\n"].concat(),
        [&loose[..loose.len() - 1], b"_"].concat(),
    ] {
        assert!(matches!(refused(&[(text, b"")]), Error::Folder(FolderError::NameNotAuthentic)));
    }
    // Long names: the hash of the text, and a text that is long.
    let long = names.name(&iv, &[b'l'; 200]);
    let (entry, short) = (GocryptfsNames::long(&long), names.name(&iv, b"n"));
    let text = |entry: &[u8]| [entry, b".name"].concat();
    let other = GocryptfsNames::long(b"other");
    for (entry, content) in [(&other, &long), (&GocryptfsNames::long(&short), &short)] {
        let error = refused(&[(text(entry), content), (entry.clone(), b"")]);
        assert!(matches!(error, Error::Folder(FolderError::NameNotAuthentic)), "{error:?}");
    }
    let error = refused(&[(text(&entry), &[b'A'; 345]), (entry.clone(), b"")]);
    assert!(matches!(error, Error::LimitExceeded(_)), "{error:?}");
    let mut without = vault.clone();
    without.0.insert(entry, Stored::File(Vec::new()));
    assert!(open(&without, &case.password).unwrap().list(b"").and_then(Listing::whole).is_err());
}

/// A store that lists each name twice.
struct Twice(Memory);

impl Storage for Twice {
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>, Error> {
        let entries = self.0.list(folder)?;
        Ok([entries.clone(), entries].concat())
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>, Error> {
        self.0.open(path)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.read_link(path)
    }
}

/// A store in which pipes took the place of all files that hold content.
struct Pipes(Memory);

impl Storage for Pipes {
    fn list(&self, folder: &[u8]) -> Result<Vec<Entry>, Error> {
        let mut entries = self.0.list(folder)?;
        let is_mark = |name: &[u8]| name.ends_with(b".conf") || name.ends_with(b".cryptomator");
        for entry in entries.iter_mut().filter(|it| it.kind == EntryKind::File && !is_mark(&it.name)) {
            entry.kind = EntryKind::Special;
        }
        Ok(entries)
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn ReadAt>, Error> {
        self.0.open(path)
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        self.0.read_link(path)
    }
}

#[test]
fn pipes_are_problems() {
    for (tool, name) in [("gocryptfs", "plaintextnames"), ("gocryptfs", "gcm"), ("cryptomator", "v8-siv-gcm")]
    {
        let (vault, case) = case(tool, name);
        let files = open(&vault, &case.password).unwrap().list(b"").unwrap().entries;
        let files = files.iter().filter(|entry| entry.kind == EntryKind::File).count();
        let pipes = unlock(Arc::new(Pipes(vault)), case.password.as_bytes()).unwrap();
        let Listing { entries, problems } = pipes.list(b"").unwrap();
        assert!(entries.iter().all(|entry| matches!(entry.kind, EntryKind::Folder | EntryKind::Link)));
        assert_eq!((files > 0, problems.len()), (true, files), "{tool} {name}");
        for (path, error) in problems {
            let found = inside(error, std::str::from_utf8(&path).unwrap()).to_string();
            assert!(found.contains("found a pipe, a socket or a device"), "{found}");
        }
    }
}

#[test]
fn names_that_are_there_twice() {
    for (tool, name) in [("gocryptfs", "plaintextnames"), ("gocryptfs", "gcm"), ("cryptomator", "v8-siv-gcm")]
    {
        let (vault, case) = case(tool, name);
        let vault = unlock(Arc::new(Twice(vault)), case.password.as_bytes()).unwrap();
        let error = vault.list(b"").and_then(Listing::whole).unwrap_err();
        let Error::InVault { path, source } = error else { panic!("{error:?}") };
        assert!(matches!(*source, Error::Folder(FolderError::DuplicateName { other }) if other == path));
    }
    let (mut vault, case) = case("cryptomator", "v8-siv-gcm");
    let keys = CryptomatorKeys::of(&vault, &case.password);
    let root = keys.folder(b"");
    let stored = |name: &[u8]| [&root[..], b"/", name].concat();
    let short = stored(&keys.name(b"", b"n"));
    assert!(vault.0.contains_key(&short));
    // The name in its own form, and once more in that of names that are too long.
    let name = keys.name(b"", b"n");
    let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA1_FOR_LEGACY_USE_ONLY, &name);
    use base64::Engine;
    let long = stored((base64::engine::general_purpose::URL_SAFE.encode(hash) + ".c9s").as_bytes());
    vault.0.insert(long.clone(), Stored::Folder);
    vault.0.insert([&long[..], b"/name.c9s"].concat(), Stored::File(name));
    vault.0.insert([&long[..], b"/contents.c9r"].concat(), vault.0[&short].clone());
    let error = open(&vault, &case.password).unwrap().list(b"").and_then(Listing::whole).unwrap_err();
    assert!(matches!(
        inside(error, std::str::from_utf8(&long).unwrap()),
        Error::Folder(FolderError::NameNotAuthentic)
    ));
}

#[test]
fn names_of_cryptomator() {
    let (vault, case) = case("cryptomator", "v8-siv-gcm");
    let keys = CryptomatorKeys::of(&vault, &case.password);
    let root = keys.folder(b"");
    assert_eq!(vault.0.get(&root), Some(&Stored::Folder));
    let list = |name: &[u8], stored: Stored| {
        let mut vault = vault.clone();
        vault.0.insert([&root[..], b"/", name].concat(), stored);
        open(&vault, &case.password).unwrap().list(b"").and_then(Listing::whole).map(drop)
    };
    for name in ["..", ".", "", "a/b", "nul\0"] {
        let error = list(&keys.name(b"", name.as_bytes()), Stored::File(Vec::new())).unwrap_err();
        let Error::InVault { source, .. } = error else { panic!("{error:?}") };
        assert!(matches!(*source, Error::Folder(FolderError::NameInvalid)), "{name}: {source:?}");
    }
    let not_text = list(&keys.name(b"", b"\xff"), Stored::File(Vec::new()));
    assert!(
        matches!(not_text, Err(Error::InVault { source, .. }) if source.to_string().contains("not the name"))
    );
    let name = keys.name(b"", b"copy");
    let conflict = [&name[..name.len() - 4], b" (conflict 1).c9r"].concat();
    let other_folder = keys.name(b"0123", b"moved");
    let renamed = [&b" (1)"[..], b".tmp", b".c9", b".C9R", b".c9r "].map(|end| [&name[..], end].concat());
    let cut = (1..=4).map(|len| name[..name.len() - len].to_vec());
    let other = [&b"x.c9r"[..], b".c9r", b".DS_Store", b"desktop.ini", b"x"].map(<[u8]>::to_vec);
    for name in [conflict, other_folder].into_iter().chain(renamed).chain(cut).chain(other) {
        let error = list(&name, Stored::File(Vec::new())).unwrap_err();
        let Error::InVault { source, .. } = error else { panic!("{error:?}") };
        assert!(matches!(*source, Error::Folder(FolderError::NameNotAuthentic)), "{source:?}");
    }
    // The identifier of the folder, for those who repair a vault.
    list(b"dirid.c9r", Stored::File(Vec::new())).unwrap();
    // A folder with nothing that tells what it is.
    assert!(list(&keys.name(b"", b"what"), Stored::Folder).is_err());
}

/// Folders whose identifiers were exchanged: none contains itself.
#[test]
fn folders_of_cryptomator_that_contain_themselves() {
    let (vault, case) = case("cryptomator", "v8-siv-gcm");
    let open_with = |path: &[u8], id: &[u8]| {
        let mut vault = vault.clone();
        vault.edit(path, |bytes| *bytes = id.to_vec());
        open(&vault, &case.password).unwrap()
    };
    let keys = CryptomatorKeys::of(&vault, &case.password);
    let entry =
        |id: &[u8], name: &[u8]| [&keys.folder(id)[..], b"/", &keys.name(id, name), b"/dir.c9r"].concat();
    let top = entry(b"", b"sub");
    let Stored::File(id) = vault.0[&top].clone() else { panic!("no folder sub") };
    let inner = open(&vault, &case.password).unwrap();
    let deeper = inner.list(b"sub").and_then(Listing::whole).unwrap();
    let deeper = deeper.iter().find(|entry| entry.kind == EntryKind::Folder).unwrap();
    let below = entry(&id, &deeper.name);
    let path = [b"sub/", &deeper.name[..]].concat();
    let error = open_with(&below, &id).list(&path).and_then(Listing::whole).unwrap_err();
    assert!(matches!(inside(error, std::str::from_utf8(&below).unwrap()), Error::Header(_)));
    let error = open_with(&top, b"").list(b"sub").and_then(Listing::whole).unwrap_err();
    assert!(matches!(inside(error, std::str::from_utf8(&top).unwrap()), Error::Header(_)));
    assert!(open_with(&top, &[b'x'; 2000]).list(b"sub").and_then(Listing::whole).is_err());
    assert!(open_with(&top, b"no folder has this identifier").list(b"sub").and_then(Listing::whole).is_err());
}

/// Each folder has two folders with one identifier: 2^40 paths, if each were followed.
#[test]
fn folders_of_cryptomator_that_share_their_content() {
    let (mut vault, case) = case("cryptomator", "v8-siv-gcm");
    let keys = CryptomatorKeys::of(&vault, &case.password);
    let mut id = Vec::new();
    for level in 0..40 {
        let next = format!("level {level}").into_bytes();
        let folder = keys.folder(&id);
        for name in [b"twin 1", b"twin 2"] {
            let entry = [&folder[..], b"/", &keys.name(&id, name)].concat();
            vault.0.insert([&entry[..], b"/dir.c9r"].concat(), Stored::File(next.clone()));
            vault.0.insert(entry, Stored::Folder);
        }
        vault.0.insert(keys.folder(&next), Stored::Folder);
        id = next;
    }
    let vault = open(&vault, &case.password).unwrap();
    let (mut twins, mut refused) = (0, 0);
    for (path, found) in Walk::new(&*vault, b"").unwrap() {
        let is_twin = path.windows(4).any(|part| part == b"twin");
        match found {
            Ok(_) => twins += usize::from(is_twin),
            Err(Error::InVault { source, .. }) => {
                assert!(is_twin && matches!(*source, Error::Header(_)), "{source:?}");
                refused += 1;
            }
            Err(other) => panic!("{other:?}"),
        }
    }
    assert_eq!((twins, refused), (80, 40));
    // What was read is still there after a folder is asked for by its other path.
    assert!(vault.list(b"twin 2").is_err() && vault.list(b"twin 1/twin 1").is_ok());
}

/// A file of another program is a problem of its own; the others are listed and read.
#[test]
fn one_name_that_does_not_decrypt() {
    for (tool, name, foreign) in [
        ("gocryptfs", "gcm", ".DS_Store"),
        ("gocryptfs", "xchacha", "a\x1bb"),
        ("cryptomator", "v7", "x.c9r"),
    ] {
        let (mut vault, case) = case(tool, name);
        let before = open(&vault, &case.password).unwrap().list(b"").and_then(Listing::whole).unwrap();
        let folder = if tool == "cryptomator" {
            [&CryptomatorKeys::of(&vault, &case.password).folder(b"")[..], b"/"].concat()
        } else {
            Vec::new()
        };
        let stored = [&folder[..], foreign.as_bytes()].concat();
        vault.0.insert(stored.clone(), Stored::File(b"?".to_vec()));
        let vault = open(&vault, &case.password).unwrap();
        let listing = vault.list(b"").unwrap();
        assert_eq!(listing.entries, before);
        assert_eq!(listing.problems.len(), 1);
        assert_eq!(listing.problems[0].0, stored);
        let walked: Vec<_> = Walk::new(&*vault, b"").unwrap().filter(|(_, found)| found.is_err()).collect();
        assert!(walked.len() == 1 && walked[0].0 == stored, "{walked:?}");
        let file = before.iter().find(|entry| entry.kind == EntryKind::File).unwrap();
        vault.open(&file.name).unwrap();
    }
}

/// What is asked for is checked too: no path leaves a vault.
#[test]
fn paths_that_no_vault_has() {
    for case in
        crate::read::cases().iter().filter(|case| case.file.contains("gcm") || case.file.contains("plain"))
    {
        let vault = open(&Memory::new(&case.stored), &case.password).unwrap();
        for path in
            ["..", "sub/..", "sub/../n", "/n", "n/", "sub//inner.bin", ".", "none", "n/n", "none/none"]
        {
            assert!(vault.open(path.as_bytes()).is_err(), "{path}");
            assert!(vault.read_link(path.as_bytes()).is_err(), "{path}");
            assert!(vault.list(path.as_bytes()).and_then(Listing::whole).is_err() || path == ".", "{path}");
        }
        for path in ["none", "sub/none", "none/none"] {
            let error = vault.open(path.as_bytes()).map(drop).unwrap_err();
            assert_eq!(error.subject().and_then(|path| path.to_str()), Some(path), "{error}");
        }
        assert!(vault.open(&[b'x'; 300]).is_err());
        assert!(vault.list(&b"x/".repeat(1000)).and_then(Listing::whole).is_err());
    }
}

#[test]
fn folders_that_are_no_vault() {
    assert!(detect(&Memory::new(&[])).unwrap().is_none());
    assert!(matches!(open(&Memory::new(&[]), "x").map(drop), Err(Error::Format(_))));
    for case in crate::read::cases() {
        let tool = detect(&Memory::new(&case.stored)).unwrap().unwrap().name;
        assert!(case.file.contains(&tool.to_lowercase()));
    }
}
