//! Errors returned by this crate.
//!
//! An authentication failure is opaque: for a message, a wrong key, a wrong nonce and a changed byte are all
//! [`Error::Authentication`]. For a file whose key is verified, [`Error::DamagedChunk`] names the place. Other errors name the
//! thing, and the values found and expected where it helps. No error contains a key, a passphrase or plaintext.

use std::io;
use std::path::{Path, PathBuf};

mod folder;
mod from_providers;
mod offsets;
mod plugin;

pub use folder::FolderError;
pub use offsets::OffsetProblem;
pub use plugin::{PluginError, PluginProblem};
pub use providers::MessagePart;

/// The error type of this crate.
///
/// Three groups of variants need different reactions. [`Error::Misuse`] is a mistake in the call.
/// [`Error::Authentication`], [`Error::Truncated`] and the variants about formats and keys describe the input.
/// [`Error::Io`], [`Error::OutOfMemory`], [`Error::ProviderUnavailable`], [`Error::SelfTest`] and [`Error::Environment`]
/// describe the machine.
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

/// A mistake in a call, for example a key of the wrong length or a missing passphrase.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// The key has a length that the algorithm does not accept.
    #[error("the key must have {} bytes, not {got}", alternatives(.want))]
    KeyLength {
        /// Length of the key that was given, in bytes.
        got: usize,
        /// Lengths of keys that the algorithm accepts, in bytes.
        want: &'static [usize],
    },
    /// The nonce or initial counter block has the wrong length.
    #[error("the nonce must have {want} bytes, not {got}")]
    NonceLength {
        /// Length of the nonce that was given, in bytes.
        got: usize,
        /// Length of a nonce that the algorithm expects, in bytes.
        want: usize,
    },
    /// The tag has a length that the algorithm does not use.
    #[error("the tag must have {want} bytes, not {got}")]
    TagLength {
        /// Length of the tag that was given, in bytes.
        got: usize,
        /// Length of a tag that the algorithm expects, in bytes.
        want: usize,
    },
    /// The data is not a whole number of blocks, as the cipher requires.
    #[error("the data must be whole blocks of {block} bytes; it has {got}")]
    BlockLength {
        /// Length of the data that was given, in bytes.
        got: usize,
        /// Length of one block of the cipher, in bytes.
        block: usize,
    },
    /// Associated data was passed after the first piece of data of the message.
    #[error("associated data comes before data: pass all of it before the first data")]
    AadAfterData,
    /// An object that was finalized is used again, although it processes one message only.
    #[error("already finalized: create a new object for the next message")]
    AlreadyFinalized,
    /// The algorithm has no streaming interface, so messages must be processed in one call.
    #[error(
        "{} cannot be computed in pieces; AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305 can", .0.name()
    )]
    StreamingUnsupported(providers::Algorithm),
    /// A block size of so many bits is below 128 and needs the constructor for small blocks.
    #[error(
        "a block of {0} bits is too small for general use; new_small_block accepts it for existing formats"
    )]
    SmallBlock(usize),
    /// A block size of 128 bits was passed to the constructor for small blocks.
    #[error("new_small_block expects a block of at most 96 bits, found 128; use new")]
    LargeBlock,
    /// A random nonce was requested for a cipher whose nonces are too short to be random.
    #[error("nonces of small blocks are too short to be random; count them and call encrypt")]
    NonceTooShortForRandom,
    /// A random nonce was requested for an object whose nonces are whole counter blocks, which the caller chooses.
    #[error(
        "the nonce is a whole counter block, which is not generated; choose one for each message and call encrypt"
    )]
    CounterBlockForRandom,
    /// A nonce was given for a keyring, which seals under random nonces only.
    #[error(
        "a keyring seals under fresh nonces; use seal and open, or Aead with one key for nonces of your own"
    )]
    KeyringNonce,
    /// The output buffer is too short for the result of the call.
    #[error("the output buffer has {got} bytes, {need} are needed")]
    OutputTooShort {
        /// Length of the buffer that was given, in bytes.
        got: usize,
        /// Length of the buffer that the call requires, in bytes.
        need: usize,
    },
    /// The plaintext length exceeds the capacity of the message buffer.
    #[error("the buffer has room for {got} bytes of plaintext, {need} were requested")]
    BufferTooShort {
        /// Capacity of the buffer in bytes of plaintext.
        got: usize,
        /// Length of the plaintext that was requested, in bytes.
        need: usize,
    },
    /// An output buffer of a batch does not have the length of its result.
    #[error("the output buffer has {got} bytes, expected exactly {want}")]
    OutputLength {
        /// Length of the buffer that was given, in bytes.
        got: usize,
        /// Length of the result, in bytes.
        want: usize,
    },
    /// A batch does not have one of these for each message.
    #[error("expected {part} for each of {want} messages, found {got}")]
    CountPerMessage {
        /// The part of which one is expected for each message, for example the associated data.
        part: &'static str,
        /// Number of parts that were given.
        got: usize,
        /// Number of messages in the batch.
        want: usize,
    },
    /// The offsets of packed messages do not describe messages that lie one after the other in the data.
    #[error("{0}")]
    Offsets(OffsetProblem),
    /// Source and destination overlap but are not the same bytes.
    #[error("source and destination overlap partially; use separate buffers, or the same buffer for both")]
    PartialOverlap,
    /// Source and destination are the same file, which would be overwritten while it is read.
    #[error("source and destination are the same file: {0}")]
    SameFile(PathBuf),
    /// The output would replace another file of the same call, for example the file of its key.
    #[error("{output}: the output would replace {input}, which this call reads; choose another output")]
    OutputIsInput {
        /// Path of the output that was refused.
        output: PathBuf,
        /// Path of the file that the output would have replaced.
        input: PathBuf,
    },
    /// The target lies inside a source folder, so the operation would process its own output.
    #[error("the target lies inside a source folder: {0}")]
    TargetInsideSource(PathBuf),
    /// Two sources have the same target, so one result would overwrite the other.
    #[error("two sources have the same target: {0}")]
    DuplicateTarget(PathBuf),
    /// The suffix cannot end a file name, for example because it contains a slash.
    #[error("the suffix cannot end a file name")]
    InvalidSuffix,
    /// A stream is used after it failed, so its state is no longer valid.
    #[error("the stream failed earlier and cannot continue; start again")]
    Poisoned,
    /// A value that must not continue in two processes is used in a forked child, for example one that counts nonces.
    #[error(
        "this object was created before fork() and only its own process can continue it; create a new one here"
    )]
    Forked,
    /// The secret is too long for this key to wrap.
    #[error("this key wraps secrets of at most {max} bytes, found {got}")]
    SecretLength {
        /// Length of the secret that was given, in bytes.
        got: usize,
        /// Maximum length of the secret that is accepted, in bytes.
        max: usize,
    },
    /// The key does not support the operation, and the text gives the reason.
    #[error("{0}")]
    UnsuitableKey(&'static str),
    /// The key file is encrypted with a passphrase, and no passphrase was given.
    #[error("the key is encrypted with a passphrase; the passphrase is required")]
    KeyPassphraseRequired,
    /// The key file is encrypted for recipients, and no identity was given.
    #[error("the key is encrypted for recipients; an identity is required")]
    KeyIdentityRequired,
    /// A passphrase or identities were given for a key file that is not encrypted.
    #[error("the key is not encrypted; omit the passphrase or the identities")]
    KeyNotEncrypted,
    /// No key, or several keys, of a JSON Web Key file have the wanted `kid`.
    #[error("{}", key_id(.wanted.as_deref(), .found))]
    KeyId {
        /// The `kid` that was asked for, if any.
        wanted: Option<String>,
        /// The `kid` of each symmetric key in the file.
        found: Vec<Option<String>>,
    },
    /// A key reference is malformed, and the text gives the expected form.
    #[error("{0}")]
    Reference(&'static str),
    /// The parameters of a key derivation are out of range, and the text names the limit.
    #[error("{0}")]
    DerivationParameters(&'static str),
    /// A recipient or a combination of recipients cannot be used, and the text gives the reason.
    #[error("{0}")]
    InvalidRecipients(&'static str),
    /// The source is neither a file nor a stream that the operation supports.
    #[error("{0}")]
    UnsupportedSource(&'static str),
    /// Not exactly one source of keys for a file was given.
    #[error(
        "expected exactly one of {}, {} and {}, found {}",
        .expected[0], .expected[1], .expected[2], one_or_none(.found)
    )]
    KeySource {
        /// Names of the sources of which exactly one is expected.
        expected: [&'static str; 3],
        /// Names of the sources that the caller has given.
        found: Vec<&'static str>,
    },
    /// The named file format requires a symmetric key, and recipients or a passphrase were given.
    #[error("the format {0} requires a key")]
    FormatNeedsKey(&'static str),
    /// The named file format requires recipients or a passphrase, and a symmetric key was given.
    #[error("the format {0} takes no key; use recipients, identities or a passphrase")]
    FormatNeedsRecipients(&'static str),
    /// A format was given with a keyring, which determines the format.
    #[error("a keyring determines the format; omit format")]
    KeysetHasFormat,
    /// A context was given without a symmetric key, which is needed to use it.
    #[error("a context requires a key; age files have no context")]
    ContextNeedsKey,
    /// Armor was requested for a symmetric key, but only age files can be armored.
    #[error("armor requires recipients or a passphrase; files of other formats are binary")]
    ArmorNeedsRecipients,
    /// A maximum work factor was given without a passphrase, to which alone it applies.
    #[error("max_work_factor requires a passphrase")]
    WorkFactorNeedsPassphrase,
    /// The list of identities is empty, so no file could be decrypted with it.
    #[error("expected at least one identity, found an empty list")]
    NoIdentities,
    /// No file format has the given name.
    #[error("unknown format; expected one of {}", .known.join(", "))]
    UnknownFormat {
        /// Names of the formats that are known to this version.
        known: Vec<&'static str>,
    },
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

/// Lists lengths, as "16 or 32".
fn alternatives(lengths: &[usize]) -> String {
    lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" or ")
}

fn one_or_none(found: &[&str]) -> String {
    if found.is_empty() { "none".into() } else { found.join(" and ") }
}

fn key_id(wanted: Option<&str>, found: &[Option<String>]) -> String {
    let kids: Vec<_> =
        found.iter().map(|kid| kid.as_ref().map_or("none".into(), |kid| format!("{kid:?}"))).collect();
    let (count, kids) = (found.iter().filter(|kid| kid.as_deref() == wanted).count(), kids.join(", "));
    match (wanted, found.len()) {
        (_, 0) => "the JWK Set holds no symmetric key".into(),
        (None, all) => format!("the JWK Set holds {all} keys; select one by its kid: {kids}"),
        (Some(kid), _) if count > 1 => format!("{count} keys have the kid {kid:?}; the kids are: {kids}"),
        (Some(kid), _) => format!("no key has the kid {kid:?}; the kids are: {kids}"),
    }
}

/// Restores an [`Error`] that `Error::into_io` wrapped in an error of the standard library.
impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        source.downcast().unwrap_or_else(|source| Self::Io { path: None, source })
    }
}

#[cfg(test)]
mod test;
