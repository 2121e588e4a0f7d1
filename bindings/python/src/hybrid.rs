//! `sealane.hybrid`: encryption of messages to a public key. `sealane/hybrid.py` has the public functions.

use crate::arguments::unknown;
use crate::buffer::{Slot, fresh};
use crate::detach::interruptible;
use crate::error::{raise, raise_about_key, raise_name};
use crate::keys::{Key, PublicKey};
use crate::secrets;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealane::Error;
use sealane::asymmetric::rsa::Oaep;
use sealane::hybrid::ecies::{self, Config, Curve, EciesOpener, EciesSealer, Encoding};
use sealane::hybrid::hpke::{self, HpkeOpener, HpkeSealer, Mode, Psk};
use sealane::hybrid::rsa::{self, Parts};
use sealane::hybrid::{self, Opener, Options, Sealer};
use sealane::keys::{self, SecretKey};

/// Shadows the variable of each buffer argument by the bytes that the argument exports.
macro_rules! read {
    ($py:expr; $($argument:ident),*) => {
        $(
            let mut slot = Slot::new($py);
            let $argument = slot.read($argument)?.bytes();
        )*
    };
}

/// See ``sealane.hybrid.seal``.
#[pyfunction]
#[pyo3(signature = (public, data, *, aad, info, suite))]
pub(crate) fn hybrid_seal<'py>(
    py: Python<'py>,
    public: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
    suite: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    read!(py; data, aad, info);
    let options = Options { info, suite: suite_named(suite)? };
    with_public(public, |public| sealed(py, &*hybrid::sealer(public, options).map_err(raise)?, data, aad))
}

fn sealed<'py>(
    py: Python<'py>,
    sealer: &dyn Sealer,
    data: &[u8],
    aad: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let len = sealer.sealed_len(data.len()).map_err(raise)?;
    fill(py, len, |out| sealer.seal_into(data, aad, out))
}

fn opened<'py>(
    py: Python<'py>,
    opener: &dyn Opener,
    blob: &[u8],
    aad: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let len = opener.opened_len(blob.len()).map_err(raise)?;
    fill(py, len, |out| opener.open_into(blob, aad, out))
}

/// See ``sealane.hybrid.open``.
#[pyfunction]
#[pyo3(signature = (private, blob, *, aad, info, suite))]
pub(crate) fn hybrid_open<'py>(
    py: Python<'py>,
    private: &Bound<'py, PyAny>,
    blob: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
    suite: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    read!(py; blob, aad, info);
    let options = Options { info, suite: suite_named(suite)? };
    with_private(private, |private| opened(py, &*hybrid::opener(private, options).map_err(raise)?, blob, aad))
}

/// See ``sealane.hybrid.hpke_seal``.
#[pyfunction]
#[pyo3(signature = (public, data, *, aad, info, suite, psk, psk_id, sender))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function")]
pub(crate) fn hpke_seal<'py>(
    py: Python<'py>,
    public: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
    suite: Option<&str>,
    psk: Option<&Bound<'py, PyAny>>,
    psk_id: Option<&Bound<'py, PyAny>>,
    sender: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    read!(py; data, aad, info);
    let aead = suite_named(suite)?.unwrap_or_default();
    let (mut a, mut b) = (Slot::new(py), Slot::new(py));
    let psk = pre_shared(&mut a, psk, &mut b, psk_id)?;
    let sender = sender.map(|key| with_private(key, |key| key.try_into().map_err(raise))).transpose()?;
    let public: hpke::PublicKey = with_public(public, |key| key.try_into().map_err(raise))?;
    sealed(py, &HpkeSealer { public, aead, mode: mode(psk, sender.as_ref()), info }, data, aad)
}

/// See ``sealane.hybrid.hpke_open``.
#[pyfunction]
#[pyo3(signature = (private, blob, *, aad, info, suite, psk, psk_id, sender))]
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function")]
pub(crate) fn hpke_open<'py>(
    py: Python<'py>,
    private: &Bound<'py, PyAny>,
    blob: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
    suite: Option<&str>,
    psk: Option<&Bound<'py, PyAny>>,
    psk_id: Option<&Bound<'py, PyAny>>,
    sender: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyBytes>> {
    read!(py; blob, aad, info);
    let aead = suite_named(suite)?.unwrap_or_default();
    let (mut a, mut b) = (Slot::new(py), Slot::new(py));
    let psk = pre_shared(&mut a, psk, &mut b, psk_id)?;
    let sender = sender.map(|key| with_public(key, |key| key.try_into().map_err(raise))).transpose()?;
    let private: hpke::PrivateKey = with_private(private, |key| key.try_into().map_err(raise))?;
    opened(py, &HpkeOpener { private, aead, mode: mode(psk, sender.as_ref()), info }, blob, aad)
}

