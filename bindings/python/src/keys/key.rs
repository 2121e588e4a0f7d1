//! The methods of `sealane.keys.Key`.

use super::classes::{Key, PublicKey, extract, hex, only_secp256k1};
use super::saving::save;
use crate::prelude::*;
use crate::secrets;
use sealane::keys::Jwk;

#[pymethods]
impl Key {
    /// Creates a symmetric key from ``data``, which must be uniformly random, never a password.
    ///
    /// ``kid``, ``alg`` and ``use`` are saved with the key as JSON Web Key members.
    #[staticmethod]
    #[pyo3(signature = (data, *, kid = None, alg = None, r#use = None))]
    fn from_bytes(
        data: &Any<'_>,
        kid: Option<String>,
        alg: Option<String>,
        r#use: Option<String>,
    ) -> PyResult<Self> {
        Ok(Self::new(SecretKey::Symmetric(Jwk { key: extract(data)?, kid, alg, usage: r#use })))
    }

    /// Parses the private or symmetric key in ``text``: a JSON Web Key, PEM, an age identity, 64
    /// hexadecimal digits of secp256k1, or one of these in an armored age file.
    ///
    /// Raises FormatError, NoMatchingKeyError if the passphrase is wrong, and ValueError if it is
    /// missing or the key is not encrypted.
    #[staticmethod]
    #[pyo3(signature = (text, passphrase = None))]
    fn from_text(py: Python<'_>, text: &Any<'_>, passphrase: Option<&Any<'_>>) -> PyResult<Self> {
        let (text, passphrase) = (secrets::text("a key", text)?, secrets::passphrase(passphrase)?);
        let passphrase = passphrase.as_ref().map(|text| text.as_str());
        interruptible(py, || SecretKey::from_text(&text, passphrase))?.map(Self::new).map_err(raise)
    }

    /// The kind: one of ``sealane.keys.KINDS``, or a name like "symmetric-152" or "rsa-2560" for
    /// other lengths.
    #[getter]
    fn kind(&self) -> Cow<'static, str> {
        self.kind_name()
    }

    /// The public key of a private key. None for a symmetric key and for an age plugin's identity:
    /// only the plugin knows its recipient.
    #[getter]
    fn public(&self) -> Option<PublicKey> {
        self.secret.public().map(|public| PublicKey { public, file: self.file.clone() })
    }

    /// The JSON Web Key identifier (``kid``), or None.
    #[getter]
    fn kid(&self) -> Option<&str> {
        self.jwk()?.kid.as_deref()
    }

    /// The JSON Web Key algorithm (``alg``), for example "A256GCM", or None.
    #[getter]
    fn alg(&self) -> Option<&str> {
        self.jwk()?.alg.as_deref()
    }

    /// The JSON Web Key use (``use``), for example "enc", or None.
    #[getter]
    fn r#use(&self) -> Option<&str> {
        self.jwk()?.usage.as_deref()
    }

    /// The fingerprint of a symmetric key, "key-sha256:…": it pins the key in a reference, as in
    /// "file:/mnt/share/sales.key#key-sha256:…". It is public. Raises TypeError for other kinds.
    #[getter(fingerprint)]
    fn fingerprint_text(&self) -> PyResult<String> {
        self.fingerprint().map(|found| found.to_string())
    }

    /// Writes the key to a new file that only the owner can read.
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
    ///     Otherwise FileExistsError is raised: files encrypted with a lost key cannot be
    ///     decrypted.
    #[pyo3(signature = (path, passphrase = None, *, recipients = None, overwrite = false))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        passphrase: Option<&Any<'_>>,
        recipients: Option<&Any<'_>>,
        overwrite: bool,
    ) -> PyResult<()> {
        save(py, &path, passphrase, recipients, overwrite, &KeyFile::Secret(self.secret.clone()))
    }

    /// The text of a key file, for other storage. It is secret unless ``passphrase`` encrypts it.
    #[pyo3(signature = (passphrase = None))]
    fn to_text<'py>(&self, py: Python<'py>, passphrase: Option<&Any<'py>>) -> PyResult<Bound<'py, PyString>> {
        let passphrase = secrets::passphrase(passphrase)?;
        let passphrase = passphrase.as_ref().map(|text| text.as_str());
        let text = interruptible(py, || self.secret.to_text(passphrase))?;
        Ok(PyString::new(py, &text.map_err(raise)?))
    }

    /// Returns a secp256k1 private key as 64 hexadecimal digits. Raises TypeError for other kinds.
    fn to_hex<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        match &self.secret {
            SecretKey::Secp256k1(key) => Ok(hex(py, key.as_bytes())),
            _ => Err(only_secp256k1(&self.kind_name())),
        }
    }

    /// Returns the bytes of a symmetric key. Raises TypeError for other kinds.
    fn __bytes__<'py>(&self, py: Python<'py>) -> PyResult<Bytes<'py>> {
        Ok(PyBytes::new(py, self.symmetric()?.as_bytes()))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.secret == other.secret
    }

    fn __repr__(&self) -> String {
        format!("<sealane.keys.Key {}>", self.kind_name())
    }
}

impl Key {
    pub(super) fn fingerprint(&self) -> PyResult<Fingerprint> {
        Fingerprint::of_key(self.symmetric()?).map_err(raise)
    }

    fn jwk(&self) -> Option<&Jwk> {
        match &self.secret {
            SecretKey::Symmetric(jwk) => Some(jwk),
            _ => None,
        }
    }
}
