//! Every way to fail, and whose fault it is.
//!
//! What an attacker can influence says one opaque word; what the caller can fix says everything.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// Why a call failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Wrong key, wrong nonce, wrong context, or data that was changed. Which one is not known, and would not be said.
    Authentication,
    /// Not what it should be: the text says what was expected.
    Format(&'static str),
    /// It ends too early.
    Truncated,
    /// The provider that was asked for is not there.
    ProviderUnavailable(providers::Unavailable),
    /// There is no native AES: no build of it that may run here passes its self-test.
    SelfTest(providers::NoAes),
    /// An environment variable of sealane's that cannot be understood.
    Environment(providers::BadVariable),
    /// More than the algorithm or the format can carry.
    LimitExceeded(&'static str),
    /// The caller's mistake, to be fixed by reading the message.
    Misuse(Misuse),
    /// The operating system's answer, with the file it was about.
    Io {
        /// The file, where there is one.
        path: Option<PathBuf>,
        /// The answer.
        source: io::Error,
    },
    /// The progress callback asked to stop.
    Cancelled,
}

/// A mistake of the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// A key of a length that the algorithm does not have.
    KeyLength {
        /// Bytes given.
        got: usize,
        /// Bytes that would do.
        want: &'static [usize],
    },
    /// A nonce or counter block of another length.
    NonceLength {
        /// Bytes given.
        got: usize,
        /// Bytes wanted.
        want: usize,
    },
    /// The output buffer is too short.
    OutputTooShort {
        /// Bytes there.
        got: usize,
        /// Bytes needed.
        need: usize,
    },
    /// More plaintext was announced than the buffer holds.
    BufferTooShort {
        /// Bytes there.
        got: usize,
        /// Bytes announced.
        need: usize,
    },
    /// Source and destination share some bytes without being the same ones.
    Overlap,
    /// Source and destination are the same file.
    SameFile(PathBuf),
    /// A stream is used again after it failed.
    Lost,
    /// The source names something that is no file or stream.
    Source(&'static str),
}

impl Error {
    /// The operating system's answer about `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: Some(path.to_owned()), source }
    }

    /// Names the file that an answer of the operating system is about, where it was not named yet.
    pub(crate) fn about(self, path: &Path) -> Self {
        match self {
            Self::Io { path: None, source } => Self::io(path, source),
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authentication => f.write_str("authentication failed"),
            Self::Format(expected) => write!(f, "not {expected}"),
            Self::Truncated => f.write_str("truncated: the data ends too early"),
            Self::ProviderUnavailable(why) => why.fmt(f),
            Self::SelfTest(why) => why.fmt(f),
            Self::Environment(why) => why.fmt(f),
            Self::LimitExceeded(limit) => write!(f, "limit exceeded: {limit}"),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Io { path: Some(path), source } => write!(f, "{}: {source}", path.display()),
            Self::Io { path: None, source } => source.fmt(f),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KeyLength { got, want } => {
                f.write_str("the key must have ")?;
                for (i, n) in want.iter().enumerate() {
                    write!(f, "{}{n}", if i == 0 { "" } else { " or " })?;
                }
                write!(f, " bytes, not {got}")
            }
            Self::NonceLength { got, want } => write!(f, "the nonce must have {want} bytes, not {got}"),
            Self::OutputTooShort { got, need } => {
                write!(f, "the output buffer has {got} bytes, {need} are needed")
            }
            Self::BufferTooShort { got, need } => {
                write!(f, "the buffer holds {got} bytes of plaintext, {need} were announced")
            }
            Self::Overlap => f.write_str(
                "source and destination overlap without being the same bytes: use separate buffers, or the same start",
            ),
            Self::SameFile(path) => {
                write!(f, "source and destination are the same file: {}", path.display())
            }
            Self::Lost => f.write_str("an earlier failure lost what was in the making: begin again"),
            Self::Source(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl std::error::Error for Misuse {}

impl From<Misuse> for Error {
    fn from(misuse: Misuse) -> Self {
        Self::Misuse(misuse)
    }
}

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        Self::Io { path: None, source }
    }
}

impl From<providers::Forged> for Error {
    fn from(_: providers::Forged) -> Self {
        Self::Authentication
    }
}

impl From<providers::Unavailable> for Error {
    fn from(why: providers::Unavailable) -> Self {
        match why.reason {
            providers::Reason::Variable(bad) => bad.into(),
            _ => Self::ProviderUnavailable(why),
        }
    }
}

impl From<providers::BadVariable> for Error {
    fn from(why: providers::BadVariable) -> Self {
        Self::Environment(why)
    }
}

impl From<providers::Failed> for Error {
    fn from(_: providers::Failed) -> Self {
        Self::LimitExceeded("the provider refused a message of this length")
    }
}

impl From<providers::NoAes> for Error {
    fn from(why: providers::NoAes) -> Self {
        match why {
            providers::NoAes::KeyLength(got) => Misuse::KeyLength { got, want: &[16, 24, 32] }.into(),
            providers::NoAes::NoRow => Self::SelfTest(why),
            providers::NoAes::Variable(bad) => bad.into(),
        }
    }
}
