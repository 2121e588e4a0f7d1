//! Translates errors to codes and text.

use sealane::error::Kind;
use std::borrow::Cow;
use std::fmt;
use std::path::Path;

/// An error of a call, before it is translated.
#[derive(Debug)]
pub(crate) enum CallError {
    /// An error of the core.
    Core(sealane::Error),
    /// A pointer or a number that only a caller in C can give.
    Argument(ArgumentError),
}

/// A mistake in an argument. `name` is the name of the argument in the header.
#[derive(Debug)]
pub(crate) enum ArgumentError {
    /// The pointer to `len` bytes is null.
    NullBytes { name: &'static str, len: usize },
    /// A handle, a text or a structure is required, and the pointer to it is null.
    Null { name: &'static str },
    /// The length is that of no memory of this process, for example a negative number that was converted.
    Length { name: &'static str, len: usize },
    /// The text is not UTF-8.
    NotUtf8 { name: &'static str },
    /// The member `size` has another value than this version of the library expects.
    StructSize { name: &'static str, found: usize, expected: usize },
    /// A function of a structure is required, and the pointer to it is null.
    NullFunction { name: &'static str },
    /// Flags that the call does not have.
    Flags { found: u32, expected: u32 },
    /// A name that is in none of the tables.
    Name { name: &'static str, expected: Cow<'static, str> },
    /// A number that is out of range.
    Range { name: &'static str, found: u64, max: u64 },
    /// The lengths of the messages of a batch do not add up to the length of their bytes.
    LengthsOfBatch { found: u128, expected: usize },
    /// The call does not fit to the handle or to another argument. The text says what does.
    Unsuitable(&'static str),
    /// The process default of the provider was set before.
    DefaultProvider,
}

impl From<sealane::Error> for CallError {
    fn from(error: sealane::Error) -> Self {
        Self::Core(error)
    }
}

impl From<sealane::Misuse> for CallError {
    fn from(misuse: sealane::Misuse) -> Self {
        Self::Core(misuse.into())
    }
}

impl From<ArgumentError> for CallError {
    fn from(error: ArgumentError) -> Self {
        Self::Argument(error)
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

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core(error) => error.fmt(f),
            Self::Argument(error) => error.fmt(f),
        }
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NullBytes { name, len } => {
                write!(f, "{name} is a null pointer, and its length is {len}; only 0 bytes may be null")
            }
            Self::Null { name } => write!(f, "{name} is a null pointer, which is not allowed here"),
            Self::Length { name, len } => {
                write!(
                    f,
                    "{name} has the length {len}, which no memory has; was a negative number converted?"
                )
            }
            Self::NotUtf8 { name } => write!(f, "{name} must be text in UTF-8, found other bytes"),
            Self::StructSize { name, found, expected } => write!(
                f,
                "{name}->size must be {expected}, found {found}; set it to sizeof, and use the header of this library"
            ),
            Self::NullFunction { name } => write!(f, "{name} is a null pointer, expected a function"),
            Self::Flags { found, expected } => {
                write!(f, "the flags must be among {expected:#x}, found {found:#x}")
            }
            Self::Name { name, expected } => write!(f, "unknown {name}: expected {expected}"),
            Self::Range { name, found, max } => write!(f, "{name} must be at most {max}, found {found}"),
            Self::LengthsOfBatch { found, expected } => {
                write!(f, "lens must add up to {expected}, the length of the messages, found {found}")
            }
            Self::Unsuitable(text) => f.write_str(text),
            Self::DefaultProvider => {
                f.write_str("the provider of this process was set before to another one; set it once")
            }
        }
    }
}

/// Returns the flags that `found` consists of, if the call has all of them.
pub(crate) fn flags(found: u32, expected: u32) -> Result<u32, ArgumentError> {
    if found & !expected == 0 { Ok(found) } else { Err(ArgumentError::Flags { found, expected }) }
}
