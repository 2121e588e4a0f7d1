//! `sealane.jwe`: JSON Web Encryption.

use crate::arguments::{named, resolved};
use crate::detach::DETACH_LEN;
use crate::keys::{self, Key, Keyring, PublicKey};
use crate::prelude::*;
use crate::secrets;
use sealane::jwe::{self, Keys, Options, Serialization};

const SERIALIZATIONS: [(&str, Serialization); 3] = [
    ("compact", Serialization::Compact),
    ("flattened", Serialization::Flattened),
    ("general", Serialization::General),
];

/// Encrypts a message in a JSON Web Encryption token.
///
/// Parameters
/// ----------
/// plaintext : bytes-like
///     The message.
/// key : sealane.keys.Key, PublicKey, Keyring, str or bytes-like, or a list of them
///     The key, a reference, the text of a JSON Web Key, a JSON Web Key Set or PEM, or the bytes of
///     a symmetric key. The first key of a set encrypts, or the one that the ``kid`` in ``headers``
///     names; of a keyring, the primary key. A list makes a token for several recipients, with
///     ``serialization="general"``.
/// alg : str
///     How the recipient gets the message's key: "dir", "A256KW", "A256GCMKW", "ECDH-ES",
///     "ECDH-ES+A256KW", "RSA-OAEP-256", or one of the others in the guide.
/// enc : str
///     The encryption of the message: "A256GCM", "A192GCM", "A128GCM", "A256CBC-HS512",
///     "A192CBC-HS384" or "A128CBC-HS256".
/// headers : dict, optional
///     More parameters of the header, such as ``{"typ": "JWT"}``. Everybody can read them.
/// serialization : str
///     "compact", "flattened" or "general"; the last two are JSON.
///
/// Raises
/// ------
/// ValueError
///     If an algorithm is unknown, the key does not fit it (by its type or length, or its own
///     ``alg``, ``use`` or ``key_ops``), or the headers contain a parameter of the algorithms.
/// FormatError
///     If a text is not a key.
///
/// Examples
/// --------
/// >>> key = sealane.keys.generate("aes-256")
/// >>> token = sealane.jwe.encrypt(b"hello", key, alg="dir", enc="A256GCM")
/// >>> sealane.jwe.decrypt(token, key)
/// b'hello'
#[pyfunction]
#[pyo3(name = "encrypt", signature = (plaintext, key, *, alg, enc, headers = None, serialization = "compact"))]
pub(crate) fn jwe_encrypt<'py>(
    plaintext: &Any<'py>,
    key: &Any<'py>,
    alg: &str,
    enc: &str,
    headers: Option<&Any<'py>>,
    serialization: &str,
) -> PyResult<Bound<'py, PyString>> {
    let py = plaintext.py();
    let serialization = named("serialization", serialization, &SERIALIZATIONS)?;
    let recipients = match key.cast::<PyList>() {
        Ok(list) => list.iter().map(|key| keys_of(&key)).collect::<PyResult<Vec<_>>>()?,
        Err(_) => vec![keys_of(key)?],
    };
    let recipients: Vec<_> = recipients.iter().collect();
    let json = |headers| py.import("json")?.call_method1("dumps", (headers,))?.extract::<String>();
    let headers = headers.map(json).transpose()?;
    let options = Options { headers: headers.as_deref(), serialization };
    read!(py; plaintext);
    let is_quick = plaintext.len() < DETACH_LEN && recipients.iter().all(|keys| keys.are_quick(&[alg]));
    let token = run(py, is_quick, || jwe::encrypt(plaintext, &recipients, alg, enc, options))?;
    Ok(PyString::new(py, &token))
}

/// Decrypts a token of any serialization. Nothing of it is returned before it is verified.
///
/// Parameters
/// ----------
/// token : str or bytes-like
///     The token.
/// key : sealane.keys.Key, Keyring, str or bytes-like, or a list of them
///     As for ``encrypt``. The token's ``kid`` selects the key; a token without one is tried with
///     each.
/// algorithms : list of str, optional
///     The names that a token may have as ``alg`` and ``enc``. Names of one sort do not restrict
///     the other. By default, the key's type, length and own ``alg`` decide. A key is a password
///     (PBES2) only if it is named here, or by the key's own ``alg``.
///
/// Raises
/// ------
/// AuthenticationError
///     If the key is wrong or anything in the token was modified. It does not say what.
/// NoMatchingKeyError
///     If no key has the token's ``kid`` and fits its ``alg`` and ``enc``.
/// FormatError
///     If the text is not a token, or its header asks for something that is unsupported or not in
///     ``algorithms``, such as compression.
/// LimitExceededError
///     If the token asks for too much work, such as rounds of PBKDF2.
///
/// Examples
/// --------
/// >>> private = sealane.keys.generate("x25519")
/// >>> token = sealane.jwe.encrypt(b"hello", private.public, alg="ECDH-ES", enc="A256GCM")
/// >>> sealane.jwe.decrypt(token, private, algorithms=["ECDH-ES", "A256GCM"])
/// b'hello'
#[pyfunction]
#[pyo3(name = "decrypt", signature = (token, key, *, algorithms = None))]
pub(crate) fn jwe_decrypt<'py>(
    token: &Any<'py>,
    key: &Any<'py>,
    algorithms: Option<Vec<String>>,
) -> PyResult<Bytes<'py>> {
    let py = token.py();
    let keys = match key.cast::<PyList>() {
        Ok(list) => Keys::join(list.iter().map(|key| keys_of(&key)).collect::<PyResult<Vec<_>>>()?),
        Err(_) => keys_of(key)?,
    };
    let token = secrets::text("a token", token)?;
    let names: Option<Vec<&str>> = algorithms.as_ref().map(|all| all.iter().map(|name| &**name).collect());
    let algorithms = names.as_deref();
    let is_quick = token.len() < DETACH_LEN && keys.are_quick(algorithms.unwrap_or_default());
    copied(py, &run(py, is_quick, || keys.decrypt(&token, algorithms))?)
}

/// Runs short work at once, and other work so that other threads can run and signals cancel it.
fn run<T: Send>(py: Python<'_>, is_quick: bool, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    if is_quick { work() } else { interruptible(py, work)? }.map_err(raise)
}

fn keys_of(key: &Any<'_>) -> PyResult<Keys> {
    let key = resolved(key, "resolve")?;
    let found = if let Ok(key) = key.cast::<Key>() {
        Keys::try_from(&key.get().secret)
    } else if let Ok(key) = key.cast::<PublicKey>() {
        Keys::try_from(&key.get().public)
    } else if let Ok(ring) = key.cast::<Keyring>() {
        Keys::try_from(&ring.get().keyring(key.py())?)
    } else if key.is_instance_of::<PyString>() {
        Keys::parse(&secrets::text("a key", &key)?)
    } else {
        Ok(keys::extract(&key)?.into())
    };
    found.map_err(raise)
}
