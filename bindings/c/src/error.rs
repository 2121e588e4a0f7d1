//! Translates errors to codes and text.

use sealane::error::Kind;

/// A result whose error is [`CallError`] unless another one is named.
pub(crate) type Result<T, E = CallError> = std::result::Result<T, E>;

/// An error of a call, not yet translated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] sealane::Error),
    /// An invalid pointer or number, only possible from C.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
}

/// An invalid argument. `name` is its name in the header.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// The pointer to `len` bytes is null.
    #[error("{name} is a null pointer, and its length is {len}; only 0 bytes may be null")]
    NullBytes { name: &'static str, len: usize },
    /// A required handle, text or structure is null.
    #[error("{name} is a null pointer, which is not allowed here")]
    Null { name: &'static str },
    /// No memory of this process has this length. It may be a converted negative number.
    #[error("{name} has the length {len}, which no memory has; was a negative number converted?")]
    Length { name: &'static str, len: usize },
    /// The text is not UTF-8.
    #[error("{name} must be text in UTF-8, found other bytes")]
    NotUtf8 { name: &'static str },
    /// The member `size` does not have the value this version of the library expects.
    #[error(
        "{name}->size must be {expected}, found {found}; set it to sizeof, and use the header of this library"
    )]
    StructSize { name: &'static str, found: usize, expected: usize },
    /// A required function in a structure is null.
    #[error("{name} is a null pointer, expected a function")]
    NullFunction { name: &'static str },
    /// Flags the call does not support.
    #[error("the flags must be among {expected:#x}, found {found:#x}")]
    Flags { found: u32, expected: u32 },
    /// The lengths of a batch's messages do not add up to the length of its data.
    #[error("lens must add up to {expected}, the length of the messages, found {found}")]
    LengthsOfBatch { found: u128, expected: usize },
    /// The call does not match the handle or another argument; the text says what does.
    #[error("{0}")]
    Unsuitable(&'static str),
    /// The process's default provider was already set.
    #[error(transparent)]
    DefaultProvider(#[from] sealane::provider::DefaultAlreadySet),
}

impl From<sealane::Misuse> for CallError {
    fn from(misuse: sealane::Misuse) -> Self {
        Self::Core(misuse.into())
    }
}

impl CallError {
    /// Returns the error for a message too short to have a tag, the same as for a modified one.
    pub(crate) const AUTHENTICATION: Self = Self::Core(sealane::Error::Authentication);

    /// Returns the core's error for a mistake in the call.
    pub(crate) const fn misuse(misuse: sealane::Misuse) -> Self {
        Self::Core(sealane::Error::Misuse(misuse))
    }

    /// Returns the error for a failed allocation.
    pub(crate) fn out_of_memory(bytes: usize) -> Self {
        Self::Core(sealane::Error::OutOfMemory { bytes })
    }

    /// Returns the header constant of this error.
    pub(crate) fn code(&self) -> i32 {
        match self {
            Self::Argument(_) => Kind::Misuse,
            Self::Core(error) => error.kind(),
        }
        .names()
        .code
    }

    /// Returns the operating system's error number, or 0.
    pub(crate) fn os_code(&self) -> i32 {
        match self {
            Self::Core(sealane::Error::Io { source, .. }) => source.raw_os_error().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Returns the flags in `found`, if the call supports all of them.
pub(crate) fn flags(found: u32, expected: u32) -> Result<u32, ArgumentError> {
    if found & !expected == 0 { Ok(found) } else { Err(ArgumentError::Flags { found, expected }) }
}
