//! `sealane.hybrid`: encryption of messages to a public key.

use crate::error::{raise_about_key, raise_name};
use crate::keys::{Key, PublicKey};
use crate::prelude::*;
use crate::{arguments, secrets};
use sealane::asymmetric::rsa::Oaep;
use sealane::hybrid::ecies::{self, Config, Curve, EciesOpener, EciesSealer, Encoding};
use sealane::hybrid::hpke::{self, HpkeOpener, HpkeSealer, Mode, Psk};
use sealane::hybrid::rsa::{self, Parts};
use sealane::hybrid::{self, Opener, Options, Sealer};
use sealane::keys;

/// Encrypts a message to a public key; only the private key decrypts it.
///
/// Parameters
/// ----------
/// public : sealane.keys.PublicKey or str
///     The public key, or its text: PEM, or secp256k1 hexadecimal.
/// data : bytes-like
///     The plaintext, encrypted as a whole.
/// aad : bytes-like
///     Associated data: authenticated, but not part of the result. Pass the same bytes to ``open``.
/// info : bytes-like
///     The application information of HPKE (RFC 9180, section 5), for HPKE keys. Pass the same
///     bytes to ``open``.
/// suite : str, optional
///     The HPKE AEAD: "aes-256-gcm" (the default), "aes-128-gcm" or "chacha20-poly1305". It is not
///     part of the message; pass the same to ``open``.
///
/// Raises
/// ------
/// FormatError
///     If the text is not a public key.
/// ValueError
///     If the key's kind does not encrypt messages (use age and SSH keys with ``sealane.encrypt``),
///     or ``info`` or ``suite`` is given for a key without HPKE.
///
/// Examples
/// --------
/// >>> private = sealane.keys.generate("x25519")
/// >>> blob = sealane.hybrid.seal(private.public, b"hello", aad=b"header")
/// >>> sealane.hybrid.open(private, blob, aad=b"header")
/// b'hello'
#[pyfunction]
#[pyo3(
    name = "seal",
    signature = (public, data, aad = None, info = None, *, suite = None),
    text_signature = "(public, data, aad=b'', info=b'', *, suite=None)"
)]
pub(crate) fn hybrid_seal<'py>(
    py: Python<'py>,
    public: &Any<'py>,
    data: &Any<'py>,
    aad: Option<&Any<'py>>,
    info: Option<&Any<'py>>,
    suite: Option<&str>,
) -> PyResult<Bytes<'py>> {
    read!(py; data; optional aad, info);
    let options = Options { info, suite: suite_named(suite)? };
    with_public(public, |public| sealed(py, &*hybrid::sealer(public, options).map_err(raise)?, data, aad))
}

fn sealed<'py>(py: Python<'py>, sealer: &dyn Sealer, data: &[u8], aad: &[u8]) -> PyResult<Bytes<'py>> {
    let len = sealer.sealed_len(data.len()).map_err(raise)?;
    fill(py, len, |out| sealer.seal_into(data, aad, out))
}

fn opened<'py>(py: Python<'py>, opener: &dyn Opener, blob: &[u8], aad: &[u8]) -> PyResult<Bytes<'py>> {
    let len = opener.opened_len(blob.len()).map_err(raise)?;
    fill(py, len, |out| opener.open_into(blob, aad, out))
}

/// Decrypts a message that ``seal`` returned.
///
/// Parameters
/// ----------
/// private : sealane.keys.Key or str
///     The private key of the recipient, or its text.
/// blob : bytes-like
///     The encrypted message.
/// aad, info, suite
///     As for ``seal``.
///
/// Raises
/// ------
/// AuthenticationError
///     If the key, ``aad``, ``info`` or ``suite`` is wrong, or the message was modified.
/// FormatError
///     If the message is too short or does not begin with a public key of the curve, or the text is
///     not a private key.
///
/// Examples
/// --------
/// >>> private = sealane.keys.generate("p-256")
/// >>> sealane.hybrid.open(private, sealane.hybrid.seal(private.public, b"hello"))
/// b'hello'
#[pyfunction]
#[pyo3(
    name = "open",
    signature = (private, blob, aad = None, info = None, *, suite = None),
    text_signature = "(private, blob, aad=b'', info=b'', *, suite=None)"
)]
pub(crate) fn hybrid_open<'py>(
    py: Python<'py>,
    private: &Any<'py>,
    blob: &Any<'py>,
    aad: Option<&Any<'py>>,
    info: Option<&Any<'py>>,
    suite: Option<&str>,
) -> PyResult<Bytes<'py>> {
    read!(py; blob; optional aad, info);
    let options = Options { info, suite: suite_named(suite)? };
    with_private(private, |private| opened(py, &*hybrid::opener(private, options).map_err(raise)?, blob, aad))
}

