//! Encrypted folders by their plaintext names, for `sealane/_folder.py`.

mod store;

use crate::arguments::resolved;
use crate::bulk::{Operation, patterns, replica};
use crate::error::raise_below;
use crate::file::{Readable, Reader, durability};
use crate::keys::{self, Keyring};
use crate::prelude::*;
use crate::signing::{file as signing_file, parsed};
use crate::{recipients, secrets};
use pyo3::exceptions::PyException;
use pyo3::types::PyDict;
use sealane::file::bulk::Replica;
use sealane::file::job::JobOptions;
use sealane::file::{self, Description, NewFolder, bulk};
use sealane::keys::{FolderLock, WrappingServices};
use sealane::signature::SigningKey;
use sealane::vault::{
    self, Entry, EntryKind, LocalFolder, OwnFolder, Rclone, Storage, VaultJob, detect, find, list,
    rclone_config, unlock,
};
use sealane::{FolderError, os};
use std::io::ErrorKind;
use std::path::Component;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use store::Store;

/// An encrypted folder with its keys; see ``sealane.Folder``. It cannot be pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Vault {
    vault: Arc<dyn vault::Vault>,
    root: PathBuf,
    /// The folder's description, if it is one of ours.
    #[pyo3(get)]
    described: Option<Py<DescribedFolder>>,
}

