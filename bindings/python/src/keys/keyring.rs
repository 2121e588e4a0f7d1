//! `sealane.keys.Keyring`.

use super::classes::extract;
use super::saving::save;
use crate::error::{raise, raise_name};
use crate::prelude::*;
use crate::secrets;
use crate::shared::Shared;
use sealane::keys::{KeyType, Keyring as Core, Prefix};
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// Several keys with identifiers and states; one is the primary key. Never shown or pickled.
///
/// The primary key seals and encrypts; every enabled key opens and decrypts. So you can replace a
/// key while old data stays readable. A keyring is a Tink keyset: Tink's libraries and tools read
/// and write it.
///
/// Create one with ``generate``, ``from_key``, ``from_json``, ``from_bytes``, ``from_jwk_set`` or
/// ``sealane.keys.load``. Pass it as ``keyring=`` to ``sealane.Aead`` or as ``key=``, for example
/// to ``sealane.encrypt_file``; they copy the keys it has at that time.
///
/// Examples
/// --------
/// >>> ring = sealane.keys.Keyring.generate("aes-256-gcm")
/// >>> sealed = sealane.Aead(keyring=ring).seal(b"hello")
/// >>> new = ring.rotate()
/// >>> sealane.Aead(keyring=ring).open(sealed)
/// b'hello'
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct Keyring {
    core: Shared<Core>,
    changes: AtomicU64,
    pub(crate) file: Option<PathBuf>,
}

/// Public information about a key in a keyring.
#[pyclass(frozen, get_all, module = "sealane.keys")]
pub(crate) struct KeyringKey {
    /// The key's identifier, unique in the keyring.
    id: u32,
    /// The state: "enabled", "disabled" or "destroyed".
    state: &'static str,
    /// The algorithm, for example "aes-256-gcm"; None if the key is destroyed.
    algorithm: Option<&'static str>,
    /// The message prefix of this key: "tink", "raw", "crunchy" or "legacy".
    prefix: &'static str,
    /// Whether it is the primary key.
    primary: bool,
}

#[pymethods]
impl KeyringKey {
    fn __repr__(&self) -> String {
        let Self { id, state, algorithm, prefix, primary } = self;
        let (primary, algorithm) = (if *primary { "primary, " } else { "" }, algorithm.unwrap_or("gone"));
        format!("<key {id}: {primary}{state}, {algorithm}, prefix {prefix}>")
    }
}

#[pymethods]
impl Keyring {
    /// Generates a keyring of one key.
    ///
    /// Parameters
    /// ----------
    /// algorithm : str
    ///     "aes-256-gcm", "aes-128-gcm", "aes-256-gcm-siv", "aes-128-gcm-siv", "chacha20-poly1305",
    ///     "xchacha20-poly1305" or "xaes-256-gcm", for messages and files; "aes-256-siv", for
    ///     deterministic encryption; "tink-4kb" or "tink-1mb", for files in the format of Tink.
    /// prefix : str, optional
    ///     The prefix of each message: "tink" (the default), "crunchy" or "legacy" contain the key
    ///     identifier; "raw" is empty. File keys are always "raw".
    ///
    /// Raises ValueError for another algorithm or prefix.
    #[staticmethod]
    #[pyo3(signature = (algorithm = "aes-256-gcm", *, prefix = None))]
    fn generate(algorithm: &str, prefix: Option<&str>) -> PyResult<Self> {
        let key_type: KeyType = algorithm.parse().map_err(raise_name)?;
        let prefix = prefix.map_or(Ok(Prefix::default_for(&key_type)), self::prefix)?;
        Core::generate(key_type, prefix).map(|ring| Self::new(ring, None)).map_err(raise)
    }

    /// Makes a keyring of one given key.
    ///
    /// Parameters
    /// ----------
    /// key : bytes-like or sealane.keys.Key
    ///     The key, of the algorithm's length; 16 or 32 bytes for "tink-4kb" and "tink-1mb".
    /// algorithm, prefix : str
    ///     As for ``generate``. With the prefix "raw", it opens messages sealed by ``sealane.Aead``
    ///     with this key.
    ///
    /// Raises ValueError for another algorithm, prefix or length.
    #[staticmethod]
    #[pyo3(signature = (key, algorithm, *, prefix = None))]
    fn from_key(key: &Any<'_>, algorithm: &str, prefix: Option<&str>) -> PyResult<Self> {
        let key = extract(key)?;
        let key_type = KeyType::for_key(algorithm, &key).map_err(raise)?;
        let prefix = prefix.map_or(Ok(Prefix::default_for(&key_type)), self::prefix)?;
        Core::from_key(key_type, prefix, &key).map(|ring| Self::new(ring, None)).map_err(raise)
    }

