//! Tests of replicas.

use super::*;
use files::EncryptWith;
use messages::Key;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

struct Root(PathBuf);

impl Root {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sealane-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_target_folder_is_created_with_its_parents() {
    let root = Root::new("replica-root");
    let target = root.0.join("a/b/c");
    create_root(&target).unwrap();
    assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, PRIVATE);
    create_root(&target).unwrap();
    fs::write(root.0.join("file"), "").unwrap();
    assert!(create_root(&root.0.join("file/x")).is_err());
}

/// A link with the same path stays; any other is replaced.
#[test]
fn links_are_replaced_if_they_differ() {
    let root = Root::new("replica-links");
    let (source, target) = (root.0.join("source"), root.0.join("target"));
    let link = |text: &str| Link { source: source.clone(), target: target.clone(), text: text.into() };
    let with = Operation::Encrypt(EncryptWith::key(&Key::from_bytes(&[7; 32]), b""));
    symlink("one", &source).unwrap();
    with.replicate_link(&root.0, &link("one")).unwrap();
    let first = target.symlink_metadata().unwrap().ino();
    with.replicate_link(&root.0, &link("one")).unwrap();
    assert_eq!(target.symlink_metadata().unwrap().ino(), first);
    // Both exist at once, so that the new link cannot get the old one's inode.
    symlink("two", target.with_extension("new")).unwrap();
    fs::rename(target.with_extension("new"), &source).unwrap();
    with.replicate_link(&root.0, &link("two")).unwrap();
    assert_eq!(fs::read_link(&target).unwrap(), Path::new("two"));
    assert_ne!(target.symlink_metadata().unwrap().ino(), first);
    fs::remove_file(&target).unwrap();
    fs::create_dir(&target).unwrap();
    assert!(with.replicate_link(&root.0, &link("two")).is_err());
}
