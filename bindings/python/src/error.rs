//! The one translation of errors into exceptions.

use pyo3::exceptions::{PyOSError, PySystemError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use sealane::{Error, Misuse};
use std::io::{self, ErrorKind};
use std::path::Path;

mod named {
    //! The classes of `sealane.exceptions`.
    #![allow(missing_docs, reason = "documented where they are defined, in Python")]
    pyo3::import_exception!(sealane.exceptions, SealaneError);
    pyo3::import_exception!(sealane.exceptions, AuthenticationError);
    pyo3::import_exception!(sealane.exceptions, FormatError);
    pyo3::import_exception!(sealane.exceptions, TruncatedError);
    pyo3::import_exception!(sealane.exceptions, UnsupportedVersionError);
    pyo3::import_exception!(sealane.exceptions, KeyNotFoundError);
    pyo3::import_exception!(sealane.exceptions, NoMatchingKeyError);
    pyo3::import_exception!(sealane.exceptions, ProviderUnavailableError);
    pyo3::import_exception!(sealane.exceptions, LimitExceededError);
}

/// The exception for an error.
///
/// Both enums may grow in their own crate, so the compiler asks for a last arm. It shouts: an error that gets there
/// has no Python name yet.
#[cold]
pub(crate) fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    worded(error, text)
}

/// The same as one of many: its words begin with the file, where they do not name it.
#[cold]
pub(crate) fn raise_among(path: &Path, error: Error) -> PyErr {
    match error {
        Error::Io { .. } | Error::Misuse(Misuse::SameFile(_)) => raise_about(path, error),
        other => {
            let text = format!("{}: {other}", path.display());
            worded(other, text)
        }
    }
}

fn worded(error: Error, text: String) -> PyErr {
    match error {
        Error::Authentication | Error::DamagedChunk { .. } | Error::KeyMismatch { .. } => {
            named::AuthenticationError::new_err(text)
        }
        Error::Format(_) | Error::UnexpectedLength { .. } => named::FormatError::new_err(text),
        Error::Header(_) | Error::Armor(_) | Error::Line { .. } => named::FormatError::new_err(text),
        Error::UnsupportedVersion(_) => named::UnsupportedVersionError::new_err(text),
        Error::KeyNotFound(_) => named::KeyNotFoundError::new_err(text),
        Error::NoMatchingKey
        | Error::WrongPassphrase
        | Error::PassphraseRequired
        | Error::IdentityRequired => named::NoMatchingKeyError::new_err(text),
        Error::WorkFactor { .. } => named::LimitExceededError::new_err(text),
        Error::Truncated => named::TruncatedError::new_err(text),
        Error::ProviderUnavailable(_) | Error::ProviderRefused(_) | Error::SelfTest(_) => {
            named::ProviderUnavailableError::new_err(text)
        }
        Error::LimitExceeded(_) | Error::MessageLength { .. } => named::LimitExceededError::new_err(text),
        // Whoever cancels raises an exception of their own; this one stands in where there is none.
        Error::Cancelled => named::SealaneError::new_err(text),
        Error::Environment(_) => PyValueError::new_err(text),
        Error::Misuse(misuse) => raise_misuse(&misuse, text),
        Error::Io { path, source } => raise_io(path.as_deref(), source),
        _ => PySystemError::new_err(format!("sealane: an error without a Python name: {text}")),
    }
}

/// The same, naming the file where the error does not.
#[cold]
pub(crate) fn raise_about(path: &Path, error: Error) -> PyErr {
    raise(match error {
        Error::Io { path: None, source } => Error::Io { path: Some(path.to_owned()), source },
        other => other,
    })
}