    /// Parses ``text``, a cleartext Tink keyset in JSON, as written by ``tinkey --out-format json``
    /// and Tink's JSON writers.
    ///
    /// Raises FormatError, naming the identifier of any unusable key.
    #[staticmethod]
    fn from_json(text: &Any<'_>) -> PyResult<Self> {
        let text = secrets::text("a keyset", text)?;
        Core::from_json(&text).map(|ring| Self::new(ring, None)).map_err(raise)
    }

    /// Parses a cleartext Tink keyset in the binary format.
    ///
    /// Raises FormatError, naming the identifier of any unusable key.
    #[staticmethod]
    fn from_bytes(data: &Any<'_>) -> PyResult<Self> {
        let data = secrets::bytes("a keyset", data)?;
        Core::from_bytes(&data).map(|ring| Self::new(ring, None)).map_err(raise)
    }

    /// Parses a JSON Web Key Set of AES-GCM keys. The first becomes the primary key.
    ///
    /// A numeric ``kid`` becomes the identifier. The prefix of the keys is "raw".
    ///
    /// Raises FormatError for another text, and ValueError for keys with another ``alg`` or length.
    #[staticmethod]
    fn from_jwk_set(text: &Any<'_>) -> PyResult<Self> {
        let text = secrets::text("a JWK Set", text)?;
        Core::from_jwk_set(&text).map(|ring| Self::new(ring, None)).map_err(raise)
    }

