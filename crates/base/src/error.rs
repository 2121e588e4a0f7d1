//! Errors returned by this crate.
//!
//! An authentication failure is opaque: for a message, a wrong key, a wrong nonce and a changed byte are all
//! [`Error::Authentication`]. For a file whose key is verified, [`Error::DamagedChunk`] names the place. Other errors name the
//! thing, and the values found and expected where it helps. No error contains a key, a passphrase or plaintext.

use std::io;
use std::path::{Path, PathBuf};

mod folder;
mod from_providers;
mod kind;
mod misuse;
mod offsets;
mod plugin;

pub use folder::FolderError;
pub use kind::{Kind, Names};
pub use misuse::Misuse;
pub use offsets::OffsetProblem;
pub use plugin::{PluginError, PluginProblem};
pub use providers::MessagePart;

/// The error type of this crate.
///
/// [`Error::kind`] says what a variant means to a caller: the data, the keys, the machine or the call is to blame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tag does not match. A wrong key, nonce or associated data and changed data are not distinguished.
    #[error("authentication failed")]
    Authentication,
    /// A chunk of a file does not authenticate although the key is verified, for example by the header.
    #[error(
        "authentication failed: chunk {index} at byte {offset} was changed, or the file was cut off there"
    )]
    DamagedChunk {
        /// Number of the chunk that is not authentic, counted from 0.
        index: u64,
        /// First byte of the chunk in the file; in an armored file, in the decoded data.
        offset: u64,
    },
    /// A target that a manifest lists as finished does not open with the key of the new job.
    #[error("{manifest}: the finished file {target} was encrypted with another key, context or format")]
    KeyMismatch {
        /// Path of the manifest that lists the target as finished.
        manifest: PathBuf,
        /// The finished target that was tried.
        target: PathBuf,
    },
    /// The input is not in the expected format. The text names the format, for example "expected an age file".
    #[error("{0}")]
    Format(&'static str),
    /// The input ends before the format allows it to end.
    #[error("truncated: the data ends too early")]
    Truncated,
    /// A range of a file has more bytes than were requested.
    #[error("expected at most {want} bytes for the requested range, found {got}")]
    UnexpectedLength {
        /// Number of bytes that were received for the range.
        got: usize,
        /// Number of bytes that were requested from the file.
        want: usize,
    },
    /// A file became longer or shorter while it was encrypted, so the result would not be its content.
    #[error(
        "{path}: expected {expected} bytes, found {found}: the file changed while it was encrypted; try again"
    )]
    SourceChanged {
        /// Path of the file that was read.
        path: PathBuf,
        /// Number of bytes that the file had at the beginning.
        expected: u64,
        /// Number of bytes that the file had at the end.
        found: u64,
    },
    /// The header of a file is damaged or was changed, and the text names the part of the header.
    #[error("damaged header: {0}")]
    Header(&'static str),
    /// The ASCII armor around a file is damaged or was changed. The text describes the damage.
    #[error("damaged armor: {0}")]
    Armor(&'static str),
    /// A line of a list cannot be used, for example a line of a recipients file.
    #[error("line {number}: {source}")]
    Line {
        /// Number of the line with the error, counted from 1.
        number: usize,
        /// The error that was found in this line of the list.
        source: Box<Self>,
    },
    /// A message of a batch cannot be processed, so there is no result for any message of the batch.
    #[error("message {index}: {source}")]
    InBatch {
        /// Index of the first message with an error, counted from 0.
        index: usize,
        /// The error that was found in this message of the batch.
        source: Box<Self>,
    },
    /// A key of a keyring cannot be used, or not in the way that was asked for.
    #[error("key {id} of the keyring: {source}")]
    InKeyring {
        /// The identifier of the key in its keyring, which is not secret.
        id: u32,
        /// The error that was found in this key of the keyring.
        source: Box<Self>,
    },
    /// A key of a keyring has a type that this version does not have. The text is the name of the type in Tink.
    #[error("expected a type of key that this version has, found {0:?}")]
    UnknownKeyType(String),
    /// The version of the format is not supported, and the text names the supported versions.
    #[error("unsupported version: {0}")]
    UnsupportedVersion(&'static str),
    /// A key reference names no key on this machine. The text contains the reference, for example `env:NAME`.
    #[error("{0}")]
    KeyNotFound(String),
    /// A key service or a token did not decrypt a key, and the text contains the reference and the reason.
    #[error("{0}")]
    KeyService(String),
    /// A key service or a token refuses to use a key, for example because of a wrong PIN. The text contains the reference.
    #[error("{0}")]
    KeyRefused(String),
    /// None of the given keys matches any of the recipients of the data.
    #[error("no matching key: none of the given keys matches a recipient of the data")]
    NoMatchingKey,
    /// The data is encrypted with a passphrase, and keys were given.
    #[error("no matching key: the data is encrypted with a passphrase")]
    PassphraseRequired,
    /// The data is encrypted for recipients, and a passphrase was given.
    #[error("no matching key: the data is encrypted for recipients, not with a passphrase")]
    IdentityRequired,
    /// The passphrase is wrong, or the data was changed after it was encrypted.
    #[error("wrong passphrase")]
    WrongPassphrase,
    /// The scrypt work factor of the data is above the limit of the caller.
    #[error(
        "the passphrase requires 2^{requested} rounds of scrypt and {} of memory; the limit is 2^{max} rounds",
        scrypt_memory(*.requested)
    )]
    WorkFactor {
        /// Base-2 logarithm of the work factor in the data.
        requested: u8,
        /// Base-2 logarithm of the highest work factor that is allowed.
        max: u8,
    },
    /// The requested provider cannot compute the algorithm on this machine.
    #[error(transparent)]
    ProviderUnavailable(providers::Unavailable),
    /// The provider refused a key or a message of a valid length without a reason.
    #[error("{0}")]
    ProviderRefused(&'static str),
    /// Every native implementation of the named cipher that this machine can run failed its self-test.
    #[error("native {} {}", .0, providers::Reason::SelfTestFailed)]
    SelfTest(&'static str),
    /// The build has the feature `fips`, and its module does not compute this as an approved service. The text names it.
    #[error("{}: {}", .0, providers::NOT_APPROVED)]
    NotApproved(&'static str),
    /// An environment variable that sealane reads has an invalid value.
    #[error(transparent)]
    Environment(providers::VariableError),
    /// A part of a message is longer than the algorithm allows.
    #[error("limit exceeded: {found} bytes of {part}, the limit is {limit} bytes")]
    MessageLength {
        /// The part that is too long, for example the associated data.
        part: MessagePart,
        /// Length of the part in bytes; for a keystream, the offset after the last requested byte.
        found: u128,
        /// Maximum length of this part of the message, in bytes.
        limit: u128,
    },
    /// A limit of the algorithm, the format or the machine is exceeded, and the text names the limit.
    #[error("limit exceeded: {0}")]
    LimitExceeded(&'static str),
    /// The system does not have the memory for a buffer, for example for a result.
    #[error(
        "out of memory: the system has no {bytes} bytes for a buffer; process the data in smaller pieces"
    )]
    OutOfMemory {
        /// Number of bytes that were requested from the system.
        bytes: usize,
    },
    /// A mistake in the call, for example a key of the wrong length.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// An error of the operating system, with the path of the file if there is one.
    #[error("{}{source}", path_prefix(.path.as_deref()))]
    Io {
        /// The file that the operation was about, if any.
        path: Option<PathBuf>,
        /// The error of the operating system, as the standard library reported it.
        source: io::Error,
    },
    /// An age plugin could not be used. The error names the plugin and contains no key.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// A job over a whole folder does not begin or is not complete.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The progress callback requested cancellation, so the operation ended before it was complete.
    #[error("cancelled")]
    Cancelled,
}

#[doc(hidden)]
impl Error {
    /// Converts an error of the operating system about `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::from(source).about(path)
    }

    /// Wraps the error for an interface that requires [`io::Error`]. [`Self::from`] unwraps it again.
    pub fn into_io(self) -> io::Error {
        match self {
            Self::Io { path: None, source } => source,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }

    /// Adds the identifier of the key of a keyring to an error that has none.
    pub fn in_keyring(self, id: u32) -> Self {
        match self {
            Self::InKeyring { .. } => self,
            other => Self::InKeyring { id, source: Box::new(other) },
        }
    }

    /// Adds the path to an error of the operating system that has none.
    pub fn about(self, path: &Path) -> Self {
        match self {
            Self::Io { path: None, source } => Self::Io { path: Some(path.to_owned()), source },
            other => other,
        }
    }
}

/// Returns the memory that scrypt with r = 8 (blocks of 1 KiB) needs, for example "256 MiB" for N = 2^18.
fn scrypt_memory(log_n: u8) -> String {
    match log_n {
        ..10 => format!("{} KiB", 1u64 << log_n),
        10..20 => format!("{} MiB", 1u64 << (log_n - 10)),
        20..64 => format!("{} GiB", 1u64 << (log_n - 20)),
        _ => "more than 2^44 GiB".into(),
    }
}

fn path_prefix(path: Option<&Path>) -> String {
    path.map_or_else(String::new, |path| format!("{}: ", path.display()))
}

/// Restores an [`Error`] that `Error::into_io` wrapped in an error of the standard library.
impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        source.downcast().unwrap_or_else(|source| Self::Io { path: None, source })
    }
}

#[cfg(test)]
mod test;