/// Defines a function for HPKE in any of its modes. `$key` is the recipient's key, `$message` what
/// the function encrypts or decrypts, and `$core` the type that does it.
macro_rules! hpke {
    (
        $(#[$doc:meta])*
        $name:ident($key:ident by $with_key:ident, $message:ident, sender by $with_sender:ident),
        $text_signature:literal, $work:ident by $core:ident
    ) => {
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(
            signature = (
                $key, $message, aad = None, info = None, *, suite = None, psk = None, psk_id = None, sender = None
            ),
            text_signature = $text_signature
        )]
        pub(crate) fn $name<'py>(
            py: Python<'py>,
            $key: &Any<'py>,
            $message: &Any<'py>,
            aad: Option<&Any<'py>>,
            info: Option<&Any<'py>>,
            suite: Option<&str>,
            psk: Option<&Any<'py>>,
            psk_id: Option<&Any<'py>>,
            sender: Option<&Any<'py>>,
        ) -> PyResult<Bytes<'py>> {
            let given = [psk, psk_id].map(|one| one.is_some());
            read!(py; $message; optional aad, info, psk, psk_id);
            let aead = suite_named(suite)?.unwrap_or_default();
            let sender = sender.map(|key| $with_sender(key, |key| key.try_into().map_err(raise))).transpose()?;
            let $key = $with_key($key, |key| key.try_into().map_err(raise))?;
            let mode = mode(given, psk, psk_id, sender.as_ref())?;
            $work(py, &$core { $key, aead, mode, info }, $message, aad)
        }
    };
}

hpke! {
    /// Encrypts a message with HPKE (RFC 9180) in any of its modes.
    ///
    /// Without ``psk`` and ``sender`` it is the base mode, as in ``seal``. Other parameters and
    /// exceptions are as for ``seal``.
    ///
    /// Parameters
    /// ----------
    /// psk, psk_id : bytes-like, optional
    ///     A pre-shared key of at least 32 random bytes, and its identifier. It proves to the
    ///     recipient that the sender has it.
    /// sender : sealane.keys.Key or str, optional
    ///     The sender's private key, of the same kind as ``public``; not with x-wing. It proves to
    ///     the recipient that the sender has it.
    ///
    /// Examples
    /// --------
    /// >>> alice, bob = sealane.keys.generate("x25519"), sealane.keys.generate("x25519")
    /// >>> blob = sealane.hybrid.hpke_seal(bob.public, b"hello", sender=alice)
    /// >>> sealane.hybrid.hpke_open(bob, blob, sender=alice.public)
    /// b'hello'
    hpke_seal(public by with_public, data, sender by with_private),
    "(public, data, aad=b'', info=b'', *, suite=None, psk=None, psk_id=None, sender=None)", sealed by HpkeSealer
}

hpke! {
    /// Decrypts a message that ``hpke_seal`` returned.
    ///
    /// Parameters
    /// ----------
    /// private, blob, aad, info, suite
    ///     As for ``open``.
    /// psk, psk_id
    ///     As for ``hpke_seal``.
    /// sender : sealane.keys.PublicKey or str, optional
    ///     The sender's public key.
    ///
    /// Raises
    /// ------
    /// AuthenticationError, FormatError, ValueError
    ///     As ``open``. AuthenticationError also if the pre-shared key or the sender is wrong.
    ///
    /// Examples
    /// --------
    /// >>> bob, psk = sealane.keys.generate("x25519"), os.urandom(32)
    /// >>> blob = sealane.hybrid.hpke_seal(bob.public, b"hello", psk=psk, psk_id=b"2026")
    /// >>> sealane.hybrid.hpke_open(bob, blob, psk=psk, psk_id=b"2026")
    /// b'hello'
    hpke_open(private by with_private, blob, sender by with_public),
    "(private, blob, aad=b'', info=b'', *, suite=None, psk=None, psk_id=None, sender=None)", opened by HpkeOpener
}

