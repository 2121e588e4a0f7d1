//! Sources and destinations of file operations.

use crate::error::{Failure, Result, STDIN, STDOUT, name};
use crate::{os, url};
use sealane::Error;
use sealane::file::FileId;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Where data comes from, as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

/// Where data goes, as named on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    File(PathBuf),
}

/// Source and destination of one operation on a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) from: Source,
    pub(crate) to: Target,
}

/// Returns the pairs that the inputs and the output of a command line mean.
/// Files keep their names in a folder, without `dropped` suffixes.
pub(crate) fn pairs(inputs: &[PathBuf], output: Option<&Path>, dropped: &[&str]) -> Result<Vec<Pair>> {
    let names_folder = |output: &Path| url::of(output).is_some_and(|url| url.ends_with('/'));
    let folder = output.filter(|output| output.is_dir() || names_folder(output));
    match (inputs, folder) {
        ([] | [_], None) => {
            let from = inputs.first().map_or(Source::Stdin, |path| Source::new(path));
            Ok(vec![Pair { from, to: output.map_or(Target::Stdout, Target::new) }])
        }
        (_, Some(folder)) => into_folder(inputs, folder, dropped),
        (_, None) => Err(Failure::misuse(match output {
            Some(output) if url::of(output).is_some() => {
                format!("{}: expected '/' at the end of a folder for several inputs", name(output))
            }
            Some(output) => format!("{}: expected an existing folder for several inputs", name(output)),
            None => "expected an existing folder for several inputs; name it with -o".into(),
        })),
    }
}

/// The names must differ, or a later file would replace an earlier one.
fn into_folder(inputs: &[PathBuf], folder: &Path, dropped: &[&str]) -> Result<Vec<Pair>> {
    let mut taken = BTreeSet::new();
    let drops = |path: &Path| path.extension().is_some_and(|end| dropped.iter().any(|known| end == *known));
    let kept = |input: &PathBuf| if drops(input) { input.with_extension("") } else { input.clone() };
    let one = |input: &PathBuf| match (Source::new(input), kept(input).file_name()) {
        (Source::File(from), Some(file)) if taken.insert(comparable(file)) => {
            Ok(Pair { from: Source::File(from), to: Target::File(folder.join(file)) })
        }
        (Source::File(_), Some(_)) => Err(Failure::misuse(format!(
            "{}: another input has the same name, and files keep their names in {}; process it separately",
            name(input),
            name(folder)
        ))),
        (Source::File(from), None) => Err(Failure::io(&name(&from), &io::ErrorKind::IsADirectory.into())),
        (Source::Stdin, _) => Err(Failure::misuse(format!(
            "{}: is a folder, and standard input has no name for a file in it; name a file",
            name(folder)
        ))),
    };
    match inputs {
        [] => [PathBuf::from("-")].iter().map(one).collect(),
        inputs => inputs.iter().map(one).collect(),
    }
}

/// Returns a key that is equal for equal file names.
fn comparable(name: &OsStr) -> OsString {
    if os::IGNORES_CASE { name.to_string_lossy().to_uppercase().into() } else { name.to_owned() }
}

/// Returns whether a path names standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"].map(Path::new).contains(&path)
}

impl Source {
    pub(crate) fn new(path: &Path) -> Self {
        if path == Path::new("-") { Self::Stdin } else { Self::File(path.to_owned()) }
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        name(self.subject())
    }

    /// Returns the path that stands for the source in errors of the library.
    pub(crate) fn subject(&self) -> &Path {
        match self {
            Self::Stdin => Path::new(STDIN),
            Self::File(path) => path,
        }
    }

    /// Returns the path as given on the command line.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Stdin => "-".into(),
            Self::File(path) => path.clone(),
        }
    }

    /// Returns the source's URL, if it is at one.
    pub(crate) fn url(&self) -> Option<&str> {
        url::of(self.subject())
    }

    /// Opens the source for reading from start to end.
    pub(crate) fn open(&self) -> Result<File> {
        let about = |e: io::Error| Failure::io(&self.name(), &e);
        let file = match self {
            Self::Stdin => stdin().map_err(about)?,
            Self::File(path) => sealane::file::open_file(path).map_err(about)?,
        };
        let found = sealane::file::file_metadata(&file).map_err(about)?;
        match found.is_some_and(|found| found.is_dir()) {
            true => Err(about(io::ErrorKind::IsADirectory.into())),
            false => Ok(file),
        }
    }

    /// Like [`Self::open`], for commands with the option `--recursive`.
    pub(crate) fn open_file(&self) -> Result<File> {
        self.open().map_err(|failure| match self {
            Self::File(path) if path.is_dir() => failure.and("or add --recursive").or_lost(path),
            _ => failure,
        })
    }

    /// Returns the length of the source in bytes, if known before reading.
    pub(crate) fn size(&self) -> Option<u64> {
        match self {
            Self::Stdin => stdin().ok().and_then(|file| regular_len(&file)),
            Self::File(path) => path.metadata().ok().filter(|found| found.is_file()).map(|found| found.len()),
        }
    }
}

