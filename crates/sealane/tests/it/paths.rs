//! Files on disk: the output that appears, the files that stay unchanged, and cleanup after
//! failures.

use sealane::age::{self, Armor, Identity};
use sealane::file::{
    self, DecryptParams, DecryptWith, DescribedFolder, EncryptParams, EncryptWith, FileKey, NewFolder,
    Options, OutputFile, Rewrap, Writer,
};
use sealane::keys::{Existing, FolderLock, SecretKey};
use sealane::{Error, FolderError, Key, Misuse};
use std::fs;
#[cfg(unix)]
use std::io::Read;
use std::io::{ErrorKind, Write};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
#[cfg(unix)]
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Symbolic links of Windows need a right, so links are hard ones in these tests.
#[cfg(windows)]
fn symlink(to: impl AsRef<Path>, at: PathBuf) -> std::io::Result<()> {
    fs::hard_link(to, at)
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sealane-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        fs::write(self.at(name), content).unwrap();
        self.at(name)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn key() -> Key {
    Key::from_bytes(&[7; 16])
}

fn encrypt(from: &Path, to: &Path) -> Result<(), Error> {
    file::encrypt_file(from, to, &EncryptWith::key(&key(), b""), Options::default())
}

fn decrypt(from: &Path, to: &Path) -> Result<(), Error> {
    file::decrypt_file(from, to, &DecryptWith::key(&key(), b""), Options::default())
}

fn kind(result: Result<(), Error>) -> ErrorKind {
    match result {
        Err(Error::Io { path: Some(_), source }) => source.kind(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn round_trip_around_chunk_and_job_lengths() {
    let folder = Folder::new("there");
    for len in [0, 1, 16_383, 16_384, 16_385, 262_143, 262_144, 262_145, 3_000_000] {
        let plain: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let from = folder.file("plain", &plain);
        for threads in [1, 2, 5] {
            let options = || Options { threads: NonZeroUsize::new(threads), ..Options::default() };
            file::encrypt_file(&from, &folder.at("sealed"), &EncryptWith::key(&key(), b"c"), options())
                .unwrap();
            assert_eq!(
                file::decrypt(&fs::read(folder.at("sealed")).unwrap(), &DecryptWith::key(&key(), b"c"))
                    .unwrap(),
                plain
            );
            file::decrypt_file(
                &folder.at("sealed"),
                &folder.at("back"),
                &DecryptWith::key(&key(), b"c"),
                options(),
            )
            .unwrap();
            assert_eq!(fs::read(folder.at("back")).unwrap(), plain);
        }
        file::verify_file(&folder.at("sealed"), &DecryptWith::key(&key(), b"c"), Options::default()).unwrap();
        assert_eq!(file::inspect(&folder.at("sealed"), None).unwrap().plaintext_len, len as u64);
    }
    assert_eq!(folder.names(), ["back", "plain", "sealed"]);
}

// claim: disk-atomic
#[test]
fn rejects_the_source_as_target() {
    let folder = Folder::new("same");
    let from = folder.file("from", b"precious");
    symlink(&from, folder.at("symlink")).unwrap();
    fs::hard_link(&from, folder.at("hardlink")).unwrap();
    for to in [from.clone(), folder.at("symlink"), folder.at("hardlink"), folder.at("./from")] {
        let result = encrypt(&from, &to);
        assert!(matches!(result, Err(Error::Misuse(Misuse::SameFile(_)))), "{to:?} {result:?}");
    }
    assert!(matches!(encrypt(&folder.at("symlink"), &from), Err(Error::Misuse(Misuse::SameFile(_)))));
    assert_eq!(fs::read(&from).unwrap(), b"precious");
    assert_eq!(folder.names(), ["from", "hardlink", "symlink"]);
}

/// An output replaces no other input of the same call either, for example the file of the key.
#[test]
fn rejects_the_key_file_as_target() {
    let folder = Folder::new("inputs");
    let (from, sealed, inputs) = (folder.file("from", b"x"), folder.at("sealed"), [folder.file("key", b"k")]);
    symlink(&inputs[0], folder.at("symlink")).unwrap();
    fs::hard_link(&inputs[0], folder.at("hardlink")).unwrap();
    let encrypt_params =
        EncryptParams { key: Some(FileKey::Key(key())), inputs: &inputs, ..Default::default() };
    let decrypt_params =
        DecryptParams { key: Some(FileKey::Key(key())), inputs: &inputs, ..Default::default() };
    let (lock, unlock) = (encrypt_params.build().unwrap(), decrypt_params.build().unwrap());
    file::encrypt_file(&from, &sealed, &lock, Options::default()).unwrap();
    let refused = |result| matches!(result, Err(Error::Misuse(Misuse::OutputIsInput { .. })));
    for name in ["key", "symlink", "hardlink"] {
        let to = folder.at(name);
        assert!(refused(file::encrypt_file(&from, &to, &lock, Options::default())), "{name}");
        assert!(refused(file::decrypt_file(&sealed, &to, &unlock, Options::default())), "{name}");
        let opened = fs::File::open(&to).unwrap();
        assert!(refused(lock.check_output(&opened, &to)) && refused(unlock.check_output(&opened, &to)));
    }
    let other = fs::File::open(&from).unwrap();
    assert!(lock.check_output(&other, &from).is_ok() && unlock.check_output(&other, &from).is_ok());
    assert_eq!(fs::read(&inputs[0]).unwrap(), b"k");
}

/// Bytes that are appended while the file is read would be missing in the encrypted file.
#[test]
fn reports_a_source_that_grows() {
    let folder = Folder::new("grows");
    let from = folder.file("from", &vec![1; 3_000_000]);
    let mut append = |_: u64, _: Option<u64>| {
        fs::OpenOptions::new().append(true).open(&from).unwrap().write_all(b"more").unwrap();
        ControlFlow::Continue(())
    };
    let options = Options { progress: Some(&mut append), ..Options::default() };
    let changed = file::encrypt_file(&from, &folder.at("to"), &EncryptWith::key(&key(), b""), options);
    assert!(matches!(changed, Err(Error::SourceChanged { expected: 3_000_000, .. })), "{changed:?}");
    assert_eq!(folder.names(), ["from"]);
}

/// The file would end with a chunk that is not its last, or with zeros.
#[test]
fn reports_a_source_that_shrinks() {
    let folder = Folder::new("shrinks");
    let from = folder.file("from", &vec![1; 3_000_000]);
    let mut cut = |_: u64, _: Option<u64>| {
        fs::OpenOptions::new().write(true).open(&from).unwrap().set_len(1_000_000).unwrap();
        ControlFlow::Continue(())
    };
    let options = Options { progress: Some(&mut cut), threads: NonZeroUsize::new(1), ..Options::default() };
    let changed = file::encrypt_file(&from, &folder.at("to"), &EncryptWith::key(&key(), b""), options);
    assert!(
        matches!(changed, Err(Error::SourceChanged { expected: 3_000_000, found: 1_000_000, .. })),
        "{changed:?}"
    );
    assert_eq!(folder.names(), ["from"]);
}

#[test]
fn reports_paths_that_cannot_be_read_or_written() {
    let folder = Folder::new("cannot");
    let from = folder.file("from", b"text");
    fs::create_dir(folder.at("folder")).unwrap();
    let read_only = folder.file("read-only", b"old");
    let mut permissions = read_only.metadata().unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&read_only, permissions).unwrap();
    #[cfg(unix)]
    symlink("nowhere", folder.at("dangling")).unwrap();
    let out = folder.at("out");
    for work in [encrypt, decrypt] {
        assert_eq!(kind(work(&folder.at("missing"), &out)), ErrorKind::NotFound);
        assert_eq!(kind(work(&folder.at("folder"), &out)), ErrorKind::IsADirectory);
        #[cfg(unix)]
        assert_eq!(kind(work(&folder.at("dangling"), &out)), ErrorKind::NotFound);
    }
    assert_eq!(kind(encrypt(&from, &folder.at("folder"))), ErrorKind::IsADirectory);
    assert_eq!(kind(encrypt(&from, &folder.at("missing/out"))), ErrorKind::NotFound);
    assert_eq!(kind(encrypt(&from, &folder.at("from/out"))), ErrorKind::NotADirectory);
    assert_eq!(kind(encrypt(&from, &read_only)), ErrorKind::PermissionDenied);
    #[cfg(unix)]
    assert_eq!(kind(encrypt(&from, Path::new("/dev/full"))), ErrorKind::StorageFull);
    #[cfg(unix)]
    assert_eq!(kind(encrypt(&from, &folder.at("dangling"))), ErrorKind::NotFound);
    let empty = folder.file("empty", b"");
    assert!(matches!(decrypt(&empty, &out), Err(Error::Truncated)));
    assert_eq!(fs::read(&read_only).unwrap(), b"old");
    #[cfg(unix)]
    fs::remove_file(folder.at("dangling")).unwrap();
    assert_eq!(folder.names(), ["empty", "folder", "from", "read-only"]);
}

// claim: file-no-output
#[test]
fn failed_decryption_leaves_the_old_file() {
    let folder = Folder::new("old");
    let from = folder.file("from", &[1; 1_000_000]);
    let sealed = folder.at("sealed");
    encrypt(&from, &sealed).unwrap();
    let mut bytes = fs::read(&sealed).unwrap();
    bytes[600_000] ^= 1;
    fs::write(&sealed, &bytes).unwrap();
    let out = folder.file("out", b"old");
    // Byte 600,000 lies in chunk 36, which begins at byte 56 + 36 * 16,400.
    let is_damaged = |result| matches!(result, Err(Error::DamagedChunk { index: 36, offset: 590_456 }));
    assert!(is_damaged(decrypt(&sealed, &out)));
    assert_eq!(fs::read(&out).unwrap(), b"old");
    assert!(is_damaged(decrypt(&sealed, &folder.at("new"))));
    let with = DecryptWith::key(&key(), b"");
    assert!(is_damaged(file::verify_file(&sealed, &with, Options::default())));
    assert_eq!(folder.names(), ["from", "out", "sealed"]);
}

#[cfg(unix)]
#[test]
fn replacing_a_file_preserves_mode_and_symbolic_links() {
    let folder = Folder::new("mode");
    let from = folder.file("from", b"text");
    let real = folder.file("real", b"old");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("real", folder.at("link")).unwrap();
    encrypt(&from, &folder.at("link")).unwrap();
    assert!(folder.at("link").is_symlink());
    assert_eq!(real.metadata().unwrap().mode() & 0o777, 0o640);
    assert_eq!(file::decrypt(&fs::read(&real).unwrap(), &DecryptWith::key(&key(), b"")).unwrap(), b"text");
}

#[cfg(unix)]
#[test]
fn writes_to_devices_and_pipes_without_replacing_them() {
    let folder = Folder::new("pipe");
    let plain = vec![3; 300_000];
    let from = folder.file("from", &plain);
    encrypt(&from, Path::new("/dev/null")).unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());

    let pipe = folder.at("pipe");
    let name = std::ffi::CString::new(pipe.to_str().unwrap()).unwrap();
    // SAFETY: a path that ends with a zero byte.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let reading = {
        let pipe = pipe.clone();
        std::thread::spawn(move || {
            let mut all = Vec::new();
            fs::File::open(pipe).unwrap().read_to_end(&mut all).map(|_| all)
        })
    };
    encrypt(&from, &pipe).unwrap();
    let sealed = reading.join().unwrap().unwrap();
    assert_eq!(file::decrypt(&sealed, &DecryptWith::key(&key(), b"")).unwrap(), plain);

    let writing = {
        let pipe = pipe.clone();
        std::thread::spawn(move || fs::OpenOptions::new().write(true).open(pipe).unwrap().write_all(&sealed))
    };
    decrypt(&pipe, &folder.at("back")).unwrap();
    writing.join().unwrap().unwrap();
    assert_eq!(fs::read(folder.at("back")).unwrap(), plain);
    assert!(matches!(file::inspect(Path::new("/dev/null"), None), Err(Error::Misuse(_))));
}

/// Files in `/proc` report a length of 0.
#[test]
#[cfg(target_os = "linux")]
fn reads_generated_files() {
    let folder = Folder::new("proc");
    encrypt(Path::new("/proc/self/status"), &folder.at("sealed")).unwrap();
    let text =
        file::decrypt(&fs::read(folder.at("sealed")).unwrap(), &DecryptWith::key(&key(), b"")).unwrap();
    assert!(text.starts_with(b"Name:"));
}

// claim: file-no-output, disk-atomic
#[cfg(unix)]
#[test]
fn full_disk_leaves_no_output() {
    let folder = Folder::new("full");
    let from = folder.file("from", &[1; 3 << 20]);
    let disk = folder.at("disk");
    fs::create_dir(&disk).unwrap();
    let mounted = std::process::Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "tmpfs"])
        .arg(&disk)
        .status()
        .is_ok_and(|status| status.success());
    if !mounted {
        // Only root may mount. The part above with /dev/full runs for all users.
        eprintln!("NOT RUN: a_full_disk needs the right to mount a small tmpfs");
        return;
    }
    let result = encrypt(&from, &disk.join("out"));
    let left = fs::read_dir(&disk).unwrap().count();
    let _ = std::process::Command::new("umount").arg(&disk).status();
    assert_eq!(kind(result), ErrorKind::StorageFull);
    assert_eq!(left, 0);
}

