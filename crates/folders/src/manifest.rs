//! The manifest of a job: the list of its finished files, to continue an interrupted job.
//!
//! ```text
//! {"sealane":"manifest","version":1}
//! {"source":"a","source_len":5,"source_mtime_ns":1,"target":"b","target_len":77,
//!  "target_mtime_ns":2,"source_ctime_ns":3,"source_inode":4,"target_ctime_ns":5,
//!  "target_inode":6,"target_hash":"…"}
//! ```
//!
//! The first line is the header; each other line is a finished file (in one line). Lines of earlier
//! releases end after `target_mtime_ns`. `target_hash` is the hash that an inventory lists, if the
//! job wrote one. Paths are written as given. A byte that is not valid UTF-8 becomes `\udc80` to
//! `\udcff`, as in Python's `surrogateescape` (PEP 383), so that `json.loads` in Python returns the
//! name that `open` takes.

use super::name::{Name, quoted};
use crate::prelude::*;
use base::random::RandomHasher;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use files::mark::Content;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{BufRead, BufReader, Read, Write};
use std::time::UNIX_EPOCH;

const HEADER: &str = "{\"sealane\":\"manifest\",\"version\":1}\n";
/// Limit of the header, with space for fields of later releases.
const MAX_HEADER_LEN: u64 = 4096;
/// Limit of a line: two paths of 4096 bytes, each byte written as `\udcff`, and the numbers.
const MAX_LINE_LEN: u64 = 1 << 16;
const EXPECTED: Error =
    Error::Format("expected a manifest, which begins with {\"sealane\":\"manifest\",\"version\":1}");
const BAD_LINE: Error = Error::Format("not a line of a manifest; remove it, and its file is processed again");

/// The file with the list of finished files of a job.
///
/// A file is finished if source and target have the length, the times of modification and change,
/// and the inode in its line. No data is read. Programs can set the time of modification, so a
/// change can keep it, but not the time of change. The device is not compared: it may change when a
/// disk is mounted again.
///
/// A manifest stays correct when the process is killed. After a power failure, it is correct only
/// for targets written with [`Durability::Synced`](files::Durability): any other may have the right
/// length and wrong content.
#[derive(Debug)]
pub struct Manifest {
    path: PathBuf,
    /// The manifest itself, locked while it is open.
    file: File,
    /// Bytes in complete lines. Anything after them is a line that could not be written.
    len: u64,
    /// The lines of finished files, by target.
    finished: HashMap<Name, Line, RandomHasher>,
}

/// Length, times and inode of a file, to detect changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileFingerprint {
    len: u64,
    mtime_ns: i128,
    /// Time of change and inode. `None` on Windows, for links, and in lines of earlier releases.
    change: Option<(i128, u64)>,
}

#[derive(Debug, Deserialize)]
struct Line {
    source: Name,
    source_len: u64,
    source_mtime_ns: i128,
    target: Name,
    target_len: u64,
    target_mtime_ns: i128,
    source_ctime_ns: Option<i128>,
    source_inode: Option<u64>,
    target_ctime_ns: Option<i128>,
    target_inode: Option<u64>,
    #[serde(default, deserialize_with = "hash")]
    target_hash: Option<[u8; 32]>,
}

/// What the manifest and the files say about a pair of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It is to be processed.
    New,
    /// It is finished.
    Finished,
    /// It is finished, but the line is of an earlier release and shows less.
    FinishedBefore,
    /// The target has the listed length and time of modification, but not the time of change or
    /// inode: it was written again or moved.
    Touched,
}

#[derive(Deserialize, Serialize)]
struct Header {
    sealane: String,
    version: u64,
}