#[pymethods]
impl Vault {
    /// Makes a folder. The keys are wrapped by exactly one of ``key``, ``recipients`` and
    /// ``passphrase``.
    #[staticmethod]
    #[pyo3(signature = (
        path, *, key = None, recipients = None, passphrase = None, suffix = ".sealed", encrypt_names = false,
        preserve = false, write_only = false, sign_key = None, sign_passphrase = None
    ))]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        key: Option<&Any<'_>>,
        recipients: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        suffix: &str,
        encrypt_names: bool,
        preserve: bool,
        write_only: bool,
        sign_key: Option<&Any<'_>>,
        sign_passphrase: Option<&Any<'_>>,
    ) -> PyResult<Self> {
        let mut inputs = Vec::new();
        let recipients = recipients::recipients(recipients, &mut inputs)?.map(FolderLock::Recipients);
        let lock = lock("recipients", key, recipients, passphrase, &mut inputs)?;
        let sign_key = match (sign_key, secrets::passphrase(sign_passphrase)?) {
            (Some(key), text) => Some(parsed(py, "sign_key", key, signing_file, |content| {
                SigningKey::parse(content, text.as_ref().map(|text| text.as_str()))
            })?),
            (None, None) => None,
            (None, Some(_)) => return Err(PyTypeError::new_err("sign_passphrase is that of sign_key")),
        };
        let new =
            NewFolder { suffix, names: encrypt_names, preserve, write_only, sign_key: sign_key.as_ref() };
        let made = interruptible(py, || file::DescribedFolder::create(&path, &new, &lock))?;
        let folder = made.map_err(raise)?;
        let storage = LocalFolder::open(&path).map_err(raise)?;
        Self::described(py, Arc::new(storage), folder, path, inputs)
    }

    /// Opens a folder with exactly one of ``key``, ``identities`` and ``passphrase``.
    ///
    /// ``storage`` is the store that ``path`` names, if that is not a local folder;
    /// ``description`` is the name of the folder's description there.
    #[staticmethod]
    #[pyo3(signature = (
        path, *, storage = None, description = None, key = None, identities = None, passphrase = None,
        fingerprint = None
    ))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        storage: Option<Py<PyAny>>,
        description: Option<PathBuf>,
        key: Option<&Any<'_>>,
        identities: Option<&Any<'_>>,
        passphrase: Option<&Any<'_>>,
        fingerprint: Option<&str>,
    ) -> PyResult<Self> {
        let fingerprint: Option<Fingerprint> = fingerprint.map(str::parse).transpose().map_err(raise)?;
        let mut inputs = Vec::new();
        let identities = recipients::identities(identities, &mut inputs)?.map(FolderLock::Identities);
        let lock = lock("identities", key, identities, passphrase, &mut inputs)?;
        let is_local = storage.is_none();
        let storage = storage_of(py, storage, &path)?;
        let place = description.unwrap_or_else(|| path.join(Description::NAME));
        let mut subject = &place;
        let opened = interruptible(py, || {
            let found = match is_local {
                true => Description::find(&path)?,
                false => match OwnFolder::description(&*storage, &place) {
                    Err(Error::Io { source, .. }) if source.kind() == ErrorKind::NotFound => None,
                    found => Some(found?),
                },
            };
            if found.is_none() {
                subject = &path;
            }
            match (found, &lock) {
                (Some(found), _) => found.open(&lock, fingerprint.as_ref()).map(Ok),
                (None, FolderLock::Passphrase(text)) if detect(&*storage)?.is_some() => {
                    unlock(storage.clone(), text.as_bytes()).map(Err)
                }
                _ => Err(FolderError::NoDescription(path.clone()).into()),
            }
        })?;
        match opened.map_err(|error| raise_among(subject, error))? {
            Ok((folder, warning)) => {
                keys::warn(py, Ok(warning))?;
                Self::described(py, storage, folder, path, inputs)
            }
            Err(vault) => Ok(Self { vault: vault.into(), root: path, described: None }),
        }
    }

    /// Opens a vault of rclone with the passwords of a remote in the user's configuration.
    #[staticmethod]
    fn rclone(py: Python<'_>, path: PathBuf, storage: Option<Py<PyAny>>, remote: &str) -> PyResult<Self> {
        let (config, text) = rclone_config().map_err(raise)?;
        let remote = Rclone::from_config(&text, remote).map_err(|error| raise_among(&config, error))?;
        let storage = storage_of(py, storage, &path)?;
        let vault = interruptible(py, || remote.open(storage))?.map_err(raise)?;
        Ok(Self { vault: vault.into(), root: path, described: None })
    }

    /// Lists the folder at a plaintext path: names, kinds, plaintext lengths, and modification
    /// times or None. Warns of names that do not decrypt.
    fn entries<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let path = stored_form(&path)?;
        let found = py.detach(|| list(&*self.vault, &path)).map_err(|error| self.raised(error))?;
        let others = found.problems.len().saturating_sub(1);
        if let Some((_, error)) = found.problems.into_iter().next() {
            let error = self.raised(error);
            if !error.is_instance_of::<PyException>(py) {
                return Err(error); // Ctrl-C in a call of the store.
            }
            let text = format!("not listed: {}", error.value(py));
            let more = if others == 0 { String::new() } else { format!(", and {others} more") };
            keys::warn(py, Ok(Some(text + &more)))?;
        }
        found.entries.into_iter().map(|entry| tuple(py, entry)).collect()
    }

    /// Returns the entry at a plaintext path, as ``entries`` does.
    fn find<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyTuple>> {
        let plain = stored_form(&path)?;
        let found =
            py.detach(|| find(&*self.vault, &plain)).map_err(|error| self.raised(error.about(&path)))?;
        tuple(py, found)
    }

    /// Opens the file with a plaintext path.
    fn open_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<Reader> {
        let path = stored_form(&path)?;
        let opened = interruptible(py, || vault::open_file(&*self.vault, &path))?;
        let contents = opened.map_err(|error| self.raised(error))?;
        Ok(Reader { core: Readable::Vault(contents, self.root.clone()) })
    }

    /// Returns the decrypted path in the symbolic link with a plaintext path.
    fn read_link(&self, py: Python<'_>, path: PathBuf) -> PyResult<OsString> {
        let path = stored_form(&path)?;
        let text = py.detach(|| self.vault.read_link(&path)).map_err(|error| self.raised(error))?;
        Ok(os::shown(&text))
    }

    /// Decrypts every file to the folder ``out``, or verifies it. Returns the arguments of
    /// ``BulkReport`` by name.
    #[pyo3(signature = (
        out, *, exclude, preserve = Replica::No, durable = false, dry_run = false, progress = None
    ))]
    fn run<'py>(
        &self,
        py: Python<'py>,
        out: Option<PathBuf>,
        exclude: Vec<String>,
        #[pyo3(from_py_with = replica)] preserve: Replica,
        durable: bool,
        dry_run: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let options = JobOptions {
            output: out,
            exclude: patterns(&exclude)?,
            preserve: preserve != Replica::No,
            preserve_all: preserve == Replica::Whole,
            dry_run,
            durability: durability(durable),
            ..JobOptions::default()
        };
        let vault = &*self.vault;
        let job = VaultJob { vault, root: &self.root, below: b"", rename: None, options: &options };
        crate::job::report::run_vault(py, &job, progress.as_ref())
    }
}

