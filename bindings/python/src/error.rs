//! Translates the errors of the core crate to the exceptions that Python callers see.

use pyo3::exceptions::{PyMemoryError, PyOSError, PySystemError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use sealane::error::{PluginError, PluginProblem};
use sealane::{Error, FolderError, Misuse, keys};
use std::io::{self, ErrorKind};
use std::path::Path;

mod named {
    //! The exception classes of `sealane.exceptions`, which are imported from Python at their first use.
    #![allow(missing_docs, reason = "documented in Python, where they are defined")]
    pyo3::import_exception!(sealane.exceptions, SealaneError);
    pyo3::import_exception!(sealane.exceptions, AuthenticationError);
    pyo3::import_exception!(sealane.exceptions, FormatError);
    pyo3::import_exception!(sealane.exceptions, TruncatedError);
    pyo3::import_exception!(sealane.exceptions, UnsupportedVersionError);
    pyo3::import_exception!(sealane.exceptions, KeyNotFoundError);
    pyo3::import_exception!(sealane.exceptions, KeyServiceError);
    pyo3::import_exception!(sealane.exceptions, KeyRefusedError);
    pyo3::import_exception!(sealane.exceptions, NoMatchingKeyError);
    pyo3::import_exception!(sealane.exceptions, PluginError);
    pyo3::import_exception!(sealane.exceptions, ProviderUnavailableError);
    pyo3::import_exception!(sealane.exceptions, LimitExceededError);
    pyo3::import_exception!(sealane.exceptions, ForkedError);
    pyo3::import_exception!(sealane.exceptions, ReentrantCallError);
}

/// Returns the Python exception that stands for an error of the core.
///
/// Both enums are non-exhaustive, so the compiler requires a last arm. It is a `SystemError`: an error that gets there has
/// no Python class yet.
#[cold]
pub(crate) fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    worded(error, text)
}

/// Returns the exception for an error of one file of a batch. The text begins with the path unless it contains it.
#[cold]
pub(crate) fn raise_among(path: &Path, error: Error) -> PyErr {
    match error {
        Error::Io { .. }
        | Error::SourceChanged { .. }
        | Error::Misuse(Misuse::SameFile(_) | Misuse::OutputIsInput { .. }) => raise_about(path, error),
        other => {
            let text = format!("{}: {other}", path.display());
            worded(other, text)
        }
    }
}

fn worded(error: Error, text: String) -> PyErr {
    // The process may end with this exception.
    sealane::wipe_stack();
    match error {
        Error::Authentication | Error::DamagedChunk { .. } | Error::KeyMismatch { .. } => {
            named::AuthenticationError::new_err(text)
        }
        Error::Format(_) | Error::UnexpectedLength { .. } => named::FormatError::new_err(text),
        Error::Header(_) | Error::Armor(_) | Error::Line { .. } => named::FormatError::new_err(text),
        Error::InKeyring { source, .. } => worded(*source, text),
        Error::UnknownKeyType(_) => named::FormatError::new_err(text),
        Error::InBatch { index, source } => {
            let error = worded(*source, text);
            // An exception that takes no attribute keeps the index in its text.
            let _ = Python::attach(|py| error.value(py).setattr("index", index));
            error
        }
        Error::UnsupportedVersion(_) => named::UnsupportedVersionError::new_err(text),
        Error::KeyNotFound(_) => named::KeyNotFoundError::new_err(text),
        Error::KeyService(_) => named::KeyServiceError::new_err(text),
        Error::KeyRefused(_) => named::KeyRefusedError::new_err(text),
        Error::NoMatchingKey
        | Error::WrongPassphrase
        | Error::PassphraseRequired
        | Error::IdentityRequired => named::NoMatchingKeyError::new_err(text),
        Error::WorkFactor { .. } => named::LimitExceededError::new_err(text),
        Error::Truncated => named::TruncatedError::new_err(text),
        Error::ProviderUnavailable(_)
        | Error::ProviderRefused(_)
        | Error::SelfTest(_)
        | Error::NotApproved(_) => named::ProviderUnavailableError::new_err(text),
        Error::LimitExceeded(_) | Error::MessageLength { .. } => named::LimitExceededError::new_err(text),
        Error::Plugin(PluginError { plugin, problem }) => {
            let advice = "; call sealane.plugins.enable() before";
            let advice = if matches!(problem, PluginProblem::NotEnabled) { advice } else { "" };
            let error = named::PluginError::new_err(text + advice);
            // Without the attribute, the name is in the text.
            let _ = Python::attach(|py| error.value(py).setattr("plugin", plugin));
            error
        }
        // A hook that cancels raises its own exception. This one is for a hook without an exception.
        Error::Cancelled => named::SealaneError::new_err(text),
        Error::OutOfMemory { .. } => PyMemoryError::new_err(text),
        Error::Environment(_) => PyValueError::new_err(text),
        Error::Misuse(misuse) => raise_misuse(&misuse, text),
        Error::Folder(folder) => match folder {
            FolderError::SignatureMissing(_)
            | FolderError::OtherSigner(_)
            | FolderError::SignatureInvalid { .. }
            | FolderError::OldInventory { .. }
            | FolderError::NameNotAuthentic => named::AuthenticationError::new_err(text),
            FolderError::InventoryName(_) | FolderError::NameInvalid | FolderError::DuplicateName { .. } => {
                named::FormatError::new_err(text)
            }
            FolderError::NameTooLong { .. } | FolderError::LinkTooLong { .. } => {
                named::LimitExceededError::new_err(text)
            }
            _ => PyValueError::new_err(text),
        },
        Error::SourceChanged { path, expected, found } => {
            let text =
                format!("expected {expected} bytes, found {found}: the file changed while it was encrypted");
            raise_io(Some(&path), io::Error::other(text))
        }
        Error::Io { path, source } => raise_io(path.as_deref(), source),
        _ => PySystemError::new_err(format!("sealane: an error without a Python class: {text}")),
    }
}

