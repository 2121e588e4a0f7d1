//! Translates errors to exceptions of Elixir.

use rustler::{Atom, Encoder, Env, Error as Raised, NifException, Term};
use std::borrow::Cow;
use std::io::ErrorKind;

/// The result of a native function.
pub(crate) type Answer<T> = Result<T, Raised>;

/// An error of a call, before it is translated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] sealane::Error),
    /// A mistake in an argument that only this package can find.
    #[error(transparent)]
    Argument(#[from] ArgumentError),
}

/// A mistake in an argument. `name` is its name in the documentation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ArgumentError {
    /// A name that is in none of the tables.
    #[error("unknown {name}: expected {expected}")]
    Name { name: &'static str, expected: Cow<'static, str> },
    /// A number that is out of range.
    #[error("{name} must be at most {max}, found {found}")]
    Range { name: &'static str, found: u64, max: u64 },
    /// The call does not fit to the handle or to another argument. The text says what does.
    #[error("{0}")]
    Unsuitable(&'static str),
}

/// An atom with this name.
struct Name(&'static str);

impl Encoder for Name {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        Atom::from_str(env, self.0).expect("an atom has at most 255 characters").encode(env)
    }
}

/// The exception `Sealane.Error`.
#[derive(NifException)]
#[rustler(encode)]
#[module = "Sealane.Error"]
struct Exception {
    reason: Name,
    message: String,
    posix: Option<Name>,
}

/// The exception `ArgumentError` of Elixir.
#[derive(NifException)]
#[rustler(encode)]
#[module = "ArgumentError"]
struct ArgumentException {
    message: String,
}

impl From<sealane::Misuse> for CallError {
    fn from(misuse: sealane::Misuse) -> Self {
        Self::Core(misuse.into())
    }
}

impl CallError {
    /// Returns the error for a message that is too short to have a tag, as for one that was changed.
    pub(crate) const AUTHENTICATION: Self = Self::Core(sealane::Error::Authentication);

    /// Returns the error for a binary that the system has no memory for.
    pub(crate) fn out_of_memory(bytes: usize) -> Self {
        Self::Core(sealane::Error::OutOfMemory { bytes })
    }

    /// Returns an error of the operating system about a path.
    pub(crate) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        Self::Core(sealane::Error::Io { path: Some(path.to_owned()), source })
    }

    /// Returns nothing if data is not authentic, and raises any other error.
    pub(crate) fn only_authentication(self) -> Answer<()> {
        match self {
            Self::Core(sealane::Error::Authentication) => Ok(()),
            other => Err(other.raise()),
        }
    }

    /// Raises the exception.
    #[cold]
    pub(crate) fn raise(self) -> Raised {
        Raised::RaiseTerm(self.exception())
    }

    /// Returns `{:error, exception}`, or raises `ArgumentError` for a mistake in the call.
    #[cold]
    pub(crate) fn tuple(self) -> Raised {
        match self.reason() {
            None => self.raise(),
            Some(_) => Raised::Term(self.exception()),
        }
    }

    /// Returns `{:error, :authentication_failed}` for a message that is not authentic, and raises any other error: a
    /// message in memory has no other reason that a caller expects.
    #[cold]
    pub(crate) fn message(self) -> Raised {
        match self {
            Self::Core(sealane::Error::Authentication) => Raised::Term(Box::new(self.reason().map(Name))),
            other => other.raise(),
        }
    }

    fn exception(&self) -> Box<dyn Encoder> {
        match self.reason().map(Name) {
            None => Box::new(ArgumentException { message: self.to_string() }),
            Some(reason) => Box::new(Exception { reason, message: self.to_string(), posix: self.posix() }),
        }
    }

    /// Returns the reason of `Sealane.Error`, or `None` for a mistake in the call.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Argument(_) => None,
            Self::Core(error) => error.kind().names().atom,
        }
    }

    /// Returns the reason that the module `File` of Elixir gives for the same error of the operating system.
    fn posix(&self) -> Option<Name> {
        let Self::Core(sealane::Error::Io { source, .. }) = self else { return None };
        Some(Name(match source.kind() {
            ErrorKind::NotFound => "enoent",
            // `EPERM` has the same kind.
            ErrorKind::PermissionDenied if source.raw_os_error() == Some(1) => "eperm",
            ErrorKind::PermissionDenied => "eacces",
            ErrorKind::AlreadyExists => "eexist",
            ErrorKind::NotADirectory => "enotdir",
            ErrorKind::IsADirectory => "eisdir",
            ErrorKind::StorageFull => "enospc",
            ErrorKind::ReadOnlyFilesystem => "erofs",
            ErrorKind::FileTooLarge => "efbig",
            ErrorKind::InvalidFilename => "enametoolong",
            _ => return None,
        }))
    }
}
