//! Vaults of rclone crypt: those that rclone made, changed ones, and configurations.

use crate::memory::{Memory, Shared};
use crate::read::compare;
use crate::tree::{Found, Tree, read_all};
use sealane::error::Kind;
use sealane::vault::{Listing, LocalFolder, Rclone, Vault};
use sealane::{Error, FolderError};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use vectors::{Plain, Stored, VaultCase};

/// Files up to this length are in the small vault.
const SMALL: usize = 350;
/// The obscured password of all configurations here, "a".
const PASSWORD: &str = "password = AAAAAAAAAAAAAAAAAAAAACU";

/// Returns the configuration of a vault: the remote `vault`.
fn config(case: &VaultCase) -> String {
    let mut text = "# made by hand\n[vault]\ntype = crypt\nremote = /nowhere\n".to_owned();
    let mut add = |key: &str, value: &str| {
        if !value.is_empty() {
            text.push_str(&format!("{key} = {value}\n"));
        }
    };
    for key in ["password", "password2"] {
        add(key, case.fields[&format!("{key}_obscured")].as_str().unwrap());
    }
    for (key, value) in case.fields["options"].as_object().unwrap() {
        add(key, value.as_str().unwrap());
    }
    text
}

fn open(case: &VaultCase, storage: impl sealane::vault::Storage + 'static) -> Box<dyn Vault> {
    Rclone::from_config(&config(case), "vault").unwrap().open(Arc::new(storage)).unwrap()
}

fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path).into_owned()
}

/// Every name, length and byte is what rclone reads.
#[test]
fn vaults_are_read_as_rclone_reads_them() {
    for case in vectors::vaults("rclone") {
        compare(&*open(&case, Memory::new(&case.stored)), &case);
    }
}

#[test]
fn ranges_at_the_borders_of_chunks() {
    const CHUNK: u64 = 1 << 16;
    for case in vectors::vaults("rclone") {
        let vault = open(&case, Memory::new(&case.stored));
        for (path, found) in read_all(&*vault) {
            let Ok(Found::File(whole)) = found else { continue };
            let (file, len) = (vault.open(&path).unwrap(), whole.len() as u64);
            let around = |n: u64| [n.saturating_sub(1), n, n + 1];
            let mut borders: Vec<_> = (0..=len / CHUNK + 1).flat_map(|n| around(n * CHUNK)).collect();
            borders.extend(around(len));
            for &start in &borders {
                for &end in borders.iter().filter(|end| (start..=len + 1).contains(end)) {
                    let mut into = vec![0xee; (end - start) as usize];
                    let n = file.read_at(start, &mut into).unwrap();
                    let (from, to) = (start.min(len) as usize, end.min(len) as usize);
                    assert_eq!(into[..n], whole[from..to.max(from)], "{}: {start}..{end}", case.file);
                }
            }
        }
    }
}

/// Asserts that `changed` tells of each difference from `before` by an error.
fn assert_noticed(before: &Tree, changed: &Tree, what: &str) {
    assert!(changed.values().any(Result::is_err), "{what}: not noticed");
    for (path, found) in changed.iter().filter(|(_, found)| found.is_ok()) {
        assert_eq!(before.get(path), Some(found), "{what}: {}", text(path));
    }
}

fn small(case: &VaultCase) -> Memory {
    let mut vault = Memory::new(&case.stored);
    vault.0.retain(|_, stored| !matches!(stored, Stored::File(bytes) if bytes.len() > SMALL));
    vault
}

/// Every byte matters, but the nonce of an empty file.
#[test]
fn each_changed_byte_of_a_file_is_noticed() {
    for case in vectors::vaults("rclone") {
        let shared = Shared::new(small(&case));
        let vault = open(&case, shared.clone());
        let before = read_all(&*vault);
        assert!(before.values().all(Result::is_ok));
        for (path, len) in small(&case).files() {
            for at in 0..len {
                let change = |vault: &mut Memory| vault.edit(&path, |bytes| bytes[at] ^= 1 << (at % 8));
                let changed = shared.with(change, || read_all(&*vault));
                let what = format!("{}: {} at {at}", case.file, text(&path));
                if len == 32 && at >= 8 {
                    assert!(changed == before, "{what}");
                } else {
                    assert_noticed(&before, &changed, &what);
                }
            }
        }
    }
}

