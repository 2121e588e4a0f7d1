//! `sealane.hybrid`: messages for the holder of a private key. The functions that users see are Python, in
//! `sealane/hybrid.py`.

use crate::buffer::{Slot, fresh};
use crate::error::{raise, raise_about_key, raise_name};
use crate::keys::{Key, PublicKey};
use crate::text;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use sealane::Error;
use sealane::asymmetric::rsa::Oaep;
use sealane::hybrid::ecies::{self, Config, Curve, Encoding};
use sealane::hybrid::hpke::{self, Mode, Psk};
use sealane::hybrid::rsa::{self, Parts};
use sealane::hybrid::{self, Terms};
use sealane::keys::{self, SecretKey};

/// See ``sealane.hybrid.seal``.
#[pyfunction]
pub(crate) fn hybrid_seal<'py>(
    py: Python<'py>,
    public: &Bound<'py, PyAny>,
    data: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
    suite: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let data = a.read(data)?.bytes();
    let terms = Terms { aad: b.read(aad)?.bytes(), info: c.read(info)?.bytes(), suite: suite_named(suite)? };
    with_public(public, |public| {
        let len = hybrid::sealed_len(public, data.len()).map_err(raise)?;
        fill(py, len, |out| hybrid::seal_into(public, data, &terms, out))
    })
}

/// See ``sealane.hybrid.open``.
#[pyfunction]
pub(crate) fn hybrid_open<'py>(
    py: Python<'py>,
    private: &Bound<'py, PyAny>,
    blob: &Bound<'py, PyAny>,
    aad: &Bound<'py, PyAny>,
    info: &Bound<'py, PyAny>,
    suite: Option<&str>,
) -> PyResult<Bound<'py, PyBytes>> {
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let blob = a.read(blob)?.bytes();
    let terms = Terms { aad: b.read(aad)?.bytes(), info: c.read(info)?.bytes(), suite: suite_named(suite)? };
    with_private(private, |private| {
        let len = hybrid::opened_len(private, blob.len()).map_err(raise)?;
        fill(py, len, |out| hybrid::open_into(private, blob, &terms, out))
    })
}

/// See ``sealane.hybrid.hpke_seal``.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function, all at once")]
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
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (data, aad, info) = (a.read(data)?.bytes(), b.read(aad)?.bytes(), c.read(info)?.bytes());
    let aead = suite_named(suite)?.unwrap_or_default();
    let (mut d, mut e) = (Slot::new(py), Slot::new(py));
    let psk = shared(&mut d, psk, &mut e, psk_id)?;
    let sender = sender.map(|key| with_private(key, |key| key.try_into().map_err(raise))).transpose()?;
    let public: hpke::PublicKey = with_public(public, |key| key.try_into().map_err(raise))?;
    let len = hpke::sealed_len(&public, data.len()).map_err(raise)?;
    let mode = mode(psk, sender.as_ref());
    fill(py, len, |out| hpke::seal_as_into(aead, &public, mode, data, aad, info, out))
}

/// See ``sealane.hybrid.hpke_open``.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the arguments of the public function, all at once")]
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
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (blob, aad, info) = (a.read(blob)?.bytes(), b.read(aad)?.bytes(), c.read(info)?.bytes());
    let aead = suite_named(suite)?.unwrap_or_default();
    let (mut d, mut e) = (Slot::new(py), Slot::new(py));
    let psk = shared(&mut d, psk, &mut e, psk_id)?;
    let sender = sender.map(|key| with_public(key, |key| key.try_into().map_err(raise))).transpose()?;
    let private: hpke::PrivateKey = with_private(private, |key| key.try_into().map_err(raise))?;
    let len = hpke::opened_len(&private, blob.len()).map_err(raise)?;
    let mode = mode(psk, sender.as_ref());
    fill(py, len, |out| hpke::open_as_into(aead, &private, mode, blob, aad, info, out))
}

/// See ``sealane.hybrid.ecies_encrypt``.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "eciespy's configuration, all at once")]
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
    let config = Config {
        curve: elliptic_curve.parse().map_err(raise_name)?,
        ephemeral_key: encoding(is_ephemeral_key_compressed),
        hkdf_key: encoding(is_hkdf_key_compressed),
        symmetric: symmetric_algorithm.parse().map_err(raise_name)?,
        nonce_len: symmetric_nonce_length,
    };
    let (from_hex, from_bytes) = (ecies::PublicKey::from_hex, ecies::PublicKey::from_bytes);
    let public = hex_or_bytes(config.curve, "pk_hex", pk_hex, from_hex, from_bytes)?;
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    let len = ecies::sealed_len(&config, data.len()).map_err(raise)?;
    fill(py, len, |out| ecies::seal_into(&config, &public, data, b"", out))
}

