//! The methods of `sealane.keys.PublicKey`.

use super::classes::{PublicKey, existing, hex, only_secp256k1};
use super::functions::absolute;
use crate::prelude::*;
use crate::secrets;
use sealane::asymmetric::secp256k1::Encoding;
use sealane::keys;

#[pymethods]
impl PublicKey {
    #[new]
    fn from_text(text: &Any<'_>) -> PyResult<Self> {
        keys::PublicKey::from_text(&secrets::text("a public key", text)?).map(Self::new).map_err(raise)
    }

    /// Loads a public key from the file at ``path``. Raises OSError or FormatError.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let found = interruptible(py, || keys::PublicKey::load(&path))?;
        let public = found.map_err(|e| raise_among(&path, e))?;
        Ok(Self { public, file: Some(absolute(&path)) })
    }

    /// Writes the key to a new file at ``path``. Raises FileExistsError for an existing one unless
    /// ``overwrite``.
    #[pyo3(signature = (path, *, overwrite = false))]
    fn save(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        interruptible(py, || self.public.save(&path, existing(overwrite)))?.map_err(|e| raise_about(&path, e))
    }

    /// The kind: one of ``sealane.keys.KINDS``, "ssh-ed25519", "ssh-rsa", or "rsa-" and another
    /// number of bits.
    #[getter]
    fn kind(&self) -> Cow<'static, str> {
        self.kind_name()
    }

    /// A secp256k1 key in hexadecimal: 65 bytes, or 33 if ``compressed``. Raises TypeError for
    /// other kinds.
    #[pyo3(signature = (compressed = false))]
    fn to_hex<'py>(&self, py: Python<'py>, compressed: bool) -> PyResult<Bound<'py, PyString>> {
        let encoding = if compressed { Encoding::Compressed } else { Encoding::Uncompressed };
        match &self.public {
            keys::PublicKey::Secp256k1(key) => Ok(hex(py, &key.to_bytes(encoding))),
            _ => Err(only_secp256k1(&self.kind_name())),
        }
    }

    /// The Ethereum address of a secp256k1 key with EIP-55's checksum case. Raises TypeError for
    /// other kinds.
    #[getter]
    fn ethereum_address(&self) -> PyResult<String> {
        match &self.public {
            keys::PublicKey::Secp256k1(key) => Ok(key.ethereum_address()),
            _ => Err(only_secp256k1(&self.kind_name())),
        }
    }

    fn __str__(&self) -> String {
        self.public.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<sealane.keys.PublicKey {}>", self.kind_name())
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.public == other.public
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        PyString::new(py, &self.public.to_string()).hash()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, pyo3::types::PyType>, (String,)) {
        (py.get_type::<Self>(), (self.public.to_string(),))
    }
}
