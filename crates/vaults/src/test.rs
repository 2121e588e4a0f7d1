//! Tests of what works with every vault, on vaults in memory with any names and faults.

use crate::prelude::*;
use crate::*;
use base::Misuse;
use folders::job::{Event, JobOptions, Summary};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

/// A vault in memory: what each folder lists, without any check.
#[derive(Default)]
struct Memory {
    folders: BTreeMap<Vec<u8>, Vec<Entry>>,
    /// Contents of files, texts of links.
    bytes: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The first byte of a file that does not verify.
    damage: BTreeMap<Vec<u8>, u64>,
    /// A folder that every folder of this name leads to.
    repeats: Option<&'static [u8]>,
    /// Files opened so far.
    opened: AtomicU32,
}

fn time(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

impl Memory {
    fn with(mut self, path: &[u8], kind: EntryKind, bytes: &[u8]) -> Self {
        let (folder, name) = split(path);
        let len = if kind == EntryKind::File { bytes.len() as u64 } else { 0 };
        let entry = Entry { name: name.to_vec(), kind, len, modified: Some(time(1_000_000_000)) };
        self.folders.entry(folder.to_vec()).or_default().push(entry);
        self.folders.entry(Vec::new()).or_default();
        if kind == EntryKind::Folder {
            self.folders.entry(path.to_vec()).or_default();
        }
        self.bytes.insert(path.to_vec(), bytes.to_vec());
        self
    }

    fn file(self, path: &str, bytes: &[u8]) -> Self {
        self.with(path.as_bytes(), EntryKind::File, bytes)
    }

    fn folder(self, path: &str) -> Self {
        self.with(path.as_bytes(), EntryKind::Folder, b"")
    }

    fn link(self, path: &str, text: &str) -> Self {
        self.with(path.as_bytes(), EntryKind::Link, text.as_bytes())
    }
}

fn missing() -> Error {
    std::io::Error::from(ErrorKind::NotFound).into()
}

impl Vault for Memory {
    fn list(&self, folder: &[u8]) -> Result<Listing, Error> {
        let folder = self.repeats.filter(|name| folder.ends_with(name)).unwrap_or(folder);
        let entries = self.folders.get(folder).cloned().ok_or_else(missing)?;
        Ok(Listing { entries, ..Listing::default() })
    }

    fn open(&self, path: &[u8]) -> Result<Box<dyn Contents>, Error> {
        let bytes = self.bytes.get(path).cloned().ok_or_else(missing)?;
        self.opened.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Bytes(bytes, self.damage.get(path).copied())))
    }

    fn read_link(&self, path: &[u8]) -> Result<Vec<u8>, Error> {
        self.bytes.get(path).cloned().ok_or_else(missing)
    }
}

struct Bytes(Vec<u8>, Option<u64>);

impl Contents for Bytes {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let from = self.0.get(offset as usize..).unwrap_or_default();
        let n = from.len().min(into.len());
        if self.1.is_some_and(|at| (offset..offset + n as u64).contains(&at)) {
            return Err(Error::Authentication);
        }
        into[..n].copy_from_slice(&from[..n]);
        Ok(n)
    }
}

/// A folder, removed on drop.
struct Root(PathBuf);

