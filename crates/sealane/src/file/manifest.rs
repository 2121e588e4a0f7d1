//! What a long job has finished, so that it can be interrupted and go on.
//!
//! ```text
//! {"sealane":"manifest","version":1}
//! {"source":"a","source_len":5,"source_mtime_ns":1,"target":"b","target_len":77,"target_mtime_ns":2}     one a file
//! ```
//!
//! Paths are as they were given. A byte that is no UTF-8 is written as `\udc80` to `\udcff`, as Python's
//! `surrogateescape` does (PEP 383): `json.loads` there gives the name that `open` takes.

use crate::Error;
use serde::de::{Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const HEADER: &str = "{\"sealane\":\"manifest\",\"version\":1}\n";
/// A header that some later release may write is not longer.
const MOST_HEADER: u64 = 4096;
const EXPECTED: Error =
    Error::Format("not a manifest, which begins with {\"sealane\":\"manifest\",\"version\":1}");

/// The list of the files that a job has finished, on disk.
///
/// A file is finished if its line fits what the system says of its source and its target now: length and time of the
/// last change. No data is read.
///
/// It outlives a process that is killed. It is no witness after a machine lost its power, unless files were made with
/// [`Durability::Synced`](super::Durability): then a target may have the right length and none of its bytes.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    /// Bytes of whole lines. What lies behind them is a line that failed.
    len: u64,
    /// By target.
    finished: HashMap<Name, Line>,
}

/// What the system says of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFingerprint {
    len: u64,
    mtime_ns: i128,
}

/// A path, with a surrogate for each byte that is no UTF-8, in WTF-8.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Name(Vec<u8>);

#[derive(Debug, Deserialize)]
struct Line {
    source: Name,
    source_len: u64,
    source_mtime_ns: i128,
    target: Name,
    target_len: u64,
    target_mtime_ns: i128,
}

#[derive(Deserialize, Serialize)]
struct Header {
    sealane: String,
    version: u64,
}

impl Manifest {
    /// Begins a manifest, or goes on with the one that is there. A last line that is torn is cut off: its file is done
    /// again.
    ///
    /// # Errors
    /// [`Error::Format`] for a file that is something else, which is left as it was; [`Error::UnsupportedVersion`];
    /// [`Error::Line`]; [`Error::Io`] with the path, of the kind [`io::ErrorKind::ResourceBusy`] where another job has
    /// it open.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let about = |e| Error::io(path, e);
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(about)?;
        if !file.metadata().map_err(about)?.is_file() {
            return Err(EXPECTED);
        }
        lock(&file).map_err(about)?;
        let mut manifest = Self { path: path.to_owned(), file, len: 0, finished: HashMap::new() };
        manifest.load().map_err(|e| e.about(path))?;
        Ok(manifest)
    }

    fn load(&mut self) -> Result<(), Error> {
        let mut lines = BufReader::new(self.file.try_clone()?);
        let mut line = Vec::new();
        // A file that is something else may be one line of any length.
        lines.by_ref().take(MOST_HEADER).read_until(b'\n', &mut line)?;
        if HEADER.as_bytes().starts_with(&line) && line.len() < HEADER.len() {
            // A new file, or one whose maker was stopped at once.
            return self.append(HEADER.as_bytes());
        }
        header(&line)?;
        self.len = line.len() as u64;
        let mut bad = None;
        for number in 2.. {
            line.clear();
            if lines.read_until(b'\n', &mut line)? == 0 {
                break;
            }
            if let Some(number) = bad {
                return Err(Error::Line {
                    number,
                    source: Box::new(Error::Format("not a line of a manifest")),
                });
            }
            match serde_json::from_slice::<Line>(&line) {
                Ok(read) if line.ends_with(b"\n") => {
                    self.len += line.len() as u64;
                    self.keep(read);
                }
                _ => bad = Some(number),
            }
        }
        self.cut()
    }

    /// Whether the line of this pair fits both files as they are now.
    pub fn finished(&self, source: &Path, target: &Path) -> bool {
        let Some(line) = self.finished.get(&Name::of(target)) else { return false };
        line.source == Name::of(source)
            && FileFingerprint::of(source).is_ok_and(|now| now == line.source_stamp())
            && FileFingerprint::of(target).is_ok_and(|now| now == line.target_stamp())
    }

    /// Notes that `target` was made of `source`, as that was `seen` before it was read: one that changed since then is
    /// not finished.
    ///
    /// # Errors
    /// [`Error::Io`] with the path, of the target or of the manifest. What was noted before stays.
    pub fn add(&mut self, source: &Path, seen: FileFingerprint, target: &Path) -> Result<(), Error> {
        let made = FileFingerprint::of(target)?;
        let line = Line {
            source: Name::of(source),
            source_len: seen.len,
            source_mtime_ns: seen.mtime_ns,
            target: Name::of(target),
            target_len: made.len,
            target_mtime_ns: made.mtime_ns,
        };
        self.append(line.text(source, target).as_bytes()).map_err(|e| e.about(&self.path))?;
        self.keep(line);
        Ok(())
    }

    /// Waits until the disk has it.
    ///
    /// # Errors
    /// [`Error::Io`] with the path.
    pub fn sync(&self) -> Result<(), Error> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))
    }

    fn keep(&mut self, line: Line) {
        self.finished.insert(Name(line.target.0.clone()), line);
    }

    /// In one write, so that whoever is killed leaves a whole line, and a machine that stops tears the last one only.
    fn append(&mut self, line: &[u8]) -> Result<(), Error> {
        self.cut()?;
        match self.file.write(line)? {
            n if n == line.len() => self.len += n as u64,
            _ => return Err(io::Error::from(io::ErrorKind::StorageFull).into()),
        }
        Ok(())
    }

    /// Removes what an earlier failure left of a line.
    fn cut(&self) -> Result<(), Error> {
        if self.file.metadata()?.len() != self.len {
            self.file.set_len(self.len)?;
        }
        Ok(())
    }
}