/// Opens the folder at a URL for the program.
pub(crate) fn open_url(url: &str) -> Result<(Arc<dyn Storage>, PathBuf)> {
    type Found = (Option<Py<PyAny>>, PathBuf, Option<PathBuf>);
    let found = Python::attach(|py| {
        let found = py.import("sealane.fs._stored")?.getattr("at_url")?.call1((url, PyDict::new(py)))?;
        found.extract::<Found>()
    });
    Ok(match found.map_err(store::shown)? {
        (None, path, _) => (Arc::new(LocalFolder::open(&path)?), path.join(Description::NAME)),
        (Some(files), path, place) => {
            (Arc::new(Store(Arc::new(files))), place.unwrap_or_else(|| path.join(Description::NAME)))
        }
    })
}

/// Begins a new file at a URL for the program.
pub(crate) fn create_url(url: &str) -> Result<Box<dyn cli::Upload>> {
    let begin = |py: Python<'_>| {
        py.import("sealane.fs._writing")?.getattr("upload_to")?.call1((url,)).map(Bound::unbind)
    };
    Ok(Box::new(store::Upload(Python::attach(begin).map_err(store::shown)?)))
}

impl Vault {
    fn described(
        py: Python<'_>,
        storage: Arc<dyn Storage>,
        folder: file::DescribedFolder,
        root: PathBuf,
        inputs: Vec<PathBuf>,
    ) -> PyResult<Self> {
        let vault = Arc::new(OwnFolder::new(storage, &folder).map_err(raise)?);
        let described = Some(Py::new(py, DescribedFolder { folder, inputs })?);
        Ok(Self { vault, root, described })
    }

    fn raised(&self, error: Error) -> PyErr {
        raise_below(&self.root, error)
    }
}

/// Returns the files of a folder: on a store, or in the local folder at `path`.
fn storage_of(py: Python<'_>, store: Option<Py<PyAny>>, path: &Path) -> PyResult<Arc<dyn Storage>> {
    match store {
        Some(files) => Ok(Arc::new(Store(Arc::new(files)))),
        None => Ok(Arc::new(py.detach(|| LocalFolder::open(path)).map_err(raise)?)),
    }
}

/// A folder that describes itself, with its keys. It cannot be pickled.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct DescribedFolder {
    pub(crate) folder: file::DescribedFolder,
    /// The key files that opened it.
    inputs: Vec<PathBuf>,
}

#[pymethods]
impl DescribedFolder {
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
            let text = key.cast::<PyString>().ok().map(|text| text.to_str()).transpose()?;
            if let Some(lock) = text.and_then(FolderLock::service) {
                return Ok(lock);
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
        EntryKind::Special => "special",
    };
    let modified =
        entry.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok()).map(|at| at.as_secs_f64());
    (os::shown(&entry.name), kind, entry.len, modified).into_pyobject(py)
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

/// Wraps and unwraps the keys of folders with the clients of key services in `sealane/_kms.py`.
pub(crate) const SERVICES: WrappingServices = WrappingServices {
    wrap: |name, keyset| ask("wrapped_keyset", name, keyset).map(|mut found| std::mem::take(&mut *found)),
    unwrap: |name, ciphertext| ask("unwrapped_keyset", name, ciphertext),
};

fn ask(function: &str, name: &str, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
    Python::attach(|py| {
        let find = py.import("sealane._kms").and_then(|module| module.getattr(function));
        let found = find.and_then(|find| find.call1((name, PyByteArray::new(py, bytes))));
        let found = found.and_then(|found| secrets::bytes("a keyset", &found));
        found.map_err(|error| Error::KeyService(error.value(py).to_string()))
    })
}
