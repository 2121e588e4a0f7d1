//! Files that are moved to the primary key of a keyring.

use sealane::file::{
    DecryptWith, EncryptWith, Options, Rotation,
    bulk::{Operation, Replica},
    decrypt, encrypt, rotate_file,
};
use sealane::keys::{Keyring, Prefix};
use sealane::{Error, Misuse};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A folder, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Self(std::env::temp_dir().join(format!("sealane-rotate-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn count(&self) -> usize {
        fs::read_dir(&self.0).unwrap().count()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i % 251) as u8).collect()
}

fn ring(name: &str) -> Keyring {
    let key_type = name.parse().unwrap();
    Keyring::generate(key_type, Prefix::default_for(&key_type)).unwrap()
}

fn rotation(ring: &Keyring) -> Rotation {
    Rotation::new(ring, b"context", &[]).unwrap()
}

fn sealed(ring: &Keyring, plain: &[u8]) -> Vec<u8> {
    encrypt(plain, &EncryptWith::keyring(ring, b"context").unwrap()).unwrap()
}

/// Every length around the ends of chunks, between keys of types with other chunks and other
/// headers.
#[test]
fn files_of_every_format_are_moved() {
    let folder = Folder::new("formats");
    let types = [["aes-128-gcm", "aes-256-gcm"], ["tink-4kb", "tink-1mb"], ["tink-1mb", "tink-4kb"]];
    for [old, new] in types {
        let keys = ring(old);
        let first = keys.primary().id;
        for len in [0, 1, 4_000, 16_384, 70_000, 1_200_000] {
            let mut both = keys.clone();
            let path = folder.write("file", &sealed(&both, &data(len)));
            let key_type = new.parse().unwrap();
            let id = both.add_new(key_type, Prefix::default_for(&key_type)).unwrap();
            assert!(rotation(&both).is_current(&path).unwrap());
            both.promote(id).unwrap();
            let with = rotation(&both);
            assert!(!with.is_current(&path).unwrap());
            assert!(rotate_file(&path, &with, Options::default()).unwrap());
            assert!(with.is_current(&path).unwrap());
            assert!(!rotate_file(&path, &with, Options::default()).unwrap());
            both.destroy(first).unwrap();
            let plain = decrypt(&fs::read(&path).unwrap(), &DecryptWith::keyring(&both, b"context").unwrap());
            assert!(plain.unwrap() == data(len), "{old} {new} {len}");
        }
    }
    assert_eq!(folder.count(), 1);
}

#[test]
fn failures_leave_the_file_as_it_was() {
    let folder = Folder::new("failures");
    let mut keys = ring("aes-256-gcm");
    let whole = sealed(&keys, &data(3_000_000));
    keys.rotate().unwrap();
    let with = rotation(&keys);
    let refused = |content: &[u8], options: Options<'_>| {
        let path = folder.write("file", content);
        let error = rotate_file(&path, &with, options).unwrap_err();
        assert!(fs::read(&path).unwrap() == content, "{error}");
        assert_eq!(folder.count(), 1, "{error}");
        error
    };
    let mut damaged = whole.clone();
    damaged[1_500_000] ^= 1;
    assert!(matches!(refused(&damaged, Options::default()), Error::DamagedChunk { .. }));
    assert!(matches!(refused(&whole[..2_000_000], Options::default()), Error::DamagedChunk { .. }));
    assert!(matches!(refused(&whole[..20], Options::default()), Error::Truncated));
    assert!(matches!(refused(b"", Options::default()), Error::Truncated));
    assert!(matches!(
        refused(&sealed(&ring("aes-256-gcm"), b"x"), Options::default()),
        Error::Authentication
    ));
    let mut cancel = |_, _| ControlFlow::Break(());
    let options = Options { progress: Some(&mut cancel), ..Options::default() };
    assert!(matches!(refused(&whole, options), Error::Cancelled));
    let other = Rotation::new(&keys, b"other", &[]).unwrap();
    let path = folder.write("file", &whole);
    assert!(matches!(rotate_file(&path, &other, Options::default()), Err(Error::Authentication)));
    assert!(matches!(other.is_current(&path), Err(Error::Authentication)));
    assert!(matches!(with.is_current(Path::new("/nowhere")), Err(Error::Io { .. })));
    #[cfg(unix)]
    assert!(matches!(
        with.is_current(Path::new("/dev/null")),
        Err(Error::Misuse(Misuse::UnsupportedSource(_)))
    ));
    assert!(Rotation::new(&ring("aes-256-siv"), b"", &[]).is_err());
}

/// A file that another process replaces meanwhile is newer than what was read.
#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_meanwhile_is_kept() {
    let folder = Folder::new("replaced");
    let mut keys = ring("aes-256-gcm");
    let path = folder.write("file", &sealed(&keys, &data(3_000_000)));
    keys.rotate().unwrap();
    let newer = folder.write("newer", b"newer");
    let mut replace = |_, _| {
        let _ = fs::rename(&newer, &path);
        ControlFlow::Continue(())
    };
    let options = Options { progress: Some(&mut replace), ..Options::default() };
    let result = rotate_file(&path, &rotation(&keys), options);
    assert!(matches!(result, Err(Error::SourceChanged { .. })), "{result:?}");
    assert_eq!(fs::read(&path).unwrap(), b"newer");
    assert_eq!(folder.count(), 1);
}

/// A file that belongs to the call is not replaced, but it is moved itself if it is the file to
/// move.
#[test]
fn inputs_of_the_call_are_not_replaced() {
    let folder = Folder::new("inputs");
    let mut keys = ring("aes-256-gcm");
    let (from, input) = (folder.write("from", &sealed(&keys, b"hello")), folder.write("input", b"keys"));
    keys.rotate().unwrap();
    let with = Rotation::new(&keys, b"context", std::slice::from_ref(&input)).unwrap();
    let found = Operation::Rotate(with).run(None, Replica::No, &from, &input, Options::default(), None);
    assert!(matches!(found, Err(Error::Misuse(Misuse::OutputIsInput { .. }))), "{found:?}");
    assert_eq!(fs::read(&input).unwrap(), b"keys");
    let with = Rotation::new(&keys, b"context", std::slice::from_ref(&from)).unwrap();
    assert!(rotate_file(&from, &with, Options::default()).unwrap());
    assert!(with.is_current(&from).unwrap());
}