impl FileFingerprint {
    /// Of the file at `path`, through links.
    ///
    /// # Errors
    /// [`Error::Io`] with the path.
    pub fn of(path: &Path) -> Result<Self, Error> {
        let found = path.metadata().map_err(|e| Error::io(path, e))?;
        Ok(Self { len: found.len(), mtime_ns: mtime_ns(&found).map_err(|e| Error::io(path, e))? })
    }

    /// Bytes of the file.
    #[expect(clippy::len_without_is_empty, reason = "of a file, not of a collection")]
    pub fn len(&self) -> u64 {
        self.len
    }
}

fn mtime_ns(found: &Metadata) -> io::Result<i128> {
    let ns = |time: std::time::Duration| time.as_nanos() as i128;
    Ok(found.modified()?.duration_since(UNIX_EPOCH).map_or_else(|before| -ns(before.duration()), ns))
}

/// Two jobs at once would each miss what the other did.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(io::ErrorKind::ResourceBusy, "another job is using this manifest"))
        }
        // Some network file systems know no locks.
        Err(TryLockError::Error(e)) if e.kind() != io::ErrorKind::Unsupported => Err(e),
        _ => Ok(()),
    }
}

fn header(line: &[u8]) -> Result<(), Error> {
    match serde_json::from_slice::<Header>(line) {
        Ok(Header { sealane, version: 1 }) if sealane == "manifest" && line.ends_with(b"\n") => Ok(()),
        Ok(Header { sealane, version: 2.. }) if sealane == "manifest" => {
            Err(Error::UnsupportedVersion("manifests of version 1 are known"))
        }
        _ => Err(EXPECTED),
    }
}

impl Line {
    fn source_stamp(&self) -> FileFingerprint {
        FileFingerprint { len: self.source_len, mtime_ns: self.source_mtime_ns }
    }

    fn target_stamp(&self) -> FileFingerprint {
        FileFingerprint { len: self.target_len, mtime_ns: self.target_mtime_ns }
    }

