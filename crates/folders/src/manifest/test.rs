//! Tests of manifests: their lines, and what counts as finished.

use super::*;
use std::fs;

/// A folder with a source and a target, removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Self(std::env::temp_dir().join(format!("sealane-manifest-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        fs::create_dir_all(&folder.0).unwrap();
        fs::write(folder.source(), b"source").unwrap();
        fs::write(folder.target(), b"the target").unwrap();
        folder
    }

    fn path(&self) -> PathBuf {
        self.0.join("m")
    }

    fn source(&self) -> PathBuf {
        // On Windows, a name cannot contain the other characters.
        self.0.join(if cfg!(windows) { "a ' é" } else { "a \"\\\n\u{1b} é" })
    }

    fn target(&self) -> PathBuf {
        self.0.join("b")
    }

    fn open(&self) -> Manifest {
        Manifest::open(&self.path()).unwrap()
    }

    fn add(&self) {
        let before = FileFingerprint::of(&self.source()).unwrap();
        self.open().add(&self.source(), before, &self.target(), None).unwrap();
    }

    fn finished(&self) -> bool {
        self.open().finished(&self.source(), &self.target())
    }

    /// Replaces the content of a file and restores its modification time.
    fn change(&self, path: &Path, content: &[u8]) {
        let before = path.metadata().unwrap().modified().unwrap();
        fs::write(path, content).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_finished_file_stays_finished() {
    let folder = Folder::new("stays");
    assert!(!folder.finished());
    folder.add();
    assert!(folder.finished() && folder.finished());
    assert!(!folder.open().finished(&folder.target(), &folder.source()));
    assert!(!folder.open().finished(&folder.target(), &folder.target()));
    let text = fs::read_to_string(folder.path()).unwrap();
    assert!(text.starts_with(HEADER) && text.lines().count() == 2, "{text}");
    folder.add();
    assert!(folder.finished());
}

#[test]
fn a_changed_file_is_not_finished() {
    let folder = Folder::new("changed");
    for path in [folder.source(), folder.target()] {
        let content = fs::read(&path).unwrap();
        folder.add();
        assert!(folder.finished());
        folder.change(&path, b"another length");
        assert!(!folder.finished(), "length of {path:?}");
        folder.change(&path, &content);
        // The same length, content and time of modification: the system knows of the change.
        assert_eq!(folder.finished(), cfg!(windows), "change of {path:?}");
        folder.add();
        assert!(folder.finished());
        let later = path.metadata().unwrap().modified().unwrap() + std::time::Duration::from_nanos(100);
        File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
        assert!(!folder.finished(), "time of {path:?}");
        folder.add();
        fs::remove_file(&path).unwrap();
        assert!(!folder.finished(), "no {path:?}");
        fs::write(&path, &content).unwrap();
    }
}

/// Lines of earlier releases have no times of change. They are read, and replaced by the job.
#[cfg(unix)]
#[test]
fn lines_of_earlier_releases_are_read() {
    let folder = Folder::new("earlier");
    folder.add();
    let state = || folder.open().state(&folder.source(), &folder.target());
    assert_eq!(state(), State::Finished);
    let text = fs::read_to_string(folder.path()).unwrap();
    let end = text.find(",\"source_ctime_ns\"").unwrap();
    fs::write(folder.path(), format!("{}}}\n", &text[..end])).unwrap();
    assert_eq!(state(), State::FinishedBefore);
    folder.change(&folder.target(), b"tHe target");
    assert_eq!(state(), State::FinishedBefore);
    folder.add();
    folder.change(&folder.target(), b"The target");
    assert_eq!(state(), State::Touched);
    folder.add();
    folder.change(&folder.source(), b"Source");
    assert_eq!(state(), State::New);
    folder.add();
    // Another file with the same times.
    let (path, other) = (folder.target(), folder.0.join("other"));
    fs::copy(&path, &other).unwrap();
    let modified = path.metadata().unwrap().modified().unwrap();
    File::options().write(true).open(&other).unwrap().set_modified(modified).unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!(state(), State::Touched);
}

/// A target's hash is that of an inventory, and comes back from the file.
#[test]
fn marks_of_targets_are_kept() {
    let folder = Folder::new("marks");
    folder.add();
    assert_eq!(folder.open().mark(&folder.target()), None);
    let (mark, before) = (FileMark::of(&folder.target()).unwrap(), FileFingerprint::of(&folder.source()));
    folder.open().add(&folder.source(), before.unwrap(), &folder.target(), Some(&mark)).unwrap();
    assert_eq!(folder.open().mark(&folder.target()), Some(mark));
    assert!(folder.finished());
}

#[test]
fn times_before_1970_are_distinguished() {
    let folder = Folder::new("before");
    let at = |time| File::options().write(true).open(folder.target()).unwrap().set_modified(time).unwrap();
    let second = std::time::Duration::from_secs(1);
    at(UNIX_EPOCH - second);
    folder.add();
    assert!(folder.finished());
    at(UNIX_EPOCH + second);
    assert!(!folder.finished());
    assert_eq!(FileFingerprint::of(&folder.target()).unwrap().len(), 10);
}

#[test]
fn a_source_that_changed_while_it_was_read_is_not_finished() {
    let folder = Folder::new("while");
    let before = FileFingerprint::of(&folder.source()).unwrap();
    folder.change(&folder.source(), b"more than before");
    folder.open().add(&folder.source(), before, &folder.target(), None).unwrap();
    assert!(!folder.finished());
}

#[test]
fn an_incomplete_last_line_is_removed() {
    let folder = Folder::new("torn");
    folder.add();
    let other = folder.0.join("other");
    fs::write(&other, b"").unwrap();
    let before = FileFingerprint::of(&folder.source()).unwrap();
    folder.open().add(&folder.source(), before, &other, None).unwrap();
    let whole = fs::read(folder.path()).unwrap();
    let second = whole[..whole.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
    for len in 0..whole.len() {
        fs::write(folder.path(), &whole[..len]).unwrap();
        let manifest = folder.open();
        assert_eq!(manifest.finished(&folder.source(), &folder.target()), len >= second, "{len}");
        assert!(!manifest.finished(&folder.source(), &other), "{len}");
        drop(manifest);
        // A line added now is read again.
        folder.open().add(&folder.source(), before, &other, None).unwrap();
        assert!(folder.open().finished(&folder.source(), &other), "{len}");
    }
    for rest in [&b"\0\0\0\0"[..], b"\0\0}\n", b"nonsense", b"{}", b" "] {
        fs::write(folder.path(), [&whole, rest].concat()).unwrap();
        assert!(folder.finished());
        assert_eq!(fs::read(folder.path()).unwrap(), whole);
    }
}

/// No job wrote such a line, so it may be anything: the user decides what happens to it.
// claim: folder-manifest
#[test]
fn rejects_a_complete_line_that_is_not_of_a_manifest_and_leaves_it_there() {
    let folder = Folder::new("lines");
    folder.add();
    let whole = fs::read_to_string(folder.path()).unwrap();
    let line = whole.lines().nth(1).unwrap();
    let start = line.split(",\"source_ctime_ns\"").next().unwrap();
    let other = |from, to| line.replacen(from, to, 1);
    for bad in [
        String::new(),
        " ".into(),
        "nonsense".into(),
        "{}".into(),
        "null".into(),
        "[]".into(),
        r#"["a",1,1,"b",1,1,1,1,1,1,null]"#.into(),
        r#"["a",1,1,"b",1,1,1,1,1,1]"#.into(),
        format!("{line}}}"),
        format!("{line} {line}"),
        line[..line.len() - 1].into(),
        format!("\u{feff}{line}"),
        // A field twice, without, of another type, and numbers out of range.
        other("\"source_len\"", "\"source_len\":1,\"source_len\""),
        other("\"source_len\"", "\"source_length\""),
        other("\"source_len\":", "\"source_len\":-"),
        other("\"source_len\":", "\"source_len\":1.5,\"x\":"),
        other("\"source_len\":", "\"source_len\":99999999999999999999999"),
        other("\"target\":", "\"target\":null,\"x\":"),
        other("\"target\":", "\"target\":[],\"x\":"),
        format!("{start},\"target_hash\":\"AAAA\"}}"),
        format!("{start},\"target_hash\":\"not base64\"}}"),
        format!("{start},\"target_hash\":7}}"),
        format!("{start},\"source_ctime_ns\":1}}"),
        format!("{start},\"target_inode\":1}}"),
        "x".repeat(MAX_LINE_LEN as usize + 10),
        format!("{start},\"x\":\"{}\"}}", "x".repeat(MAX_LINE_LEN as usize)),
    ] {
        for content in [format!("{HEADER}{bad}\n{line}\n"), format!("{HEADER}{line}\n{bad}\n")] {
            fs::write(folder.path(), &content).unwrap();
            let error = Manifest::open(&folder.path()).expect_err(&bad);
            let number = if content.contains(&format!("{HEADER}{bad}\n")) { 2 } else { 3 };
            assert!(matches!(error, Error::Line { number: n, .. } if n == number), "{error} {bad}");
            assert!(error.to_string().contains("remove it"), "{error}");
            assert_eq!(fs::read_to_string(folder.path()).unwrap(), content);
        }
    }
    // Fields of later releases, and the white space of other writers, are read.
    for good in [format!("{start},\"later\":[1]}}"), format!(" {} \r", line.replace(':', " : "))] {
        fs::write(folder.path(), format!("{HEADER}{good}\n")).unwrap();
        assert!(!folder.open().finished.is_empty(), "{good}");
    }
}

/// The last line of a target is the one that counts, as in a job that wrote it twice.
#[test]
fn the_last_of_two_lines_of_a_target_counts() {
    let folder = Folder::new("twice");
    folder.add();
    let whole = fs::read_to_string(folder.path()).unwrap();
    let line = whole.lines().nth(1).unwrap();
    let wrong = line.replacen("\"target_len\":", "\"target_len\":1", 1);
    for (lines, finished) in [([line, &wrong], false), ([&wrong, line], true)] {
        fs::write(folder.path(), format!("{HEADER}{}\n", lines.join("\n"))).unwrap();
        assert_eq!(folder.finished(), finished);
        assert_eq!(folder.open().wrote(&folder.target()), finished);
    }
}

#[test]
fn rejects_other_files_and_leaves_them_unchanged() {
    let folder = Folder::new("none");
    let long = vec![b'x'; 100_000];
    let nested = [b"[".repeat(100_000), b"\n".to_vec()].concat();
    for content in [
        &b"day,sum\n"[..],
        b"{}\n",
        b"\0",
        &long,
        &nested,
        b"{\"sealane\":\"manifest\"}\n",
        b"{\"sealane\":\"other\",\"version\":1}\n",
        b"{\"sealane\":\"other\",\"version\":2}\n",
        b"{\"version\":1,\"sealane\":\"manifest\"}",
        b"\n",
    ] {
        fs::write(folder.path(), content).unwrap();
        assert!(matches!(Manifest::open(&folder.path()), Err(Error::Format(_))));
        assert_eq!(fs::read(folder.path()).unwrap(), content);
    }
    fs::write(folder.path(), HEADER.replace('1', "2")).unwrap();
    assert!(matches!(Manifest::open(&folder.path()), Err(Error::UnsupportedVersion(_))));
    fs::write(folder.path(), [HEADER, "nonsense\n", "nonsense\n"].concat()).unwrap();
    assert!(matches!(Manifest::open(&folder.path()), Err(Error::Line { number: 2, .. })));
    assert!(matches!(Manifest::open(&folder.0), Err(Error::Io { path: Some(_), .. })));
    let missing = folder.0.join("missing/m");
    assert!(matches!(Manifest::open(&missing), Err(Error::Io { path: Some(_), .. })));
}

#[test]
fn rejects_a_second_job_at_the_same_time() {
    let folder = Folder::new("lock");
    let first = folder.open();
    let busy = Manifest::open(&folder.path()).unwrap_err();
    assert!(busy.to_string().contains("another job"), "{busy}");
    drop(first);
    folder.open();
}

#[cfg(unix)]
#[test]
fn names_of_any_bytes_are_distinguished() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("bytes");
    let name = |bytes: &[u8]| folder.0.join(OsStr::from_bytes(bytes));
    // Half a character, bytes that are never valid, and characters that a careless writer would
    // use for a byte.
    let names = [
        name(b"\xc3"),
        name(b"\xff\xfe\x80"),
        name("\u{fffd}".as_bytes()),
        name(b"%ff"),
        name(b"\xed\xb3\xbf"),
    ];
    for path in &names {
        fs::write(path, b"").unwrap();
        folder.open().add(path, FileFingerprint::of(path).unwrap(), path, None).unwrap();
    }
    let manifest = folder.open();
    for a in &names {
        for b in &names {
            assert_eq!(manifest.finished(a, b), a == b, "{a:?} {b:?}");
        }
    }
    let text = fs::read_to_string(folder.path()).unwrap();
    assert!(text.contains("/\\udcc3\"") && text.contains("/\\udcff\\udcfe\\udc80\""), "{text}");
}
