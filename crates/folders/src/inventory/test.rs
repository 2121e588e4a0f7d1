//! Tests of inventories: their format, comparison, and history.

use super::draft::Absent;
use super::*;
use std::path::PathBuf;

fn mark(byte: u8) -> FileMark {
    FileMark { len: 100 + u64::from(byte), content: Content::Hash([byte; 32]) }
}

/// The identifier of the folder in tests.
const FOLDER: &str = "00112233445566778899aabbccddeeff";

/// Returns the inventory of a job with these files after `previous`.
fn inventory(previous: Option<Inventory>, files: &[(&str, u8)], absent: Absent) -> Inventory {
    let root = Path::new("/r");
    let mut draft = InventoryDraft::after(previous);
    for (name, byte) in files {
        draft.add(root, &root.join(name), mark(*byte)).unwrap();
    }
    let new = draft.complete(Path::new("/nonexistent-root"), absent);
    Inventory { folder: Some(FOLDER.into()), ..new }
}

fn again(inventory: &Inventory) -> Inventory {
    let json = inventory.to_json().replace("\"folder\":\"\"", &format!("\"folder\":\"{FOLDER}\""));
    Inventory::parse(json.as_bytes()).unwrap()
}

fn compared(inventory: &Inventory, files: &[(&str, u8)]) -> Vec<(String, &'static str)> {
    let root = Path::new("/r");
    let files = files.iter().map(|(name, byte)| (root.join(name), mark(*byte)));
    let found = inventory.compare(root, files, [], |_| false).unwrap();
    let name = |path: &Path| path.iter().map(|part| part.to_str().unwrap()).collect::<Vec<_>>().join("/");
    found.iter().map(|found| (name(&found.path), found.difference.name())).collect()
}

// claim: folder-inventory
#[test]
fn every_difference_is_found() {
    let first = inventory(None, &[("a", 1), ("b", 2), ("c/d", 3), ("gone", 9)], Absent::Stay);
    let now = inventory(Some(again(&first)), &[("a", 4), ("b", 2), ("c/d", 3)], Absent::Removed);
    assert!(now.counter() > first.counter());
    let now = again(&now);
    let same = [("a", 4), ("b", 2), ("c/d", 3)];
    assert_eq!(compared(&now, &same), []);
    for (files, expected) in [
        (&[("a", 4), ("b", 2)][..], &[("c/d", "missing")][..]),
        (&[("a", 4), ("b", 2), ("c/d", 3), ("x", 8)], &[("x", "added")]),
        (&[("a", 2), ("b", 4), ("c/d", 3)], &[("a", "exchanged"), ("b", "exchanged")]),
        (&[("a", 4), ("b", 2), ("c/e", 3)], &[("c/e", "renamed")]),
        (&[("a", 4), ("b", 2), ("c/d", 3), ("e", 3)], &[("e", "copied")]),
        (&[("a", 1), ("b", 2), ("c/d", 3)], &[("a", "old")]),
        (&[("a", 4), ("b", 2), ("c/d", 3), ("gone", 9)], &[("gone", "old")]),
        (&[("a", 7), ("b", 2), ("c/d", 3)], &[("a", "changed")]),
        (&[], &[("a", "missing"), ("b", "missing"), ("c/d", "missing")]),
    ] {
        let expected: Vec<_> = expected.iter().map(|(name, what)| (name.to_string(), *what)).collect();
        assert_eq!(compared(&now, files), expected);
    }
}

/// A file exchanged before the next job does not become the listed one.
#[test]
fn a_job_does_not_accept_a_version_that_it_did_not_write() {
    let first = inventory(None, &[("a", 1), ("b", 2)], Absent::Stay);
    let root = Path::new("/r");
    let mut draft = InventoryDraft::after(Some(first));
    assert!(draft.add_unchanged(root, &root.join("a"), mark(1)).unwrap());
    assert!(!draft.add_unchanged(root, &root.join("b"), mark(1)).unwrap());
    draft.add_failed(root, &root.join("none")).unwrap();
    let now = draft.complete(root, Absent::Stay);
    assert_eq!(compared(&now, &[("a", 1), ("b", 1)]), [("b".to_owned(), "exchanged")]);
    assert_eq!(compared(&now, &[("a", 1), ("b", 2)]), []);
}