    fn text(&self, source: &Path, target: &Path) -> String {
        let Self { source_len, source_mtime_ns, target_len, target_mtime_ns, .. } = self;
        let (source, target) = (quoted(source), quoted(target));
        format!(
            "{{\"source\":{source},\"source_len\":{source_len},\"source_mtime_ns\":{source_mtime_ns},\
             \"target\":{target},\"target_len\":{target_len},\"target_mtime_ns\":{target_mtime_ns}}}\n"
        )
    }
}

impl Name {
    fn of(path: &Path) -> Self {
        let mut name = Vec::new();
        for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
            name.extend_from_slice(chunk.valid().as_bytes());
            for byte in chunk.invalid() {
                // U+DC00 + byte
                name.extend_from_slice(&[0xed, 0xb0 | byte >> 6, 0x80 | byte & 0x3f]);
            }
        }
        Self(name)
    }
}

/// serde_json gives a lone surrogate to whoever asks for bytes, in WTF-8.
impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Name;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a path")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Name, E> {
                Ok(Name(bytes.to_vec()))
            }
        }
        from.deserialize_bytes(Text)
    }
}

/// As text of JSON.
fn quoted(path: &Path) -> String {
    let mut text = String::from("\"");
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        let json = serde_json::Value::from(chunk.valid()).to_string();
        text += &json[1..json.len() - 1];
        for byte in chunk.invalid() {
            text += &format!("\\udc{byte:02x}");
        }
    }
    text + "\""
}

#[cfg(test)]
mod test {
    use super::*;
    use std::fs;

    /// A folder with a source and a target, and where the manifest goes.
    struct Room(PathBuf);

    impl Room {
        fn new(name: &str) -> Self {
            let room =
                Self(std::env::temp_dir().join(format!("sealane-manifest-{name}-{}", std::process::id())));
            let _ = fs::remove_dir_all(&room.0);
            fs::create_dir_all(&room.0).unwrap();
            fs::write(room.source(), b"source").unwrap();
            fs::write(room.target(), b"the target").unwrap();
            room
        }

        fn path(&self) -> PathBuf {
            self.0.join("m")
        }

        fn source(&self) -> PathBuf {
            self.0.join("a \"\\\n\u{1b} é")
        }

        fn target(&self) -> PathBuf {
            self.0.join("b")
        }

        fn open(&self) -> Manifest {
            Manifest::open(&self.path()).unwrap()
        }

        fn note(&self) {
            let seen = FileFingerprint::of(&self.source()).unwrap();
            self.open().add(&self.source(), seen, &self.target()).unwrap();
        }

        fn finished(&self) -> bool {
            self.open().finished(&self.source(), &self.target())
        }

        /// Gives a file another content and its old time of change.
        fn change(&self, path: &Path, content: &[u8]) {
            let before = path.metadata().unwrap().modified().unwrap();
            fs::write(path, content).unwrap();
            File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
        }
    }

    impl Drop for Room {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_finished_file_stays_finished() {
        let room = Room::new("stays");
        assert!(!room.finished());
        room.note();
        assert!(room.finished() && room.finished());
        assert!(!room.open().finished(&room.target(), &room.source()));
        assert!(!room.open().finished(&room.target(), &room.target()));
        let text = fs::read_to_string(room.path()).unwrap();
        assert!(text.starts_with(HEADER) && text.lines().count() == 2, "{text}");
        room.note();
        assert!(room.finished());
    }

    #[test]
    fn a_file_that_changed_is_not() {
        let room = Room::new("changed");
        for path in [room.source(), room.target()] {
            let content = fs::read(&path).unwrap();
            room.note();
            assert!(room.finished());
            room.change(&path, b"another length");
            assert!(!room.finished(), "length of {path:?}");
            room.change(&path, &content);
            assert!(room.finished());
            let later = path.metadata().unwrap().modified().unwrap() + std::time::Duration::from_nanos(100);
            File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
            assert!(!room.finished(), "time of {path:?}");
            room.note();
            fs::remove_file(&path).unwrap();
            assert!(!room.finished(), "no {path:?}");
            fs::write(&path, &content).unwrap();
        }
    }

    /// What counts is what the source was before it was read.
    #[test]
    fn a_source_that_changed_while_it_was_read_is_not_finished() {
        let room = Room::new("while");
        let seen = FileFingerprint::of(&room.source()).unwrap();
        room.change(&room.source(), b"more than before");
        room.open().add(&room.source(), seen, &room.target()).unwrap();
        assert!(!room.finished());
    }

