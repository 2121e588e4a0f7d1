//! Errors of the loader.

use std::{fmt, io};

/// The error of a file.
#[derive(Debug)]
pub(crate) struct Error {
    pub(crate) file: String,
    pub(crate) why: Why,
}

/// The cause of an error.
#[derive(Debug)]
pub(crate) enum Why {
    /// No reader is registered for the file.
    UnknownFile,
    /// A reader is registered, but the file does not exist.
    Missing,
    /// The operating system returned an error.
    Io(io::Error),
    /// The file is not JSON, or has keys or values that the reader does not know.
    Json(serde_json::Error),
    /// The reader does not know an algorithm.
    UnknownAlgorithm(String),
    /// An entry is neither a case nor a list of internal states.
    UnknownEntry(String),
    /// A case has other lengths than its group or file announces.
    Length(String),
    /// The file has another number of cases than it announces.
    Count {
        /// The announced number.
        announced: usize,
        /// The number of cases in the file.
        found: usize,
    },
    /// A compressed value cannot be decompressed.
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
