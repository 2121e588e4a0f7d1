//! The functions of `sealane.keys`: generate, load and derive keys.

use super::classes::{Key, PublicKey, at_most_one};
use super::fingerprint::warn;
use super::keyring::Keyring;
use crate::prelude::*;
use crate::{arguments, recipients, secrets};
use sealane::keys::{self, Cost, Kind, LoadOptions};

/// The kinds of key that ``generate`` makes.
#[pyfunction]
pub(crate) fn kinds(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Kind::ALL.map(Kind::name))
}

/// Generates a random key from the operating system's generator. RSA takes up to some seconds.
///
/// Parameters
/// ----------
/// kind : str
///     One of ``KINDS``, such as "aes-256", "age" or "x25519".
///
/// Raises
/// ------
/// ValueError
///     If ``kind`` is not in ``KINDS``.
///
/// Examples
/// --------
/// >>> alice = sealane.keys.generate("age")
/// >>> alice.save("alice.key")
/// >>> str(alice.public)
/// 'age1...'
#[pyfunction]
pub(crate) fn generate(py: Python<'_>, kind: &str) -> PyResult<Key> {
    let unknown =
        |_: Error| arguments::unknown("kind of key", kind, Kind::ALL.iter().map(|kind| kind.name()));
    let kind: Kind = kind.parse().map_err(unknown)?;
    interruptible(py, || SecretKey::generate(kind))?.map(Key::new).map_err(raise)
}

/// The content of a key file, as one of three classes.
#[derive(IntoPyObject)]
pub(crate) enum Loaded {
    Key(Key),
    Public(PublicKey),
    Keyring(Keyring),
}

/// Loads a key file of any kind.
///
/// Reads JSON Web Keys and sets of them, PEM (PKCS#8, SPKI, PKCS#1 and SEC 1), age identities and
/// recipients, OpenSSH private and public keys, secp256k1 keys in hexadecimal, Tink keysets in JSON
/// and in the binary format, and all of these in age files.
///
/// Parameters
/// ----------
/// path : str or os.PathLike
///     The path of the file.
/// passphrase : str or bytes, optional
///     Decrypts the file.
/// identities : list, optional
///     Decrypt a file encrypted for recipients. See ``sealane.decrypt_file``. Everyone can encrypt
///     to a public key, so a symmetric key or a keyring must be the one in the user's file of known
///     keys, which remembers the first one. Compare its ``fingerprint`` if you know it.
/// kid : str, optional
///     Selects a key of a JSON Web Key Set.
///
/// Returns
/// -------
/// Key, PublicKey or Keyring
///
/// Raises
/// ------
/// NoMatchingKeyError
///     If the passphrase is wrong or no identity matches.
/// AuthenticationError
///     If a key for recipients is not the known one.
/// FormatError
///     If it is not a key file.
/// ValueError
///     If the passphrase or the identities are missing, or given for an unencrypted file; if a JSON
///     Web Key Set has several keys and no ``kid`` is given, or none of them has this ``kid``.
/// OSError
///     If the file cannot be read.
///
/// Examples
/// --------
/// >>> sealane.keys.generate("age").save("alice.key", passphrase="correct horse battery staple")
/// >>> alice = sealane.keys.load("alice.key", "correct horse battery staple")
#[pyfunction]
#[pyo3(signature = (path, passphrase = None, *, identities = None, kid = None))]
pub(crate) fn load(
    py: Python<'_>,
    path: PathBuf,
    passphrase: Option<&Any<'_>>,
    identities: Option<&Any<'_>>,
    kid: Option<&str>,
) -> PyResult<Loaded> {
    let (passphrase, identities) = unlocking(passphrase, identities)?;
    let passphrase = passphrase.as_ref().map(|text| text.as_str());
    let options = LoadOptions { passphrase, identities: identities.as_deref(), kid };
    let read = || -> Result<_> {
        let (found, warning) = PinnedReference::file(&path).load(options)?;
        Ok((loaded(found, Some(&path))?, warning))
    };
    let (found, warning) = interruptible(py, read)?.map_err(|e| raise_among(&path, e))?;
    warn(py, Ok(warning))?;
    Ok(found)
}

/// Returns whether ``text`` is a secret key and must not be printed. 64 hexadecimal digits do not
/// count.
#[pyfunction]
#[pyo3(signature = (text, /))]
pub(crate) fn is_secret(text: OsString) -> bool {
    keys::is_secret(&text.to_string_lossy())
}