impl Manifest {
    /// Opens the manifest at `path`, or creates it. Removes an incomplete last line; its file is
    /// processed again.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for a file that is not a manifest (it is left unchanged),
    /// [`Error::UnsupportedVersion`] for a later version, [`Error::Line`] for another invalid
    /// line (the manifest is left unchanged), and [`Error::Io`] with the path; its kind is
    /// [`io::ErrorKind::ResourceBusy`] if another job has the manifest open.
    pub fn open(path: &Path) -> Result<Self> {
        let about = |e| Error::io(path, e);
        let mut options = OpenOptions::new();
        options.read(true).create(true);
        match cfg!(windows) {
            true => options.write(true).truncate(false),
            false => options.append(true),
        };
        let file = options.open(path).map_err(about)?;
        if !file.metadata().map_err(about)?.is_file() {
            return Err(EXPECTED);
        }
        lock(&file).map_err(about)?;
        let finished = HashMap::with_hasher(RandomHasher::new()?);
        let mut manifest = Self { path: path.to_owned(), file, len: 0, finished };
        manifest.load().map_err(|e| e.about(path))?;
        Ok(manifest)
    }

    fn load(&mut self) -> Result<()> {
        let mut lines = BufReader::new(self.file.try_clone()?);
        let mut line = Vec::new();
        // A file that is not a manifest may be one line of any length.
        lines.by_ref().take(MAX_HEADER_LEN).read_until(b'\n', &mut line)?;
        if HEADER.as_bytes().starts_with(&line) && line.len() < HEADER.len() {
            // The file is new, or its process was killed right after creating it.
            return self.append(HEADER.as_bytes());
        }
        header(&line)?;
        self.len = line.len() as u64;
        let mut incomplete = None;
        for number in 2.. {
            line.clear();
            let is_end = lines.by_ref().take(MAX_LINE_LEN).read_until(b'\n', &mut line)? == 0;
            if let Some(number) = incomplete.filter(|_| !is_end) {
                return Err(Error::Line { number, source: Box::new(BAD_LINE) });
            }
            match Line::parse(&line) {
                _ if is_end => break,
                Some(read) if line.ends_with(b"\n") => {
                    self.len += line.len() as u64;
                    self.remember(read)?;
                }
                // A power failure can leave zeros in the place of the last writes.
                _ if !line.ends_with(b"\n") || line.contains(&0) => incomplete = Some(number),
                _ => return Err(Error::Line { number, source: Box::new(BAD_LINE) }),
            }
        }
        self.remove_incomplete_line()
    }

    /// Returns the path of the manifest, as given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether this pair is listed as finished and both files are unchanged.
    pub fn finished(&self, source: &Path, target: &Path) -> bool {
        matches!(self.state(source, target), State::Finished | State::FinishedBefore)
    }

    pub(super) fn state(&self, source: &Path, target: &Path) -> State {
        let listed = self.finished.get(&Name::of(target)).filter(|line| line.source == Name::of(source));
        let (Some(line), Ok(read), Ok(written)) =
            (listed, FileFingerprint::of(source), FileFingerprint::of(target))
        else {
            return State::New;
        };
        let before = FileFingerprint { change: None, ..line.target_fingerprint() };
        match (line.source_fingerprint().is(read), line.target_fingerprint().is(written)) {
            (true, true) if line.is_complete() => State::Finished,
            (true, true) => State::FinishedBefore,
            (true, false) if before.is(written) => State::Touched,
            _ => State::New,
        }
    }

    /// Returns the mark with which a target is listed.
    pub(super) fn mark(&self, target: &Path) -> Option<FileMark> {
        let line = self.finished.get(&Name::of(target))?;
        Some(FileMark { len: line.target_len, content: Content::Hash(line.target_hash?) })
    }

    /// Adds `target` as finished. `before` is the fingerprint of `source` from before it was read:
    /// if the source has changed since, the file does not count as finished. `mark` is the mark of
    /// the target, if known.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path of the target or of the manifest. Earlier lines stay.
    pub fn add(
        &mut self,
        source: &Path,
        before: FileFingerprint,
        target: &Path,
        mark: Option<&FileMark>,
    ) -> Result<()> {
        let hash = mark.and_then(|mark| match &mark.content {
            Content::Hash(hash) => Some(*hash),
            Content::Ends { .. } => None,
        });
        self.add_line(source, before, target, FileFingerprint::of(target)?, hash)
    }

