//! Encrypted names of files and folders.

use proptest::prelude::*;
use sealane::file::{Links, NameKey, Suffix, Tree, TreeOptions};
use sealane::keys::{Keyring, Prefix};
use sealane::{DeterministicAead, DeterministicAlgorithm, Error, FolderError, Key, Misuse};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::symlink;
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

// claim: names-refused
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
// claim: names-refused
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

    // claim: names-refused
    #[test]
    fn no_text_decrypts_by_chance(text in "[0-9a-v]{0,80}", folder in "[a-z]{0,3}") {
        prop_assert!(names().decrypt(OsStr::new(&text), Path::new(&folder)).is_err());
        prop_assert!(names().decrypt_link(Path::new(&text), Path::new(&folder)).is_err());
    }
}

/// A folder with test files, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Self(std::env::temp_dir().join(format!("sealane-names-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(folder.0.join("s/deep/er")).unwrap();
        for name in ["s/one", "s/deep/two", "s/deep/er/three"] {
            fs::write(folder.0.join(name), name).unwrap();
        }
        symlink("deep/two", folder.0.join("s/link")).unwrap();
        folder
    }

    fn walk(
        &self,
        source: &str,
        target: Option<&str>,
        suffix: Suffix<'_>,
        names: &NameKey,
    ) -> Result<Tree, Error> {
        let target = target.map(|target| self.0.join(target));
        let options = TreeOptions { links: Links::Keep, names: Some(names), ..TreeOptions::default() };
        Tree::walk(&[self.0.join(source)], target.as_deref(), suffix, options)
    }

    /// Creates the targets of a walk, with the paths of their sources.
    fn make(&self, tree: &Tree) {
        assert!(tree.problems.is_empty(), "{:?}", tree.problems);
        tree.folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
        for (source, target) in &tree.pairs {
            fs::write(target, source.as_os_str().as_bytes()).unwrap();
        }
        for link in &tree.links {
            symlink(&link.text, &link.target).unwrap();
        }
    }

    /// Returns the paths below the folder `top`, sorted.
    fn paths<'a>(&self, top: &str, paths: impl Iterator<Item = &'a PathBuf>) -> Vec<String> {
        let top = self.0.join(top);
        let mut all: Vec<_> =
            paths.map(|path| path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned()).collect();
        all.sort();
        all
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const ADD: &str = ".s";

fn add() -> Suffix<'static> {
    Suffix::Add(OsStr::new(ADD))
}

fn remove() -> Suffix<'static> {
    Suffix::Remove(OsStr::new(ADD))
}

#[test]
fn a_tree_is_the_same_after_both_walks() {
    let folder = Folder::new("both");
    let tree = folder.walk("s", Some("t"), add(), &names()).unwrap();
    folder.make(&tree);
    for path in tree.folders.iter().chain(tree.pairs.iter().map(|(_, target)| target)) {
        let text = path.strip_prefix(&folder.0).unwrap().to_str().unwrap();
        assert!(!["one", "two", "three", "deep"].iter().any(|name| text.contains(name)), "{text}");
    }
    // Each file is at the path that another implementation computes.
    let [deep, er] =
        [("deep", ""), ("er", "deep")].map(|(name, aad)| encrypted(name.as_bytes(), aad.as_bytes()));
    let mut three = encrypted(b"three", b"deep/er");
    three.push(ADD);
    assert!(folder.0.join("t").join(deep).join(er).join(three).is_file());
    assert_eq!(tree.links[0].text.as_os_str(), encrypted(b"deep/two", b"link/"));

    let back = folder.walk("t", Some("b"), remove(), &names()).unwrap();
    assert!(back.problems.is_empty());
    assert_eq!(folder.paths("b", back.pairs.iter().map(|(_, to)| to)), ["deep/er/three", "deep/two", "one"]);
    assert_eq!(folder.paths("b", back.folders.iter()), ["", "deep", "deep/er"]);
    assert_eq!((&back.links[0].target, &back.links[0].text), (&folder.0.join("b/link"), &"deep/two".into()));
    // Without a target, names are verified all the same.
    let verified = folder.walk("t", None, remove(), &names()).unwrap();
    assert_eq!((verified.pairs.len(), verified.links.len(), verified.problems.len()), (3, 1, 0));
    let other = NameKey::new(&Key::from_bytes(&[8; 64])).unwrap();
    let refused = folder.walk("t", None, remove(), &other).unwrap();
    assert!(refused.pairs.is_empty() && refused.links.is_empty());
    assert_eq!(refused.problems.len(), 3, "a link, a file and a folder");
    for (_, error) in refused.problems {
        assert!(matches!(error, Error::Folder(FolderError::NameNotAuthentic)), "{error}");
    }
}