// claim: disk-atomic
#[test]
fn writer_output_appears_when_finished() {
    let folder = Folder::new("writer");
    let path = folder.at("new");
    let mut writer = Writer::create(&path, &EncryptWith::key(&key(), b"")).unwrap();
    writer.push(b"some").unwrap();
    assert_eq!(folder.names().iter().filter(|name| !name.starts_with('.')).count(), 0);
    drop(writer);
    assert_eq!(folder.names().len(), 0);
    let mut writer = Writer::create(&path, &EncryptWith::key(&key(), b"")).unwrap();
    writer.push(b"all").unwrap();
    writer.finish(file::Durability::Synced).unwrap();
    assert_eq!(file::decrypt(&fs::read(&path).unwrap(), &DecryptWith::key(&key(), b"")).unwrap(), b"all");
}

#[test]
fn new_file_never_replaces_another() {
    let folder = Folder::new("new");
    let path = folder.at("new");
    let create = || Writer::create_new(&path, &EncryptWith::key(&key(), b""));
    let (mut first, second) = (create().unwrap(), create().unwrap());
    first.push(b"first").unwrap();
    first.finish(file::Durability::Cached).unwrap();
    assert_eq!(kind(second.finish(file::Durability::Cached)), ErrorKind::AlreadyExists);
    assert_eq!(kind(create().map(drop)), ErrorKind::AlreadyExists);
    assert_eq!(file::decrypt(&fs::read(&path).unwrap(), &DecryptWith::key(&key(), b"")).unwrap(), b"first");
    #[cfg(unix)]
    symlink("nowhere", folder.at("link")).unwrap();
    #[cfg(windows)]
    fs::write(folder.at("link"), b"other").unwrap();
    assert_eq!(kind(OutputFile::create_new(&folder.at("link")).map(drop)), ErrorKind::AlreadyExists);
    assert_eq!(folder.names(), ["link", "new"]);
}

