//! Translation of errors into one line of text, a kind for `--json` and an exit status.

use sealane::age::parse_recipients;
use sealane::file::job::may_lack_description;
use sealane::keys::{self, KeyFile, LoadOptions};
use sealane::{Error, FolderError, Misuse, error};
use std::io::{self, ErrorKind};
use std::path::{Path, is_separator};

/// A failure, as it is reported to the user.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(crate) struct Failure {
    kind: Kind,
    text: String,
}

/// A result whose error is a [`Failure`] unless another one is named.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The kind of a failure, for programs that use `--json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A kind that errors of the library have too.
    Of(error::Kind),
    /// `sealane doctor` has found a problem.
    Problem,
    /// The reader of the output has closed it, for example `head`. Nothing is printed.
    OutputClosed,
}

impl Kind {
    pub(crate) const AUTHENTICATION: Self = Self::Of(error::Kind::Authentication);
    pub(crate) const TRUNCATED: Self = Self::Of(error::Kind::Truncated);
    pub(crate) const MISUSE: Self = Self::Of(error::Kind::Misuse);
    pub(crate) const IO: Self = Self::Of(error::Kind::Io);
    pub(crate) const INTERRUPTED: Self = Self::Of(error::Kind::Cancelled);
    /// The kinds after which a command that prints results has nothing more to do.
    pub(crate) const ENDING: [Self; 2] = [Self::INTERRUPTED, Self::OutputClosed];

    /// Returns the name of the kind in the output of `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Of(kind) => kind.names().json,
            Self::Problem => "problem",
            Self::OutputClosed => "output-closed",
        }
    }

    /// Returns the exit status of a program that ends with this kind of failure.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Of(kind) => kind.names().status,
            Self::Problem => 1,
            // The status that a shell reports for a process ended by SIGPIPE (13).
            Self::OutputClosed => 128 + 13,
        }
    }
}

impl Failure {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    /// Returns the failure for a mistake on the command line; the text says what to do.
    pub(crate) fn misuse(text: impl Into<String>) -> Self {
        Self::new(Kind::MISUSE, text)
    }

    /// Returns the failure for a file that an option does not take. A valid file of another kind is
    /// a mistake on the command line, whatever the option.
    pub(crate) fn unsuitable(path: &Path, content: &[u8], error: Error) -> Self {
        let is_other = KeyFile::parse(content, LoadOptions::default()).is_ok()
            || keys::parse_identity_file(content, None).is_ok()
            || std::str::from_utf8(content).is_ok_and(|text| parse_recipients(text).is_ok());
        let failure = Self::about(&name(path), error);
        if is_other { Self::misuse(failure.text()) } else { failure }
    }

    /// Returns the failure for a parse error, whose paragraphs are joined to one line.
    pub(crate) fn usage(rendered: &str) -> Self {
        let text = rendered.split("\n\nFor more information").next().unwrap_or(rendered);
        let text = text.strip_prefix("error: ").unwrap_or(text);
        let parts: Vec<_> = text
            .split("\n\n")
            .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
            // A tip on passing a mistyped option as a value is seldom what is meant.
            .filter(|part| !part.is_empty() && !part.starts_with("tip: to pass"))
            .collect();
        let line = parts.join("; ").replace("Usage: ", "usage: ");
        // A long usage repeats the options, and at a terminal hides the mistake.
        Self::misuse(match line.split_once("; usage: ") {
            Some((mistake, usage)) if usage.len() > 40 => format!("{mistake}; usage: {}", help_of(usage)),
            _ => line,
        })
    }

