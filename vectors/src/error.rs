//! Errors of the loader, which panics with them because a test cannot continue.

use std::{fmt, io};

/// The error of a file, with the path of the file and the cause.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) file: String,
    pub(crate) why: Why,
}

/// The cause of an error, which the message of the panic describes.
#[derive(Debug)]
pub(crate) enum Why {
    /// No reader is registered for the file, so its vectors would be left out.
    UnknownFile,
    /// A reader is registered, but the file does not exist.
    Missing,
    /// The file or folder could not be read.
    Io(io::Error),
    /// The file is not JSON, or has keys or values that the reader does not know.
    Json(serde_json::Error),
    /// The file names an algorithm that its reader does not know.
    UnknownAlgorithm(String),
    /// An entry, a line or a value is unknown to the reader, missing or inconsistent.
    UnknownEntry(String),
    /// A case has other lengths than its group or file announces.
    Length(String),
    /// The file has another number of cases than it announces.
    Count { announced: usize, found: usize },
    /// A compressed value of the case with this id, or of the file with this name, cannot be decompressed.
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
