//! Errors returned by this crate.
//!
//! An authentication failure is opaque: a wrong key, a wrong nonce and a changed byte of a message
//! all give [`Error::Authentication`]. Once the key of a file is verified, [`Error::DamagedChunk`]
//! says where the damage is. Other errors name the thing, what was found and, where it helps, what
//! was expected. No error contains a key, a passphrase or plaintext.

use std::io;
use std::path::{Path, PathBuf};

mod folder;
mod from_providers;
mod kind;
mod misuse;
mod offsets;
mod plugin;
mod rejection;

pub use folder::FolderError;
pub use kind::{Kind, Names};
pub use misuse::Misuse;
pub use offsets::OffsetProblem;
pub use plugin::{PluginError, PluginProblem};
pub use providers::MessagePart;
pub use rejection::Rejection;

/// Escapes the control, bidirectional and invisible characters of a text from outside, such as a
/// plugin's, for a person: a terminal would execute them or show other words. A JSON document stays
/// one, with the same content.
#[doc(hidden)]
pub fn escaped(text: &str) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
    };
    let mut shown = String::new();
    for c in text.chars() {
        match c {
            '\n' => shown.push_str("\\n"),
            c if is_hidden(c) => {
                shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// The error type of this crate.
///
/// [`Error::kind`] tells what is to blame: the data, the keys, the machine or the call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tag does not match. It does not say whether the key, the nonce, the associated data or
    /// the data is wrong.
    #[error("authentication failed")]
    Authentication,
    /// The key does not open a file, which begins like one of another format, or like text.
    #[error("authentication failed: {0}")]
    Foreign(&'static str),
    /// A chunk of a file does not authenticate although the key is verified.
    #[error(
        "authentication failed: chunk {index} at byte {offset} was changed, or the file was cut off there"
    )]
    DamagedChunk {
        /// Number of the damaged chunk, counted from 0.
        index: u64,
        /// First byte of the chunk in the file; in an armored file, in the decoded data.
        offset: u64,
    },
    /// A finished target in a manifest does not open with the key of the new job.
    #[error("{manifest}: the finished file {target} was encrypted with another key, context or format")]
    KeyMismatch {
        /// Path of the manifest.
        manifest: PathBuf,
        /// The finished target that was tried.
        target: PathBuf,
    },
    /// The key that a reference leads to is not the expected one, so nothing was read or written
    /// with it.
    #[error("{name}: expected the key {expected}, found {found}: {advice}")]
    OtherKey {
        /// Where the key is.
        name: String,
        /// The fingerprint of the expected key.
        expected: String,
        /// The fingerprint of the key that was found.
        found: String,
        /// Where the expected fingerprint comes from, and what to do.
        advice: String,
    },
    /// The input is not in the expected format. The text names the format, as in "expected an age
    /// file".
    #[error("{0}")]
    Format(&'static str),
    /// The input ends too early.
    #[error("truncated: the data ends too early")]
    Truncated,
    /// A read of a range returned more bytes than requested.
    #[error("expected at most {want} bytes for the requested range, found {got}")]
    UnexpectedLength {
        /// Bytes received.
        got: usize,
        /// Bytes requested.
        want: usize,
    },
    /// The length of a file changed during encryption, so the result would not be its content.
    #[error(
        "{path}: expected {expected} bytes, found {found}: the file changed while it was encrypted; try again"
    )]
    SourceChanged {
        /// Path of the source file.
        path: PathBuf,
        /// Length at the beginning, in bytes.
        expected: u64,
        /// Length at the end, in bytes.
        found: u64,
    },
    /// The header of a file is damaged or was changed. The text names the part.
    #[error("damaged header: {0}")]
    Header(&'static str),
    /// The ASCII armor around a file is damaged or was changed. The text says how.
    #[error("damaged armor: {0}")]
    Armor(&'static str),
    /// A line of a list (such as a recipients file) cannot be used.
    #[error("line {number}: {source}")]
    Line {
        /// Number of the line, counted from 1.
        number: usize,
        /// The error in this line.
        source: Box<Self>,
    },
    /// A message of a batch cannot be processed, so no message has a result.
    #[error("message {index}: {source}")]
    InBatch {
        /// Index of the first message with an error, counted from 0.
        index: usize,
        /// The error in this message.
        source: Box<Self>,
    },
    /// A key of a keyring cannot be used, or not in this way.
    #[error("key {id} of the keyring: {source}")]
    InKeyring {
        /// Identifier of the key in its keyring; not secret.
        id: u32,
        /// The error of this key.
        source: Box<Self>,
    },
    /// A key of a keyring has an unsupported type. The text is its name in Tink.
    #[error("expected a type of key that this version has, found {0:?}")]
    UnknownKeyType(String),
    /// A parameter in the header of a token is not supported, or the caller does not accept it.
    #[error("{name} in the header of the token is {found}: {why}")]
    HeaderParameter {
        /// Name of the parameter.
        name: &'static str,
        /// Its value in JSON, shortened.
        found: String,
        /// Why it is refused.
        why: &'static str,
    },
    /// The version of the format is not supported. The text names the supported ones.
    #[error("unsupported version: {0}")]
    UnsupportedVersion(&'static str),
    /// A key reference names no key on this machine. The text is the reference, such as `env:NAME`.
    #[error("{0}")]
    KeyNotFound(String),
    /// A key service or a token did not decrypt a key. The text contains the reference and the
    /// reason.
    #[error("{0}")]
    KeyService(String),
    /// A key service or a token refuses to use a key (a wrong PIN, for example). The text contains
    /// the reference.
    #[error("{0}")]
    KeyRefused(String),
    /// No given key matches a recipient of the data.
    #[error("no matching key: none of the given keys matches a recipient of the data")]
    NoMatchingKey,
    /// The data is encrypted with a passphrase, but keys were given.
    #[error("no matching key: the data is encrypted with a passphrase")]
    PassphraseRequired,
    /// The data is encrypted for recipients, but a passphrase was given.
    #[error("no matching key: the data is encrypted for recipients, not with a passphrase")]
    IdentityRequired,
    /// The passphrase is wrong, or the encrypted data was changed.
    #[error("wrong passphrase")]
    WrongPassphrase,
    /// The data requires a higher scrypt work factor than the caller allows.
    #[error(
        "the passphrase requires 2^{requested} rounds of scrypt and {} of memory; the limit is 2^{max} rounds",
        scrypt_memory(*.requested)
    )]
    WorkFactor {
        /// Base-2 logarithm of the required work factor.
        requested: u8,
        /// Base-2 logarithm of the highest allowed work factor.
        max: u8,
    },
    /// The requested provider cannot compute the algorithm on this machine.
    #[error(transparent)]
    ProviderUnavailable(providers::Unavailable),
    /// The provider refused a key or a message of valid length and gave no reason.
    #[error("{0}")]
    ProviderRefused(&'static str),
    /// Every native implementation of the cipher that runs on this machine failed its self-test.
    #[error("native {} {}", .0, providers::Reason::SelfTestFailed)]
    SelfTest(&'static str),
    /// The FIPS module of this build does not approve this service. The text names it.
    #[error("{}: {}", .0, providers::NOT_APPROVED)]
    NotApproved(&'static str),
    /// An environment variable that sealane reads has an invalid value.
    #[error(transparent)]
    Environment(providers::VariableError),
    /// A part of a message is longer than the algorithm allows.
    #[error("limit exceeded: {found} bytes of {part}, the limit is {limit} bytes")]
    MessageLength {
        /// The part that is too long.
        part: MessagePart,
        /// Length of the part in bytes; for a keystream, the offset after the last requested byte.
        found: u128,
        /// Maximum length of this part, in bytes.
        limit: u128,
    },
    /// A limit of the algorithm, the format or the machine is exceeded. The text names it.
    #[error("limit exceeded: {0}")]
    LimitExceeded(&'static str),
    /// A buffer could not be allocated.
    #[error(
        "out of memory: the system has no {bytes} bytes for a buffer; process the data in smaller pieces"
    )]
    OutOfMemory {
        /// Requested size in bytes.
        bytes: usize,
    },
    /// A mistake in the call.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// An error of the operating system.
    #[error("{}{source}", path_prefix(.path.as_deref()))]
    Io {
        /// Path of the file, if the error is about one.
        path: Option<PathBuf>,
        /// The error as the standard library reported it.
        source: io::Error,
    },
    /// An age plugin could not be used. The error names the plugin and contains no key.
    #[error(transparent)]
    Plugin(#[from] PluginError),
    /// A signature is rejected.
    #[error(transparent)]
    Signature(#[from] Rejection),
    /// A job over a folder cannot begin, or is incomplete.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// A file, folder or link of an encrypted folder cannot be read.
    #[error("{}: {source}", escaped(&.path.to_string_lossy()))]
    InVault {
        /// Path in the encrypted folder, as it is stored.
        path: PathBuf,
        /// The error.
        source: Box<Self>,
    },
    /// The progress callback cancelled the operation.
    #[error("cancelled")]
    Cancelled,
}

/// A result whose error is [`Error`] unless another one is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[doc(hidden)]
impl Error {
    /// Converts an operating system error about `path`.
    pub fn io(path: &Path, source: io::Error) -> Self {
        Self::from(source).about(path)
    }

    /// Says why a key cannot be used here.
    pub const fn unsuitable_key(why: &'static str) -> Self {
        Self::Misuse(Misuse::UnsuitableKey(why))
    }

    /// Wraps the error for an interface that requires [`io::Error`]. [`Self::from`] unwraps it
    /// again.
    pub fn into_io(self) -> io::Error {
        match self {
            Self::Io { path: None, source } => source,
            other => io::Error::new(io::ErrorKind::InvalidData, other),
        }
    }

    /// Adds the identifier of a keyring's key, unless the error has one.
    pub fn in_keyring(self, id: u32) -> Self {
        match self {
            Self::InKeyring { .. } => self,
            other => Self::InKeyring { id, source: Box::new(other) },
        }
    }

    /// Returns `None` where authentication failed.
    pub fn authentic<T>(result: Result<T, Self>) -> Result<Option<T>, Self> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(Self::Authentication) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Adds the path to an operating system error without one.
    pub fn about(self, path: &Path) -> Self {
        match self {
            Self::Io { path: None, source } => Self::Io { path: Some(path.to_owned()), source },
            other => other,
        }
    }
}

/// Returns the memory of scrypt with r = 8 (1 KiB per unit of N): "256 MiB" for N = 2^18.
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

/// Restores an [`Error`] wrapped by `Error::into_io`.
impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        source.downcast().unwrap_or_else(|source| Self::Io { path: None, source })
    }
}

#[cfg(test)]
mod test;
