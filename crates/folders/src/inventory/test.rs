//! Tests of inventories: their format, comparison, and history.

use super::draft::Absent;
use super::*;
use std::path::PathBuf;

fn mark(byte: u8) -> FileMark {
    FileMark { len: 100 + u64::from(byte), head: Head::Bytes(vec![byte; 56]), tag: [byte; 16] }
}

/// Returns the inventory of a job with these files after `previous`.
fn inventory(previous: Option<Inventory>, files: &[(&str, u8)], absent: Absent) -> Inventory {
    let root = Path::new("/r");
    let mut draft = InventoryDraft::after(previous);
    for (name, byte) in files {
        draft.add(root, &root.join(name), mark(*byte)).unwrap();
    }
    draft.complete(Path::new("/nonexistent-root"), absent)
}

fn again(inventory: &Inventory) -> Inventory {
    Inventory::parse(inventory.to_json().as_bytes()).unwrap()
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
        [names, vec![std::ffi::OsStr::from_bytes(b"\xff\x80x\xc3").into()]].concat()
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
    let later = good.replace("\"version\":1", "\"version\":2");
    assert!(matches!(Inventory::parse(later.as_bytes()), Err(Error::UnsupportedVersion(_))));
    for (from, to) in [
        ("inventory", "manifest"),
        ("\"tag\":\"", "\"tag\":\"A"),
        ("\"head\":\"", "\"head\":\"*"),
        ("\"head\"", "\"hat\""),
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
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn files_that_the_job_does_not_have() {
    let folder = Folder::new("absent");
    std::fs::write(folder.0.join("there"), "").unwrap();
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
    std::fs::write(folder.0.join("there"), "").unwrap();
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
    let good = draft.complete(root, Absent::Stay).to_json();
    assert!(Inventory::parse(good.as_bytes()).is_ok());
    let link = good.lines().find(|line| line.contains("\"target\"")).unwrap();
    for other in [link.to_owned(), link.replace("\"l\"", "\"a\"")] {
        let twice = good.replace(link, &format!("{link},\n{other}"));
        let found = Inventory::parse(twice.as_bytes());
        assert!(matches!(found, Err(Error::Folder(FolderError::InventoryName(_)))), "{other}");
    }
}

#[test]
fn the_head_of_an_age_file_is_its_mac() {
    let root = Path::new("/r");
    let mac = FileMark { len: 200, head: Head::Mac("m".repeat(43)), tag: [7; 16] };
    let mut draft = InventoryDraft::after(None);
    draft.add(root, Path::new("/r/a"), mac.clone()).unwrap();
    let inventory = draft.complete(root, Absent::Stay);
    assert_eq!(again(&inventory).files, inventory.files);
    let files = [(PathBuf::from("/r/a"), mac)];
    assert_eq!(again(&inventory).compare(root, files, [], |_| false).unwrap(), []);
    let json = inventory.to_json();
    assert!(json.contains(&format!("\"mac\":\"{}\"", "m".repeat(43))));
    let both = json.replace("\"mac\"", "\"head\":\"AAAA\",\"mac\"");
    assert!(matches!(Inventory::parse(both.as_bytes()), Err(Error::Format(_))));
}

/// A file has the same mark when written and when read; an armored file has its content's mark.
#[test]
fn marks_of_files() {
    use files::{EncryptWith, encrypt};
    use keys::age::{self, Armor, Kind};
    use messages::Key;

    let folder = Folder::new("marks");
    let store = |content: &[u8]| {
        let path = folder.0.join("file");
        std::fs::write(&path, content).unwrap();
        (FileMark::of(&path), std::fs::File::open(path).unwrap())
    };
    let recipient = age::Identity::generate(Kind::X25519).unwrap().recipient();
    let sealed = age::seal(&[1; 100], std::slice::from_ref(&recipient), Armor::Binary).unwrap();
    let (found, file) = store(&sealed);
    let found = found.unwrap();
    let start = sealed.windows(5).position(|found| found == b"\n--- ").unwrap() + 5;
    let mac = std::str::from_utf8(&sealed[start..start + 43]).unwrap();
    assert_eq!(sealed[start + 43], b'\n');
    let tag = sealed[sealed.len() - 16..].try_into().unwrap();
    let len = sealed.len() as u64;
    assert_eq!(found, FileMark { len, head: Head::Mac(mac.into()), tag });
    assert_eq!(FileMark::of_written(&sealed[..start + 44 + 16], tag, &file, len).unwrap(), found);
    assert!(store(&sealed[..start + 20]).0.is_err());

    let armored = age::seal(&[1; 100], &[recipient], Armor::Ascii).unwrap();
    let found = store(&armored).0.unwrap();
    let lines: Vec<_> = std::str::from_utf8(&armored).unwrap().lines().collect();
    let binary = STANDARD.decode(lines[1..lines.len() - 1].concat()).unwrap();
    assert_eq!(found, store(&binary).0.unwrap());
    assert!(matches!(found.head, Head::Mac(_)));

    let sealed = encrypt(&[1; 100], &EncryptWith::key(&Key::from_bytes(&[7; 32]), b"")).unwrap();
    let (found, file) = store(&sealed);
    let found = found.unwrap();
    let tag = sealed[sealed.len() - 16..].try_into().unwrap();
    let len = sealed.len() as u64;
    assert_eq!(found, FileMark { len, head: Head::Bytes(sealed[..56].into()), tag });
    for header in [56, 57, 100, 32, 0] {
        assert_eq!(FileMark::of_written(&sealed[..header], tag, &file, len).unwrap(), found, "{header}");
    }
    for len in [16, 40] {
        let found = store(&sealed[..len]).0.unwrap();
        assert_eq!((found.len, found.head), (len as u64, Head::Bytes(sealed[..len].into())));
    }
    for len in [0, 15] {
        assert!(matches!(store(&sealed[..len]).0, Err(Error::Truncated)), "{len}");
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
        let path = Path::new(std::ffi::OsStr::from_bytes(b"a\"\xff\xc3\xa4\x80"));
        let mut json = String::new();
        Name::of(path).append_quoted(&mut json);
        assert_eq!(json, "\"a\\\"\\udcffä\\udc80\"");
        assert_eq!(serde_json::from_str::<Name>(&json).unwrap().to_path(), path);
    }
}