    fn add_line(
        &mut self,
        source: &Path,
        before: FileFingerprint,
        target: &Path,
        written: FileFingerprint,
        target_hash: Option<[u8; 32]>,
    ) -> Result<()> {
        let line = Line {
            source: Name::of(source),
            source_len: before.len,
            source_mtime_ns: before.mtime_ns,
            target: Name::of(target),
            target_len: written.len,
            target_mtime_ns: written.mtime_ns,
            source_ctime_ns: before.change.map(|(ctime, _)| ctime),
            source_inode: before.change.map(|(_, inode)| inode),
            target_ctime_ns: written.change.map(|(ctime, _)| ctime),
            target_inode: written.change.map(|(_, inode)| inode),
            target_hash,
        };
        self.append(line.text(source, target).as_bytes()).map_err(|e| e.about(&self.path))?;
        self.remember(line)
    }

    /// Adds a symbolic link at `target`, copied from `source`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::add`].
    pub fn add_link(&mut self, source: &Path, target: &Path) -> Result<()> {
        let (read, written) = (FileFingerprint::of_link(source)?, FileFingerprint::of_link(target)?);
        let line = self.finished.get(&Name::of(target));
        match line.map(|line| (line.source_fingerprint(), line.target_fingerprint())) {
            Some(known) if known == (read, written) => Ok(()),
            _ => self.add_line(source, read, target, written, None),
        }
    }

    /// Returns whether `target`, a file or a link, is listed and unchanged.
    pub(super) fn wrote(&self, target: &Path) -> bool {
        let line = self.finished.get(&Name::of(target));
        line.is_some_and(|line| {
            FileFingerprint::of_link(target).is_ok_and(|now| line.target_fingerprint().is(now))
        })
    }

    /// Syncs the manifest to disk.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io(&self.path, e))
    }

    fn remember(&mut self, line: Line) -> Result<()> {
        let target = line.target.try_clone()?;
        // The error has no content.
        let bytes = size_of::<Line>() * self.finished.len();
        self.finished.try_reserve(1).map_err(|_| Error::OutOfMemory { bytes })?;
        self.finished.insert(target, line);
        Ok(())
    }

    /// Appends a line in one write: a killed process leaves complete lines, and a power failure can
    /// tear only the last.
    fn append(&mut self, line: &[u8]) -> Result<()> {
        self.remove_incomplete_line()?;
        // On Windows only: elsewhere, the file is in append mode, but Windows refuses to truncate
        // such a file.
        #[cfg(windows)]
        io::Seek::seek(&mut self.file, io::SeekFrom::Start(self.len))?;
        match self.file.write(line)? {
            n if n == line.len() => self.len += n as u64,
            _ => return Err(io::Error::from(ErrorKind::StorageFull).into()),
        }
        Ok(())
    }

    fn remove_incomplete_line(&self) -> Result<()> {
        if self.file.metadata()?.len() != self.len {
            self.file.set_len(self.len)?;
        }
        Ok(())
    }
}

impl FileFingerprint {
    /// Returns the fingerprint of the file at `path`, following links.
    ///
    /// # Errors
    /// Returns [`Error::Io`] with the path.
    pub fn of(path: &Path) -> Result<Self> {
        Self::new(&path.metadata().map_err(|e| Error::io(path, e))?, path)
    }

    /// Returns the fingerprint of a link itself, or of the file at `path`.
    fn of_link(path: &Path) -> Result<Self> {
        Self::new(&path.symlink_metadata().map_err(|e| Error::io(path, e))?, path)
    }

    pub(super) fn new(found: &Metadata, path: &Path) -> Result<Self> {
        let mtime_ns = mtime_ns(found).map_err(|e| Error::io(path, e))?;
        // Each run sets the times of a link, which changes the time of change. The path in a link
        // is compared itself.
        let change = if found.is_symlink() { None } else { change(found) };
        Ok(Self { len: found.len(), mtime_ns, change })
    }

    /// Returns whether a file with the fingerprint `now` is still the recorded one.
    fn is(self, now: Self) -> bool {
        self == if self.change.is_none() { Self { change: None, ..now } } else { now }
    }