/// A name is only known by its padding: of 255 changed ones, about one has another name.
#[test]
fn each_changed_name_is_noticed_or_another() {
    let (mut names, mut others) = (0, 0);
    for case in vectors::vaults("rclone").iter().filter(|case| case.file.contains("standard")) {
        let shared = Shared::new(small(case));
        let vault = open(case, shared.clone());
        let before = read_all(&*vault);
        let clear_folders = case.file.contains("plaindirs");
        for (path, stored) in &small(case).0 {
            let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
            // The end of a stored name can be the time of a version.
            let version = text(path).find("-v20").unwrap_or(path.len());
            if clear_folders && *stored == Stored::Folder {
                continue;
            }
            for at in start..version {
                let mut name = path.clone();
                name[at] = if name[at] == b'a' { b'b' } else { b'a' };
                let changed = shared.with(|vault| vault.rename(path, &name), || read_all(&*vault));
                let same = |(path, found): (&Vec<u8>, &Result<_, _>)| {
                    found.is_err() || before.get(path).is_none_or(|known| known == found)
                };
                assert!(changed != before && changed.iter().all(same), "{}: {}", case.file, text(&name));
                names += 1;
                others += usize::from(changed.values().all(Result::is_ok));
            }
        }
    }
    assert!(names > 500 && others * 50 < names, "{others} of {names}");
}

/// Returns the base32 vault with only the file `n`, its stored path, and the open vault.
fn one_file() -> (VaultCase, Shared, Vec<u8>, Box<dyn Vault>) {
    let cases = vectors::vaults("rclone");
    let case = cases.into_iter().find(|case| case.file.ends_with("/standard-base32.json")).unwrap();
    let shared = Shared::new(Memory::new(&case.stored));
    let vault = open(&case, shared.clone());
    let keep = |path: &[u8]| {
        let only = |vault: &mut Memory| vault.0.retain(|stored, _| stored == path);
        shared.with(only, || {
            vault
                .list(b"")
                .and_then(Listing::whole)
                .is_ok_and(|entries| entries.len() == 1 && entries[0].name == b"n")
        })
    };
    let stored = Memory::new(&case.stored).0.into_keys().find(|path| keep(path)).unwrap();
    (case, shared, stored, vault)
}

/// rclone accepts several spellings of a name, and would list one name for two files.
#[test]
fn other_spellings_of_a_name_are_refused() {
    let (_, shared, stored, vault) = one_file();
    let upper = stored.to_ascii_uppercase();
    let mut spare = stored.clone();
    let last = spare.last_mut().unwrap();
    // 16 bytes leave two spare bits in the last digit.
    *last = if *last == b'o' { b'p' } else { *last + 1 };
    for name in [upper, spare, [&stored[..], b"\n"].concat(), [&b"\r"[..], &stored].concat()] {
        let error = shared.with(
            |vault| vault.rename(&stored, &name),
            || vault.list(b"").and_then(Listing::whole).unwrap_err(),
        );
        assert_eq!(error.subject().map(|path| path.as_os_str().as_encoded_bytes()), Some(&name[..]));
        let Error::InVault { source, .. } = error else { panic!("{error:?}") };
        assert!(matches!(*source, Error::Folder(FolderError::NameNotAuthentic)), "{}", text(&name));
    }
    // The time of a version is not encrypted.
    let version = b"-v2021-02-03-040506-789";
    let named = [&stored[..], version].concat();
    let listed = shared
        .with(|vault| vault.rename(&stored, &named), || vault.list(b"").and_then(Listing::whole).unwrap());
    assert!(listed.iter().any(|entry| entry.name == [&b"n"[..], version].concat()));
    for name in [&b".DS_Store"[..], b"..", b"a", b"\xff", b"!", &[b'a'; 3300], &[b'0'; 4000]] {
        let add = |vault: &mut Memory| _ = vault.0.insert(name.to_vec(), Stored::File(Vec::new()));
        let error = shared.with(add, || vault.list(b"").and_then(Listing::whole).unwrap_err());
        assert!(error.subject().is_some(), "{error}");
    }
}