// claim: folder-inventory
#[test]
fn names_of_every_kind_are_kept() {
    let root = Path::new("/r");
    let names: Vec<PathBuf> =
        ["a", "A", "a.", "a..", "...", " ", "ü\u{301}", "q\"\\\n\u{1b}"].iter().map(PathBuf::from).collect();
    #[cfg(unix)]
    let names = {
        use std::os::unix::ffi::OsStrExt;
        [names, vec![OsStr::from_bytes(b"\xff\x80x\xc3").into()]].concat()
    };
    let mut draft = InventoryDraft::after(None);
    for (at, name) in names.iter().enumerate() {
        draft.add(root, &root.join(name), mark(at as u8)).unwrap();
    }
    draft.add_link(root, Path::new("/r/l"), Path::new("../\u{1}x")).unwrap();
    let inventory = again(&draft.complete(root, Absent::Stay));
    assert_eq!(inventory.len(), names.len());
    let files = names.iter().enumerate().map(|(at, name)| (root.join(name), mark(at as u8)));
    let links = [("/r/l".into(), "../\u{1}x".into())];
    assert_eq!(inventory.compare(root, files, links, |_| false).unwrap(), []);
}

// claim: folder-signature
#[test]
fn documents_that_are_refused() {
    let good = inventory(None, &[("a", 1)], Absent::Stay).to_json();
    assert!(Inventory::parse(good.as_bytes()).is_ok());
    for name in ["", "/etc/passwd", "..", "../x", "a/../../x", "./a", "a/", "a//b", "a/.", "x\\u0000y"] {
        let bad = good.replace("\"name\":\"a\"", &format!("\"name\":\"{name}\""));
        let error = Inventory::parse(bad.as_bytes()).unwrap_err();
        assert!(matches!(error, Error::Folder(FolderError::InventoryName(_))), "{name} {error:?}");
    }
    let entry = good.lines().nth(2).unwrap();
    let twice = good.replace(entry, &format!("{entry},\n{entry}"));
    assert!(matches!(Inventory::parse(twice.as_bytes()), Err(Error::Folder(FolderError::InventoryName(_)))));
    let later = good.replace("\"version\":2", "\"version\":3");
    assert!(matches!(Inventory::parse(later.as_bytes()), Err(Error::UnsupportedVersion(_))));
    for (from, to) in [
        ("inventory", "manifest"),
        ("\"hash\":\"", "\"hash\":\"AAAA"),
        ("\"hash\":\"", "\"hash\":\"*"),
        ("\"hash\"", "\"hat\""),
        ("\"hash\"", "\"tag\":\"AAAAAAAAAAAAAAAAAAAAAA==\",\"hash\""),
        (FOLDER, "00112233445566778899AABBCCDDEEFF"),
        (FOLDER, "00112233445566778899aabbccddeef"),
        (FOLDER, ""),
        ("\"folder\"", "\"vault\""),
        ("\"version\":2", "\"version\":1"),
        ("\"version\":2", "\"version\":0"),
        ("\"since\":", "\"since\":-"),
        ("\"former\"", "\"other\""),
    ] {
        let bad = good.replace(from, to);
        assert!(matches!(Inventory::parse(bad.as_bytes()), Err(Error::Format(_))), "{bad}");
    }
    for len in 0..good.trim_end().len() {
        assert!(Inventory::parse(&good.as_bytes()[..len]).is_err(), "{len}");
    }
}

/// Names, and since which counters their versions are listed.
type Listed = Vec<(PathBuf, u64)>;
/// Names, the first counter with the version, and the first without.
type Replaced = Vec<(PathBuf, u64, u64)>;

/// Returns the listed versions and the former ones, with their counters.
fn history(inventory: &Inventory) -> (Listed, Replaced) {
    let files = inventory.files.iter().map(|(name, version)| (name.to_path(), version.since));
    let former = inventory.former.iter().map(|old| (old.name.to_path(), old.version.since, old.until));
    (files.collect(), former.collect())
}