/// Defines a function with eciespy's arguments: a key, the data, and the configuration as keywords.
/// `$work` gets them parsed.
macro_rules! eciespy {
    ($(#[$doc:meta])* $name:ident($key:ident: $Key:ident), $work:expr) => {
        $(#[$doc])*
        #[pyfunction]
        #[pyo3(signature = (
            $key, data, *, elliptic_curve = "secp256k1", is_ephemeral_key_compressed = false,
            is_hkdf_key_compressed = false, symmetric_algorithm = "aes-256-gcm", symmetric_nonce_length = 16
        ))]
        pub(crate) fn $name<'py>(
            py: Python<'py>,
            $key: &Any<'py>,
            data: &Any<'py>,
            elliptic_curve: &str,
            is_ephemeral_key_compressed: bool,
            is_hkdf_key_compressed: bool,
            symmetric_algorithm: &str,
            symmetric_nonce_length: usize,
        ) -> PyResult<Bytes<'py>> {
            let encoding = |compressed| if compressed { Encoding::Compressed } else { Encoding::Uncompressed };
            let config = Config {
                curve: elliptic_curve.parse().map_err(raise_name)?,
                ephemeral_key: encoding(is_ephemeral_key_compressed),
                hkdf_key: encoding(is_hkdf_key_compressed),
                symmetric: symmetric_algorithm.parse().map_err(raise_name)?,
                nonce_len: symmetric_nonce_length,
            };
            let (from_hex, from_bytes) = (ecies::$Key::from_hex, ecies::$Key::from_bytes);
            let key = hex_or_bytes(config.curve, stringify!($key), $key, from_hex, from_bytes)?;
            read!(py; data);
            let work: fn(Python<'py>, Config, ecies::$Key, &[u8]) -> PyResult<Bytes<'py>> = $work;
            work(py, config, key, data)
        }
    };
}

eciespy! {
    /// Encrypts a message like eciespy's ``encrypt``.
    ///
    /// Arguments and bytes are eciespy's. The keywords are its configuration, with its defaults.
    ///
    /// Parameters
    /// ----------
    /// pk_hex : str or bytes-like
    ///     The public key: hexadecimal digits, with or without 0x, or bytes.
    /// data : bytes-like
    ///     The plaintext, encrypted as a whole.
    /// elliptic_curve : str
    ///     "secp256k1", "x25519" or "ed25519".
    /// is_ephemeral_key_compressed, is_hkdf_key_compressed : bool
    ///     Whether the point in the message, and the points the key is derived from, are
    ///     compressed.
    /// symmetric_algorithm : str
    ///     "aes-256-gcm" or "xchacha20".
    /// symmetric_nonce_length : int
    ///     12 or 16 bytes, for AES-256-GCM.
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     If ``pk_hex`` is not a public key of the curve.
    /// ValueError
    ///     If ``pk_hex`` is not hexadecimal or the configuration is unsupported.
    ///
    /// Examples
    /// --------
    /// >>> private = sealane.keys.generate("secp256k1")
    /// >>> message = sealane.hybrid.ecies_encrypt(private.public.to_hex(), b"hello")
    /// >>> sealane.hybrid.ecies_decrypt(private.to_hex(), message)
    /// b'hello'
    ecies_encrypt(pk_hex: PublicKey), |py, config, public, data| {
        sealed(py, &EciesSealer::new(config, public).map_err(raise)?, data, b"")
    }
}

eciespy! {
    /// Decrypts a message like eciespy's ``decrypt``.
    ///
    /// Parameters
    /// ----------
    /// sk_hex : str or bytes-like
    ///     The private key: hexadecimal digits, with or without 0x, or bytes.
    /// data : bytes-like
    ///     The encrypted message.
    /// elliptic_curve, is_ephemeral_key_compressed, is_hkdf_key_compressed, symmetric_algorithm,
    /// symmetric_nonce_length
    ///     As for ``ecies_encrypt``. They are not part of the message.
    ///
    /// Raises
    /// ------
    /// AuthenticationError
    ///     If the key or the configuration is wrong, or the message was modified.
    /// FormatError
    ///     If the message is too short or does not begin with a public key.
    /// ValueError
    ///     If ``sk_hex`` is not a private key of the curve, or the configuration is unsupported.
    ///
    /// Examples
    /// --------
    /// >>> private = sealane.keys.generate("secp256k1")
    /// >>> message = sealane.hybrid.ecies_encrypt(private.public.to_hex(), b"hello", symmetric_algorithm="xchacha20")
    /// >>> sealane.hybrid.ecies_decrypt(private.to_hex(), message, symmetric_algorithm="xchacha20")
    /// b'hello'
    ecies_decrypt(sk_hex: PrivateKey), |py, config, private, data| {
        opened(py, &EciesOpener::new(config, private).map_err(raise)?, data, b"")
    }
}

