use super::*;
use std::io::Write;
use std::os::windows::fs::{symlink_dir, symlink_file};

/// Returns whether this user can create symbolic links. Wine 8.0 cannot, and reports no error.
fn has_links(folder: &Path) -> bool {
    let link = folder.join("example");
    let created = symlink_file("nothing", &link).is_ok() && link.symlink_metadata().is_ok();
    match created {
        true => fs::remove_file(link).unwrap(),
        false => {
            let said = "NOT RUN: symbolic links (this user cannot create them, or this is Wine)\n";
            io::stderr().write_all(said.as_bytes()).unwrap();
        }
    }
    created
}

#[test]
fn links_and_paths_upwards_are_refused() {
    let path = std::env::temp_dir().join(format!("sealane-folder-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(path.join("sub/deep")).unwrap();
    fs::write(path.join("file"), b"content").unwrap();
    let links = has_links(&path);
    if links {
        symlink_dir("sub", path.join("way")).unwrap();
        symlink_file("file", path.join("link")).unwrap();
    }
    let folder = Folder::open(&path).unwrap();
    let is_refused = |result: io::Result<()>| result.unwrap_err().to_string() == refused_link().to_string();
    folder.open_below("sub/deep".as_ref()).unwrap();
    folder.create_below("sub/new/er".as_ref(), 0).unwrap();
    assert!(path.join("sub/new/er").is_dir());
    for below in ["way", "way/deep", "link"].into_iter().filter(|_| links) {
        assert!(is_refused(folder.open_below(below.as_ref()).map(drop)), "{below}");
        assert!(is_refused(folder.create_below(below.as_ref(), 0)), "{below}");
    }
    for below in ["sub/..", "C:\\", "\\", "sub/con", "x. "] {
        assert!(folder.create_below(below.as_ref(), 0).is_err(), "{below}");
    }
    assert_eq!(folder.open_below("file".as_ref()).map(drop).unwrap_err().kind(), ErrorKind::NotADirectory);
    let kind = |name: &str| folder.entry(name.as_ref()).unwrap().unwrap().kind;
    if links {
        assert_eq!([kind("way"), kind("link")], [EntryKind::Link; 2]);
    }
    assert_eq!([kind("sub"), kind("file")], [EntryKind::Folder, EntryKind::File]);
    assert!(folder.entry("none".as_ref()).unwrap().is_none());
    fs::remove_dir_all(&path).unwrap();
}

/// All names of a file share one identity, whatever their case. Another file has another one.
#[test]
fn identities_of_files() {
    let path = std::env::temp_dir().join(format!("sealane-identity-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("file"), b"content").unwrap();
    fs::write(path.join("other"), b"content").unwrap();
    fs::hard_link(path.join("file"), path.join("hard")).unwrap();
    let folder = Folder::open(&path).unwrap();
    let id = |name: &str| folder.entry(name.as_ref()).unwrap().unwrap().id.unwrap();
    assert_eq!(id("hard"), id("file"));
    assert_eq!(id("FILE"), id("file"));
    assert_ne!(id("other"), id("file"));
    if has_links(&path) {
        symlink_file("file", path.join("soft")).unwrap();
        assert_eq!(folder.entry_behind("soft".as_ref()).unwrap().id, Some(id("file")));
        assert_ne!(id("soft"), id("file"));
    }
    // Even for a file that another process has opened exclusively.
    let alone = File::options().read(true).share_mode(0).open(path.join("other")).unwrap();
    assert_eq!(FileId::of(&alone, &alone.metadata().unwrap()), Some(id("other")));
    drop(alone);
    fs::remove_dir_all(&path).unwrap();
}

#[test]
fn a_new_name_is_free_or_refused() {
    let path = std::env::temp_dir().join(format!("sealane-new-{}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    let folder = Folder::open(&path).unwrap();
    fs::write(path.join("from"), b"new").unwrap();
    fs::write(path.join("taken"), b"old").unwrap();
    let taken = folder.rename_to_new("from".as_ref(), "taken".as_ref()).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AlreadyExists);
    assert_eq!(fs::read(path.join("taken")).unwrap(), b"old");
    fs::write(path.join("from"), b"new").unwrap();
    folder.rename_to_new("from".as_ref(), "free".as_ref()).unwrap();
    assert_eq!(fs::read(path.join("free")).unwrap(), b"new");
    assert!(!path.join("from").exists());
    fs::remove_dir_all(&path).unwrap();
}