    /// Returns the failure for an interruption by a signal, for example by Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self { kind: Kind::INTERRUPTED, text: "interrupted; no incomplete file is left".into() }
    }

    /// An error of the library about `subject`, or about the path that the error names.
    pub(crate) fn about(subject: &str, error: Error) -> Self {
        let text = match error {
            Error::Io { path, source } => {
                // A failure of this program that went through the library.
                return source.downcast().unwrap_or_else(|source| match path {
                    // A path in a vault is the end of the subject.
                    Some(path) if !Path::new(subject).ends_with(name(&path)) => {
                        Self::io(&name(&path), &source)
                    }
                    _ => Self::io(subject, &source),
                });
            }
            Error::Misuse(Misuse::OutputIsInput { ref output, ref input }) => format!(
                "{}: the output would replace {}, which this command reads; choose another with -o",
                name(output),
                name(input)
            ),
            Error::Misuse(Misuse::SameFile(path)) => return Self::same_file(&name(&path)),
            Error::Misuse(Misuse::TargetInsideSource(ref path)) => {
                format!("{}: the output folder is inside an input folder; choose another with -o", name(path))
            }
            Error::Misuse(Misuse::DuplicateTarget(ref path)) => format!(
                "{}: two inputs have this output file; rename one of them, or process them one at a time, each with its own -o",
                name(path)
            ),
            Error::InVault { path, source } => {
                let is_plain = Path::new(subject).ends_with(name(&path));
                let stored = if is_plain { String::new() } else { format!(", stored in {}", name(&path)) };
                let kind = Kind::Of(source.kind());
                return match *source {
                    source @ Error::Io { .. } => Self::about(subject, source),
                    source => Self { kind, text: format!("{subject}{stored}: {source}") },
                };
            }
            Error::Cancelled => return Self::interrupted(),
            Error::Authentication => {
                format!("{subject}: authentication failed: wrong key, wrong context or changed data")
            }
            Error::Truncated => format!("{subject}: truncated: the data ends too early, or is not encrypted"),
            Error::KeyNotFound(_) | Error::KeyService(_) | Error::KeyRefused(_) => error.to_string(),
            _ => {
                let text = error.to_string();
                let named = |path: &Path| {
                    let rest = text.strip_prefix(&format!("{}: ", path.display()));
                    rest.map(|rest| format!("{}: {rest}", name(path)))
                };
                error.subject().and_then(named).unwrap_or_else(|| format!("{subject}: {text}"))
            }
        };
        Self { kind: Kind::Of(error.kind()), text: text + advice(&error) }
    }

    /// Returns the failure for an error of the operating system about `subject`, which the message
    /// names.
    pub(crate) fn io(subject: &str, error: &io::Error) -> Self {
        let text = match error.kind() {
            // The error's own text says more than its kind.
            ErrorKind::PermissionDenied if error.get_ref().is_some() => &error.to_string(),
            ErrorKind::NotFound => "no such file or folder; check the name",
            ErrorKind::PermissionDenied => {
                "permission denied; check the permissions of the file and its folder"
            }
            ErrorKind::IsADirectory => "is a folder; name a file",
            ErrorKind::NotADirectory => "a part of the path is not a folder; check the name",
            ErrorKind::StorageFull => "the disk is full; free some space or choose another disk",
            ErrorKind::FileTooLarge => {
                "the file would be longer than the limit of this process or of the disk; check 'ulimit -f'"
            }
            ErrorKind::QuotaExceeded => "the disk quota is exceeded; free some space",
            ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another folder",
            ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
                "not a valid file name; check the name"
            }
            _ => &without_number(error),
        };
        Self { kind: Kind::IO, text: format!("{subject}: {text}") }
    }

    /// Returns the failure for an error of the operating system about standard output.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            ErrorKind::BrokenPipe => Self { kind: Kind::OutputClosed, text: String::new() },
            _ => Self::io(STDOUT, error),
        }
    }

    /// Returns the failure for a source that is its own destination.
    pub(crate) fn same_file(subject: &str) -> Self {
        Self::misuse(format!("{subject}: source and destination are the same file; choose another with -o"))
    }

    /// Appends more text to the message, for example advice that depends on the command.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.text = format!("{}; {more}", self.text);
        self
    }

    /// Adds that a folder may have had a description.
    pub(crate) fn or_lost(self, folder: &Path) -> Self {
        match may_lack_description(folder) {
            true => self.and("if 'sealane init' made the folder, restore its lost file .sealane"),
            false => self,
        }
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// Returns the command that explains the command of a usage line, such as `sealane {encrypt|-e}
/// ...`.
fn help_of(usage: &str) -> String {
    let plain = |word: &&str| !word.starts_with(['<', '[', '-']);
    let name = |word: &'_ str| word.trim_start_matches('{').split('|').next().unwrap_or(word).to_owned();
    let words: Vec<_> = usage.split(' ').take_while(plain).map(name).collect();
    format!("{} --help", words.join(" "))
}

/// Returns what the user can do about an error, if its own text does not say it.
fn advice(error: &Error) -> &'static str {
    match error {
        Error::Authentication => "; check -k and -c, or take another copy",
        Error::DamagedChunk { .. } => "; the key is right, so take another copy of the file",
        Error::KeyMismatch { .. } => "; use the same key, context and format, or another manifest",
        Error::Truncated => "; take another copy",
        Error::Header(_) | Error::Armor(_) => "; take another copy of the file",
        Error::NoMatchingKey => "; check the files given with -i or -k",
        Error::PassphraseRequired => "; use -p",
        Error::IdentityRequired => "; use -i",
        Error::WrongPassphrase => "; try again",
        Error::Format(text) if text.starts_with("expected an age file") => {
            "; a file that was encrypted with -k needs it again"
        }
        Error::WorkFactor { .. } => "; if you trust the sender, raise --max-work-factor",
        Error::Folder(FolderError::NameNotAuthentic) => {
            "; check --encrypt-names, and name the whole encrypted folder as IN"
        }
        _ => "",
    }
}

/// The name that stands for standard input in messages to the user.
pub(crate) const STDIN: &str = "standard input";
/// The name that stands for standard output in messages to the user.
pub(crate) const STDOUT: &str = "standard output";

/// The characters, for private use, that stand for the bytes 0 to 255 of names that are not UTF-8.
const RAW: std::ops::RangeInclusive<u32> = 0xF_DC00..=0xF_DCFF;

/// Returns the name that stands for a file in messages to the user. [`raw_byte`] finds the bytes
/// that are not UTF-8, and the backslashes of Unix, which would look like an escaped character.
pub(crate) fn name(path: &Path) -> String {
    let raw = |byte: &u8| char::from_u32(RAW.start() + u32::from(*byte));
    let mut name = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        for found in part.valid().chars() {
            // A name that has such a character itself: its bytes stand for it.
            match raw_byte(found).or((found == '\\' && !is_separator(found)).then_some(b'\\')) {
                Some(_) => name.extend(found.encode_utf8(&mut [0; 4]).as_bytes().iter().filter_map(raw)),
                None => name.push(found),
            }
        }
        name.extend(part.invalid().iter().filter_map(raw));
    }
    name
}