#[test]
fn key_files_are_private_and_not_overwritten() {
    let folder = Folder::new("keys");
    let path = folder.at("key");
    let key = Key::generate(32).unwrap();
    let keep = |key: &Key| SecretKey::from(key.clone()).save(&path, None, Existing::Refuse);
    let load = |path: &Path| SecretKey::load(path, None).and_then(SecretKey::into_symmetric);
    keep(&key).unwrap();
    #[cfg(unix)]
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(load(&path).unwrap().as_bytes(), key.as_bytes());
    assert_eq!(kind(keep(&Key::generate(32).unwrap())), ErrorKind::AlreadyExists);
    assert_eq!(load(&path).unwrap().as_bytes(), key.as_bytes());
    assert!(matches!(load(&folder.file("binary", &[0xff; 40])), Err(Error::Format(_))));
    assert!(matches!(load(&folder.file("empty", b"")), Err(Error::Format(_))));
    assert!(matches!(load(&folder.0), Err(Error::Io { .. })));
    assert!(matches!(load(&folder.at("missing")), Err(Error::Io { .. })));
    assert_eq!(folder.names(), ["binary", "empty", "key"]);
}

#[cfg(unix)]
#[test]
fn writer_does_not_replace_devices() {
    let mut writer = Writer::create(Path::new("/dev/null"), &EncryptWith::key(&key(), b"")).unwrap();
    writer.push(b"some").unwrap();
    writer.finish(file::Durability::Cached).unwrap();
    assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
}

