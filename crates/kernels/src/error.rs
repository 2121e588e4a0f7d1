//! Errors returned by the functions of this crate, with the lengths that were found and allowed.
//!
//! They are returned before anything is written, with one exception:
//! [`OpenError::AuthenticationFailed`], after which the destination is zero.
#![forbid(unsafe_code)]

use core::fmt;

/// A key could not be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyError {
    /// The cipher does not accept this number of key bytes.
    InvalidLength(usize),
    /// Every variant that the processor features allow, the portable one included, failed its
    /// self-test.
    SelfTestFailed,
}

/// The part of a message that a [`MessageError::TooLong`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The plaintext or ciphertext, without the tag.
    Data,
    /// The associated data: authenticated but not encrypted.
    AssociatedData,
    /// The nonce, where the algorithm accepts more than one length.
    Nonce,
    /// The keystream, up to the last byte that was requested of it.
    Keystream,
}

/// A message, or a piece of one, that the algorithm does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageError {
    /// A part of the message is longer than the algorithm allows.
    TooLong {
        /// The part that is too long.
        part: Part,
        /// Its length in bytes; for a message in pieces, with the piece that was refused.
        found: u128,
        /// The largest length in bytes that the algorithm allows for this part.
        limit: u128,
    },
    /// The nonce or initial counter block has a wrong length.
    InvalidNonceLength {
        /// The length in bytes of the nonce or counter block that was given.
        found: usize,
        /// The only length in bytes that the algorithm accepts.
        expected: usize,
    },
    /// The data does not consist of whole blocks.
    PartialBlock {
        /// The length of the data in bytes.
        found: usize,
        /// The length of a block in bytes.
        block_len: usize,
    },
    /// Associated data was added after the first byte of data.
    LateAssociatedData,
}

/// The reason why a message could not be decrypted, for example a wrong tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenError {
    /// The algorithm does not define such a message, so no tag was computed.
    Message(MessageError),
    /// The tag does not match the message, the associated data, the nonce and the key. The
    /// destination is zero.
    AuthenticationFailed,
}

impl Part {
    /// Checks a length in bytes against the limit of the algorithm.
    #[inline(always)]
    pub(crate) fn check_len(self, found: u128, limit: u128) -> Result<(), MessageError> {
        if found > limit { Err(MessageError::TooLong { part: self, found, limit }) } else { Ok(()) }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidLength(found) => write!(f, "the cipher has no key of {found} bytes"),
            Self::SelfTestFailed => {
                f.write_str("no variant of the cipher passed its self-test on this processor")
            }
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Data => "data",
            Self::AssociatedData => "associated data",
            Self::Nonce => "nonce",
            Self::Keystream => "keystream",
        })
    }
}

impl fmt::Display for MessageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { part, found, limit } => {
                write!(f, "{found} bytes of {part} exceed the limit of {limit} bytes")
            }
            Self::InvalidNonceLength { found, expected } => {
                write!(f, "expected a nonce of {expected} bytes, found {found}")
            }
            Self::PartialBlock { found, block_len } => {
                write!(f, "expected whole blocks of {block_len} bytes, found {found} bytes")
            }
            Self::LateAssociatedData => f.write_str("associated data must come before the data"),
        }
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(error) => error.fmt(f),
            Self::AuthenticationFailed => f.write_str("authentication failed"),
        }
    }
}

impl core::error::Error for KeyError {}
impl core::error::Error for MessageError {}
impl core::error::Error for OpenError {}

impl From<MessageError> for OpenError {
    fn from(error: MessageError) -> Self {
        Self::Message(error)
    }
}