/// Decrypts an RSA and AES-GCM message stored in separate parts.
///
/// PyCryptodome programs usually store it this way, with a 16-byte nonce and SHA-1 by default.
///
/// Parameters
/// ----------
/// private : sealane.keys.Key or str
///     The RSA private key or its text.
/// wrapped_key : bytes-like
///     The AES key, encrypted with RSAES-OAEP.
/// ciphertext, nonce, tag : bytes-like
///     The output of AES-GCM.
/// oaep : str
///     The hash of RSAES-OAEP: "sha1", "sha256", "sha384" or "sha512".
/// aad : bytes-like
///     The associated data of AES-GCM.
///
/// Raises
/// ------
/// AuthenticationError
///     If any part is not authentic. The error does not say which part.
///
/// Examples
/// --------
/// >>> sealane.hybrid.rsa_open_parts(private, wrapped_key, ciphertext, nonce, tag)
/// b'hello'
#[pyfunction]
#[pyo3(
    signature = (private, wrapped_key, ciphertext, nonce, tag, *, oaep = "sha1", aad = None),
    text_signature = "(private, wrapped_key, ciphertext, nonce, tag, *, oaep='sha1', aad=b'')"
)]
pub(crate) fn rsa_open_parts<'py>(
    py: Python<'py>,
    private: &Any<'py>,
    wrapped_key: &Any<'py>,
    ciphertext: &Any<'py>,
    nonce: &Any<'py>,
    tag: &Any<'py>,
    oaep: &str,
    aad: Option<&Any<'py>>,
) -> PyResult<Bytes<'py>> {
    let oaep = arguments::named("hash", oaep, &OAEPS)?;
    read!(py; wrapped_key, ciphertext, nonce, tag; optional aad);
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
    suite.map(|name| arguments::named("suite", name, &SUITES)).transpose()
}

/// Returns a new `bytes` object that `work` fills while detached from the interpreter.
fn fill<'py>(
    py: Python<'py>,
    len: usize,
    work: impl FnOnce(&mut [u8]) -> Result<usize> + Send,
) -> PyResult<Bytes<'py>> {
    fresh(py, len, |out| py.detach(|| work(out)).map(drop).map_err(raise))
}

/// Calls `work` with a public key, given as a `PublicKey` or its text.
fn with_public<T>(key: &Any<'_>, work: impl FnOnce(&keys::PublicKey) -> PyResult<T>) -> PyResult<T> {
    if let Ok(key) = key.cast::<PublicKey>() {
        return work(&key.get().public);
    }
    if let Ok(key) = key.cast::<Key>() {
        return Err(key.get().instead_of("a public key", "; give key.public"));
    }
    work(&keys::PublicKey::from_text(&secrets::text("a public key", key)?).map_err(raise)?)
}

/// Calls `work` with a private key, given as a `Key` or its text.
fn with_private<T>(key: &Any<'_>, work: impl FnOnce(&SecretKey) -> PyResult<T>) -> PyResult<T> {
    if let Ok(key) = key.cast::<Key>() {
        return work(&key.get().secret);
    }
    if let Ok(key) = key.cast::<PublicKey>() {
        return Err(key.get().instead_of("a private key (sealane.keys.Key)", ""));
    }
    let text = secrets::text("a private key", key)?;
    work(&interruptible(key.py(), || SecretKey::from_text(&text, None))?.map_err(raise_about_key(None))?)
}

/// Returns the key of an eciespy call, given as hexadecimal digits or bytes.
fn hex_or_bytes<K>(
    curve: Curve,
    name: &str,
    key: &Any<'_>,
    from_hex: fn(Curve, &str) -> Result<K>,
    from_bytes: fn(Curve, &[u8]) -> Result<K>,
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

/// Returns the mode of HPKE. `given` says whether there are a pre-shared key and its identifier.
fn mode<'a, K>(
    given: [bool; 2],
    psk: &'a [u8],
    psk_id: &'a [u8],
    sender: Option<&'a K>,
) -> PyResult<Mode<'a, K>> {
    let psk = match given {
        [false, false] => return Ok(sender.map_or(Mode::Base, Mode::Auth)),
        [true, true] => Psk::new(psk, psk_id).map_err(raise)?,
        _ => return Err(PyTypeError::new_err("psk and psk_id are used together: give both or neither")),
    };
    Ok(match sender {
        None => Mode::Psk(psk),
        Some(sender) => Mode::AuthPsk(sender, psk),
    })
}
