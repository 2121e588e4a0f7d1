//! Translates core errors to Python exceptions.

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sealane::error::{Kind, PluginError, PluginProblem, escaped};
use sealane::{Error, Misuse, keys};
use std::io::{self, ErrorKind};
use std::path::Path;

/// Returns the Python exception for a core error.
#[cold]
pub(crate) fn raise(error: Error) -> PyErr {
    let text = error.to_string();
    worded(error, text)
}

/// Returns the exception for one file of several. The message begins with the path unless it
/// already contains it.
#[cold]
pub(crate) fn raise_among(path: &Path, error: Error) -> PyErr {
    match error {
        Error::Io { .. }
        | Error::SourceChanged { .. }
        | Error::Misuse(Misuse::SameFile(_) | Misuse::OutputIsInput { .. }) => raise_about(path, error),
        other => {
            let (place, text) = (format!("{}: ", path.display()), other.to_string());
            worded(other, if text.starts_with(&place) { text } else { place + &text })
        }
    }
}

fn worded(error: Error, text: String) -> PyErr {
    // The process may end with this exception, and a terminal would obey control characters.
    sealane::wipe_stack();
    let text = escaped(&text);
    match error {
        Error::InKeyring { source, .. } => worded(*source, text),
        Error::InBatch { index, source } => with(worded(*source, text), "index", index),
        Error::Plugin(PluginError { plugin, problem }) => {
            let advice = "; call sealane.plugins.enable() before";
            let advice = if matches!(problem, PluginProblem::NotEnabled) { advice } else { "" };
            with(named(Kind::Plugin.names().class, text + advice), "plugin", plugin)
        }
        // As for any Python call with mutually exclusive arguments.
        Error::Misuse(Misuse::KeySource { .. }) => PyTypeError::new_err(text),
        Error::SourceChanged { path, expected, found } => {
            let text =
                format!("expected {expected} bytes, found {found}: the file changed while it was encrypted");
            raise_io(Some(&path), io::Error::other(text))
        }
        Error::Io { path, source } => raise_io(path.as_deref(), source),
        // A cancelling hook raises its own exception; `SealaneError` is for a hook without one.
        other => named(other.kind().names().class, text),
    }
}

/// Returns the exception of this class, from `sealane.exceptions` or the builtins.
fn named(class: &str, text: impl Into<String>) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    Python::attach(|py| {
        let module = MODULE.get_or_try_init(py, || py.import("sealane.exceptions").map(Bound::unbind))?;
        let module = module.bind(py);
        let class = module.getattr(class).or_else(|_| py.import("builtins")?.getattr(class))?;
        Ok(PyErr::from_type(class.cast_into::<PyType>()?, text.into()))
    })
    .unwrap_or_else(|error| error)
}

/// Sets an attribute of an exception. If its class takes none, the value appears only in the
/// message.
fn with(error: PyErr, name: &str, value: impl for<'py> IntoPyObject<'py>) -> PyErr {
    let _ = Python::attach(|py| error.value(py).setattr(name, value));
    error
}

/// Returns the exception for an error, adding `path` to an I/O error without one.
#[cold]
pub(crate) fn raise_about(path: &Path, error: Error) -> PyErr {
    raise(error.about(path))
}

/// Returns the exception for an error about a file of the folder at `root`.
#[cold]
pub(crate) fn raise_below(root: &Path, error: Error) -> PyErr {
    raise(match error {
        Error::InVault { path, source } => Error::InVault { path: root.join(path), source },
        Error::Io { path, source } => Error::Io { path: Some(root.join(path.unwrap_or_default())), source },
        other => other,
    })
}

/// Returns the translation of errors about a path, if there is one, by one of the functions above.
pub(crate) fn raise_at(
    path: Option<&Path>,
    raise_with: fn(&Path, Error) -> PyErr,
) -> impl Fn(Error) -> PyErr + use<'_> {
    move |error| match path {
        Some(path) => raise_with(path, error),
        None => raise(error),
    }
}

/// Warns that a key is at 75 % of its message limit.
#[cold]
pub(crate) fn usage_limit_warning(py: Python<'_>) -> PyResult<()> {
    let category = py.import("sealane.exceptions")?.getattr("UsageLimitWarning")?;
    let text = c"this key has sealed more than 3 * 2^30 messages under random nonces; rotate it before 2^32, when sealing is refused";
    PyErr::warn(py, &category, text, 1)
}

/// Returns the exception for a reentrant call on an object.
#[cold]
pub(crate) fn reentrant_call() -> PyErr {
    named(
        "ReentrantCallError",
        "this object is in the middle of another call of this thread; call it after that call has returned",
    )
}

/// Returns the `ValueError` for an unknown name.
#[cold]
pub(crate) fn raise_name(error: Error) -> PyErr {
    PyValueError::new_err(escaped(&error.to_string()))
}

/// Returns a function that makes the exception for an encrypted private key passed without a
/// passphrase.
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
        (error, path) => raise_at(path, raise_among)(error),
    }
}

/// Returns `OSError(errno, strerror, filename)`; Python picks the subclass, such as
/// `FileNotFoundError`.
fn raise_io(path: Option<&Path>, source: io::Error) -> PyErr {
    // The exception of a Python file object's method is reraised unchanged.
    if source.get_ref().is_some_and(|inner| inner.is::<PyErr>()) {
        return source.into();
    }
    // A path with a NUL byte; Python raises ValueError as well.
    if source.kind() == ErrorKind::InvalidInput && source.raw_os_error().is_none() {
        return PyValueError::new_err(source.to_string());
    }
    Python::attach(|py| {
        let errno = source.raw_os_error().unwrap_or_else(|| errno(source.kind()));
        let text = match source.get_ref() {
            Some(inner) => escaped(&inner.to_string()),
            None => strerror(py, errno).unwrap_or_else(|_| source.to_string()),
        };
        match path {
            Some(path) if is_secret(path) => PyOSError::new_err((errno, text, "(a secret key)")),
            Some(path) => PyOSError::new_err((errno, text, path.as_os_str().to_owned())),
            None => PyOSError::new_err((errno, text)),
        }
    })
}

/// Returns whether a path is really a secret key passed by mistake, so that no exception shows it.
fn is_secret(path: &Path) -> bool {
    let text = path.to_string_lossy();
    keys::is_secret(&text) || (keys::may_be_key(&text) && path.symlink_metadata().is_err())
}

fn strerror(py: Python<'_>, errno: i32) -> PyResult<String> {
    py.import("os")?.call_method1("strerror", (errno,))?.extract()
}

/// Returns the error number the system would use, for errors of the standard library or the core.
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