/// See ``sealane.hybrid.ecies_decrypt``.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "eciespy's configuration, all at once")]
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
    let config = Config {
        curve: elliptic_curve.parse().map_err(raise_name)?,
        ephemeral_key: encoding(is_ephemeral_key_compressed),
        hkdf_key: encoding(is_hkdf_key_compressed),
        symmetric: symmetric_algorithm.parse().map_err(raise_name)?,
        nonce_len: symmetric_nonce_length,
    };
    let (from_hex, from_bytes) = (ecies::PrivateKey::from_hex, ecies::PrivateKey::from_bytes);
    let private = hex_or_bytes(config.curve, "sk_hex", sk_hex, from_hex, from_bytes)?;
    let mut slot = Slot::new(py);
    let data = slot.read(data)?.bytes();
    let overhead = ecies::sealed_len(&config, 0).map_err(raise)?;
    let len = data.len().checked_sub(overhead).ok_or_else(|| raise(Error::Truncated))?;
    fill(py, len, |out| ecies::open_into(&config, &private, data, b"", out))
}

/// See ``sealane.hybrid.rsa_open_parts``.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the parts of a message, all at once")]
pub(crate) fn rsa_open_parts<'py>(
    py: Python<'py>,
    private: &Bound<'py, PyAny>,
    capsule: &Bound<'py, PyAny>,
    ciphertext: &Bound<'py, PyAny>,
    nonce: &Bound<'py, PyAny>,
    tag: &Bound<'py, PyAny>,
    oaep: &str,
    aad: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyBytes>> {
    let oaep = OAEPS.iter().find(|(name, _)| *name == oaep).map(|(_, oaep)| *oaep).ok_or_else(|| {
        PyValueError::new_err(format!("unknown hash {oaep:?}; known: {}", OAEPS.map(|row| row.0).join(", ")))
    })?;
    let (mut a, mut b, mut c) = (Slot::new(py), Slot::new(py), Slot::new(py));
    let (mut d, mut e) = (Slot::new(py), Slot::new(py));
    let parts = Parts {
        capsule: a.read(capsule)?.bytes(),
        nonce: b.read(nonce)?.bytes(),
        ciphertext: c.read(ciphertext)?.bytes(),
        tag: d.read(tag)?.bytes(),
    };
    let aad = e.read(aad)?.bytes();
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
    let Some(name) = suite else { return Ok(None) };
    match SUITES.iter().find(|(known, _)| *known == name) {
        Some((_, aead)) => Ok(Some(*aead)),
        None => Err(PyValueError::new_err(format!(
            "unknown suite {name:?}; known: {}",
            SUITES.map(|row| row.0).join(", ")
        ))),
    }
}

fn encoding(compressed: bool) -> Encoding {
    if compressed { Encoding::Compressed } else { Encoding::Uncompressed }
}

/// New bytes that `work` fills, detached.
fn fill<'py>(
    py: Python<'py>,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> Result<usize, Error> + Send,
) -> PyResult<Bound<'py, PyBytes>> {
    fresh(py, len, |out| py.detach(|| work(out)).map(drop).map_err(raise))
}

/// A `PublicKey`, or the text of one.
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
    work(&keys::PublicKey::from_text(&text::secret("a public key", key)?).map_err(raise)?)
}

/// A `Key`, or the text of one.
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
    let text = text::secret("a private key", key)?;
    work(&key.py().detach(|| SecretKey::from_text(&text, None)).map_err(raise_about_key(None))?)
}

/// A key as eciespy takes it.
fn hex_or_bytes<K>(
    curve: Curve,
    name: &str,
    key: &Bound<'_, PyAny>,
    from_hex: fn(Curve, &str) -> Result<K, Error>,
    from_bytes: fn(Curve, &[u8]) -> Result<K, Error>,
) -> PyResult<K> {
    if key.is_instance_of::<PyString>() {
        return from_hex(curve, &text::secret(name, key)?).map_err(raise);
    }
    let mut slot = Slot::new(key.py());
    let Ok(bytes) = slot.read(key) else {
        let got = key.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} must be str in hexadecimal or bytes, not {got}")));
    };
    from_bytes(curve, bytes.bytes()).map_err(raise)
}

/// A pre-shared key and its name.
fn shared<'a, 'py>(
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
        _ => Err(PyTypeError::new_err("psk and psk_id go together: give both or none")),
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
