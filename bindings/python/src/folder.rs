//! Folders that describe themselves, for `sealane/_folder.py`.

use crate::arguments::resolved;
use crate::bulk::Operation;
use crate::detach::interruptible;
use crate::error::{raise, raise_about};
use crate::file_keys::DecryptWith;
use crate::keys::{self, Keyring};
use crate::objects::Any;
use crate::{recipients, secrets};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use sealane::file::{self, Description, NewFolder, bulk};
use sealane::keys::{Fingerprint, FolderLock, WrappingServices};
use sealane::vault::{Entry, EntryKind, LocalFolder, OwnFolder, Vault};
use sealane::{Error, FolderError};
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use zeroize::Zeroizing;

/// A folder that describes itself, with its keys; see ``sealane.Folder``. It cannot be pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct DescribedFolder {
    pub(crate) folder: file::DescribedFolder,
    vault: OwnFolder,
    root: PathBuf,
    /// The key files that opened it.
    inputs: Vec<PathBuf>,
}

#[pymethods]
impl DescribedFolder {
    /// Makes a folder. The keys are wrapped by exactly one of ``key``, ``recipients`` and
    /// ``passphrase``.
    #[staticmethod]
    #[pyo3(signature = (
        path, *, key = None, recipients = None, passphrase = None, suffix = ".sealed", encrypt_names = false,
        preserve = false
    ))]
    #[expect(clippy::too_many_arguments, reason = "the arguments of a call from Python")]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        key: Option<&Any<'_>>,
        recipients: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        suffix: &str,
        encrypt_names: bool,
        preserve: bool,
    ) -> PyResult<Self> {
        let mut inputs = Vec::new();
        let recipients = recipients::recipients(recipients, &mut inputs)?.map(FolderLock::Recipients);
        let lock = lock("recipients", key, recipients, passphrase, &mut inputs)?;
        let new = NewFolder { suffix, names: encrypt_names, preserve };
        let made = interruptible(py, || file::DescribedFolder::create(&path, &new, &lock))?;
        made.and_then(|folder| Self::new(folder, path, inputs)).map_err(raise)
    }

    /// Opens a folder with exactly one of ``key``, ``identities`` and ``passphrase``.
    #[staticmethod]
    #[pyo3(signature = (path, *, key = None, identities = None, passphrase = None, fingerprint = None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        key: Option<&Any<'_>>,
        identities: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        fingerprint: Option<&str>,
    ) -> PyResult<Self> {
        let fingerprint: Option<Fingerprint> = fingerprint.map(str::parse).transpose().map_err(raise)?;
        let mut inputs = Vec::new();
        let identities = recipients::identities(identities, &mut inputs)?.map(FolderLock::Identities);
        let lock = lock("identities", key, identities, passphrase, &mut inputs)?;
        let opened = interruptible(py, || {
            let found = Description::find(&path)?.ok_or_else(|| FolderError::NoDescription(path.clone()))?;
            found.open(&lock, fingerprint.as_ref())
        })?;
        let (folder, warning) = opened.map_err(|error| raise_about(&path.join(Description::NAME), error))?;
        keys::warn(py, Ok(warning))?;
        Self::new(folder, path, inputs).map_err(raise)
    }

    /// The identifier of the folder, 32 hexadecimal digits.
    #[getter]
    fn identifier(&self) -> &str {
        self.folder.description().identifier()
    }

    /// The suffix of encrypted files.
    #[getter]
    fn suffix(&self) -> &str {
        self.folder.description().suffix()
    }

    /// Whether names are encrypted.
    #[getter]
    fn encrypts_names(&self) -> bool {
        self.folder.description().names()
    }

    /// Whether modes, times and links are kept.
    #[getter]
    fn preserves(&self) -> bool {
        self.folder.description().preserve()
    }

    /// The fingerprint of the keys.
    #[getter]
    fn fingerprint(&self) -> PyResult<String> {
        self.folder.fingerprint().map(|found| found.to_string()).map_err(raise)
    }

    /// Returns the default place of a manifest.
    fn manifest(&self) -> PyResult<OsString> {
        self.folder.manifest().map(Into::into).map_err(raise)
    }

    /// Returns the operation of a job: ``"encrypt"``, ``"decrypt"`` or ``"verify"``.
    fn operation(&self, verb: &str) -> PyResult<Operation> {
        let made = match verb {
            "encrypt" => self.folder.encrypt_with(&self.inputs).map(bulk::Operation::Encrypt),
            "decrypt" => self.folder.decrypt_with(&self.inputs).map(bulk::Operation::Decrypt),
            _ => self.folder.decrypt_with(&self.inputs).map(bulk::Operation::Verify),
        };
        made.map(Operation).map_err(raise)
    }

    /// Returns the keys that decrypt the files.
    fn decryption(&self) -> PyResult<DecryptWith> {
        self.folder.decrypt_with(&self.inputs).map(DecryptWith).map_err(raise)
    }

    /// Lists the folder at a plaintext path: names, kinds, plaintext lengths, and modification
    /// times or None.
    fn entries<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let path = stored_form(&path)?;
        let found = py.detach(|| self.vault.list(&path)).map_err(|error| raise_about(&self.root, error))?;
        found.into_iter().map(|entry| tuple(py, entry)).collect()
    }

    /// Returns the path of the encrypted file with a plaintext path.
    fn stored(&self, path: PathBuf) -> PyResult<OsString> {
        let stored = self.vault.stored_file(&stored_form(&path)?).map_err(raise)?;
        Ok(self.root.join(stored).into())
    }

    /// Returns the decrypted path in the symbolic link with a plaintext path.
    fn read_link(&self, py: Python<'_>, path: PathBuf) -> PyResult<OsString> {
        let path = stored_form(&path)?;
        let text =
            py.detach(|| self.vault.read_link(&path)).map_err(|error| raise_about(&self.root, error))?;
        Ok(os_string(text))
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(keys::never_pickled())
    }
}

