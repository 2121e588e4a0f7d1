//! Translates errors to Elixir exceptions.

use rustler::types::atom::ok;
use rustler::{Atom, Encoder, Env, Error as Raised, NifException, Term};
use sealane::error::escaped;
use std::io::ErrorKind;

/// The result of a native function.
pub(crate) type Answer<T> = Result<T, Raised>;

/// Returns the value or raises.
#[inline]
pub(crate) fn value<T>(result: Result<T>) -> Answer<T> {
    result.map_err(CallError::raise)
}

/// Returns `{:ok, value}` or `{:error, exception}`.
#[inline]
pub(crate) fn tuple<T>(result: Result<T>) -> Answer<(Atom, T)> {
    Ok((ok(), result.map_err(CallError::tuple)?))
}

/// Returns `:ok` or `{:error, exception}`.
pub(crate) fn done(result: Result<()>) -> Answer<Atom> {
    result.map(|()| ok()).map_err(CallError::tuple)
}

/// Returns `{:ok, message}` or `{:error, :authentication_failed}`.
#[inline]
pub(crate) fn message<T>(result: Result<T>) -> Answer<(Atom, T)> {
    Ok((ok(), result.map_err(CallError::message)?))
}

/// A result whose error is [`CallError`] unless another one is named.
pub(crate) type Result<T, E = CallError> = std::result::Result<T, E>;

/// An error of a call, not yet translated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] sealane::Error),
    /// An invalid argument that only this package can find.
    #[error("{0}")]
    Argument(&'static str),
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

/// Elixir's exception `ArgumentError`.
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
    /// Returns the error for a message too short to have a tag, the same as for a modified one.
    pub(crate) const AUTHENTICATION: Self = Self::Core(sealane::Error::Authentication);

    /// Returns the error for a binary that cannot be allocated.
    pub(crate) fn out_of_memory(bytes: usize) -> Self {
        Self::Core(sealane::Error::OutOfMemory { bytes })
    }

    /// Raises the exception.
    #[cold]
    fn raise(self) -> Raised {
        Raised::RaiseTerm(self.exception())
    }

    /// Returns `{:error, exception}`, or raises `ArgumentError` for a mistake in the call.
    #[cold]
    fn tuple(self) -> Raised {
        match self.reason() {
            None => self.raise(),
            Some(_) => Raised::Term(self.exception()),
        }
    }

    /// Returns `{:error, :authentication_failed}` for an unauthentic message, and raises any other
    /// error: for a message in memory, callers expect no other.
    #[cold]
    fn message(self) -> Raised {
        match self {
            Self::Core(sealane::Error::Authentication) => Raised::Term(Box::new(self.reason().map(Name))),
            other => other.raise(),
        }
    }

    fn exception(&self) -> Box<dyn Encoder> {
        // A terminal would obey the control characters of a name.
        let message = escaped(&self.to_string());
        match self.reason().map(Name) {
            None => Box::new(ArgumentException { message }),
            Some(reason) => Box::new(Exception { reason, message, posix: self.posix() }),
        }
    }

    /// Returns the reason of `Sealane.Error`, or `None` for a mistake in the call.
    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Argument(_) => None,
            Self::Core(error) => error.kind().names().atom,
        }
    }

    /// Returns the reason that Elixir's `File` gives for the same operating-system error.
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