#[test]
fn versions_keep_the_counter_of_their_first_inventory() {
    let first = inventory(None, &[("a", 1), ("b", 2)], Absent::Stay);
    let (one, second) = (first.counter(), inventory(Some(first), &[("a", 1), ("b", 5)], Absent::Stay));
    let two = second.counter();
    assert_eq!(two, one + 1, "within the same second");
    assert_eq!(history(&second), (vec![("a".into(), one), ("b".into(), two)], vec![("b".into(), one, two)]));
    let third = inventory(Some(again(&second)), &[("a", 1), ("b", 5)], Absent::Stay);
    let expected = (vec![("a".into(), one), ("b".into(), two)], vec![("b".into(), one, two)]);
    assert_eq!(history(&again(&third)), expected);
    let last = Inventory { counter: u64::MAX, ..Inventory::default() };
    assert_eq!(inventory(Some(last), &[], Absent::Stay).counter(), u64::MAX);
}

/// A folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sealane-inventory-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_that_the_job_does_not_have() {
    let folder = Folder::new("absent");
    fs::write(folder.0.join("there"), "").unwrap();
    for (absent, left) in
        [(Absent::Stay, &["failed", "gone", "there"][..]), (Absent::Removed, &["failed", "there"])]
    {
        let first = inventory(None, &[("failed", 1), ("gone", 2), ("link", 3), ("there", 4)], Absent::Stay);
        let mut draft = InventoryDraft::after(Some(first));
        draft.add_failed(&folder.0, &folder.0.join("failed")).unwrap();
        draft.add_failed(&folder.0, &folder.0.join("new")).unwrap();
        draft.add_link(&folder.0, &folder.0.join("link"), Path::new("x")).unwrap();
        let now = draft.complete(&folder.0, absent);
        let (files, former) = history(&now);
        let names: Vec<_> = files.iter().map(|(name, _)| name.to_str().unwrap()).collect();
        assert_eq!(names, left, "{absent:?}");
        let former: Vec<_> = former.iter().map(|(name, ..)| name.to_str().unwrap()).collect();
        assert_eq!(former, if absent == Absent::Stay { &["link"][..] } else { &["gone", "link"] });
        assert_eq!(now.links.len(), 1);
    }
}

#[test]
fn links_that_the_job_does_not_have() {
    let folder = Folder::new("links");
    fs::write(folder.0.join("there"), "").unwrap();
    let root = &folder.0;
    for (absent, left) in [
        (Absent::Stay, &[("changed", "2"), ("gone", "1"), ("there", "1")][..]),
        (Absent::Removed, &[("changed", "2"), ("there", "1")]),
    ] {
        let mut draft = InventoryDraft::after(None);
        for name in ["changed", "file", "gone", "there"] {
            draft.add_link(root, &root.join(name), Path::new("1")).unwrap();
        }
        let mut draft = InventoryDraft::after(Some(draft.complete(root, Absent::Stay)));
        draft.add_link(root, &root.join("changed"), Path::new("2")).unwrap();
        draft.add(root, &root.join("file"), mark(1)).unwrap();
        let now = draft.complete(root, absent);
        let links: Vec<_> =
            now.links.iter().map(|(name, target)| (name.to_path(), target.to_path())).collect();
        let left: Vec<_> =
            left.iter().map(|(name, target)| (PathBuf::from(name), PathBuf::from(target))).collect();
        assert_eq!(links, left, "{absent:?}");
        assert!(now.former.is_empty() && now.len() == 1);
    }
}

#[test]
fn the_oldest_versions_are_forgotten() {
    let root = Path::new("/r");
    let mut draft = InventoryDraft::after(None);
    for at in 0..(1 << 16) + 1 {
        draft.add(root, &root.join(format!("{at:06}")), mark(1)).unwrap();
    }
    let first = draft.complete(root, Absent::Stay);
    let second = inventory(Some(first), &[], Absent::Removed);
    let (files, former) = history(&second);
    assert_eq!((files.len(), former.len()), (0, 1 << 16));
    assert_eq!(former[0].0, Path::new("000001"));
}