/// Parses the content of a key file like ``load``. ``file`` is the file's path, if any.
#[pyfunction]
#[pyo3(signature = (content, passphrase = None, *, identities = None, kid = None, file = None))]
pub(crate) fn parse_key(
    py: Python<'_>,
    content: &Any<'_>,
    passphrase: Option<&Any<'_>>,
    identities: Option<&Any<'_>>,
    kid: Option<&str>,
    file: Option<PathBuf>,
) -> PyResult<Loaded> {
    let (passphrase, identities) = unlocking(passphrase, identities)?;
    let passphrase = passphrase.as_ref().map(|text| text.as_str());
    let options = LoadOptions { passphrase, identities: identities.as_deref(), kid };
    let content = secrets::bytes("a key", content)?;
    interruptible(py, || loaded(KeyFile::parse(&content, options)?, file.as_deref()))?
        .map_err(raise_at(file.as_deref(), raise_among))
}

/// Loads the key that a reference ``env:NAME`` or ``file:PATH`` names. Its text never reaches
/// Python, which cannot wipe it.
#[pyfunction]
pub(crate) fn load_reference(py: Python<'_>, reference: OsString) -> PyResult<Loaded> {
    let reference = Reference::parse(&reference).map_err(raise)?;
    let content = interruptible(py, || reference.read())?.map_err(raise_at(reference.path(), raise_about))?;
    let parse = || {
        let found = KeyFile::parse(&content, LoadOptions::default())?;
        let pinned = PinnedReference { reference: reference.clone(), fingerprint: None };
        pinned.check(&found, LoadOptions::default())?;
        loaded(found, reference.path())
    };
    interruptible(py, parse)?.map_err(raise)
}

/// Reads what a reference ``env:NAME`` or ``file:PATH`` names.
#[pyfunction]
pub(crate) fn read_reference<'py>(py: Python<'py>, reference: OsString) -> PyResult<Bytes<'py>> {
    let reference = Reference::parse(&reference).map_err(raise)?;
    let content = interruptible(py, || reference.read())?.map_err(raise_at(reference.path(), raise_among))?;
    Ok(PyBytes::new(py, &content))
}

/// Looks up an OS keyring entry with the Python package `keyring`.
pub(crate) fn keyring_text(service: &str, user: &str) -> Result<Zeroizing<String>, String> {
    Python::attach(|py| {
        let find = py.import("sealane._reference").and_then(|module| module.getattr("keyring_text"));
        let found = find.and_then(|find| find.call1((service, user)));
        let text = found.and_then(|found| secrets::text("a keyring entry", &found));
        text.map_err(|error| error.value(py).to_string())
    })
}

/// A passphrase or identities.
type Unlocking = (Option<Zeroizing<String>>, Option<Vec<Identity>>);

/// Returns what decrypts a key file, at most one of the two.
fn unlocking(passphrase: Option<&Any<'_>>, identities: Option<&Any<'_>>) -> PyResult<Unlocking> {
    at_most_one("passphrase", passphrase, "identities", identities)?;
    Ok((secrets::passphrase(passphrase)?, recipients::identities(identities, &mut Vec::new())?))
}

fn loaded(content: KeyFile, file: Option<&Path>) -> Result<Loaded> {
    let file = file.map(absolute);
    Ok(match content {
        KeyFile::Secret(secret) => Loaded::Key(Key { secret, file }),
        KeyFile::Public(public) => Loaded::Public(PublicKey { public, file }),
        KeyFile::Keyring(ring) => Loaded::Keyring(Keyring::new(ring, file)),
        _ => return Err(Error::Format("unsupported kind of key file")),
    })
}

/// Makes the path of a key file absolute, because the current folder may change before the key is
/// used.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Derives ``length`` bytes from a passphrase with Argon2id (RFC 9106).
///
/// Parameters
/// ----------
/// passphrase : str or bytes-like
/// salt : bytes-like
///     At least 8 bytes, better 16, random per passphrase; not secret.
/// length : int
///     From 4 to 65536.
/// memory_kib, passes, lanes : int
///     The cost. Other numbers derive another key. The limits are 4 GiB of memory, and 64 GiB for
///     memory times passes.
///
/// Raises ValueError if a number is out of range, and LimitExceededError if the system lacks the
/// memory.
///
/// Examples
/// --------
/// >>> salt = os.urandom(16)
/// >>> key = sealane.keys.Key.from_bytes(sealane.keys.derive("correct horse battery staple", salt))
#[pyfunction]
#[pyo3(signature = (passphrase, salt, *, length = 32, memory_kib = 65536, passes = 3, lanes = 4))]
pub(crate) fn derive<'py>(
    py: Python<'py>,
    passphrase: &Any<'py>,
    salt: &Any<'py>,
    length: usize,
    memory_kib: u32,
    passes: u32,
    lanes: u32,
) -> PyResult<Bytes<'py>> {
    let passphrase = secrets::bytes("a passphrase", passphrase)?;
    read!(py; salt);
    let cost = Cost { memory_kib, passes, lanes };
    let derived = interruptible(py, || keys::derive(&passphrase, salt, length, cost))?.map_err(raise)?;
    copied(py, &derived)
}
