//! Vaults that the real gocryptfs makes here.

use crate::tree::{Found, read_all};
use sealane::vault::{LocalFolder, unlock};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

const OPTIONS: [&[&str]; 7] = [
    &[],
    &["-aessiv"],
    &["-xchacha"],
    &["-plaintextnames"],
    &["-deterministic-names"],
    &["-raw64=false"],
    &["-longnamemax", "100"],
];

/// A mounted vault. It is unmounted even if the test fails.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("fusermount3").arg("-u").arg(&self.0).status();
    }
}

#[test]
fn vaults_that_gocryptfs_makes_here() {
    if project::programs::missing(&["gocryptfs", "fusermount3"]) {
        return;
    }
    if File::options().read(true).write(true).open("/dev/fuse").is_err() {
        eprintln!("NOT RUN: vaults_that_gocryptfs_makes_here needs /dev/fuse");
        return;
    }
    let root = std::env::temp_dir().join(format!("sealane-gocryptfs-{}", std::process::id()));
    for (number, options) in OPTIONS.iter().enumerate() {
        let folder = root.join(number.to_string());
        let (vault, point, password) = (folder.join("vault"), folder.join("point"), folder.join("password"));
        [&vault, &point].into_iter().for_each(|path| fs::create_dir_all(path).unwrap());
        fs::write(&password, "not a secret\n").unwrap();
        let run = |arguments: &[&str], paths: &[&Path]| {
            let mut command = Command::new("gocryptfs");
            let output =
                command.args(["-q", "-passfile"]).arg(&password).args(arguments).args(paths).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{options:?}: {}", String::from_utf8_lossy(&output.stderr));
        };
        run(&[&["-init", "-scryptn", "10"], *options].concat(), &[&vault]);
        run(&[], &[&vault, &point]);
        let mounted = Mounted(point.clone());
        let expected = filled(&point);
        drop(mounted);
        let open = unlock(Arc::new(LocalFolder::open(&vault).unwrap()), b"not a secret").unwrap();
        let found = read_all(&*open);
        let found: BTreeMap<_, _> = found.into_iter().map(|(path, found)| (path, found.unwrap())).collect();
        assert!(found == expected, "{options:?}");
    }
    fs::remove_dir_all(root).unwrap();
}

/// Writes names, files and links of every kind to a folder, and returns them.
fn filled(folder: &Path) -> BTreeMap<Vec<u8>, Found> {
    let mut expected = BTreeMap::new();
    let at = |name: &[u8]| folder.join(OsStr::from_bytes(name));
    for name in [&b"folder"[..], b"folder/deeper", b"empty folder", &[b'd'; 255]] {
        fs::create_dir(at(name)).unwrap();
        expected.insert(name.to_vec(), Found::Folder);
    }
    let lengths = [0, 1, 15, 16, 17, 4095, 4096, 4097, 8191, 8192, 8193, 700_001];
    let sized = lengths.map(|len| (format!("folder/{len} bytes").into_bytes(), len));
    let named = [&b"\xff\xfe\x80"[..], b"\x01\n\x1b[2J", b" space ", "e\u{301} 日本語 🔐".as_bytes(), b"..."];
    let named = named.map(|name| (name.to_vec(), name.len()));
    let long =
        [15, 16, 74, 75, 175, 176, 255].map(|len| ([b"folder/deeper/", &vec![b'n'; len][..]].concat(), len));
    for (name, len) in sized.into_iter().chain(named).chain(long) {
        let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + i / 256 + len) as u8).collect();
        fs::write(at(&name), &bytes).unwrap();
        expected.insert(name, Found::File(bytes));
    }
    // Holes before and between written blocks.
    let sparse = File::create(at(b"sparse")).unwrap();
    let mut bytes = vec![0; 50_000];
    for offset in [9_000, 49_997] {
        sparse.write_all_at(b"end", offset as u64).unwrap();
        bytes[offset..offset + 3].copy_from_slice(b"end");
    }
    expected.insert(b"sparse".to_vec(), Found::File(bytes));
    for (name, text) in
        [(&b"link"[..], &b"folder/1 bytes"[..]), (b"folder/out", b"../../\xff"), (&[b'l'; 200], b"x")]
    {
        symlink(OsStr::from_bytes(text), at(name)).unwrap();
        expected.insert(name.to_vec(), Found::Link(text.to_vec()));
    }
    expected
}