// claim: names-refused
#[test]
fn moved_and_copied_names_are_problems() {
    let folder = Folder::new("moved");
    let tree = folder.walk("s", Some("t"), add(), &names()).unwrap();
    folder.make(&tree);
    let target = |name: &str| {
        let found = tree.pairs.iter().find(|(source, _)| source.ends_with(name));
        found.map(|(_, target)| target.clone()).unwrap()
    };
    let one = target("one");
    let moved = target("two").with_file_name(one.file_name().unwrap());
    fs::copy(&one, &moved).unwrap();
    // The path of a link as the name of a file, and another link with the same path.
    let link = &tree.links[0];
    let other = names().encrypt(OsStr::new("other"), Path::new(""), OsStr::new(ADD)).unwrap();
    let (named, copied) =
        (folder.0.join("t").join(&link.text).with_extension("s"), folder.0.join("t").join(other));
    fs::write(&named, "").unwrap();
    symlink(&link.text, &copied).unwrap();
    for top in [Some("b"), None] {
        let back = folder.walk("t", top, remove(), &names()).unwrap();
        let mut found: Vec<_> = back.problems.iter().map(|(path, _)| path).collect();
        found.sort();
        let mut expected = [&moved, &named, &copied];
        expected.sort();
        assert_eq!(found, expected);
        assert_eq!((back.pairs.len(), back.links.len()), (3, 1));
    }
}

// claim: names-refused
#[test]
fn two_names_of_one_file_are_both_problems() {
    let folder = Folder::new("twice");
    let mut ring = ring(Prefix::Tink);
    let before = NameKey::keyring(&ring).unwrap();
    folder.make(&folder.walk("s", Some("t"), add(), &before).unwrap());
    ring.rotate().unwrap();
    let names = NameKey::keyring(&ring).unwrap();
    fs::remove_file(folder.0.join("s/deep/er/three")).unwrap();
    let second = folder.walk("s", Some("t"), add(), &names).unwrap();
    folder.make(&second);
    for top in [Some("b"), None] {
        let back = folder.walk("t", top, remove(), &names).unwrap();
        // A file with one name is found in either folder.
        assert_eq!((back.pairs.len(), back.links.len(), back.problems.len()), (1, 0, 6));
        for (path, error) in back.problems {
            let Error::Folder(FolderError::DuplicateName { other }) = error else { panic!("{error}") };
            assert_ne!(path, other);
            assert!(other.symlink_metadata().is_ok());
        }
    }
    // Two sources with the same names are two trees if nothing is written.
    let sources = [folder.0.join("s"), folder.0.join("s")];
    let options = TreeOptions { names: Some(&names), ..TreeOptions::default() };
    assert!(Tree::walk(&sources, None, add(), options).unwrap().problems.is_empty());
}

#[test]
fn a_folder_is_not_its_own_target() {
    let folder = Folder::new("place");
    for suffix in [add(), remove()] {
        let refused = folder.walk("s", Some("s"), suffix, &names());
        assert_eq!(folder_error(refused.map(drop)), FolderError::NamesInPlace);
    }
    symlink("s", folder.0.join("l")).unwrap();
    let refused = folder.walk("l", Some("s"), add(), &names());
    assert_eq!(folder_error(refused.map(drop)), FolderError::NamesInPlace);
}

#[test]
fn a_long_name_is_a_problem_of_its_own() {
    let folder = Folder::new("long");
    let (file, top) = (folder.0.join("s").join("x".repeat(143)), folder.0.join("s").join("y".repeat(150)));
    fs::write(&file, "").unwrap();
    fs::create_dir(&top).unwrap();
    fs::write(top.join("below"), "").unwrap();
    let tree = folder.walk("s", Some("t"), add(), &names()).unwrap();
    assert_eq!(tree.pairs.len(), 3);
    let [(first, short), (second, long)] = &tree.problems[..] else { panic!("{:?}", tree.problems) };
    assert_eq!((first, second), (&file, &top));
    let text = |error: &Error| error.to_string();
    assert!(text(short).contains("at most 142 bytes") && text(short).contains("found 143"), "{short}");
    assert!(text(long).contains("at most 143 bytes") && text(long).contains("found 150"), "{long}");
}

#[test]
fn a_manifest_does_not_reveal_names() {
    let folder = Folder::new("manifest");
    symlink("s", folder.0.join("alias")).unwrap();
    symlink("s/new", folder.0.join("l")).unwrap();
    fs::write(folder.0.join("s/new"), "").unwrap();
    for inside in ["s/m", "s/deep/m", "alias/m", "s/one", "l"] {
        let refused = NameKey::check_manifest(&folder.0.join(inside), &folder.0.join("s"));
        assert!(matches!(folder_error(refused), FolderError::ManifestReveals(_)), "{inside}");
    }
    for outside in ["m", "s2/m", "s/../m"] {
        NameKey::check_manifest(&folder.0.join(outside), &folder.0.join("s")).unwrap();
    }
    // The encrypted folder does not exist yet.
    NameKey::check_manifest(&folder.0.join("m"), &folder.0.join("none")).unwrap();
    let refused = NameKey::check_manifest(&folder.0.join("none/m"), &folder.0.join("none"));
    assert!(matches!(folder_error(refused), FolderError::ManifestReveals(_)));
}
