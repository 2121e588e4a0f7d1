//! Tests of open folders.

use super::*;
use rustix::io::{FdFlags, fcntl_getfd};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;

/// Returns a folder that holds a file, a folder, a pipe, links to the first two, and a dangling
/// link.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sealane-folder-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("sub/deep")).unwrap();
    fs::write(folder.join("file"), b"content").unwrap();
    symlink("file", folder.join("link")).unwrap();
    symlink("sub", folder.join("way")).unwrap();
    symlink("nothing", folder.join("broken")).unwrap();
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(CWD, folder.join("pipe"), FileType::Fifo, mode, 0).unwrap();
    folder
}

/// A child process must not inherit our open files.
#[test]
fn every_descriptor_closes_on_exec() {
    let closes = |file: &dyn AsFd| fcntl_getfd(file.as_fd()).unwrap().contains(FdFlags::CLOEXEC);
    let path = folder("exec");
    let folder = Folder::open(&path).unwrap();
    assert!(closes(&folder.0));
    assert!(closes(&folder.open_below("sub/deep".as_ref()).unwrap().0));
    assert!(closes(&folder.each_below("./sub".as_ref(), |_, _| Ok(())).unwrap().0));
    assert!(closes(&folder.at("sub".as_ref()).unwrap().0));
    assert!(closes(&folder.create_new("new".as_ref(), 0o600).unwrap()));
    assert!(closes(&folder.open_replaced("file".as_ref()).unwrap().unwrap().0));
    let mut null = Folder::open("/dev".as_ref()).unwrap().open_special("null".as_ref()).unwrap();
    null.write_all(b"written").unwrap();
    assert!(closes(&null));
    // This file system always supports unnamed files.
    let mut unnamed = Folder::open("/dev/shm".as_ref()).unwrap().create_unnamed(0o600).unwrap().unwrap();
    unnamed.write_all(b"written").unwrap();
    assert!(closes(&unnamed));
    fs::remove_dir_all(&path).unwrap();
}

#[test]
fn links_and_paths_upwards_are_refused() {
    let path = folder("links");
    let folder = Folder::open(&path).unwrap();
    let is_refused = |error: io::Error| error.to_string() == refused_link().to_string();
    assert!(is_refused(folder.open_below("way".as_ref()).map(drop).unwrap_err()));
    assert!(is_refused(folder.open_below("way/deep".as_ref()).map(drop).unwrap_err()));
    assert!(folder.open_below("sub/../..".as_ref()).is_err());
    for name in ["way", "link", "broken"] {
        assert!(is_refused(folder.at(name.as_ref()).map(drop).unwrap_err()), "{name}");
        assert!(is_refused(folder.open_replaced(name.as_ref()).map(drop).unwrap_err()), "{name}");
        assert!(is_refused(folder.create_below(name.as_ref(), 0o777).unwrap_err()), "{name}");
    }
    let other = folder.at("file".as_ref()).map(drop).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::NotADirectory);
    assert!(!is_refused(other));
    assert!(folder.each_below("sub/..".as_ref(), |_, _| Ok(())).is_err());
    assert!(folder.open_replaced("nothing".as_ref()).unwrap().is_none());
    // Neither waits for a writer nor returns a pipe as a file.
    let pipe = folder.open_replaced("pipe".as_ref()).unwrap_err();
    assert_eq!(pipe.kind(), ErrorKind::Unsupported);
    let file = folder.open_special("file".as_ref()).unwrap_err();
    assert_eq!(file.kind(), ErrorKind::ResourceBusy);
    assert!(folder.create_new("file".as_ref(), 0o600).is_err());
    fs::remove_dir_all(&path).unwrap();
}

/// The type is the same from the list, from the name, and from the metadata.
#[test]
fn types_of_entries() {
    let path = folder("types");
    let folder = Folder::open(&path).unwrap();
    let mut listed = Folder::list(&path).unwrap();
    listed.sort_by(|a, b| a.0.cmp(&b.0));
    let kinds: Vec<_> =
        listed.iter().map(|(name, kind)| (name.to_str().unwrap(), *kind.as_ref().unwrap())).collect();
    use EntryKind::{File, Folder as Sub, Link, Special};
    let expected =
        [("broken", Link), ("file", File), ("link", Link), ("pipe", Special), ("sub", Sub), ("way", Link)];
    assert_eq!(kinds, expected);
    for (name, kind) in expected {
        assert_eq!(folder.entry(name.as_ref()).unwrap().unwrap().kind, kind, "{name}");
        let metadata = path.join(name).symlink_metadata().unwrap();
        assert_eq!(EntryKind::from(metadata.file_type()), kind, "{name}");
    }
    assert!(Folder::list(&path.join("file")).is_err());
    fs::remove_dir_all(&path).unwrap();
}