#[test]
fn links_and_excluded_names_are_compared() {
    let root = Path::new("/r");
    let mut draft = InventoryDraft::after(None);
    draft.add(root, Path::new("/r/a.tmp"), mark(1)).unwrap();
    draft.add_link(root, Path::new("/r/l"), Path::new("x")).unwrap();
    draft.add_link(root, Path::new("/r/l.tmp"), Path::new("x")).unwrap();
    let inventory = draft.complete(root, Absent::Stay);
    let compared = |links: &[(&str, &str)], exclude: Option<&crate::Exclude>| -> Vec<_> {
        let links = links.iter().map(|(name, target)| (root.join(name), PathBuf::from(target)));
        let files = [(root.join("a.tmp"), mark(1))].into_iter().filter(|_| exclude.is_none());
        let found = inventory
            .compare(root, files, links, |path| exclude.is_some_and(|exclude| exclude.matches_below(path)))
            .unwrap();
        found.into_iter().map(|found| (found.path.display().to_string(), found.difference)).collect()
    };
    assert_eq!(compared(&[("l", "x"), ("l.tmp", "x")], None), []);
    let changed = compared(&[("l", "y"), ("l.tmp", "x"), ("new", "x")], None);
    assert_eq!(changed, [("l".into(), Difference::Changed), ("new".into(), Difference::Added)]);
    let missing = compared(&[], None);
    assert_eq!(missing, [("l".into(), Difference::Missing), ("l.tmp".into(), Difference::Missing)]);
    let exclude = crate::Exclude::new(["*.tmp"]).unwrap();
    assert_eq!(compared(&[("l", "x")], Some(&exclude)), []);
    assert_eq!(compared(&[], Some(&exclude)), [("l".into(), Difference::Missing)]);
    let outside = inventory.compare(root, [(PathBuf::from("/other"), mark(1))], [], |_| false);
    assert!(matches!(outside, Err(Error::Misuse(Misuse::TargetInsideSource(_)))));
}

#[test]
fn names_are_listed_once() {
    let root = Path::new("/r");
    let mut draft = InventoryDraft::after(None);
    draft.add(root, Path::new("/r/a"), mark(1)).unwrap();
    draft.add_link(root, Path::new("/r/l"), Path::new("x")).unwrap();
    let listed = Inventory { folder: Some(FOLDER.into()), ..draft.complete(root, Absent::Stay) };
    let good = listed.to_json();
    assert!(Inventory::parse(good.as_bytes()).is_ok());
    let link = good.lines().find(|line| line.contains("\"target\"")).unwrap();
    for other in [link.to_owned(), link.replace("\"l\"", "\"a\"")] {
        let twice = good.replace(link, &format!("{link},\n{other}"));
        let found = Inventory::parse(twice.as_bytes());
        assert!(matches!(found, Err(Error::Folder(FolderError::InventoryName(_)))), "{other}");
    }
}

/// Returns a document of version 1 with one file, `field` of which is its head or MAC.
fn first_version(field: &str, len: u64, tag: &[u8]) -> String {
    let tag = STANDARD.encode(tag);
    format!(
        "{{\"sealane\":\"inventory\",\"version\":1,\"counter\":7,\"files\":[{{\"name\":\"a\",\"length\":{len},{field},\"tag\":\"{tag}\",\"since\":5}}],\"links\":[],\"former\":[{{\"name\":\"b\",\"length\":{len},{field},\"tag\":\"{tag}\",\"since\":3,\"until\":5}}]}}"
    )
}