impl Target {
    pub(crate) fn new(path: &Path) -> Self {
        // If the shell redirected the output to a file, we write to it and do not replace it, even
        // under this name.
        let stdout = ["-", "/dev/stdout"].map(Path::new).contains(&path);
        if stdout { Self::Stdout } else { Self::File(path.to_owned()) }
    }

    /// Returns the name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdout => STDOUT.into(),
            Self::File(path) => name(path),
        }
    }

    /// Returns whether this is standard output and a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        *self == Self::Stdout && io::stdout().is_terminal()
    }
}

/// Returns the length of a regular file at its beginning. A file of length 0 counts as a pipe: its
/// content may be generated as it is read, as in `/proc`.
pub(crate) fn regular_len(mut file: &File) -> Option<u64> {
    let found = file.metadata().ok()?;
    (found.is_file() && found.len() > 0 && file.stream_position().ok()? == 0).then_some(found.len())
}

/// Returns the identity of an open file; `None` if it is not a regular file.
pub(crate) fn regular_id(file: &File) -> io::Result<Option<FileId>> {
    let found = sealane::file::file_metadata(file)?.filter(Metadata::is_file);
    Ok(found.and_then(|found| FileId::of(file, &found)))
}

/// Returns the identity of the file at a path, as [`regular_id`] does, following links.
pub(crate) fn regular_id_at(path: &Path) -> io::Result<Option<FileId>> {
    if path.metadata()?.is_file() { FileId::at(path) } else { Ok(None) }
}

/// Returns standard output as a file, without [`io::Stdout`]'s line buffer. Fails if it is the
/// source: appending data to its own source never ends.
pub(crate) fn stdout_apart_from(source: &File) -> Result<File> {
    let about = |e: io::Error| Failure::stdout(&e);
    let file = stdout().map_err(about)?;
    let found = regular_id(&file).map_err(about)?;
    match found.is_some() && found == regular_id(source).map_err(about)? {
        true => Err(Failure::same_file(STDOUT)),
        false => Ok(file),
    }
}

/// Returns the error that the system reports when standard output is closed (a network file system
/// may).
pub(crate) fn flush_stdout() -> io::Result<()> {
    sealane::file::flush_file(&stdout()?)
}

impl Pair {
    /// Refuses a destination that is the source, through any links. A file that cannot be examined
    /// fails later.
    pub(crate) fn check(&self) -> Result<()> {
        let from = match &self.from {
            Source::Stdin => stdin().and_then(|file| regular_id(&file)),
            Source::File(path) => regular_id_at(path),
        };
        let to = match &self.to {
            Target::Stdout => stdout().and_then(|file| regular_id(&file)),
            Target::File(path) => regular_id_at(path),
        };
        match (from, to) {
            (Ok(Some(from)), Ok(Some(to))) if from == to => Err(Failure::same_file(&self.to.name())),
            _ => Ok(()),
        }
    }
}

/// Reads the list that an option names, up to a limit: a device may have no end.
pub(crate) fn read_list(path: &Path) -> Result<Vec<u8>> {
    const MAX_LEN: u64 = 16 << 20;
    let mut content = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_LEN + 1).read_to_end(&mut content));
    match read.map_err(|e| Failure::io(&name(path), &e))? as u64 {
        ..=MAX_LEN => Ok(content),
        _ => Err(Failure::about(&name(path), Error::LimitExceeded("the list has more than 16 MiB"))),
    }
}

/// Returns standard input as a file, without a buffer that reads ahead.
pub(crate) fn stdin() -> io::Result<File> {
    check_open(0)?;
    os::duplicate(&io::stdin())
}

/// Returns standard output as a file, without [`io::Stdout`]'s line buffer.
pub(crate) fn stdout() -> io::Result<File> {
    check_open(1)?;
    os::duplicate(&io::stdout())
}

/// The standard streams that were closed when the process was started.
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];

fn check_open(number: usize) -> io::Result<()> {
    match CLOSED[number].load(Ordering::Relaxed) {
        true => Err(io::Error::other("is closed; name a file")),
        false => Ok(()),
    }
}

/// Fills standard streams that are closed: the next file would get such a number, and messages
/// would be written into it.
pub fn fill_closed_streams() {
    os::fill_closed_streams(|closed| CLOSED[closed].store(true, Ordering::Relaxed));
}