    #[test]
    fn torn_at_any_byte() {
        let room = Room::new("torn");
        room.note();
        let other = room.0.join("other");
        fs::write(&other, b"").unwrap();
        let seen = FileFingerprint::of(&room.source()).unwrap();
        room.open().add(&room.source(), seen, &other).unwrap();
        let whole = fs::read(room.path()).unwrap();
        let second = whole[..whole.len() - 1].iter().rposition(|&b| b == b'\n').unwrap() + 1;
        for len in 0..whole.len() {
            fs::write(room.path(), &whole[..len]).unwrap();
            let manifest = room.open();
            assert_eq!(manifest.finished(&room.source(), &room.target()), len >= second, "{len}");
            assert!(!manifest.finished(&room.source(), &other), "{len}");
            drop(manifest);
            // What is added now is read again.
            room.open().add(&room.source(), seen, &other).unwrap();
            assert!(room.open().finished(&room.source(), &other), "{len}");
        }
        for rest in [&b"\0\0\0\0"[..], b"nonsense\n", b"{}\n", b"\n"] {
            fs::write(room.path(), [&whole, rest].concat()).unwrap();
            assert!(room.finished());
            assert_eq!(fs::read(room.path()).unwrap(), whole);
        }
    }

    #[test]
    fn what_is_no_manifest_is_left_alone() {
        let room = Room::new("none");
        let long = vec![b'x'; 100_000];
        let nested = [b"[".repeat(100_000), b"\n".to_vec()].concat();
        for content in
            [&b"day,sum\n"[..], b"{}\n", b"\0", &long, &nested, b"{\"sealane\":\"manifest\"}\n", b"\n"]
        {
            fs::write(room.path(), content).unwrap();
            assert!(matches!(Manifest::open(&room.path()), Err(Error::Format(_))));
            assert_eq!(fs::read(room.path()).unwrap(), content);
        }
        fs::write(room.path(), HEADER.replace('1', "2")).unwrap();
        assert!(matches!(Manifest::open(&room.path()), Err(Error::UnsupportedVersion(_))));
        fs::write(room.path(), [HEADER, "nonsense\n", "nonsense\n"].concat()).unwrap();
        assert!(matches!(Manifest::open(&room.path()), Err(Error::Line { number: 2, .. })));
        assert!(matches!(Manifest::open(&room.0), Err(Error::Io { path: Some(_), .. })));
        let missing = room.0.join("missing/m");
        assert!(matches!(Manifest::open(&missing), Err(Error::Io { path: Some(_), .. })));
    }

    #[test]
    fn one_job_at_a_time() {
        let room = Room::new("lock");
        let first = room.open();
        let busy = Manifest::open(&room.path()).unwrap_err();
        assert!(busy.to_string().contains("another job"), "{busy}");
        drop(first);
        room.open();
    }

    #[cfg(unix)]
    #[test]
    fn names_of_any_bytes() {
        use std::os::unix::ffi::OsStrExt;
        let room = Room::new("bytes");
        let name = |bytes: &[u8]| room.0.join(std::ffi::OsStr::from_bytes(bytes));
        // Half of a character, all that is none, a character that a careless writer would give for a byte.
        let names = [
            name(b"\xc3"),
            name(b"\xff\xfe\x80"),
            name("\u{fffd}".as_bytes()),
            name(b"%ff"),
            name(b"\xed\xb3\xbf"),
        ];
        for path in &names {
            fs::write(path, b"").unwrap();
            room.open().add(path, FileFingerprint::of(path).unwrap(), path).unwrap();
        }
        let manifest = room.open();
        for a in &names {
            for b in &names {
                assert_eq!(manifest.finished(a, b), a == b, "{a:?} {b:?}");
            }
        }
        let text = fs::read_to_string(room.path()).unwrap();
        assert!(text.contains("/\\udcc3\"") && text.contains("/\\udcff\\udcfe\\udc80\""), "{text}");
    }
}