#[test]
fn inventories_of_version_1_are_read() {
    for (field, head) in [
        (format!("\"head\":\"{}\"", STANDARD.encode([9; 56])), Head::Bytes(vec![9; 56])),
        (format!("\"mac\":\"{}\"", "m".repeat(43)), Head::Mac("m".repeat(43))),
    ] {
        let json = first_version(&field, 200, &[7; 16]);
        let inventory = Inventory::parse(json.as_bytes()).unwrap();
        assert_eq!((inventory.folder(), inventory.counter(), inventory.len()), (None, 7, 1));
        let mark = FileMark { len: 200, content: Content::Ends { head, tag: [7; 16] } };
        let files = [(PathBuf::from("/r/a"), mark.clone())];
        assert_eq!(inventory.compare(Path::new("/r"), files, [], |_| false).unwrap(), []);
        // A version that no longer exists stays listed; later files are never equal to it.
        let now = InventoryDraft::after(Some(inventory)).complete(Path::new("/none"), Absent::Stay);
        let now = again(&now);
        assert_eq!(now.files.values().next().unwrap().mark, mark);
        assert!(now.former.is_empty());
        let both = json.replace(&field, &format!("{field},\"head\":\"AAAA\",\"mac\":\"m\""));
        assert!(matches!(Inventory::parse(both.as_bytes()), Err(Error::Format(_))));
    }
}

/// The next inventory lists an unchanged file with its hash, and an exchanged one as it was.
// claim: folder-content
#[test]
fn versions_of_version_1_get_hashes() {
    let folder = Folder::new("upgrade");
    let (root, path) = (&folder.0, folder.0.join("a"));
    let content: Vec<u8> = (0..100).collect();
    let field = format!("\"head\":\"{}\"", STANDARD.encode(&content[..56]));
    let json = first_version(&field, 100, &content[84..]);
    let listed = || InventoryDraft::after(Some(Inventory::parse(json.as_bytes()).unwrap()));
    fs::write(&path, &content).unwrap();
    let mark = FileMark::of(&path).unwrap();
    let mut draft = listed();
    assert!(draft.add_unchanged(root, &path, mark.clone()).unwrap());
    for now in [draft.complete(root, Absent::Stay), listed().complete(root, Absent::Removed)] {
        assert_eq!(history(&now), (vec![("a".into(), 5)], vec![]));
        assert_eq!(now.files.values().next().unwrap().mark, mark);
    }
    fs::write(&path, [9; 100]).unwrap();
    let other = FileMark::of(&path).unwrap();
    let mut draft = listed();
    assert!(!draft.add_unchanged(root, &path, other.clone()).unwrap());
    let now = again(&draft.complete(root, Absent::Stay));
    let found = now.compare(root, [(path, other)], [], |_| false).unwrap();
    assert_eq!(found[0].difference, Difference::Changed);
}

/// Every byte counts, not only the ends of a file. An armored file is hashed as it is stored.
// claim: folder-content
#[test]
fn marks_of_files() {
    use files::{EncryptWith, encrypt};
    use keys::age::{self, Armor, Kind};
    use messages::Key;

    let folder = Folder::new("marks");
    let path = folder.0.join("file");
    let store = |content: &[u8]| fs::write(&path, content).unwrap();
    let recipient = age::Identity::generate(Kind::X25519).unwrap().recipient();
    let sealed = age::seal(&[1; 100], std::slice::from_ref(&recipient), Armor::Binary).unwrap();
    store(&sealed);
    let start = sealed.windows(5).position(|found| found == b"\n--- ").unwrap() + 5;
    let mac = std::str::from_utf8(&sealed[start..start + 43]).unwrap();
    assert_eq!(sealed[start + 43], b'\n');
    let tag = sealed[sealed.len() - 16..].try_into().unwrap();
    let (ends, len) = (FileMark::of_ends(&path).unwrap(), sealed.len() as u64);
    assert_eq!(ends, FileMark { len, content: Content::Ends { head: Head::Mac(mac.into()), tag } });
    let whole = FileMark::of(&path).unwrap();
    let mut changed = sealed.clone();
    changed[len as usize - 60] ^= 1;
    store(&changed);
    assert_eq!(FileMark::of_ends(&path).unwrap(), ends);
    assert_ne!(FileMark::of(&path).unwrap(), whole);
    store(&sealed[..start + 20]);
    assert!(FileMark::of_ends(&path).is_err());

    let armored = age::seal(&[1; 100], &[recipient], Armor::Ascii).unwrap();
    store(&armored);
    let found = FileMark::of_ends(&path).unwrap();
    assert_eq!(FileMark::of(&path).unwrap().len, armored.len() as u64);
    let lines: Vec<_> = std::str::from_utf8(&armored).unwrap().lines().collect();
    store(&STANDARD.decode(lines[1..lines.len() - 1].concat()).unwrap());
    assert_eq!(found, FileMark::of_ends(&path).unwrap());

    let sealed = encrypt(&[1; 100], &EncryptWith::key(&Key::from_bytes(&[7; 32]), b"")).unwrap();
    store(&sealed);
    let tag = sealed[sealed.len() - 16..].try_into().unwrap();
    let content = Content::Ends { head: Head::Bytes(sealed[..56].into()), tag };
    assert_eq!(FileMark::of_ends(&path).unwrap(), FileMark { len: sealed.len() as u64, content });
    for len in [16, 40] {
        store(&sealed[..len]);
        let found = FileMark::of_ends(&path).unwrap();
        let Content::Ends { head, .. } = found.content else { panic!("it has ends") };
        assert_eq!((found.len, head), (len as u64, Head::Bytes(sealed[..len].into())));
    }
    for len in [0, 15] {
        store(&sealed[..len]);
        assert!(matches!(FileMark::of_ends(&path), Err(Error::Truncated)), "{len}");
        assert_eq!(FileMark::of(&path).unwrap().len, len as u64);
    }
}