    /// Returns the length in bytes at the time of the fingerprint.
    #[expect(clippy::len_without_is_empty, reason = "the length of a file, not of a collection")]
    pub fn len(&self) -> u64 {
        self.len
    }
}

/// Returns time of change and inode.
#[cfg(unix)]
pub(super) fn change(found: &Metadata) -> Option<(i128, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((i128::from(found.ctime()) * 1_000_000_000 + i128::from(found.ctime_nsec()), found.ino()))
}

#[cfg(windows)]
pub(super) fn change(_: &Metadata) -> Option<(i128, u64)> {
    None
}

fn mtime_ns(found: &Metadata) -> io::Result<i128> {
    let ns = |time: std::time::Duration| time.as_nanos() as i128;
    Ok(found.modified()?.duration_since(UNIX_EPOCH).map_or_else(|before| -ns(before.duration()), ns))
}

/// Locks the manifest: of two jobs at once, each would miss the files that the other finished.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::new(ErrorKind::ResourceBusy, "another job is using this manifest"))
        }
        // Some network file systems do not support locks.
        Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Unsupported => Err(e),
        _ => Ok(()),
    }
}

fn header(line: &[u8]) -> Result<()> {
    match serde_json::from_slice::<Header>(line) {
        Ok(Header { sealane, version: 1 }) if sealane == "manifest" && line.ends_with(b"\n") => Ok(()),
        Ok(Header { sealane, version: 2.. }) if sealane == "manifest" => {
            Err(Error::UnsupportedVersion("expected a manifest of version 1"))
        }
        _ => Err(EXPECTED),
    }
}

/// Reads the hash of a target.
fn hash<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[u8; 32]>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let bytes = STANDARD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.map(Some).ok_or_else(|| D::Error::custom("expected 32 bytes in base64"))
}

impl Line {
    /// Reads a line. A time of change and its inode are both there, or neither.
    fn parse(line: &[u8]) -> Option<Self> {
        // serde would also read a list of the values.
        let is_object = line.trim_ascii_start().starts_with(b"{");
        let found: Self = serde_json::from_slice(line).ok()?;
        let source = found.source_ctime_ns.is_some() == found.source_inode.is_some();
        let target = found.target_ctime_ns.is_some() == found.target_inode.is_some();
        (is_object && source && target).then_some(found)
    }

    fn source_fingerprint(&self) -> FileFingerprint {
        let change = self.source_ctime_ns.zip(self.source_inode);
        FileFingerprint { len: self.source_len, mtime_ns: self.source_mtime_ns, change }
    }

    fn target_fingerprint(&self) -> FileFingerprint {
        let change = self.target_ctime_ns.zip(self.target_inode);
        FileFingerprint { len: self.target_len, mtime_ns: self.target_mtime_ns, change }
    }

    /// Returns whether the line has all that this system tells about files.
    fn is_complete(&self) -> bool {
        cfg!(windows) || self.source_inode.is_some() && self.target_inode.is_some()
    }

    fn text(&self, source: &Path, target: &Path) -> String {
        let Self { source_len, source_mtime_ns, target_len, target_mtime_ns, .. } = self;
        let (source, target) = (quoted(source), quoted(target));
        let mut text = format!(
            "{{\"source\":{source},\"source_len\":{source_len},\"source_mtime_ns\":{source_mtime_ns},\
             \"target\":{target},\"target_len\":{target_len},\"target_mtime_ns\":{target_mtime_ns}"
        );
        for (field, change) in
            [("source", self.source_fingerprint().change), ("target", self.target_fingerprint().change)]
        {
            if let Some((ctime, inode)) = change {
                text += &format!(",\"{field}_ctime_ns\":{ctime},\"{field}_inode\":{inode}");
            }
        }
        if let Some(hash) = &self.target_hash {
            text += &format!(",\"target_hash\":\"{}\"", STANDARD.encode(hash));
        }
        text + "}\n"
    }
}

#[cfg(test)]
mod test;
