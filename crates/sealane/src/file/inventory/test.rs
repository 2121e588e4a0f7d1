//! Tests of inventories: their format, comparison, and history.

use super::draft::Absent;
use super::*;
use std::path::PathBuf;

fn mark(byte: u8) -> FileMark {
    FileMark { len: 100 + u64::from(byte), head: Head::Bytes(vec![byte; 56]), tag: [byte; 16] }
}

/// Returns the inventory of a job with these files, after `previous`.
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
    let found = inventory.compare(root, files, [], None).unwrap();
    found.iter().map(|found| (found.path.to_str().unwrap().to_owned(), found.difference.name())).collect()
}

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

/// A file that was exchanged before the next job does not become the listed one.
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

#[test]
fn names_of_every_kind_are_kept() {
    let root = Path::new("/r");
    let mut names: Vec<PathBuf> =
        ["a", "A", "a.", "a..", "...", " ", "ü\u{301}", "q\"\\\n\u{1b}"].iter().map(PathBuf::from).collect();
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        names.push(std::ffi::OsStr::from_bytes(b"\xff\x80x\xc3").into());
    }
    let mut draft = InventoryDraft::after(None);
    for (at, name) in names.iter().enumerate() {
        draft.add(root, &root.join(name), mark(at as u8)).unwrap();
    }
    draft.add_link(root, Path::new("/r/l"), Path::new("../\u{1}x")).unwrap();
    let inventory = again(&draft.complete(root, Absent::Stay));
    assert_eq!(inventory.len(), names.len());
    let files = names.iter().enumerate().map(|(at, name)| (root.join(name), mark(at as u8)));
    let links = [("/r/l".into(), "../\u{1}x".into())];
    assert_eq!(inventory.compare(root, files, links, None).unwrap(), []);
}

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