impl DescribedFolder {
    fn new(folder: file::DescribedFolder, root: PathBuf, inputs: Vec<PathBuf>) -> Result<Self, Error> {
        let vault = OwnFolder::new(Arc::new(LocalFolder::open(&root)?), &folder)?;
        Ok(Self { folder, vault, root, inputs })
    }
}

/// Returns what wraps or unwraps the keys of a folder: exactly one of the three.
fn lock(
    others: &str,
    key: Option<&Any<'_>>,
    other: Option<FolderLock>,
    passphrase: Option<&Any<'_>>,
    inputs: &mut Vec<PathBuf>,
) -> PyResult<FolderLock> {
    let passphrase = secrets::passphrase(passphrase)?.map(FolderLock::Passphrase);
    match (key, other, passphrase) {
        (Some(key), None, None) => {
            let is_service =
                |text: &&str| ["aws-kms:", "vault:", "pkcs11:"].iter().any(|it| text.starts_with(it));
            let text = key.cast::<PyString>().ok().map(|text| text.to_str()).transpose()?;
            if let Some(text) = text.filter(is_service).filter(|text| !text.contains('#')) {
                return Ok(FolderLock::Service(text.to_owned()));
            }
            let key = resolved(key, "resolve")?;
            inputs.extend(crate::file_keys::key_file(&key));
            match key.cast::<Keyring>() {
                Ok(ring) => Ok(FolderLock::Keyring(ring.get().keyring(key.py())?)),
                Err(_) => FolderLock::key(&keys::extract(&key)?).map_err(raise),
            }
        }
        (None, Some(lock), None) | (None, None, Some(lock)) => Ok(lock),
        _ => Err(PyTypeError::new_err(format!("give exactly one of key, {others} and passphrase"))),
    }
}

fn tuple(py: Python<'_>, entry: Entry) -> PyResult<Bound<'_, PyTuple>> {
    let kind = match entry.kind {
        EntryKind::File => "file",
        EntryKind::Folder => "folder",
        EntryKind::Link => "link",
    };
    let modified =
        entry.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|at| at.as_secs_f64());
    (os_string(entry.name), kind, entry.len, modified).into_pyobject(py)
}

/// Returns a plaintext path as vaults have it, with `/` between names.
fn stored_form(path: &Path) -> PyResult<Vec<u8>> {
    let mut names = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => names.push(name.as_encoded_bytes()),
            _ => return Err(PyValueError::new_err("expected a relative path without '..'")),
        }
    }
    Ok(names.join(&b'/'))
}

#[cfg(unix)]
fn os_string(name: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(name)
}

#[cfg(not(unix))]
fn os_string(name: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&name).into_owned().into()
}

/// Wraps and unwraps the keys of folders with the clients of key services in `sealane/_kms.py`.
pub(crate) const SERVICES: WrappingServices = WrappingServices {
    wrap: |name, keyset| ask("wrapped_keyset", name, keyset).map(|mut found| std::mem::take(&mut *found)),
    unwrap: |name, ciphertext| ask("unwrapped_keyset", name, ciphertext),
};

fn ask(function: &str, name: &str, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, Error> {
    Python::attach(|py| {
        let find = py.import("sealane._kms").and_then(|module| module.getattr(function));
        let found = find.and_then(|find| find.call1((name, pyo3::types::PyByteArray::new(py, bytes))));
        let found = found.and_then(|found| secrets::bytes("a keyset", &found));
        found.map_err(|error| Error::KeyService(error.value(py).to_string()))
    })
}
