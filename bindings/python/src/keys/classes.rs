//! The classes `Key` and `PublicKey`, without their methods: other files take them as arguments.

use crate::prelude::*;
use pyo3::types::PyType;
use sealane::keys::{self, Existing};

/// A private or symmetric key. Wiped when dropped; never shown or pickled.
///
/// Equal keys compare equal: symmetric keys in constant time, private keys by their public keys.
/// Keys are not hashable: the position in a hash table would depend on the secret.
///
/// Examples
/// --------
/// >>> key = sealane.keys.Key.from_bytes(os.urandom(32))
/// >>> sealane.keys.Key.from_text(key.to_text()) == key
/// True
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct Key {
    pub(crate) secret: SecretKey,
    /// The file the key was loaded from, if any. It is never overwritten.
    pub(crate) file: Option<PathBuf>,
}

/// The public key of a key pair.
///
/// Parameters
/// ----------
/// text : str
///     "age1…", "age1pq1…", "age1tag1…", "age1tagpq1…", "age1NAME1…" of an age plugin, "ssh-ed25519
///     …" or "ssh-rsa …", PEM, or a secp256k1 key in hexadecimal: 33, 65 or (as in Ethereum) 64
///     bytes, with or without 0x.
///
/// Raises
/// ------
/// FormatError
///     If the text is not a public key.
///
/// Notes
/// -----
/// ``str(key)`` returns such a text. Equal keys compare equal and have the same hash.
///
/// Examples
/// --------
/// >>> alice = sealane.keys.generate("age")
/// >>> sealane.keys.PublicKey(str(alice.public)) == alice.public
/// True
#[pyclass(frozen, module = "sealane.keys")]
pub(crate) struct PublicKey {
    pub(crate) public: keys::PublicKey,
    /// The file the key or its private key was loaded from, if any. It is never overwritten.
    pub(crate) file: Option<PathBuf>,
}

impl Key {
    pub(crate) fn new(secret: SecretKey) -> Self {
        Self { secret, file: None }
    }

    /// Returns the exception for this private key where ``expected`` was.
    #[cold]
    pub(crate) fn instead_of(&self, expected: &str, advice: &str) -> PyErr {
        let kind = self.kind_name();
        PyTypeError::new_err(format!(
            "expected {expected}, found a private key (sealane.keys.Key {kind}){advice}"
        ))
    }

    /// Returns the name of this key's kind in Python.
    pub(crate) fn kind_name(&self) -> Cow<'static, str> {
        match (self.secret.kind(), &self.secret) {
            (Some(kind), _) => kind.name().into(),
            (None, SecretKey::Symmetric(jwk)) => format!("symmetric-{}", 8 * jwk.key.as_bytes().len()).into(),
            (None, SecretKey::Age(identity)) if identity.plugin().is_some() => {
                format!("age-plugin-{}", identity.plugin().unwrap_or_default()).into()
            }
            (None, secret) => {
                secret.public().map_or("unknown".into(), |public| PublicKey::new(public).kind_name())
            }
        }
    }

    /// Returns the symmetric key.
    ///
    /// # Errors
    /// Raises `TypeError` for a private key.
    pub(crate) fn symmetric(&self) -> PyResult<&sealane::Key> {
        let advice = match &self.secret {
            SecretKey::Symmetric(jwk) => return Ok(&jwk.key),
            SecretKey::Age(_) => "; use identities=[key] to decrypt age files with it",
            _ => "; use sealane.hybrid with it",
        };
        Err(PyTypeError::new_err(format!(
            "expected a symmetric key, found a {} key{advice}",
            self.kind_name()
        )))
    }
}

impl PublicKey {
    pub(super) fn new(public: keys::PublicKey) -> Self {
        Self { public, file: None }
    }

    /// Returns the exception for this public key where ``expected`` was.
    #[cold]
    pub(crate) fn instead_of(&self, expected: &str, advice: &str) -> PyErr {
        let kind = self.kind_name();
        PyTypeError::new_err(format!(
            "expected {expected}, found a public key (sealane.keys.PublicKey {kind}){advice}"
        ))
    }

    /// Returns the name of this key's kind in Python.
    pub(crate) fn kind_name(&self) -> Cow<'static, str> {
        match (self.public.kind(), &self.public) {
            (Some(kind), _) => kind.name().into(),
            (None, keys::PublicKey::Rsa(key)) => format!("rsa-{}", key.bits()).into(),
            (None, keys::PublicKey::Age(recipient)) if recipient.plugin().is_some() => {
                format!("age-plugin-{}", recipient.plugin().unwrap_or_default()).into()
            }
            (None, keys::PublicKey::Age(recipient)) if recipient.to_string().starts_with("age1tag") => {
                if recipient.is_post_quantum() {
                    "age-tagpq".into()
                } else {
                    "age-tag".into()
                }
            }
            // "ssh-rsa AAAA…"
            (None, other) => other.to_string().split(' ').next().unwrap_or_default().to_owned().into(),
        }
    }
}

/// Copies the secret of a [`Key`] or any buffer. A `str` is refused: it is probably a password.
pub(crate) fn extract(key: &Any<'_>) -> PyResult<sealane::Key> {
    if let Ok(key) = key.cast::<Key>() {
        return key.get().symmetric().cloned();
    }
    if let Ok(key) = key.cast::<PublicKey>() {
        return Err(key.get().instead_of("a symmetric key (sealane.keys.Key or bytes)", ""));
    }
    Ok(sealane::Key::from_bytes(Slot::new(key.py()).read(key)?.bytes()))
}

pub(super) fn existing(overwrite: bool) -> Existing {
    if overwrite { Existing::Replace } else { Existing::Refuse }
}

/// Refuses mutually exclusive arguments.
pub(crate) fn at_most_one(a: &str, is_a: Option<&Any<'_>>, b: &str, is_b: Option<&Any<'_>>) -> PyResult<()> {
    match is_a.and(is_b) {
        Some(_) => Err(PyTypeError::new_err(format!("give {a} or {b}, not both"))),
        None => Ok(()),
    }
}

/// Lets the classes of the module refuse to be pickled and copied, unless all that they hold is
/// public. By itself, Python would pickle some of them without their content.
pub(crate) fn never_pickle(module: &Bound<'_, PyModule>) -> PyResult<()> {
    const PUBLIC: [&str; 5] = ["AlgorithmInfo", "CallLock", "FileInfo", "KeyringKey", "ProviderInfo"];
    let refuse = wrap_pyfunction!(never_pickled, module)?;
    for (name, class) in module.dict() {
        let is_public = PUBLIC.contains(&name.extract()?) || !class.is_instance_of::<PyType>();
        if !is_public && !class.getattr("__dict__")?.contains("__reduce__")? {
            class.setattr("__reduce__", &refuse)?;
        }
    }
    Ok(())
}

#[pyfunction]
fn never_pickled() -> PyResult<()> {
    Err(PyTypeError::new_err("secrets are never pickled or copied; load the key where it is needed"))
}

/// Encodes a key in hexadecimal, without tables. Only Python's copy is not wiped.
pub(super) fn hex<'py>(py: Python<'py>, bytes: &[u8]) -> Bound<'py, PyString> {
    PyString::new(py, &Zeroizing::new(base16ct::lower::encode_string(bytes)))
}

#[cold]
pub(super) fn only_secp256k1(kind: &str) -> PyErr {
    PyTypeError::new_err(format!("expected a secp256k1 key, found a {kind} key"))
}
