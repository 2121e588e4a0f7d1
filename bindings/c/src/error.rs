//! Translates errors to codes and text.

use sealane::error::Kind;
use std::borrow::Cow;
use std::path::Path;

/// An error of a call, before it is translated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] sealane::Error),
    /// A pointer or a number that only a caller in C can give.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
}

/// A mistake in an argument. `name` is the name of the argument in the header.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// The pointer to `len` bytes is null.
    #[error("{name} is a null pointer, and its length is {len}; only 0 bytes may be null")]
    NullBytes { name: &'static str, len: usize },
    /// A handle, a text or a structure is required, and the pointer to it is null.
    #[error("{name} is a null pointer, which is not allowed here")]
    Null { name: &'static str },
    /// The length is that of no memory of this process, for example a negative number that was converted.
    #[error("{name} has the length {len}, which no memory has; was a negative number converted?")]
    Length { name: &'static str, len: usize },
    /// The text is not UTF-8.
    #[error("{name} must be text in UTF-8, found other bytes")]
    NotUtf8 { name: &'static str },
    /// The member `size` has another value than this version of the library expects.
    #[error(
        "{name}->size must be {expected}, found {found}; set it to sizeof, and use the header of this library"
    )]
    StructSize { name: &'static str, found: usize, expected: usize },
    /// A function of a structure is required, and the pointer to it is null.
    #[error("{name} is a null pointer, expected a function")]
    NullFunction { name: &'static str },
    /// Flags that the call does not have.
    #[error("the flags must be among {expected:#x}, found {found:#x}")]
    Flags { found: u32, expected: u32 },
    /// A name that is in none of the tables.
    #[error("unknown {name}: expected {expected}")]
    Name { name: &'static str, expected: Cow<'static, str> },
    /// A number that is out of range.
    #[error("{name} must be at most {max}, found {found}")]
    Range { name: &'static str, found: u64, max: u64 },
    /// The lengths of the messages of a batch do not add up to the length of their bytes.
    #[error("lens must add up to {expected}, the length of the messages, found {found}")]
    LengthsOfBatch { found: u128, expected: usize },
    /// The call does not fit to the handle or to another argument. The text says what does.
    #[error("{0}")]
    Unsuitable(&'static str),
    /// The process default of the provider was set before.
    #[error("the provider of this process was set before to another one; set it once")]
    DefaultProvider,
}

impl From<sealane::Misuse> for CallError {
    fn from(misuse: sealane::Misuse) -> Self {
        Self::Core(misuse.into())
    }
}

impl From<sealane::provider::DefaultAlreadySet> for CallError {
    fn from(_: sealane::provider::DefaultAlreadySet) -> Self {
        ArgumentError::DefaultProvider.into()
    }
}

impl CallError {
    /// Returns the error for a message that is too short to have a tag, as for one that was changed.
    pub(crate) const AUTHENTICATION: Self = Self::Core(sealane::Error::Authentication);

    /// Returns the error for a mistake in the call that the core has a name for.
    pub(crate) const fn misuse(misuse: sealane::Misuse) -> Self {
        Self::Core(sealane::Error::Misuse(misuse))
    }

    /// Returns the error for a buffer that the system does not have.
    pub(crate) fn out_of_memory(bytes: usize) -> Self {
        Self::Core(sealane::Error::OutOfMemory { bytes })
    }

    /// Returns an error of the operating system about a path.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Core(sealane::Error::Io { path: Some(path.to_owned()), source })
    }

    /// Returns the constant of the header for this error.
    pub(crate) fn code(&self) -> i32 {
        match self {
            Self::Argument(_) => Kind::Misuse,
            Self::Core(error) => error.kind(),
        }
        .names()
        .code
    }

    /// Returns the number of the operating system's error, or 0.
    pub(crate) fn os_code(&self) -> i32 {
        match self {
            Self::Core(sealane::Error::Io { source, .. }) => source.raw_os_error().unwrap_or(0),
            _ => 0,
        }
    }
}

/// Returns the flags that `found` consists of, if the call has all of them.
pub(crate) fn flags(found: u32, expected: u32) -> Result<u32, ArgumentError> {
    if found & !expected == 0 { Ok(found) } else { Err(ArgumentError::Flags { found, expected }) }
}