/// Its files have keys of their own, and a job encrypts for it.
#[test]
fn single_files_do_not_go_into_a_folder_that_describes_itself() {
    let folder = Folder::new("single-described");
    let lock = FolderLock::key(&Key::generate(32).unwrap()).unwrap();
    DescribedFolder::create(&folder.at("vault"), &NewFolder::default(), &lock).unwrap();
    let (key, plain) = (key(), folder.file("plain", b"data"));
    let (with, back) = (EncryptWith::key(&key, b""), DecryptWith::key(&key, b""));
    file::encrypt_file(&plain, &folder.at("sealed"), &with, Options::default()).unwrap();
    let stored = folder.file("vault/stored", b"x");
    let identity = Identity::generate(age::Kind::X25519).unwrap();
    let for_it = EncryptWith::age(&[identity.recipient()], Armor::Binary);
    let age = folder.file("age", &file::encrypt(b"data", &for_it).unwrap());
    let rewrap = Rewrap::new(vec![identity.clone()], vec![identity.recipient()], &[]).unwrap();
    for name in ["vault/new", "vault/stored", "vault/.sealane"] {
        let before = fs::read(folder.at(name)).ok();
        for result in [
            file::encrypt_file(&plain, &folder.at(name), &with, Options::default()),
            file::decrypt_file(&folder.at("sealed"), &folder.at(name), &back, Options::default()),
            file::rewrap_file(&age, &folder.at(name), &rewrap, Options::default()),
            file::salvage_file(&folder.at("sealed"), &folder.at(name), &back, Options::default()).map(drop),
            file::salvage_opened(
                fs::File::open(folder.at("sealed")).unwrap(),
                Path::new("sealed"),
                &folder.at(name),
                &back,
                Options::default(),
            )
            .map(drop),
            Writer::create(&folder.at(name), &with).map(drop),
            Writer::create_new(&folder.at(name), &with).map(drop),
        ] {
            assert!(matches!(result, Err(Error::Folder(FolderError::OutputDescribed(_)))), "{result:?}");
        }
        assert_eq!(fs::read(folder.at(name)).ok(), before);
    }
    let swapped = file::encrypt_file(&stored, &plain, &with, Options::default());
    assert!(matches!(swapped, Err(Error::Folder(FolderError::SourceDescribed(_)))), "{swapped:?}");
    assert_eq!(fs::read(&plain).unwrap(), b"data");
}