#[test]
fn links_are_not_followed() {
    let (_, shared, stored, vault) = one_file();
    let link = |vault: &mut Memory| _ = vault.0.insert(stored.clone(), Stored::Link(b"/etc/passwd".to_vec()));
    shared.with(link, || {
        assert!(vault.open(b"n").is_err());
        let error = vault.read_link(b"n").unwrap_err();
        assert_eq!(error.subject(), Some(Path::new(str::from_utf8(&stored).unwrap())));
    });
}

/// A cut inside a chunk is noticed. One between chunks is not, and neither is a file without its
/// first chunks, when the nonce counts on: the format cannot tell.
#[test]
fn cut_files() {
    let (case, shared, _, vault) = one_file();
    let path = b"chunk-plus-1.bin";
    let is_it = |(name, len): &(Vec<u8>, usize)| *len == 32 + 65552 + 17 && !name.contains(&b'/');
    let (stored, len) = Memory::new(&case.stored).files().into_iter().find(is_it).unwrap();
    let with = |edit: &dyn Fn(&mut Vec<u8>)| {
        shared.with(
            |vault| vault.edit(&stored, edit),
            || {
                let file = vault.open(path)?;
                let mut bytes = vec![0; file.size() as usize];
                file.read_at(0, &mut bytes).map(|_| bytes)
            },
        )
    };
    let whole = with(&|_| ()).unwrap();
    for to in (0..200).chain(65552..len) {
        match with(&|bytes| bytes.truncate(to)) {
            Ok(bytes) => {
                assert!(to == 32 || to == 32 + 65552, "{to}");
                assert!(whole.starts_with(&bytes));
            }
            Err(error) => {
                assert!(matches!(error.kind(), Kind::Truncated | Kind::Authentication), "{error:?}")
            }
        }
    }
    assert!(with(&|bytes| bytes.push(0)).is_err());
    let tail = with(&|bytes| {
        drop(bytes.drain(32..32 + 65552));
        let low = u64::from_le_bytes(bytes[8..16].try_into().unwrap());
        bytes[8..16].copy_from_slice(&(low + 1).to_le_bytes());
    });
    assert_eq!(tail.unwrap(), whole[65536..]);
}

#[test]
fn a_wrong_password_is_an_error_of_the_data() {
    let (case, _, _, _) = one_file();
    for (from, to) in
        [("password = ", "password = AAAAAAAAAAAAAAAAAAAAACU\n# "), ("password2", "# password2")]
    {
        let other = config(&case).replacen(from, to, 1);
        let vault = Rclone::from_config(&other, "vault").unwrap();
        let vault = vault.open(Arc::new(Memory::new(&case.stored))).unwrap();
        let error = vault.list(b"").and_then(Listing::whole).unwrap_err();
        assert_eq!(error.kind(), Kind::Authentication, "{error:?}");
    }
    let off = vectors::vaults("rclone").into_iter().find(|case| case.file.ends_with("/off.json")).unwrap();
    let other = config(&off).replacen("password2", "# password2", 1);
    let vault =
        Rclone::from_config(&other, "vault").unwrap().open(Arc::new(Memory::new(&off.stored))).unwrap();
    let has_content = |(_, plain): &&(String, Plain)| matches!(plain, Plain::File { size: 1.., .. });
    let (path, _) = off.entries.iter().find(has_content).unwrap();
    let error = vault.open(path.as_bytes()).map(drop).unwrap_err();
    assert_eq!(error.kind(), Kind::Authentication, "{error:?}");
    assert_eq!(error.subject(), Some(&*Path::new(path).with_added_extension("bin")));
}

fn refused(text: &str) -> Error {
    Rclone::from_config(text, "vault").map(drop).unwrap_err()
}