/// The same for a name that is looked up in a table: a caller's mistake, whatever the table calls it.
#[cold]
pub(crate) fn raise_name(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The same for a private key that is given as text or as a file, to a call that has no passphrase for it.
#[cold]
pub(crate) fn raise_about_key(path: Option<&Path>) -> impl Fn(Error) -> PyErr {
    move |error| match (error, path) {
        (Error::Misuse(Misuse::KeyPassphraseRequired), Some(path)) => PyValueError::new_err(format!(
            "the key is encrypted with a passphrase: give sealane.keys.load({:?}, passphrase) in its place",
            path.display().to_string()
        )),
        (Error::Misuse(Misuse::KeyPassphraseRequired), None) => PyValueError::new_err(
            "the key is encrypted with a passphrase: give sealane.keys.Key.from_text(text, passphrase) in its place",
        ),
        (error, Some(path)) => raise_about(path, error),
        (error, None) => raise(error),
    }
}

fn raise_misuse(misuse: &Misuse, text: String) -> PyErr {
    match misuse {
        Misuse::KeyLength { .. }
        | Misuse::NonceLength { .. }
        | Misuse::TagLength { .. }
        | Misuse::BlockLength { .. }
        | Misuse::AadAfterData
        | Misuse::AlreadyFinalized
        | Misuse::StreamingUnsupported(_)
        | Misuse::SmallBlock(_)
        | Misuse::LargeBlock
        | Misuse::NonceTooShortForRandom
        | Misuse::OutputTooShort { .. }
        | Misuse::BufferTooShort { .. }
        | Misuse::PartialOverlap
        | Misuse::SameFile(_)
        | Misuse::TargetInsideSource(_)
        | Misuse::DuplicateTarget(_)
        | Misuse::InvalidSuffix
        | Misuse::Poisoned
        | Misuse::SecretLength { .. }
        | Misuse::KeyId { .. }
        | Misuse::Reference(_)
        | Misuse::UnsuitableKey(_)
        | Misuse::KeyPassphraseRequired
        | Misuse::KeyIdentityRequired
        | Misuse::KeyNotEncrypted
        | Misuse::DerivationParameters(_)
        | Misuse::InvalidRecipients(_)
        | Misuse::UnsupportedSource(_)
        | Misuse::FormatNeedsKey(_)
        | Misuse::FormatNeedsRecipients(_)
        | Misuse::KeysetHasFormat
        | Misuse::ContextNeedsKey
        | Misuse::ArmorNeedsRecipients
        | Misuse::WorkFactorNeedsPassphrase
        | Misuse::NoIdentities
        | Misuse::UnknownFormat { .. } => PyValueError::new_err(text),
        Misuse::KeySource { .. } => PyTypeError::new_err(text),
        _ => PySystemError::new_err(format!("sealane: a misuse without a Python name: {text}")),
    }
}

/// `OSError(errno, strerror, filename)`, of which Python itself makes `FileNotFoundError` and its kin.
fn raise_io(path: Option<&Path>, source: io::Error) -> PyErr {
    // A file object's own exception travels as itself.
    if source.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return source.into();
    }
    // So says Python of a path with a zero in it.
    if source.kind() == ErrorKind::InvalidInput && source.raw_os_error().is_none() {
        return PyValueError::new_err(source.to_string());
    }
    Python::attach(|py| {
        let errno = source.raw_os_error().unwrap_or_else(|| errno(source.kind()));
        let text = match source.get_ref() {
            Some(said) => said.to_string(),
            None => strerror(py, errno).unwrap_or_else(|_| source.to_string()),
        };
        match path {
            Some(path) => PyOSError::new_err((errno, text, path.as_os_str().to_owned())),
            None => PyOSError::new_err((errno, text)),
        }
    })
}

fn strerror(py: Python<'_>, errno: i32) -> PyResult<String> {
    py.import("os")?.call_method1("strerror", (errno,))?.extract()
}

/// For errors that the standard library or the core made up: the number that the system would have given.
fn errno(kind: ErrorKind) -> i32 {
    match kind {
        ErrorKind::NotFound => libc::ENOENT,
        ErrorKind::PermissionDenied => libc::EACCES,
        ErrorKind::AlreadyExists => libc::EEXIST,
        ErrorKind::IsADirectory => libc::EISDIR,
        ErrorKind::NotADirectory => libc::ENOTDIR,
        ErrorKind::StorageFull => libc::ENOSPC,
        ErrorKind::BrokenPipe => libc::EPIPE,
        ErrorKind::ResourceBusy => libc::EBUSY,
        ErrorKind::WouldBlock => libc::EAGAIN,
        ErrorKind::Unsupported => libc::ENOSYS,
        _ => libc::EIO,
    }
}