/// Returns the exception for an error. `path` is added to an I/O error that has no path.
#[cold]
pub(crate) fn raise_about(path: &Path, error: Error) -> PyErr {
    raise(match error {
        Error::Io { path: None, source } => Error::Io { path: Some(path.to_owned()), source },
        other => other,
    })
}

/// Warns that a key has sealed three quarters of the messages that it may seal.
#[cold]
pub(crate) fn usage_limit_warning(py: Python<'_>) -> PyResult<()> {
    let category = py.import("sealane.exceptions")?.getattr("UsageLimitWarning")?;
    let text = c"this key has sealed more than 3 * 2^30 messages under random nonces; rotate it before 2^32, when sealing is refused";
    PyErr::warn(py, &category, text, 1)
}

/// Returns the exception for a call from inside another call to the same object.
#[cold]
pub(crate) fn reentrant_call() -> PyErr {
    named::ReentrantCallError::new_err(
        "this object is in the middle of another call of this thread; call it after that call has returned",
    )
}

/// Returns the `ValueError` for an unknown name.
#[cold]
pub(crate) fn raise_name(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Returns a function that makes the exception for a private key that a call without a passphrase gets as text or file.
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
        | Misuse::CounterBlockForRandom
        | Misuse::KeyringNonce
        | Misuse::OutputTooShort { .. }
        | Misuse::BufferTooShort { .. }
        | Misuse::OutputLength { .. }
        | Misuse::CountPerMessage { .. }
        | Misuse::Offsets(_)
        | Misuse::PartialOverlap
        | Misuse::SameFile(_)
        | Misuse::OutputIsInput { .. }
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
        Misuse::Forked => named::ForkedError::new_err(text),
        Misuse::KeySource { .. } => PyTypeError::new_err(text),
        _ => PySystemError::new_err(format!("sealane: a misuse without a Python class: {text}")),
    }
}

/// Returns `OSError(errno, strerror, filename)`, which Python converts to `FileNotFoundError` and the other subclasses.
fn raise_io(path: Option<&Path>, source: io::Error) -> PyErr {
    // The exception that a method of a Python file object raised is raised again, unchanged.
    if source.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return source.into();
    }
    // A path with a zero byte; Python raises ValueError as well.
    if source.kind() == ErrorKind::InvalidInput && source.raw_os_error().is_none() {
        return PyValueError::new_err(source.to_string());
    }
    Python::attach(|py| {
        let errno = source.raw_os_error().unwrap_or_else(|| errno(source.kind()));
        let text = match source.get_ref() {
            Some(inner) => inner.to_string(),
            None => strerror(py, errno).unwrap_or_else(|_| source.to_string()),
        };
        match path {
            Some(path) if is_secret(path) => PyOSError::new_err((errno, text, "(a secret key)")),
            Some(path) => PyOSError::new_err((errno, text, path.as_os_str().to_owned())),
            None => PyOSError::new_err((errno, text)),
        }
    })
}

/// Returns whether a path is a secret key that was given by mistake, so that no exception may show it.
fn is_secret(path: &Path) -> bool {
    let text = path.to_string_lossy();
    keys::is_secret(&text) || (keys::is_hexadecimal_key(&text) && path.symlink_metadata().is_err())
}

fn strerror(py: Python<'_>, errno: i32) -> PyResult<String> {
    py.import("os")?.call_method1("strerror", (errno,))?.extract()
}

/// Returns the error number that the system would use, for errors of the standard library or the core.
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
