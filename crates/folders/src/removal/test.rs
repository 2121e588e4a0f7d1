//! Tests of removals.

use super::*;
use std::fs;

#[test]
fn a_file_is_gone_only_if_nothing_of_its_kind_is_there() {
    let folder = std::env::temp_dir().join(format!("sealane-gone-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    for (path, kind, gone) in [
        (&file, EntryKind::File, false),
        (&file, EntryKind::Folder, true),
        (&folder, EntryKind::Folder, false),
        (&folder, EntryKind::File, true),
        (&folder.join("none"), EntryKind::File, true),
        (&file.join("below"), EntryKind::File, true),
    ] {
        assert_eq!(is_gone(path, kind).unwrap(), gone, "{path:?} {kind:?}");
    }
    // A name that is too long tells us nothing.
    assert!(is_gone(&folder.join("x".repeat(300)), EntryKind::File).is_err());
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_file_that_was_replaced_meanwhile_stays() {
    let root = std::env::temp_dir().join(format!("sealane-replaced-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    fs::create_dir_all(&root).unwrap();
    let path = root.join("file");
    fs::write(&path, "old").unwrap();
    let id = FileId::of_name(&path).unwrap();
    let removal =
        Removal { path: path.clone(), source: "file".into(), id, replacement: None, vanished: true };
    fs::write(root.join("new"), "new").unwrap();
    fs::rename(root.join("new"), &path).unwrap();
    assert_eq!(removal.remove(&root).unwrap_err().kind(), ErrorKind::ResourceBusy);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    let removal = Removal { id: FileId::of_name(&path).unwrap(), ..removal };
    // Its source appeared after the job looked.
    let missing = Removal { replacement: Some(root.join("new")), ..removal.clone() };
    assert_eq!(missing.remove(&root).unwrap_err().kind(), ErrorKind::ResourceBusy);
    assert!(path.exists());
    removal.remove(&root).unwrap();
    assert!(!path.exists());
    removal.remove(&root).unwrap();
    fs::remove_dir_all(&root).unwrap();
}

/// A source that is a file has one name in the target folder.
#[test]
fn sources_that_are_files() {
    use crate::{Suffix, Tree, TreeOptions};
    use files::{EncryptWith, encrypt};
    use messages::Key;

    let root = std::env::temp_dir().join(format!("sealane-sources-{}", std::process::id()));
    let _ = fs::remove_dir_all(&root);
    let target = root.join("target");
    fs::create_dir_all(&target).unwrap();
    let with = EncryptWith::key(&Key::from_bytes(&[7; 32]), b"");
    for name in ["a.s", "b.s"] {
        fs::write(target.join(name), encrypt(b"plain", &with).unwrap()).unwrap();
    }
    let source = root.join("a");
    fs::write(&source, "plain").unwrap();
    let suffix = OsStr::new(".s");
    let tree = Tree::walk(&[&source], Some(&target), Suffix::Add(suffix), TreeOptions::default()).unwrap();
    let stale = Stale::find(&tree, &[&source], suffix, &Operation::Encrypt(with), (None, &[])).unwrap();
    let found: Vec<_> = stale.removals.iter().map(|one| (one.path.clone(), one.source.clone())).collect();
    assert_eq!(found, [(target.join("b.s"), "b".into())]);
    assert!(stale.unproven.is_empty());
    fs::remove_dir_all(&root).unwrap();
}