impl Root {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("sealane-vaults-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a job; returns its counts and the errors of paths.
fn run(vault: &Memory, root: &Path, below: &str, options: &JobOptions) -> (Summary, Vec<(PathBuf, Error)>) {
    let (mut summary, mut failed) = (None, Vec::new());
    let job = VaultJob { vault, root, below: below.as_bytes(), rename: None, options };
    let done = job.run(&|| false, &mut |events| {
        for event in events {
            match event {
                Event::Ended(found) => summary = Some(found),
                Event::Failed { path, error, .. } => failed.push((path.to_owned(), error)),
                _ => {}
            }
        }
        ControlFlow::Continue(())
    });
    done.unwrap_or_else(|failure| panic!("{:?}", failure.error));
    (summary.unwrap(), failed)
}

fn to(output: &Path) -> JobOptions {
    JobOptions { output: Some(output.to_owned()), removes_suffix: true, ..JobOptions::default() }
}

fn large() -> Vec<u8> {
    (0..9_000_001_u32).map(|n| (n / 7 % 251) as u8).collect()
}

#[test]
fn a_walk_lists_every_entry_once_and_can_skip_a_folder() {
    let vault = Memory::default().folder("b").file("b/y", b"").folder("b/x").file("a", b"1").file("c", b"");
    let paths = |mut walk: Walk<'_>, skipped: &[u8]| {
        let mut paths = Vec::new();
        while let Some((path, found)) = walk.next() {
            found.unwrap();
            if path == skipped {
                walk.skip_content();
            }
            paths.push(String::from_utf8(path).unwrap());
        }
        paths
    };
    assert_eq!(paths(Walk::new(&vault, b"").unwrap(), b""), ["a", "b", "b/x", "b/y", "c"]);
    assert_eq!(paths(Walk::new(&vault, b"").unwrap(), b"b"), ["a", "b", "c"]);
    assert_eq!(paths(Walk::new(&vault, b"").unwrap(), b"a"), ["a", "b", "b/x", "b/y", "c"]);
    assert_eq!(paths(Walk::new(&vault, b"b").unwrap(), b""), ["b/x", "b/y"]);
    assert_eq!(paths(Walk::new(&vault, b"b/y").unwrap(), b""), ["b/y"]);
    assert!(matches!(Walk::new(&vault, b"b/z").map(drop), Err(Error::Io { .. })));
    assert_eq!(find(&vault, b"a").unwrap().len, 1);
}

#[test]
fn names_that_no_folder_can_contain_are_refused() {
    for name in ["", ".", "..", "a/b", "a\0b"] {
        let mut vault = Memory::default().file("good", b"");
        let entry = vault.folders[&b""[..]][0].clone();
        vault.folders.get_mut(&b""[..]).unwrap().push(Entry { name: name.into(), ..entry });
        let listing = list(&vault, b"").unwrap();
        assert_eq!(listing.entries.len(), 1, "{name:?}");
        let problem = only(listing);
        assert!(matches!(problem, Error::Folder(FolderError::NameInvalid)), "{name:?}: {problem:?}");
    }
    let twice = Memory::default().file("a", b"1").file("b", b"").file("a", b"2");
    let listing = list(&twice, b"").unwrap();
    // Either could be the wrong one.
    assert!(listing.entries.len() == 1 && listing.entries[0].name == b"b");
    assert!(matches!(only(listing), Error::Folder(FolderError::DuplicateName { .. })));
}

/// Returns the only problem of a listing.
fn only(listing: Listing) -> Error {
    assert_eq!(listing.problems.len(), 1, "{listing:?}");
    match listing.whole().unwrap_err() {
        Error::InVault { source, .. } => *source,
        other => other,
    }
}

/// A folder has the content of its parent.
#[test]
fn a_folder_that_contains_itself_ends() {
    let vault = Memory { repeats: Some(b"loop"), ..Memory::default().folder("loop").folder("loop/loop") };
    let found: Vec<_> = Walk::new(&vault, b"").unwrap().collect();
    assert!(found.len() < 2000);
    let Some((_, Err(Error::InVault { source, .. }))) = found.last() else { panic!("{:?}", found.last()) };
    assert!(matches!(**source, Error::LimitExceeded(_)));
}

#[test]
fn a_vault_is_decrypted_and_verified() {
    let root = Root::new();
    let (large, out) = (large(), root.0.join("new/out"));
    let vault = Memory::default()
        .folder("docs")
        .folder("docs/empty")
        .file("docs/large", &large)
        .file("docs/none", b"")
        .file("note", b"hello");
    let (summary, failed) = run(&vault, Path::new("vault"), "", &JobOptions { preserve: true, ..to(&out) });
    assert!(failed.is_empty(), "{failed:?}");
    assert_eq!((summary.done, summary.bytes), (3, large.len() as u64 + 5));
    assert!(fs::read(out.join("docs/large")).unwrap() == large);
    assert_eq!(fs::read(out.join("docs/none")).unwrap(), b"");
    assert_eq!(fs::read(out.join("note")).unwrap(), b"hello");
    for path in ["note", "docs", "docs/empty"] {
        assert_eq!(out.join(path).metadata().unwrap().modified().unwrap(), time(1_000_000_000), "{path}");
    }
    // The content of a folder goes directly into the output, and so does a file.
    let part = root.0.join("part");
    assert_eq!(run(&vault, Path::new("vault"), "docs", &to(&part)).0.done, 2);
    assert_eq!(run(&vault, Path::new("vault"), "docs/none", &to(&part.join("one"))).0.done, 1);
    assert!(part.join("large").exists() && part.join("empty").is_dir() && part.join("one/none").exists());
    assert_eq!(run(&vault, Path::new("vault"), "", &JobOptions::default()).0.done, 3);
    let planned = root.0.join("planned");
    assert_eq!(run(&vault, Path::new("vault"), "", &JobOptions { dry_run: true, ..to(&planned) }).0.done, 3);
    assert!(!planned.exists());
}

/// Wherever a large file is damaged, and whichever thread finds it.
#[test]
fn a_damaged_file_is_absent_and_the_others_are_complete() {
    let root = Root::new();
    let large = large();
    for at in [0, 5_000_000, large.len() as u64 - 1] {
        let mut vault = Memory::default().file("large", &large).file("small", b"s").file("other", b"o");
        vault.damage = [(b"large".to_vec(), at), (b"small".to_vec(), 0)].into();
        let out = root.0.join(at.to_string());
        for options in [to(&out), JobOptions::default()] {
            let (summary, failed) = run(&vault, Path::new("vault"), "", &options);
            assert_eq!((summary.done, summary.failed), (1, 2));
            let paths: Vec<_> = failed.iter().map(|(path, _)| path.to_str().unwrap()).collect();
            assert_eq!(paths, ["vault/small", "vault/large"]);
            assert!(failed.iter().all(|(_, error)| matches!(error, Error::Authentication)));
        }
        let names: Vec<_> =
            engine::folder::Folder::list(&out).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["other"]);
    }
}