    /// The cleartext keyset in Tink's JSON format. It is secret.
    fn to_json<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let text = self.core.with(py, 0, |ring| Ok(ring.to_json()))?;
        Ok(PyString::new(py, &text))
    }

    /// The cleartext keyset in Tink's binary format. It is secret.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bytes<'py>> {
        let bytes = self.core.with(py, 0, |ring| Ok(ring.to_bytes()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The enabled keys as a JSON Web Key Set, primary key first. It is secret.
    ///
    /// Raises ValueError unless all are AES-GCM keys: JSON Web Keys have names only for these.
    fn to_jwk_set<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let text = self.core.with(py, 0, |ring| ring.to_jwk_set())?;
        Ok(PyString::new(py, &text))
    }

    /// Adds a key, which opens and decrypts from now on. Returns its identifier.
    ///
    /// Parameters
    /// ----------
    /// key : bytes-like or sealane.keys.Key, optional
    ///     The key. The default is to generate one.
    /// algorithm, prefix : str, optional
    ///     As for ``generate``. They default to the primary key's.
    ///
    /// Raises ValueError if the algorithm does not take the key or its use differs from the
    /// others', and LimitExceededError beyond 512 keys.
    #[pyo3(signature = (key = None, algorithm = None, *, prefix = None))]
    fn add(
        &self,
        py: Python<'_>,
        key: Option<&Any<'_>>,
        algorithm: Option<&str>,
        prefix: Option<&str>,
    ) -> PyResult<u32> {
        let key = key.map(extract).transpose()?;
        let prefix = prefix.map(self::prefix).transpose()?;
        self.change(py, |ring| {
            let primary = ring.primary();
            let key_type = match (algorithm, &key, primary.key_type) {
                (Some(name), Some(key), _) => KeyType::for_key(name, key)?,
                (Some(name), None, _) => name.parse()?,
                (None, _, Some(key_type)) => key_type,
                (None, _, None) => return Err(Error::NoMatchingKey),
            };
            let prefix = prefix.unwrap_or(primary.prefix);
            match &key {
                Some(key) => ring.add(key_type, prefix, key),
                None => ring.add_new(key_type, prefix),
            }
        })
    }

    /// Makes the enabled key ``id`` the primary key, which seals and encrypts.
    ///
    /// Raises ValueError if there is no such key or it is not enabled.
    fn promote(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.promote(id))
    }

    /// Disables the key ``id``. It opens nothing until ``enable`` is called.
    ///
    /// Raises ValueError for the primary key, a destroyed key or an unknown one.
    fn disable(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.disable(id))
    }

    /// Enables the disabled key ``id``.
    ///
    /// Raises ValueError for a destroyed or unknown key.
    fn enable(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.enable(id))
    }

    /// Destroys the key ``id``: wipes its secret and keeps its identifier. Data that only this key
    /// opens is lost.
    ///
    /// Raises ValueError for the primary key, a destroyed key or an unknown one.
    fn destroy(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.destroy(id))
    }

    /// Removes the key ``id``, in any state, with its identifier. Data that only this key opens is
    /// lost.
    ///
    /// Tink in Go and Java rejects a keyring with a destroyed key; removing the key helps.
    ///
    /// Raises ValueError for the primary key or an unknown one.
    fn delete(&self, py: Python<'_>, id: u32) -> PyResult<()> {
        self.change(py, |ring| ring.delete(id))
    }

    /// Generates a key like the primary key, makes it primary, and returns its identifier.
    ///
    /// The old primary key stays enabled. If several machines have the keyring, ``add`` a key,
    /// distribute the keyring, then ``promote`` the key; otherwise some of them cannot open what
    /// others seal.
    fn rotate(&self, py: Python<'_>) -> PyResult<u32> {
        self.change(py, Core::rotate)
    }

    /// The fingerprint of the keyring, "key-sha256:…": it pins the keyring in a reference, as in
    /// "file:/mnt/share/ring.json#key-sha256:…". It is public, and every change of the keyring
    /// changes it.
    #[getter]
    fn fingerprint(&self, py: Python<'_>) -> PyResult<String> {
        self.core.with(py, 0, |ring| Ok(Fingerprint::of_keyring(ring)?.to_string()))
    }

    /// The identifier of the primary key.
    #[getter]
    fn primary(&self, py: Python<'_>) -> PyResult<u32> {
        self.core.with(py, 0, |ring| Ok(ring.primary().id))
    }

    /// The keys in order, as a tuple of ``KeyringKey``.
    #[getter]
    fn keys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let keys: Vec<_> = self.core.with(py, 0, |ring| Ok(ring.keys().collect()))?;
        let keys = keys.into_iter().map(|info| KeyringKey {
            id: info.id,
            state: info.state.name(),
            algorithm: info.key_type.map(|key_type| key_type.name()),
            prefix: info.prefix.name(),
            primary: info.primary,
        });
        PyTuple::new(py, keys)
    }

    /// Writes the keyring to a new file that only the owner can read.
    ///
    /// Parameters
    /// ----------
    /// path : str or os.PathLike
    /// passphrase : str or bytes, optional
    ///     Encrypts the file; needed to load it again.
    /// recipients : list, optional
    ///     Encrypts the file for these recipients instead. See ``sealane.encrypt_file``.
    /// overwrite : bool
    ///     Whether to replace an existing file, but not the file of a recipient (ValueError).
    ///     Otherwise FileExistsError is raised.
    #[pyo3(signature = (path, passphrase = None, *, recipients = None, overwrite = false))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&Any<'_>>,
        recipients: Option<&Any<'_>>,
        overwrite: bool,
    ) -> PyResult<()> {
        save(py, &path, passphrase, recipients, overwrite, &KeyFile::Keyring(self.keyring(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        self.core.with(py, 0, |ring| {
            let primary = ring.primary();
            let algorithm = primary.key_type.map_or("unknown", |key_type| key_type.name());
            let (n, id) = (ring.keys().len(), primary.id);
            Ok(format!("<sealane.keys.Keyring of {n}, primary key {id}, {algorithm}>"))
        })
    }
}

impl Keyring {
    /// A keyring, and the file that it was loaded from, which is never overwritten.
    pub(super) fn new(ring: Core, file: Option<PathBuf>) -> Self {
        Self { core: Shared::new(ring), changes: AtomicU64::new(0), file }
    }

    /// Returns the number of calls that may have changed the keys.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(SeqCst)
    }

    fn change<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Core) -> Result<T> + Send,
    ) -> PyResult<T> {
        let done = self.core.with(py, 0, work);
        self.changes.fetch_add(1, SeqCst);
        done
    }

    /// Returns a copy of the current keys.
    pub(crate) fn keyring(&self, py: Python<'_>) -> PyResult<Core> {
        self.core.with(py, 0, |ring| Ok(ring.clone()))
    }
}

fn prefix(name: &str) -> PyResult<Prefix> {
    name.parse().map_err(raise_name)
}