#[test]
fn configurations_that_are_refused() {
    for text in ["", "[other]\ntype = crypt\n", "[vaul]\n[Vault]\ntype = crypt", "# [vault]\n"] {
        let error = refused(text);
        assert!(matches!(error, Error::KeyNotFound(_)) && error.to_string().contains("vault"), "{error:?}");
    }
    for text in [
        "[vault]\ntype = crypt\n",
        "[vault]\ntype = crypt\npassword =\n",
        "[vault]\ntype = crypt\npassword = AAAAAAAAAAAAAAAAAAAAAA\n",
    ] {
        assert!(refused(text).to_string().contains("password"), "{text}");
    }
    for (line, wrong) in [
        (2, "type = s3"),
        (2, "type = Crypt"),
        (3, "filename_encryption = rot13"),
        (3, "filename_encryption ="),
        (3, "filename_encoding = base16"),
        (3, "directory_name_encryption = maybe"),
        (3, "no_data_encryption = 2"),
        (3, "password = secret!"),
        (3, "password = c2hvcnQ"),
        (3, "password2 = AAAAAAAAAAAAAAAAAAAAAC8="),
        (3, "no assignment"),
        (3, "remote = %(place)s/vault"),
        (3, "suffix = .%(end)s"),
    ] {
        let kind = if line == 2 { wrong } else { "type = crypt" };
        let text = format!("[vault]\n{kind}\n{}\n{PASSWORD}\n", if line == 2 { "" } else { wrong });
        let error = refused(&text);
        let Error::Line { number, source } = &error else { panic!("{wrong}: {error:?}") };
        assert!(matches!(**source, Error::Format(_)) && *number == line, "{wrong}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    for text in
        ["RCLONE_ENCRYPT_V0:\nAAAA\n", "# Encrypted rclone configuration File\n\nRCLONE_ENCRYPT_V0:\nAAAA"]
    {
        assert!(refused(text).to_string().contains("rclone config"), "{text}");
    }
    assert!(matches!(refused("type = crypt\n"), Error::Line { number: 1, .. }));
}

#[test]
fn configurations_that_are_read() {
    let read = |more: &str| {
        Rclone::from_config(
            &format!("\u{feff}; x\r\n[ vault ]\r\ntype: crypt\r\n{PASSWORD}\r\n{more}"),
            "vault:",
        )
        .unwrap_or_else(|error| panic!("{more}: {error}"))
    };
    read("filename_encryption = Standard\nfilename_encoding = BASE64");
    read("directory_name_encryption = False\nno_data_encryption = 0\nstrict_names = true\nunknown = x = y");
    // Of two values the last one counts, in sections of one name too, as for rclone.
    let twice = "remote = /one\nremote = /two\n[disk]\ntype = local\n[vault]\n\"remote\" = /three";
    assert_eq!(read(twice).remote(), "/three");
    for (remote, folder) in [
        ("/data/secret", Some("/data/secret")),
        ("data/a:b", Some("data/a:b")),
        (":local:/data", Some("/data")),
        ("disk:/data", Some("/data")),
        ("short:in", Some("/data/x/in")),
        (":s3:bucket", None),
        ("cloud:bucket", None),
        ("none:bucket", None),
        ("loop:x", None),
        ("", None),
    ] {
        let more = format!(
            "remote = {remote}\n[disk]\ntype = local\n[short]\ntype = alias\nremote = disk:/data/x\n[cloud]\ntype = s3\n\
             [loop]\ntype = alias\nremote = loop:\n"
        );
        let found = read(&more);
        assert_eq!((found.remote(), found.folder()), (remote, folder.map(Path::new)));
        assert!(!format!("{found:?}").contains("password"));
    }
}

/// The suffix of files whose names are clear, and files whose contents are.
#[test]
fn suffixes_and_clear_contents() {
    let stored = |name: &str| (name.as_bytes().to_vec(), Stored::File(b"clear".to_vec()));
    let memory = Memory::new(&["a", "a.bin", ".bin", "b.txt", "c.txt.txt"].map(stored));
    for (suffix, names) in [
        ("", &["a"][..]),
        ("suffix = .txt", &["b", "c.txt"]),
        ("suffix = txt", &["b", "c.txt"]),
        ("suffix = none", &[".bin", "a", "a.bin", "b.txt", "c.txt.txt"]),
    ] {
        let text = format!(
            "[vault]\ntype = crypt\n{PASSWORD}\nfilename_encryption = off\nno_data_encryption = true\n{suffix}"
        );
        let vault = Rclone::from_config(&text, "vault").unwrap().open(Arc::new(memory.clone())).unwrap();
        let Listing { entries: listed, problems } = vault.list(b"").unwrap();
        // Each other name is reported.
        assert_eq!(problems.len(), 5 - names.len(), "{suffix}");
        assert_eq!(
            listed.iter().map(|entry| str::from_utf8(&entry.name).unwrap()).collect::<Vec<_>>(),
            names
        );
        assert!(listed.iter().all(|entry| entry.len == 5));
        let file = vault.open(names[0].as_bytes()).unwrap();
        let mut bytes = [0xee; 9];
        assert_eq!(file.read_at(2, &mut bytes).unwrap(), 3);
        assert_eq!((&bytes[..3], file.size()), (&b"ear"[..], 5));
        assert_eq!(file.read_at(6, &mut bytes).unwrap(), 0);
    }
}

/// Names and files of every kind that a local disk takes, through the real rclone and back.
#[test]
#[cfg(unix)]
fn vaults_that_rclone_makes_here() {
    use std::os::unix::ffi::OsStrExt;
    if project::programs::missing(&["rclone"]) {
        return;
    }
    let root = std::env::temp_dir().join(format!("sealane-rclone-{}", std::process::id()));
    let source = root.join("source");
    fs::create_dir_all(source.join("folder/deeper")).unwrap();
    fs::create_dir(source.join("folder/empty")).unwrap();
    let content = |len: usize| (0..len).map(|i| (i * 7 + len) as u8).collect::<Vec<_>>();
    let lengths = [0, 1, 15, 16, 17, 4096, 65535, 65536, 65537, 131071, 131072, 131073, 200_000];
    for len in lengths {
        fs::write(source.join(format!("folder/{len} bytes")), content(len)).unwrap();
    }
    let names: [&[u8]; 12] = [
        b"control \x01\x1f\x7f",
        "symbol ␁␡".as_bytes(),
        "é, e\u{301}, ß, 日本語, 🔐, ÿĀſ".as_bytes(),
        b"!quoted!.!",
        b" space ",
        b".hidden",
        b"trailing.",
        b"report-v2021-02-03-040506-789.txt",
        b"no version-v2021-02-30-040506-789.txt",
        b"12345.67",
        b"...",
        b"folder/deeper/leaf",
    ];
    for name in names {
        fs::write(source.join(std::ffi::OsStr::from_bytes(name)), name).unwrap();
    }
    let long = "l".repeat(140);
    fs::write(source.join(&long), b"long").unwrap();
    let configuration = root.join("rclone.conf");
    let run = |arguments: &[&str]| {
        let output =
            Command::new("rclone").arg("--config").arg(&configuration).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let mut options =
        vec![String::new(), "filename_encryption = obfuscate".into(), "filename_encryption = off".into()];
    options.extend(["base64", "base32768"].map(|encoding| format!("filename_encoding = {encoding}")));
    options.push("directory_name_encryption = false".into());
    options.push("directory_name_encryption = false\nfilename_encryption = obfuscate".into());
    options.push("no_data_encryption = true".into());
    for (number, options) in options.iter().enumerate() {
        let vault = root.join(format!("vault {number}"));
        let (password, salt) = (run(&["obscure", "pass ü"]), run(&["obscure", "salt"]));
        let remote = vault.display();
        let config = format!(
            "[vault]\ntype = crypt\nremote = {remote}\npassword = {password}\npassword2 = {salt}\n{options}\n"
        );
        fs::write(&configuration, &config).unwrap();
        run(&["copy", "--create-empty-src-dirs", source.to_str().unwrap(), "vault:"]);
        let remote = Rclone::from_config(&config, "vault").unwrap();
        let folder = LocalFolder::open(remote.folder().unwrap()).unwrap();
        let mut tree = read_all(&*remote.open(Arc::new(folder)).unwrap());
        for name in names.iter().copied().chain([long.as_bytes()]) {
            let expected = if name == long.as_bytes() { b"long" } else { name };
            assert_eq!(
                tree.remove(name),
                Some(Ok(Found::File(expected.to_vec()))),
                "{options}: {}",
                text(name)
            );
        }
        for len in lengths {
            let name = format!("folder/{len} bytes");
            assert_eq!(
                tree.remove(name.as_bytes()),
                Some(Ok(Found::File(content(len)))),
                "{options}: {name}"
            );
        }
        for folder in ["folder", "folder/deeper", "folder/empty"] {
            assert_eq!(tree.remove(folder.as_bytes()), Some(Ok(Found::Folder)), "{options}: {folder}");
        }
        assert!(tree.is_empty(), "{options}: {:?}", tree.keys().map(|path| text(path)).collect::<Vec<_>>());
    }
    fs::remove_dir_all(root).unwrap();
}