/// See ``sealane.hybrid.ecies_encrypt``.
#[pyfunction]
#[pyo3(signature = (
    pk_hex, data, *, elliptic_curve, is_ephemeral_key_compressed, is_hkdf_key_compressed, symmetric_algorithm, symmetric_nonce_length
))]
#[expect(clippy::too_many_arguments, reason = "the configuration of eciespy")]
pub(crate) fn ecies_encrypt<'py>(
    py: Python<'py>,
    pk_hex: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    elliptic_curve: &str,
    is_ephemeral_key_compressed: bool,
    is_hkdf_key_compressed: bool,
    symmetric_algorithm: &str,
    symmetric_nonce_length: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let config = ecies_config(
        elliptic_curve,
        is_ephemeral_key_compressed,
        is_hkdf_key_compressed,
        symmetric_algorithm,
        symmetric_nonce_length,
    )?;
    let (from_hex, from_bytes) = (ecies::PublicKey::from_hex, ecies::PublicKey::from_bytes);
    let public = hex_or_bytes(config.curve, "pk_hex", pk_hex, from_hex, from_bytes)?;
    read!(py; data);
    sealed(py, &EciesSealer::new(config, public).map_err(raise)?, data, b"")
}

/// See ``sealane.hybrid.ecies_decrypt``.
#[pyfunction]
#[pyo3(signature = (
    sk_hex, data, *, elliptic_curve, is_ephemeral_key_compressed, is_hkdf_key_compressed, symmetric_algorithm, symmetric_nonce_length
))]
#[expect(clippy::too_many_arguments, reason = "the configuration of eciespy")]
pub(crate) fn ecies_decrypt<'py>(
    py: Python<'py>,
    sk_hex: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    elliptic_curve: &str,
    is_ephemeral_key_compressed: bool,
    is_hkdf_key_compressed: bool,
    symmetric_algorithm: &str,
    symmetric_nonce_length: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let config = ecies_config(
        elliptic_curve,
        is_ephemeral_key_compressed,
        is_hkdf_key_compressed,
        symmetric_algorithm,
        symmetric_nonce_length,
    )?;
    let (from_hex, from_bytes) = (ecies::PrivateKey::from_hex, ecies::PrivateKey::from_bytes);
    let private = hex_or_bytes(config.curve, "sk_hex", sk_hex, from_hex, from_bytes)?;
    read!(py; data);
    opened(py, &EciesOpener::new(config, private).map_err(raise)?, data, b"")
}

/// See ``sealane.hybrid.rsa_open_parts``.
#[pyfunction]
#[pyo3(signature = (private, *, wrapped_key, ciphertext, nonce, tag, oaep, aad))]
#[expect(clippy::too_many_arguments, reason = "the parts of a message")]
pub(crate) fn rsa_open_parts<'py>(
    py: Python<'py>,
    private: &Bound<'py, PyAny>,
    wrapped_key: &Bound<'py, PyAny>,
    ciphertext: &Bound<'py, PyAny>,
    nonce: &Bound<'py, PyAny>,
    tag: &Bound<'py, PyAny>,
    oaep: &str,
    aad: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let oaep = named("hash", oaep, &OAEPS)?;
    read!(py; wrapped_key, ciphertext, nonce, tag, aad);
    let parts = Parts { wrapped_key, nonce, ciphertext, tag };
    with_private(private, |private| match private {
        SecretKey::Rsa(key) => {
            fill(py, parts.ciphertext.len(), |out| rsa::open_parts_into(key, oaep, parts, aad, out))
        }
        _ => Err(PyValueError::new_err("expected an RSA private key, found another kind of key")),
    })
}

const OAEPS: [(&str, Oaep); 4] =
    [("sha1", Oaep::Sha1), ("sha256", Oaep::Sha256), ("sha384", Oaep::Sha384), ("sha512", Oaep::Sha512)];
const SUITES: [(&str, hpke::Aead); 3] = [
    ("aes-128-gcm", hpke::Aead::Aes128Gcm),
    ("aes-256-gcm", hpke::Aead::Aes256Gcm),
    ("chacha20-poly1305", hpke::Aead::ChaCha20Poly1305),
];

fn suite_named(suite: Option<&str>) -> PyResult<Option<hpke::Aead>> {
    suite.map(|name| named("suite", name, &SUITES)).transpose()
}

