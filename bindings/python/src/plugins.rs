//! Age plugins: this process's permission to run them, and the Python callbacks that reach the
//! user.

use crate::keys::Key;
use crate::prelude::*;
use crate::secrets;
use sealane::age::Plugins;
use sealane::age::plugin::{Input, Interaction};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The permission given by the Python program, locked only while cloned.
static ENABLED: Mutex<Option<Plugins>> = Mutex::new(None);

/// Returns the permission to run plugins, if given.
pub(crate) fn enabled() -> Option<Plugins> {
    ENABLED.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Permits this process to run age plugins for their recipients and identities.
///
/// Recipients ``age1NAME1…`` and identities ``AGE-PLUGIN-NAME-1…`` run the program
/// ``age-plugin-NAME``, for example for a hardware key. It runs with all rights of this process, so
/// enable plugins only if you trust the source of the recipients and identities. The permission
/// covers lists passed after this call.
///
/// Parameters
/// ----------
/// message : callable(plugin, text), optional
///     Shows a plugin's message to the user, for example "Please touch the key".
/// request : callable(plugin, prompt, secret), optional
///     Returns text typed by the user, for example a PIN, or None if there is no user. ``secret``
///     tells whether to hide the input, as ``getpass.getpass`` does.
/// confirm : callable(plugin, prompt, yes, no), optional
///     Returns whether the user chooses ``yes``, or None if there is no user. ``no`` is None if
///     there is no choice.
/// timeout : float
///     Seconds a plugin may be silent, for example while it waits for a touch.
/// path : str or os.PathLike, optional
///     Folders to search for plugins, in PATH syntax. The default is PATH.
///
/// A plugin with no callback is told that there is no user. An exception in a callback ends the
/// plugin and is raised by the call. In calls on many files, several threads may call back at once.
///
/// Examples
/// --------
/// >>> def request(plugin, prompt, secret):
/// ...     return getpass.getpass(prompt) if secret else input(prompt)
/// >>> sealane.plugins.enable(message=lambda plugin, text: print(text), request=request)
#[pyfunction]
#[pyo3(signature = (*, message = None, request = None, confirm = None, timeout = 120.0, path = None))]
pub(crate) fn enable_plugins(
    py: Python<'_>,
    message: Option<Py<PyAny>>,
    request: Option<Py<PyAny>>,
    confirm: Option<Py<PyAny>>,
    timeout: f64,
    path: Option<PathBuf>,
) -> PyResult<()> {
    for (name, function) in [("message", &message), ("request", &request), ("confirm", &confirm)] {
        if function.as_ref().is_some_and(|function| !function.bind(py).is_callable()) {
            return Err(PyTypeError::new_err(format!("{name} must be callable")));
        }
    }
    let timeout = Duration::try_from_secs_f64(timeout).ok().filter(|time| !time.is_zero());
    let timeout =
        timeout.ok_or_else(|| PyValueError::new_err("timeout must be a number of seconds above 0"))?;
    let plugins = Plugins::new(Arc::new(Callbacks { message, request, confirm })).timeout(timeout);
    let plugins = match path {
        Some(path) => plugins.path(path),
        None => plugins,
    };
    replace(Some(plugins));
    Ok(())
}

/// Withdraws the permission of ``enable`` for later calls.
///
/// Examples
/// --------
/// >>> sealane.plugins.disable()
#[pyfunction]
pub(crate) fn disable_plugins() {
    replace(None);
}

/// Replaces the permission. The old callbacks are dropped after the lock is released, because
/// dropping can run Python code.
fn replace(plugins: Option<Plugins>) {
    let old = std::mem::replace(&mut *ENABLED.lock().unwrap_or_else(PoisonError::into_inner), plugins);
    drop(old);
}

/// Returns a plugin's identity without data, which stands for the plugin itself, like age's ``-j
/// NAME``.
///
/// Decrypt with it; some plugins also accept it as a recipient.
///
/// Parameters
/// ----------
/// name : str
///     The plugin's name, such as "yubikey" for the program ``age-plugin-yubikey``.
///
/// Raises
/// ------
/// FormatError
///     If the plugin name is invalid.
///
/// Examples
/// --------
/// >>> sealane.plugins.identity("yubikey").kind
/// 'age-plugin-yubikey'
#[pyfunction]
pub(crate) fn plugin_identity(name: &str) -> PyResult<Key> {
    Identity::from_plugin(name).map(|identity| Key::new(SecretKey::Age(identity))).map_err(raise)
}

/// The Python functions that reach the user.
struct Callbacks {
    message: Option<Py<PyAny>>,
    request: Option<Py<PyAny>>,
    confirm: Option<Py<PyAny>>,
}

impl Interaction for Callbacks {
    fn message(&self, plugin: &str, text: &str) -> Result<Option<()>> {
        attached(&self.message, |message| message.call1((plugin, text)).map(|_| Some(())))
    }

    fn request(&self, plugin: &str, prompt: &str, input: Input) -> Result<Option<Zeroizing<String>>> {
        attached(&self.request, |request| {
            let typed = request.call1((plugin, prompt, input != Input::Public))?;
            if typed.is_none() { Ok(None) } else { secrets::text("the result of request", &typed).map(Some) }
        })
    }

    fn confirm(&self, plugin: &str, prompt: &str, yes: &str, no: Option<&str>) -> Result<Option<bool>> {
        attached(&self.confirm, |confirm| confirm.call1((plugin, prompt, yes, no))?.extract())
    }

    fn check(&self) -> Result<()> {
        Python::attach(|py| py.check_signals()).map_err(|error| io::Error::other(error).into())
    }
}

/// Calls a Python function, if given. Its exception passes through the core and is reraised.
fn attached<T>(
    function: &Option<Py<PyAny>>,
    call: impl FnOnce(&Any<'_>) -> PyResult<Option<T>>,
) -> Result<Option<T>> {
    let Some(function) = function else { return Ok(None) };
    Python::attach(|py| call(function.bind(py))).map_err(|error| io::Error::other(error).into())
}