/// Returns the byte of a file name that a character of [`name`] stands for.
pub(crate) fn raw_byte(c: char) -> Option<u8> {
    RAW.contains(&c.into()).then_some(c as u8)
}

/// Returns the message of the operating system without the error number that Rust appends.
fn without_number(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_paragraph_becomes_a_line() {
        let rendered = "error: the following required arguments were not provided:\n  --key <KEYFILE>\n\n\
                    Usage: sealane cat --key <KEYFILE> <FILE>\n\nFor more information, try '--help'.\n";
        let long =
            format!("error: a mistake\n\nUsage: sealane {{encrypt|-e}} <{}> [IN]...\n", "--key|".repeat(20));
        assert_eq!(Failure::usage(&long).text(), "a mistake; usage: sealane encrypt --help");
        let typo = "error: unexpected argument '--kye' found\n\n  tip: to pass '--kye' as a value, use '-- --kye'\n\n\
                    Usage: sealane {encrypt|--encrypt|-e} [OPTIONS] [IN]...\n";
        let short = "unexpected argument '--kye' found; usage: sealane encrypt --help";
        assert_eq!(Failure::usage(typo).text(), short);
        assert_eq!(
            Failure::usage(rendered).text(),
            "the following required arguments were not provided: --key <KEYFILE>; \
             usage: sealane cat --key <KEYFILE> <FILE>"
        );
    }
}