/// Returns the value that belongs to a name in a table of the allowed names.
fn named<T: Copy>(what: &str, name: &str, table: &[(&'static str, T)]) -> PyResult<T> {
    let found = table.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
    found.ok_or_else(|| unknown(what, name, table.iter().map(|(known, _)| *known)))
}

fn ecies_config(
    curve: &str,
    ephemeral_key_compressed: bool,
    hkdf_key_compressed: bool,
    symmetric: &str,
    nonce_len: usize,
) -> PyResult<Config> {
    let encoding = |compressed| if compressed { Encoding::Compressed } else { Encoding::Uncompressed };
    Ok(Config {
        curve: curve.parse().map_err(raise_name)?,
        ephemeral_key: encoding(ephemeral_key_compressed),
        hkdf_key: encoding(hkdf_key_compressed),
        symmetric: symmetric.parse().map_err(raise_name)?,
        nonce_len,
    })
}

/// Returns a new `bytes` object that `work` fills while the thread is detached from the interpreter.
fn fill<'py>(
    py: Python<'py>,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> Result<usize, Error> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    fresh(py, len, |out| py.detach(|| work(out)).map(drop).map_err(raise))
}

/// Calls `work` with a public key, which is a `PublicKey` or its text.
fn with_public<T>(key: &Bound<'_, PyAny>, work: impl FnOnce(&keys::PublicKey) -> PyResult<T>) -> PyResult<T> {
    if let Ok(key) = key.cast::<PublicKey>() {
        return work(key.get().public());
    }
    if let Ok(key) = key.cast::<Key>() {
        return Err(PyTypeError::new_err(format!(
            "expected a public key, found a private key (sealane.keys.Key {}); give key.public",
            key.get().kind_name()
        )));
    }
    work(&keys::PublicKey::from_text(&secrets::text("a public key", key)?).map_err(raise)?)
}

/// Calls `work` with a private key, which is a `Key` or its text.
fn with_private<T>(key: &Bound<'_, PyAny>, work: impl FnOnce(&SecretKey) -> PyResult<T>) -> PyResult<T> {
    if let Ok(key) = key.cast::<Key>() {
        return work(key.get().secret());
    }
    if let Ok(key) = key.cast::<PublicKey>() {
        return Err(PyTypeError::new_err(format!(
            "expected a private key (sealane.keys.Key), found a public key (sealane.keys.PublicKey {})",
            key.get().kind_name()
        )));
    }
    let text = secrets::text("a private key", key)?;
    work(&interruptible(key.py(), || SecretKey::from_text(&text, None))?.map_err(raise_about_key(None))?)
}

/// Returns the key of an eciespy call: hexadecimal digits or bytes.
fn hex_or_bytes<K>(
    curve: Curve,
    name: &str,
    key: &Bound<'_, PyAny>,
    from_hex: fn(Curve, &str) -> Result<K, Error>,
    from_bytes: fn(Curve, &[u8]) -> Result<K, Error>,
) -> PyResult<K> {
    if key.is_instance_of::<PyString>() {
        return from_hex(curve, &secrets::text(name, key)?).map_err(raise);
    }
    let mut slot = Slot::new(key.py());
    let Ok(bytes) = slot.read(key) else {
        let got = key.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} must be str in hexadecimal or bytes, not {got}")));
    };
    from_bytes(curve, bytes.bytes()).map_err(raise)
}

/// Returns the pre-shared key of HPKE and its identifier, if the caller gave one.
fn pre_shared<'a, 'py>(
    secret_slot: &'a mut Slot<'py>,
    secret: Option<&'a Bound<'py, PyAny>>,
    id_slot: &'a mut Slot<'py>,
    id: Option<&'a Bound<'py, PyAny>>,
) -> PyResult<Option<Psk<'a>>> {
    match (secret, id) {
        (None, None) => Ok(None),
        (Some(secret), Some(id)) => {
            let (secret, id) = (secret_slot.read(secret)?.bytes(), id_slot.read(id)?.bytes());
            Psk::new(secret, id).map(Some).map_err(raise)
        }
        _ => Err(PyTypeError::new_err("psk and psk_id are used together: give both or neither")),
    }
}

fn mode<'a, K>(psk: Option<Psk<'a>>, sender: Option<&'a K>) -> Mode<'a, K> {
    match (psk, sender) {
        (None, None) => Mode::Base,
        (Some(psk), None) => Mode::Psk(psk),
        (None, Some(sender)) => Mode::Auth(sender),
        (Some(psk), Some(sender)) => Mode::AuthPsk(sender, psk),
    }
}
