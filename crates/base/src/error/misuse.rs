//! Mistakes in calls.

use super::OffsetProblem;
use std::path::PathBuf;

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
