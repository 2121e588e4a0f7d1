//! Errors of the loader. It panics with them, because a test cannot continue.

use std::{fmt, io};

/// A file's error: path and cause.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) file: String,
    pub(crate) why: Why,
}

/// Cause of an error.
#[derive(Debug)]
pub(crate) enum Why {
    /// No reader is registered for the file, so its vectors would be left out.
    UnknownFile,
    /// A reader is registered, but the file does not exist.
    Missing,
    /// The file or folder could not be read.
    Io(io::Error),
    /// The file is not JSON, or has keys or values unknown to the reader.
    Json(serde_json::Error),
    /// The file names an algorithm unknown to its reader.
    UnknownAlgorithm(String),
    /// An entry, a line or a value is unknown to the reader, missing or inconsistent.
    UnknownEntry(String),
    /// A case has other lengths than its group or file announces.
    Length(String),
    /// The file has another number of cases than it announces.
    Count { announced: usize, found: usize },
    /// The compressed value of the case with this ID, or the file with this name, cannot be
    /// decompressed.
    Compression(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vectors/{}: {}", self.file, self.why)
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownFile => {
                f.write_str("expected a file with a reader in vectors/src/lib.rs, found an unknown file")
            }
            Self::Missing => f.write_str("the file does not exist"),
            Self::Io(error) => error.fmt(f),
            Self::Json(error) => error.fmt(f),
            Self::UnknownAlgorithm(name) => write!(f, "unknown algorithm {name:?}"),
            Self::UnknownEntry(name) => write!(f, "expected a case or internal states, found entry {name:?}"),
            Self::Length(id) => write!(f, "case {id}: the lengths differ from the announced ones"),
            Self::Count { announced, found } => {
                write!(f, "expected {announced} cases as announced, found {found}")
            }
            Self::Compression(id) => write!(f, "case {id}: the compressed value cannot be decompressed"),
        }
    }
}

impl From<serde_json::Error> for Why {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
