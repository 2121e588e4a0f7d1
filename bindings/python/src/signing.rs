//! The native part of `sealane/signing.py`.

use crate::prelude::*;
use crate::secrets;
use crate::shared::Shared;
use sealane::signature::{Signers, Signing, SigningKey, Verifying};
use std::ffi::OsStr;
use std::time::UNIX_EPOCH;

/// Parses what a path or a reference names, or the bytes in the argument itself.
pub(crate) fn parsed<T: Send>(
    py: Python<'_>,
    name: &str,
    object: &Any<'_>,
    reference: fn(&OsStr) -> Result<Reference>,
    parse: impl FnOnce(&[u8]) -> Result<T> + Send,
) -> PyResult<T> {
    if !object.is_instance_of::<PyString>() {
        let content = secrets::bytes(name, object)?;
        return interruptible(py, || parse(&content))?.map_err(raise);
    }
    let reference = reference(&object.extract::<OsString>()?).map_err(raise)?;
    let content: Zeroizing<Vec<u8>> =
        interruptible(py, || reference.read())?.map_err(raise_at(reference.path(), raise_among))?;
    let named = PathBuf::from(reference.to_string());
    let named = reference.path().unwrap_or(&named);
    interruptible(py, || parse(&content))?.map_err(|error| raise_among(named, error))
}

pub(crate) fn file(path: &OsStr) -> Result<Reference> {
    Ok(Reference::File(path.into()))
}

enum Work {
    Sign(Signing),
    Verify(Box<Verifying>),
}

/// A message that is passed in pieces, and its signature; see ``sealane.signing``.
#[pyclass(frozen, module = "sealane._native")]
pub(crate) struct Signature(Shared<Work>);

#[pymethods]
impl Signature {
    /// Begins to sign.
    #[staticmethod]
    fn sign(
        py: Python<'_>,
        key: &Any<'_>,
        passphrase: Option<&Any<'_>>,
        format: Option<&str>,
        namespace: &str,
        comment: Option<&str>,
    ) -> PyResult<Self> {
        if let Some(format) = format.filter(|format| !["ssh", "minisign"].contains(format)) {
            return Err(PyValueError::new_err(format!("format must be 'ssh' or 'minisign', not {format:?}")));
        }
        let passphrase = secrets::passphrase(passphrase)?;
        let passphrase = passphrase.as_ref().map(|text| text.as_str());
        let key = parsed(py, "key", key, Reference::parse, |content| SigningKey::parse(content, passphrase))?;
        if format.is_some_and(|format| format != key.format()) {
            let text =
                "the key determines the format: an OpenSSH key signs for ssh, a minisign key for minisign";
            return Err(raise(Misuse::UnsuitableKey(text).into()));
        }
        Signing::new(&key, namespace, comment).map(|work| Self(Shared::new(Work::Sign(work)))).map_err(raise)
    }

    /// Begins to verify a signature.
    #[staticmethod]
    fn verify(
        py: Python<'_>,
        signature: &Any<'_>,
        signer: &Any<'_>,
        namespace: &str,
        revoked: Option<&Any<'_>>,
        at: Option<f64>,
    ) -> PyResult<Self> {
        let signers = parsed(py, "signer", signer, file, Signers::parse)?;
        let begin = |content: &[u8]| Verifying::new(content, &signers, namespace);
        let mut verifying = parsed(py, "signature", signature, file, begin)?;
        if let Some(revoked) = revoked {
            verifying = verifying.revoked(&parsed(py, "revoked", revoked, file, Signers::parse_revoked)?);
        }
        if let Some(at) = at {
            let time = Duration::try_from_secs_f64(at).ok().and_then(|since| UNIX_EPOCH.checked_add(since));
            let invalid = || PyValueError::new_err("at must be a time in seconds since 1970, as time.time()");
            verifying = verifying.at(time.ok_or_else(invalid)?);
        }
        Ok(Self(Shared::new(Work::Verify(Box::new(verifying)))))
    }

    /// Takes the next piece of the message and returns its length.
    #[pyo3(signature = (data, /))]
    fn update(&self, py: Python<'_>, data: &Any<'_>) -> PyResult<usize> {
        read!(py; data);
        self.0.with(py, data.len(), |work| {
            match work {
                Work::Sign(signing) => signing.update(data),
                Work::Verify(verifying) => verifying.update(data),
            }
            Ok(data.len())
        })
    }

    /// Returns the signature and an empty text; or the signer and the trusted comment.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, String)> {
        match self.0.take(py)? {
            Work::Sign(signing) => Ok((signing.finish().map_err(raise)?, String::new())),
            Work::Verify(verifying) => {
                let found = verifying.finish().map_err(raise)?;
                Ok((found.signer, found.comment))
            }
        }
    }
}
