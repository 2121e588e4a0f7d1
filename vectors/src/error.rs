//! Why a file of vectors cannot be used.

use std::{fmt, io};

/// A file, and what is wrong with it.
#[derive(Debug)]
pub(crate) struct Error {
    /// The file, relative to the folder of vectors.
    pub(crate) file: String,
    /// What is wrong with it.
    pub(crate) why: Why,
}

/// What is wrong with a file.
#[derive(Debug)]
pub(crate) enum Why {
    /// No reader knows it.
    UnknownFile,
    /// A reader knows it and it is not there.
    Missing,
    /// The operating system's answer.
    Io(io::Error),
    /// Not JSON, or not the keys and words that the reader knows.
    Json(serde_json::Error),
    /// An algorithm that the reader does not know.
    UnknownAlgorithm(String),
    /// An entry that is neither a case nor internal states.
    UnknownEntry(String),
    /// A case has other lengths than its group or file says.
    Length(String),
    /// The file announces another number of cases than it has.
    Count {
        /// What it announces.
        announced: usize,
        /// What it has.
        found: usize,
    },
    /// A compressed value does not expand.
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
            Self::UnknownFile => f.write_str("no reader knows this file"),
            Self::Missing => f.write_str("missing"),
            Self::Io(error) => error.fmt(f),
            Self::Json(error) => error.fmt(f),
            Self::UnknownAlgorithm(name) => write!(f, "unknown algorithm {name:?}"),
            Self::UnknownEntry(name) => write!(f, "entry {name:?} is neither a case nor states"),
            Self::Length(id) => write!(f, "case {id}: not the lengths that are announced"),
            Self::Count { announced, found } => write!(f, "{announced} cases announced, {found} found"),
            Self::Compression(id) => write!(f, "case {id}: the compressed value does not expand"),
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