#[test]
#[cfg(unix)]
fn links_stay_inside_the_output() {
    let root = Root::new();
    let vault = Memory::default()
        .folder("a")
        .link("a/up", "../b")
        .link("a/out", "../../b")
        .link("root", "/etc/passwd")
        .link("name", "a/../../x")
        .link("self", "b");
    let out = root.0.join("out");
    let (summary, failed) = run(&vault, Path::new("vault"), "", &to(&out));
    assert_eq!((summary.links, summary.failed), (2, 3));
    assert!(failed.iter().all(|(_, error)| matches!(error, Error::Folder(FolderError::LinkLeadsOut(_)))));
    assert_eq!(fs::read_link(out.join("a/up")).unwrap(), Path::new("../b"));
    let all = JobOptions { preserve_all: true, ..to(&out) };
    assert_eq!(run(&vault, Path::new("vault"), "", &all).0.links, 5);
    assert_eq!(fs::read_link(out.join("root")).unwrap(), Path::new("/etc/passwd"));
    assert_eq!(engine::folder::Folder::list(&out).unwrap().len(), 4);
}

/// A link in the output, which an earlier job may have restored, is not followed.
#[test]
#[cfg(unix)]
fn files_are_not_written_through_links() {
    let root = Root::new();
    let (out, elsewhere) = (root.0.join("out"), root.0.join("elsewhere"));
    fs::create_dir(&out).unwrap();
    fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, out.join("a")).unwrap();
    std::os::unix::fs::symlink(elsewhere.join("x"), out.join("b")).unwrap();
    let vault = Memory::default().folder("a").file("a/x", b"1").file("b", b"2").link("a/l", "x");
    let (summary, _) = run(&vault, Path::new("vault"), "", &to(&out));
    assert_eq!((summary.done, summary.links, summary.failed), (0, 0, 4));
    assert_eq!(engine::folder::Folder::list(&elsewhere).unwrap().len(), 0);
}

#[test]
fn the_vault_itself_is_not_overwritten() {
    let root = Root::new();
    let place = root.0.join("vault");
    fs::create_dir(&place).unwrap();
    fs::write(place.join("config"), b"key").unwrap();
    let vault = Memory::default().folder("vault").file("vault/config", b"1").file("good", b"2");
    for output in [place.clone(), place.join("new")] {
        let options = to(&output);
        let job = VaultJob { vault: &vault, root: &place, below: b"", rename: None, options: &options };
        let refused = job.run(&|| false, &mut |_| ControlFlow::Continue(())).unwrap_err().error;
        assert!(matches!(refused, Error::Misuse(Misuse::TargetInsideSource(_))), "{refused:?}");
    }
    let (summary, failed) = run(&vault, &place, "", &to(&root.0));
    assert_eq!((summary.done, summary.failed), (1, 1));
    assert!(matches!(failed[0].1, Error::Misuse(Misuse::SameFile(_))));
    assert_eq!(fs::read(place.join("config")).unwrap(), b"key");
}

#[test]
fn a_cancelled_job_leaves_no_incomplete_file() {
    let root = Root::new();
    let out = root.0.join("out");
    let vault = Memory::default().file("large", &large());
    let options = to(&out);
    let job =
        VaultJob { vault: &vault, root: Path::new("vault"), below: b"", rename: None, options: &options };
    let cancelled = || vault.opened.load(Ordering::Relaxed) > 0;
    let result = job.run(&cancelled, &mut |_| ControlFlow::Continue(())).unwrap_err().error;
    assert!(matches!(result, Error::Cancelled));
    assert_eq!(engine::folder::Folder::list(&out).unwrap().len(), 0);
}
