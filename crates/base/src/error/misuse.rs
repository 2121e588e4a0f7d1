//! Mistakes in calls.

use super::OffsetProblem;
use std::fmt;
use std::path::PathBuf;

/// A mistake in a call, for example a key of the wrong length or a missing passphrase.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Misuse {
    /// The key has a length that the algorithm does not accept.
    KeyLength {
        /// Length of the key that was given, in bytes.
        got: usize,
        /// Lengths of keys that the algorithm accepts, in bytes.
        want: &'static [usize],
    },
    /// The nonce or initial counter block has the wrong length.
    NonceLength {
        /// Length of the nonce that was given, in bytes.
        got: usize,
        /// Length of a nonce that the algorithm expects, in bytes.
        want: usize,
    },
    /// The tag has a length that the algorithm does not use.
    TagLength {
        /// Length of the tag that was given, in bytes.
        got: usize,
        /// Length of a tag that the algorithm expects, in bytes.
        want: usize,
    },
    /// The data is not a whole number of blocks, as the cipher requires.
    BlockLength {
        /// Length of the data that was given, in bytes.
        got: usize,
        /// Length of one block of the cipher, in bytes.
        block: usize,
    },
    /// Associated data was passed after the first piece of data of the message.
    AadAfterData,
    /// An object that was finalized is used again, although it processes one message only.
    AlreadyFinalized,
    /// The algorithm has no streaming interface, so messages must be processed in one call.
    StreamingUnsupported(providers::Algorithm),
    /// A block size of so many bits is below 128 and needs the constructor for small blocks.
    SmallBlock(usize),
    /// A block size of 128 bits was passed to the constructor for small blocks.
    LargeBlock,
    /// A random nonce was requested for a cipher whose nonces are too short to be random.
    NonceTooShortForRandom,
    /// A random nonce was requested for an object whose nonces are whole counter blocks, which the caller chooses.
    CounterBlockForRandom,
    /// A nonce was given for a keyring, which seals under random nonces only.
    KeyringNonce,
    /// The output buffer is too short for the result of the call.
    OutputTooShort {
        /// Length of the buffer that was given, in bytes.
        got: usize,
        /// Length of the buffer that the call requires, in bytes.
        need: usize,
    },
    /// The plaintext length exceeds the capacity of the message buffer.
    BufferTooShort {
        /// Capacity of the buffer in bytes of plaintext.
        got: usize,
        /// Length of the plaintext that was requested, in bytes.
        need: usize,
    },
    /// An output buffer of a batch does not have the length of its result.
    OutputLength {
        /// Length of the buffer that was given, in bytes.
        got: usize,
        /// Length of the result, in bytes.
        want: usize,
    },
    /// A batch does not have one of these for each message.
    CountPerMessage {
        /// The part of which one is expected for each message, for example the associated data.
        part: &'static str,
        /// Number of parts that were given.
        got: usize,
        /// Number of messages in the batch.
        want: usize,
    },
    /// The offsets of packed messages do not describe messages that lie one after the other in the data.
    Offsets(OffsetProblem),
    /// Source and destination overlap but are not the same bytes.
    PartialOverlap,
    /// Source and destination are the same file, which would be overwritten while it is read.
    SameFile(PathBuf),
    /// The output would replace another file of the same call, for example the file of its key.
    OutputIsInput {
        /// Path of the output that was refused.
        output: PathBuf,
        /// Path of the file that the output would have replaced.
        input: PathBuf,
    },
    /// The target lies inside a source folder, so the operation would process its own output.
    TargetInsideSource(PathBuf),
    /// Two sources have the same target, so one result would overwrite the other.
    DuplicateTarget(PathBuf),
    /// The suffix cannot end a file name, for example because it contains a slash.
    InvalidSuffix,
    /// A stream is used after it failed, so its state is no longer valid.
    Poisoned,
    /// A value that must not continue in two processes is used in a forked child, for example one that counts nonces.
    Forked,
    /// The secret is too long for this key to wrap.
    SecretLength {
        /// Length of the secret that was given, in bytes.
        got: usize,
        /// Maximum length of the secret that is accepted, in bytes.
        max: usize,
    },
    /// The key does not support the operation, and the text gives the reason.
    UnsuitableKey(&'static str),
    /// The key file is encrypted with a passphrase, and no passphrase was given.
    KeyPassphraseRequired,
    /// The key file is encrypted for recipients, and no identity was given.
    KeyIdentityRequired,
    /// A passphrase or identities were given for a key file that is not encrypted.
    KeyNotEncrypted,
    /// No key, or several keys, of a JSON Web Key file have the wanted `kid`.
    KeyId {
        /// The `kid` that was asked for, if any.
        wanted: Option<String>,
        /// The `kid` of each symmetric key in the file.
        found: Vec<Option<String>>,
    },
    /// A key reference is malformed, and the text gives the expected form.
    Reference(&'static str),
    /// The parameters of a key derivation are out of range, and the text names the limit.
    DerivationParameters(&'static str),
    /// A recipient or a combination of recipients cannot be used, and the text gives the reason.
    InvalidRecipients(&'static str),
    /// The source is neither a file nor a stream that the operation supports.
    UnsupportedSource(&'static str),
    /// Not exactly one source of keys for a file was given.
    KeySource {
        /// Names of the sources of which exactly one is expected.
        expected: [&'static str; 3],
        /// Names of the sources that the caller has given.
        found: Vec<&'static str>,
    },
    /// The named file format requires a symmetric key, and recipients or a passphrase were given.
    FormatNeedsKey(&'static str),
    /// The named file format requires recipients or a passphrase, and a symmetric key was given.
    FormatNeedsRecipients(&'static str),
    /// A format was given with a keyring, which determines the format.
    KeysetHasFormat,
    /// A context was given without a symmetric key, which is needed to use it.
    ContextNeedsKey,
    /// Armor was requested for a symmetric key, but only age files can be armored.
    ArmorNeedsRecipients,
    /// A maximum work factor was given without a passphrase, to which alone it applies.
    WorkFactorNeedsPassphrase,
    /// The list of identities is empty, so no file could be decrypted with it.
    NoIdentities,
    /// No file format has the given name.
    UnknownFormat {
        /// Names of the formats that are known to this version.
        known: Vec<&'static str>,
    },
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
            Self::AadAfterData => {
                f.write_str("associated data comes before data: pass all of it before the first data")
            }
            Self::AlreadyFinalized => {
                f.write_str("already finalized: create a new object for the next message")
            }
            Self::StreamingUnsupported(algorithm) => write!(
                f,
                "{} cannot be computed in pieces; AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305 can",
                algorithm.name()
            ),
            Self::SmallBlock(bits) => write!(
                f,
                "a block of {bits} bits is too small for general use; new_small_block accepts it for existing formats"
            ),
            Self::LargeBlock => {
                f.write_str("new_small_block expects a block of at most 96 bits, found 128; use new")
            }
            Self::NonceTooShortForRandom => {
                f.write_str("nonces of small blocks are too short to be random; count them and call encrypt")
            }
            Self::CounterBlockForRandom => f.write_str(
                "the nonce is a whole counter block, which is not generated; choose one for each message and call encrypt",
            ),
            Self::KeyringNonce => f.write_str(
                "a keyring seals under fresh nonces; use seal and open, or Aead with one key for nonces of your own",
            ),
            Self::OutputTooShort { got, need } => {
                write!(f, "the output buffer has {got} bytes, {need} are needed")
            }
            Self::BufferTooShort { got, need } => {
                write!(f, "the buffer has room for {got} bytes of plaintext, {need} were requested")
            }
            Self::OutputLength { got, want } => {
                write!(f, "the output buffer has {got} bytes, expected exactly {want}")
            }
            Self::CountPerMessage { part, got, want } => {
                write!(f, "expected {part} for each of {want} messages, found {got}")
            }
            Self::Offsets(problem) => problem.fmt(f),
            Self::PartialOverlap => f.write_str(
                "source and destination overlap partially; use separate buffers, or the same buffer for both",
            ),
            Self::SameFile(path) => {
                write!(f, "source and destination are the same file: {}", path.display())
            }
            Self::OutputIsInput { output, input } => write!(
                f,
                "{}: the output would replace {}, which this call reads; choose another output",
                output.display(),
                input.display()
            ),
            Self::TargetInsideSource(path) => {
                write!(f, "the target lies inside a source folder: {}", path.display())
            }
            Self::DuplicateTarget(path) => write!(f, "two sources have the same target: {}", path.display()),
            Self::InvalidSuffix => f.write_str("the suffix cannot end a file name"),
            Self::Poisoned => f.write_str("the stream failed earlier and cannot continue; start again"),
            Self::Forked => f.write_str(
                "this object was created before fork() and only its own process can continue it; create a new one here",
            ),
            Self::SecretLength { got, max } => {
                write!(f, "this key wraps secrets of at most {max} bytes, found {got}")
            }
            Self::KeyPassphraseRequired => {
                f.write_str("the key is encrypted with a passphrase; the passphrase is required")
            }
            Self::KeyIdentityRequired => {
                f.write_str("the key is encrypted for recipients; an identity is required")
            }
            Self::KeyNotEncrypted => {
                f.write_str("the key is not encrypted; omit the passphrase or the identities")
            }
            Self::KeySource { expected: [a, b, c], found } => {
                let found = if found.is_empty() { "none".into() } else { found.join(" and ") };
                write!(f, "expected exactly one of {a}, {b} and {c}, found {found}")
            }
            Self::FormatNeedsKey(format) => write!(f, "the format {format} requires a key"),
            Self::FormatNeedsRecipients(format) => {
                write!(f, "the format {format} takes no key; use recipients, identities or a passphrase")
            }
            Self::KeysetHasFormat => f.write_str("a keyring determines the format; omit format"),
            Self::ContextNeedsKey => f.write_str("a context requires a key; age files have no context"),
            Self::ArmorNeedsRecipients => {
                f.write_str("armor requires recipients or a passphrase; files of other formats are binary")
            }
            Self::WorkFactorNeedsPassphrase => f.write_str("max_work_factor requires a passphrase"),
            Self::NoIdentities => f.write_str("expected at least one identity, found an empty list"),
            Self::UnknownFormat { known } => {
                write!(f, "unknown format; expected one of {}", known.join(", "))
            }
            Self::KeyId { wanted, found } => key_id(f, wanted.as_deref(), found),
            Self::UnsuitableKey(text)
            | Self::Reference(text)
            | Self::DerivationParameters(text)
            | Self::InvalidRecipients(text)
            | Self::UnsupportedSource(text) => f.write_str(text),
        }
    }
}

fn key_id(f: &mut fmt::Formatter<'_>, wanted: Option<&str>, found: &[Option<String>]) -> fmt::Result {
    let kids: Vec<_> =
        found.iter().map(|kid| kid.as_ref().map_or("none".into(), |kid| format!("{kid:?}"))).collect();
    let (count, kids) = (found.iter().filter(|kid| kid.as_deref() == wanted).count(), kids.join(", "));
    match (wanted, found.len()) {
        (_, 0) => f.write_str("the JWK Set holds no symmetric key"),
        (None, all) => write!(f, "the JWK Set holds {all} keys; select one by its kid: {kids}"),
        (Some(kid), _) if count > 1 => write!(f, "{count} keys have the kid {kid:?}; the kids are: {kids}"),
        (Some(kid), _) => write!(f, "no key has the kid {kid:?}; the kids are: {kids}"),
    }
}

impl std::error::Error for Misuse {}
