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
    /// The header of a file is damaged, or was changed: the text says where.
    Header(&'static str),
    /// The ASCII armor around a file is damaged, or was changed: the text says how.
    Armor(&'static str),
    /// A line of a list of recipients or identities cannot be used.
    Line {
        /// Its number, from 1.
        number: usize,
        /// Why not.
        why: Box<Self>,
    },
    /// Of a version that this release does not know: the text says which ones it does.
    UnsupportedVersion(&'static str),
    /// None of the keys that were given is one that the data was encrypted for.
    NoMatchingKey,
    /// The data was encrypted with a passphrase, and keys were given.
    PassphraseWanted,
    /// The data was encrypted for people, and a passphrase was given.
    IdentityWanted,
    /// The passphrase is another one, or the data was changed.
    Passphrase,
    /// The passphrase asks for more work than was allowed.
    WorkFactor {
        /// Base-2 logarithm of what it asks for.
        asked: u8,
        /// Base-2 logarithm of what is allowed.
        most: u8,
    },
    /// The provider that was asked for is not there.
    ProviderUnavailable(providers::Unavailable),
    /// There is no native cipher of this name: no build of it that may run here passes its self-test.
    SelfTest(&'static str),
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
    /// A tag of another length.
    TagLength {
        /// Bytes given.
        got: usize,
        /// Bytes wanted.
        want: usize,
    },
    /// Data that is no whole number of blocks.
    BlockLength {
        /// Bytes given.
        got: usize,
        /// Bytes of a block.
        block: usize,
    },
    /// Associated data after data.
    LateAad,
    /// A message or a tag that was finished is used again.
    Finished,
    /// An algorithm that cannot be computed in pieces.
    NotStreamed(providers::Algorithm),
    /// A cipher with small blocks, by a call that does not say so. Bits of a block.
    SmallBlock(usize),
    /// A random nonce for a cipher whose nonces are too short to be random.
    ShortNonce,
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
    /// A target lies in a folder that is a source.
    Nested(PathBuf),
    /// Two sources have this one target.
    SameTarget(PathBuf),
    /// A suffix of names that no name can end with.
    Suffix,
    /// A stream is used again after it failed.
    Poisoned,
    /// A secret that is too long to be wrapped by this key.
    SecretLength {
        /// Bytes given.
        got: usize,
        /// Bytes that would do.
        most: usize,
    },
    /// A key that cannot do what is asked of it.
    Key(&'static str),
    /// A key file is encrypted with a passphrase, and none was given.
    PassphraseMissing,
    /// A key file is encrypted for recipients, and no identity was given.
    IdentityMissing,
    /// A passphrase or identities were given for a key file that is not encrypted.
    NotEncrypted,
    /// No key is derived from a passphrase like this.
    Derivation(&'static str),
    /// Recipients that cannot be, or cannot be together.
    Recipient(&'static str),
    /// The source names something that is no file or stream.
    Source(&'static str),
}

impl Error {
    /// The operating system's answer about `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::from(source).about(path)
    }

    /// For an interface that speaks of [`io::Error`] only; [`Self::from`] brings it out again.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Io { path: None, source } => source,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }

    /// Names the file that an answer of the operating system is about, where it was not named yet.
    pub(crate) fn about(self, path: &Path) -> Self {
        match self {
            Self::Io { path: None, source } => Self::Io { path: Some(path.to_owned()), source },
            other => other,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Authentication => f.write_str("authentication failed"),
            Self::Format(what) => f.write_str(what),
            Self::Truncated => f.write_str("truncated: the data ends too early"),
            Self::Header(what) => write!(f, "damaged header: {what}"),
            Self::Armor(what) => write!(f, "damaged armor: {what}"),
            Self::Line { number, why } => write!(f, "line {number}: {why}"),
            Self::UnsupportedVersion(known) => write!(f, "unsupported version: {known}"),
            Self::PassphraseWanted => f.write_str("no matching key: it was encrypted with a passphrase"),
            Self::IdentityWanted => {
                f.write_str("no matching key: it was encrypted for people, not with a passphrase")
            }
            Self::NoMatchingKey => {
                f.write_str("no matching key: none of those given is one that the data was encrypted for")
            }
            Self::Passphrase => f.write_str("wrong passphrase"),
            Self::WorkFactor { asked, most } => write!(
                f,
                "the passphrase asks for 2^{asked} rounds of scrypt, which takes {} of memory; at most 2^{most} are \
                 done",
                memory(*asked)
            ),
            Self::ProviderUnavailable(why) => why.fmt(f),
            Self::SelfTest(name) => write!(f, "native {name}: {}", providers::Reason::WrongAnswer),
            Self::Environment(why) => why.fmt(f),
            Self::LimitExceeded(limit) => write!(f, "limit exceeded: {limit}"),
            Self::Misuse(misuse) => misuse.fmt(f),
            Self::Io { path: Some(path), source } => write!(f, "{}: {source}", path.display()),
            Self::Io { path: None, source } => source.fmt(f),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}

/// What scrypt with blocks of 1 KiB takes.
fn memory(log_n: u8) -> String {
    match log_n {
        ..10 => format!("{} KiB", 1u64 << log_n),
        10..20 => format!("{} MiB", 1u64 << (log_n - 10)),
        20..64 => format!("{} GiB", 1u64 << (log_n - 20)),
        _ => "all the world's".into(),
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
            Self::TagLength { got, want } => write!(f, "the tag must have {want} bytes, not {got}"),
            Self::BlockLength { got, block } => {
                write!(f, "the data must be whole blocks of {block} bytes; it has {got}")
            }
            Self::LateAad => f.write_str("associated data comes before data: there has been data"),
            Self::Finished => f.write_str("already finalized"),
            Self::NotStreamed(algorithm) => {
                write!(
                    f,
                    "{} cannot be computed in pieces; AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305 can",
                    algorithm.name()
                )
            }
            Self::SmallBlock(bits) => write!(
                f,
                "a block of {bits} bits is too small for most uses: if you know why it is not for yours, \
                 call new_small_block"
            ),
            Self::ShortNonce => {
                f.write_str("the nonces of small blocks are too short to be random: count them, and call encrypt")
            }
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
            Self::Nested(path) => {
                write!(f, "the target lies in a source: {}", path.display())
            }
            Self::SameTarget(path) => write!(f, "two sources have the same target: {}", path.display()),
            Self::Suffix => f.write_str("no name can end with this suffix"),
            Self::Poisoned => f.write_str("an earlier failure lost what was in the making: begin again"),
            Self::SecretLength { got, most } => {
                write!(f, "this key wraps secrets of up to {most} bytes, not {got}")
            }
            Self::PassphraseMissing => f.write_str("the key is encrypted with a passphrase: give it"),
            Self::IdentityMissing => f.write_str("the key is encrypted for recipients: give an identity"),
            Self::NotEncrypted => {
                f.write_str("the key is not encrypted: leave out the passphrase, and the identities")
            }
            Self::Key(what) | Self::Recipient(what) | Self::Source(what) | Self::Derivation(what) => {
                f.write_str(what)
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Line { why, .. } => Some(why),
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

/// An error of ours that went through an interface which speaks of [`io::Error`] only comes out as it was.
impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        source.downcast().unwrap_or_else(|source| Self::Io { path: None, source })
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
            providers::NoAes::NoRow => Self::SelfTest("AES"),
            providers::NoAes::Variable(bad) => bad.into(),
        }
    }
}

/// With a key of a wrong length the caller says which would be right, before it gets here.
impl From<providers::raw::NoRaw> for Error {
    fn from(why: providers::raw::NoRaw) -> Self {
        match why {
            providers::raw::NoRaw::KeyLength(got) => Misuse::KeyLength { got, want: &[16, 24, 32] }.into(),
            providers::raw::NoRaw::NoRow(name) => Self::SelfTest(name),
            providers::raw::NoRaw::Variable(bad) => bad.into(),
        }
    }
}
