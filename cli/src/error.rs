//! The one translation: from what went wrong to a line of text, a word for machines and an exit status.

use sealane::{Error, Misuse};
use std::io;
use std::path::Path;

/// What is told to the user, once.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    text: String,
}

/// The kinds that a program may want to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Authentication,
    Truncated,
    Format,
    /// The keys or the passphrase are others.
    NoMatch,
    Io,
    Limit,
    Provider,
    Misuse,
    Interrupted,
    /// Whoever read our output has left, as `head` does. Nobody is there to be told.
    ReaderLeft,
}

impl Kind {
    /// The word in `--json`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Truncated => "truncated",
            Self::Format => "format",
            Self::NoMatch => "no-match",
            Self::Io => "io",
            Self::Limit => "limit",
            Self::Provider => "provider",
            Self::Misuse => "misuse",
            Self::Interrupted => "interrupted",
            Self::ReaderLeft => "reader-left",
        }
    }

    /// The exit status.
    pub(crate) fn status(self) -> u8 {
        match self {
            Self::Misuse => 2,
            Self::Interrupted => 130,
            // What a shell reports of a process that SIGPIPE (13) ended.
            Self::ReaderLeft => 128 + 13,
            _ => 1,
        }
    }
}

impl Failure {
    /// A mistake on the command line; `text` says what to do.
    pub(crate) fn misuse(text: impl Into<String>) -> Self {
        Self { kind: Kind::Misuse, text: text.into() }
    }

    /// The parser's answer, a paragraph, as one line.
    pub(crate) fn usage(rendered: &str) -> Self {
        let said = rendered.split("\n\nFor more information").next().unwrap_or(rendered);
        let said = said.strip_prefix("error: ").unwrap_or(said);
        let parts: Vec<_> = said
            .split("\n\n")
            .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|part| !part.is_empty())
            .collect();
        Self::misuse(parts.join("; ").replace("Usage: ", "usage: "))
    }

    /// The user asked to stop.
    pub(crate) fn interrupted() -> Self {
        Self { kind: Kind::Interrupted, text: "interrupted; no half-written file was left behind".into() }
    }

    /// The user asked to stop, with `done` of `all` files done.
    pub(crate) fn interrupted_among(done: usize, all: usize, advice: &str) -> Self {
        let text = format!("interrupted; {done} of {all} files are done, and none is half-written; {advice}");
        Self { kind: Kind::Interrupted, text }
    }

    /// What sealane says about `subject`, unless it names another file itself.
    pub(crate) fn about(subject: &str, error: Error) -> Self {
        let (kind, text) = match error {
            Error::Io { path, source } => {
                return match path {
                    Some(path) => Self::io(&name(&path), &source),
                    None => Self::io(subject, &source),
                };
            }
            Error::Misuse(Misuse::SameFile(path)) => {
                return Self::same_file(&name(&path));
            }
            Error::Misuse(Misuse::TargetInsideSource(path)) => {
                return Self::misuse(format!(
                    "{}: results would go into a folder that is read; choose another with -o",
                    name(&path)
                ));
            }
            Error::Misuse(Misuse::DuplicateTarget(path)) => {
                return Self::misuse(format!(
                    "{}: two inputs would become this file; give them one at a time, each with its own -o",
                    name(&path)
                ));
            }
            Error::Cancelled => return Self::interrupted(),
            Error::Authentication => (
                Kind::Authentication,
                "authentication failed: wrong key, wrong context or changed data; \
                 check -k and -c, or take another copy"
                    .into(),
            ),
            Error::Truncated => (
                Kind::Truncated,
                "truncated: the data ends too early, or was never encrypted; take another copy".into(),
            ),
            error @ (Error::Format(_)
            | Error::Header(_)
            | Error::Armor(_)
            | Error::Line { .. }
            | Error::UnsupportedVersion(_)) => (Kind::Format, error.to_string()),
            error @ Error::NoMatchingKey => (Kind::NoMatch, format!("{error}; name another file with -i")),
            error @ Error::PassphraseRequired => (Kind::NoMatch, format!("{error}; use -p")),
            error @ Error::IdentityRequired => (Kind::NoMatch, format!("{error}; use -i")),
            error @ Error::WrongPassphrase => (Kind::NoMatch, error.to_string()),
            error @ Error::WorkFactor { .. } => {
                (Kind::Limit, format!("{error}; allow it with --max-work-factor if you trust its sender"))
            }
            error @ Error::LimitExceeded(_) => (Kind::Limit, error.to_string()),
            error @ (Error::ProviderUnavailable(_) | Error::SelfTest(_)) => {
                (Kind::Provider, error.to_string())
            }
            error @ (Error::Environment(_) | Error::Misuse(_)) => (Kind::Misuse, error.to_string()),
            error => (Kind::Io, error.to_string()),
        };
        Self { kind, text: format!("{subject}: {text}") }
    }

    /// What the operating system says about `subject`.
    pub(crate) fn io(subject: &str, error: &io::Error) -> Self {
        let text = match error.kind() {
            io::ErrorKind::NotFound => "no such file or folder; check the name".into(),
            io::ErrorKind::PermissionDenied => "permission denied; check who may read or write it".into(),
            io::ErrorKind::IsADirectory => "is a folder; name a file".into(),
            io::ErrorKind::NotADirectory => "a part of the name is not a folder; check the name".into(),
            io::ErrorKind::StorageFull => "the disk is full; free some space or choose another place".into(),
            io::ErrorKind::QuotaExceeded => "your share of the disk is used up; free some space".into(),
            io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only; choose another place".into(),
            io::ErrorKind::InvalidInput if error.raw_os_error().is_none() => {
                "not a name that a file can have".into()
            }
            _ => plain(error),
        };
        Self { kind: Kind::Io, text: format!("{subject}: {text}") }
    }

    /// An answer of the operating system about our standard output.
    pub(crate) fn stdout(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self { kind: Kind::ReaderLeft, text: String::new() },
            _ => Self::io(STDOUT, error),
        }
    }

    /// Source and destination are one.
    pub(crate) fn same_file(subject: &str) -> Self {
        Self::misuse(format!("{subject}: source and destination are the same file; choose another with -o"))
    }

    /// The key file is there, and is not written over.
    pub(crate) fn key_exists(subject: &str) -> Self {
        Self {
            kind: Kind::Io,
            text: format!("{subject}: exists, and a key is never overwritten; choose another name"),
        }
    }

    /// The same, with more to be said.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.text = format!("{}; {more}", self.text);
        self
    }

    pub(crate) fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

/// How standard input is called in messages.
pub(crate) const STDIN: &str = "standard input";
/// How standard output is called in messages.
pub(crate) const STDOUT: &str = "standard output";

/// How a file is called in messages.
pub(crate) fn name(path: &Path) -> String {
    path.display().to_string()
}

/// The system's words without Rust's number.
fn plain(error: &io::Error) -> String {
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
        let said = "error: the following required arguments were not provided:\n  --key <KEYFILE>\n\n\
                    Usage: sealane cat --key <KEYFILE> <FILE>\n\nFor more information, try '--help'.\n";
        assert_eq!(
            Failure::usage(said).text(),
            "the following required arguments were not provided: --key <KEYFILE>; \
             usage: sealane cat --key <KEYFILE> <FILE>"
        );
    }
}