/// Each text begins with the name of the difference, except for a copy.
#[test]
fn texts_of_differences() {
    let path = || PathBuf::from("a/b");
    for (difference, name, text) in [
        (Difference::Missing, "missing", "missing: the inventory lists it"),
        (Difference::Added, "added", "added: the inventory does not list it"),
        (Difference::Renamed { from: path() }, "renamed", "renamed: the inventory lists this file as a/b"),
        (
            Difference::Copied { from: path() },
            "copied",
            "added: a copy of the file that the inventory lists as a/b",
        ),
        (
            Difference::Exchanged { with: path() },
            "exchanged",
            "exchanged: the inventory lists this file as a/b",
        ),
        (
            Difference::Old { until: 7 },
            "old",
            "old: an earlier version, which the inventory with counter 7 replaced or removed",
        ),
        (Difference::Changed, "changed", "changed: no version that the inventory knows"),
        (
            Difference::Unreadable { reason: "Permission denied".into() },
            "unreadable",
            "unreadable: Permission denied",
        ),
    ] {
        assert_eq!((difference.name(), difference.to_string().as_str()), (name, text));
    }
}

/// The fast comparison with the root finds the same names as comparing components.
#[test]
fn names_below_a_root() {
    for root in ["/r", "/r/", "r", "./r", "", "/r/.", "/", "r//"] {
        for rest in
            ["a", "a/b", ".a", "a.", "a/", "/a", "a//b", "./a", "a/./b", "..", "../a", "", "ä", "a/../b"]
        {
            for path in [format!("{root}/{rest}"), format!("{root}{rest}"), rest.to_owned()] {
                let (root, path) = (Path::new(root), Path::new(&path));
                let expected = path.strip_prefix(root).ok().map(Name::of);
                assert_eq!(below(root, path).ok(), expected, "{root:?} {path:?}");
            }
        }
    }
}

#[test]
fn names_are_quoted_as_json() {
    // On Windows, a name has no backslash: it separates folders.
    let backslash = if cfg!(windows) { "a" } else { "\\" };
    for name in ["a/b c", "\"", backslash, "\n", "\u{1}", "\u{7f}", "ä€😀", "a\tb", ""] {
        let mut json = String::new();
        Name::of(Path::new(name)).append_quoted(&mut json);
        assert_eq!(json, serde_json::Value::from(name).to_string());
        assert_eq!(json, crate::name::quoted(Path::new(name)));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(OsStr::from_bytes(b"a\"\xff\xc3\xa4\x80"));
        let mut json = String::new();
        Name::of(path).append_quoted(&mut json);
        assert_eq!(json, "\"a\\\"\\udcffä\\udc80\"");
        assert_eq!(serde_json::from_str::<Name>(&json).unwrap().to_path(), path);
    }
}
