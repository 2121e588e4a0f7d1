//! Mistakes in calls.

use super::OffsetProblem;
use providers::alternatives;
use std::path::PathBuf;

/// A mistake in a call, such as a key of the wrong length or a missing passphrase.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misuse {
    /// Invalid key length.
    #[error("the key must have {} bytes, not {got}", alternatives(.want))]
    KeyLength {
        /// Given length in bytes.
        got: usize,
        /// Accepted lengths in bytes.
        want: &'static [usize],
    },
    /// Invalid length of a nonce or initial counter block.
    #[error("the nonce must have {want} bytes, not {got}")]
    NonceLength {
        /// Given length in bytes.
        got: usize,
        /// Expected length in bytes.
        want: usize,
    },
    /// Invalid tag length.
    #[error("the tag must have {want} bytes, not {got}")]
    TagLength {
        /// Given length in bytes.
        got: usize,
        /// Expected length in bytes.
        want: usize,
    },
    /// The data is not a whole number of blocks.
    #[error("the data must be whole blocks of {block} bytes; it has {got}")]
    BlockLength {
        /// Length of the data in bytes.
        got: usize,
        /// Block length of the cipher in bytes.
        block: usize,
    },
    /// Associated data was passed after data of the message.
    #[error("associated data comes before data: pass all of it before the first data")]
    AadAfterData,
    /// The object was finalized; it processes one message only.
    #[error("already finalized: create a new object for the next message")]
    AlreadyFinalized,
    /// The algorithm has no streaming interface; process each message in one call.
    #[error(
        "{} cannot be computed in pieces; AES-GCM, ChaCha20-Poly1305 and XChaCha20-Poly1305 can", .0.name()
    )]
    StreamingUnsupported(providers::Algorithm),
    /// A block of this many bits (under 128) needs the constructor for small blocks.
    #[error(
        "a block of {0} bits is too small for general use; new_small_block accepts it for existing formats"
    )]
    SmallBlock(usize),
    /// A block size of 128 bits was passed to the constructor for small blocks.
    #[error("new_small_block expects a block of at most 96 bits, found 128; use new")]
    LargeBlock,
    /// The cipher's nonces are too short to be random.
    #[error("nonces of small blocks are too short to be random; count them and call encrypt")]
    NonceTooShortForRandom,
    /// The nonce is a whole counter block, which the caller chooses: it cannot be generated.
    #[error(
        "the nonce is a whole counter block, which is not generated; choose one for each message and call encrypt"
    )]
    CounterBlockForRandom,
    /// A nonce was given to a keyring, which generates its nonces.
    #[error(
        "a keyring seals under fresh nonces; use seal and open, or Aead with one key for nonces of your own"
    )]
    KeyringNonce,
    /// The output buffer is too short.
    #[error("the output buffer has {got} bytes, {need} are needed")]
    OutputTooShort {
        /// Given length in bytes.
        got: usize,
        /// Required length in bytes.
        need: usize,
    },
    /// The plaintext is longer than the message buffer's capacity.
    #[error("the buffer has room for {got} bytes of plaintext, {need} were requested")]
    BufferTooShort {
        /// Capacity in plaintext bytes.
        got: usize,
        /// Requested plaintext length in bytes.
        need: usize,
    },
    /// An output buffer of a batch does not have the length of its result.
    #[error("the output buffer has {got} bytes, expected exactly {want}")]
    OutputLength {
        /// Given length in bytes.
        got: usize,
        /// Length of the result in bytes.
        want: usize,
    },
    /// A list does not have one item per message of the batch.
    #[error("expected {part} for each of {want} messages, found {got}")]
    CountPerMessage {
        /// What the list contains, such as the associated data.
        part: &'static str,
        /// Items given.
        got: usize,
        /// Messages in the batch.
        want: usize,
    },
    /// The offsets do not describe messages packed one after another.
    #[error("{0}")]
    Offsets(OffsetProblem),
    /// Source and destination overlap without being the same bytes.
    #[error("source and destination overlap partially; use separate buffers, or the same buffer for both")]
    PartialOverlap,
    /// Source and destination are the same file.
    #[error("source and destination are the same file: {0}")]
    SameFile(PathBuf),
    /// The output would replace another file of the call, such as the key file.
    #[error("{output}: the output would replace {input}, which this call reads; choose another output")]
    OutputIsInput {
        /// Path of the refused output.
        output: PathBuf,
        /// Path of the file that would be replaced.
        input: PathBuf,
    },
    /// The target lies inside a source folder, so the operation would process its own output.
    #[error("the target lies inside a source folder: {0}")]
    TargetInsideSource(PathBuf),
    /// Two sources have the same target.
    #[error("two sources have the same target: {0}")]
    DuplicateTarget(PathBuf),
    /// Invalid suffix: contains a slash, for example.
    #[error("the suffix cannot end a file name")]
    InvalidSuffix,
    /// The stream failed before; its state is invalid.
    #[error("the stream failed earlier and cannot continue; start again")]
    Poisoned,
    /// The object (a nonce counter, for example) must not continue in two processes, but is used in
    /// a forked child.
    #[error(
        "this object was created before fork() and only its own process can continue it; create a new one here"
    )]
    Forked,
    /// The secret is too long to be wrapped by this key.
    #[error("this key wraps secrets of at most {max} bytes, found {got}")]
    SecretLength {
        /// Given length in bytes.
        got: usize,
        /// Maximum length in bytes.
        max: usize,
    },
    /// The key does not support the operation. The text gives the reason.
    #[error("{0}")]
    UnsuitableKey(&'static str),
    /// The key file is encrypted with a passphrase, but no passphrase was given.
    #[error("the key is encrypted with a passphrase; the passphrase is required")]
    KeyPassphraseRequired,
    /// The key file is encrypted for recipients, but no identity was given.
    #[error("the key is encrypted for recipients; an identity is required")]
    KeyIdentityRequired,
    /// A passphrase or identities were given, but the key file is not encrypted.
    #[error("the key is not encrypted; omit the passphrase or the identities")]
    KeyNotEncrypted,
    /// The `kid` matches no key, or several keys, of a JSON Web Key file.
    #[error("{}", key_id(.wanted.as_deref(), .found))]
    KeyId {
        /// The wanted `kid`, if any.
        wanted: Option<String>,
        /// The `kid` of each symmetric key in the file.
        found: Vec<Option<String>>,
    },
    /// A key reference is malformed. The text gives the expected form.
    #[error("{0}")]
    Reference(&'static str),
    /// Parameters of a key derivation are out of range. The text names the limit.
    #[error("{0}")]
    DerivationParameters(&'static str),
    /// A namespace or a comment that a signature cannot have. The text gives the reason.
    #[error("{0}")]
    SignatureOption(&'static str),
    /// A recipient or a combination of recipients cannot be used. The text gives the reason.
    #[error("{0}")]
    InvalidRecipients(&'static str),
    /// The operation supports neither this file nor this stream as a source.
    #[error("{0}")]
    UnsupportedSource(&'static str),
    /// Exactly one source of keys for a file is required.
    #[error(
        "expected exactly one of {}, {} and {}, found {}",
        .expected[0], .expected[1], .expected[2], one_or_none(.found)
    )]
    KeySource {
        /// Names of the possible sources.
        expected: [&'static str; 3],
        /// Names of the given sources.
        found: Vec<&'static str>,
    },
    /// The named file format requires a symmetric key, but recipients or a passphrase were given.
    #[error("the format {0} requires a key")]
    FormatNeedsKey(&'static str),
    /// The named file format requires recipients or a passphrase, but a symmetric key was given.
    #[error("the format {0} takes no key; use recipients, identities or a passphrase")]
    FormatNeedsRecipients(&'static str),
    /// A format was given with a keyring, but the keyring determines the format.
    #[error("a keyring determines the format; omit format")]
    KeysetHasFormat,
    /// A context needs a symmetric key.
    #[error("a context requires a key; age files have no context")]
    ContextNeedsKey,
    /// Armor was requested for a symmetric key, but only age files can be armored.
    #[error("armor requires recipients or a passphrase; files of other formats are binary")]
    ArmorNeedsRecipients,
    /// A maximum work factor applies to a passphrase only, but none was given.
    #[error("max_work_factor requires a passphrase")]
    WorkFactorNeedsPassphrase,
    /// The list of identities is empty.
    #[error("expected at least one identity, found an empty list")]
    NoIdentities,
    /// Nothing of this kind has the given name, or a list of names is empty.
    #[error("unknown {name}: expected one of {}", .known.join(", "))]
    UnknownName {
        /// What has the name, such as `"algorithm"`.
        name: &'static str,
        /// The known names.
        known: Vec<String>,
    },
    /// The argument is too large.
    #[error("{name} must be at most {max}, found {found}")]
    OutOfRange {
        /// Name of the argument.
        name: &'static str,
        /// Given number.
        found: u64,
        /// Largest number that is accepted.
        max: u64,
    },
    /// A byte order was given for a cipher other than Speck.
    #[error("byte_order is for Speck only; omit it for other ciphers")]
    ByteOrder,
    /// The headers of a new token cannot be used.
    #[error(
        "the headers must be a JSON object, with strings as kid, apu and apv (both in base64url), and without alg, enc, zip, crit, b64, epk, iv, tag, p2s and p2c"
    )]
    TokenHeaders,
}

impl Misuse {
    #[doc(hidden)]
    pub fn unknown<N: Into<String>>(name: &'static str, known: impl IntoIterator<Item = N>) -> Self {
        Self::UnknownName { name, known: known.into_iter().map(Into::into).collect() }
    }
}

/// Joins lengths, as in "16 or 32".
fn one_or_none(found: &[&str]) -> String {
    if found.is_empty() { "none".into() } else { found.join(" and ") }
}

fn key_id(wanted: Option<&str>, found: &[Option<String>]) -> String {
    const SHOWN: usize = 8;
    let shown = |kid: &String| match kid.char_indices().nth(64) {
        Some((end, _)) => format!("{:?}...", &kid[..end]),
        None => format!("{kid:?}"),
    };
    let mut kids: Vec<_> =
        found.iter().take(SHOWN).map(|kid| kid.as_ref().map_or("none".into(), shown)).collect();
    if found.len() > SHOWN {
        kids.push(format!("and {} more", found.len() - SHOWN));
    }
    let (count, kids) = (found.iter().filter(|kid| kid.as_deref() == wanted).count(), kids.join(", "));
    match (wanted, found.len()) {
        (_, 0) => "the JWK Set holds no symmetric key".into(),
        (None, all) => format!("the JWK Set holds {all} keys; select one by its kid: {kids}"),
        (Some(kid), _) if count > 1 => format!("{count} keys have the kid {kid:?}; the kids are: {kids}"),
        (Some(kid), _) => format!("no key has the kid {kid:?}; the kids are: {kids}"),
    }
}
