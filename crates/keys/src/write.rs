//! Writes key files.

use super::{Existing, KeyFile, Keyring, PinnedReference, PublicKey, SecretKey, store};
use crate::age;
use crate::asymmetric::secp256k1::Encoding;
use crate::encoding::pkcs8::{self, Algorithm};
use crate::encoding::{pbes2, pem};
use crate::passphrase::check_passphrase;
use crate::prelude::*;

impl SecretKey {
    /// Encodes the key as the text of a key file, encrypted if there is a passphrase.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a passphrase that is
    /// empty or has control characters, and for an SSH key (it has no text of its own), and
    /// [`Error::Io`] if the operating system returns no random bytes.
    pub fn to_text(&self, passphrase: Option<&str>) -> Result<Zeroizing<String>> {
        passphrase.map_or(Ok(()), check_passphrase).map_err(Error::unsuitable_key)?;
        match (passphrase, to_pkcs8(self)?) {
            (None, _) => plain(self),
            (Some(text), Some(der)) => pem::write("ENCRYPTED PRIVATE KEY", &pbes2::seal(&der, text)?),
            (Some(text), None) => self.to_text_for(&[age::Recipient::passphrase(text)?]),
        }
    }

    /// Encodes the key as an armored age file for `recipients`.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for an SSH key, and the
    /// errors of [`age::seal`].
    pub fn to_text_for(&self, recipients: &[age::Recipient]) -> Result<Zeroizing<String>> {
        armored(&plain(self)?, recipients)
    }
}

impl Keyring {
    /// Encodes the keyring as the text of a key file: a Tink keyset in JSON, in an armored age file
    /// if there is a passphrase.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a passphrase that is
    /// empty or has control characters, and [`Error::Io`] if the operating system returns no
    /// random bytes.
    pub fn to_text(&self, passphrase: Option<&str>) -> Result<Zeroizing<String>> {
        passphrase.map_or(Ok(()), check_passphrase).map_err(Error::unsuitable_key)?;
        match passphrase {
            None => Ok(self.to_json()),
            Some(text) => self.to_text_for(&[age::Recipient::passphrase(text)?]),
        }
    }

    /// Encodes the keyring as an armored age file for `recipients`.
    ///
    /// # Errors
    /// Returns the errors of [`age::seal`].
    pub fn to_text_for(&self, recipients: &[age::Recipient]) -> Result<Zeroizing<String>> {
        armored(&self.to_json(), recipients)
    }
}

macro_rules! saved {
    ($($key:ident $file:ident)*) => {$(
        impl $key {
            /// Writes the text to a file that only its owner can read, encrypted if there is a
            /// passphrase. It replaces a key that the user knows there.
            ///
            /// # Errors
            /// Returns [`Error::Io`], also if `path` exists and `existing` forbids replacing it,
            /// and the errors of [`Self::to_text`].
            pub fn save(&self, path: &Path, passphrase: Option<&str>, existing: Existing) -> Result<()> {
                let (key, text) = (KeyFile::$file(self.clone()), self.to_text(passphrase)?);
                PinnedReference::save(path, &key, &text, existing, passphrase.is_some()).map(drop)
            }

            /// Writes an age file for `recipients`. Returns the reference that pins the key, and
            /// remembers it; only symmetric keys and keyrings have a fingerprint.
            ///
            /// # Errors
            /// Returns [`Error::Io`], also if `path` exists and `existing` forbids replacing it,
            /// and the errors of [`Self::to_text_for`].
            pub fn save_for(
                &self,
                path: &Path,
                recipients: &[age::Recipient],
                existing: Existing,
            ) -> Result<PinnedReference> {
                let (key, text) = (KeyFile::$file(self.clone()), self.to_text_for(recipients)?);
                PinnedReference::save(path, &key, &text, existing, true)
            }
        }
    )*};
}

saved! { SecretKey Secret Keyring Keyring }

fn armored(text: &str, recipients: &[age::Recipient]) -> Result<Zeroizing<String>> {
    let file = age::seal(text.as_bytes(), recipients, age::Armor::Ascii)?;
    // Armor is ASCII.
    String::from_utf8(file).map(Zeroizing::new).map_err(|_| Error::Armor("the armor is not ASCII"))
}

impl PublicKey {
    /// Encodes the key as the text of a key file: `age1…`, an SSH public key, or SPKI in PEM.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the key is too long for DER.
    pub fn to_text(&self) -> Result<String> {
        let spki = match self {
            Self::Age(recipient) => return Ok(format!("{recipient}\n")),
            Self::P256(key) => pkcs8::to_public(Algorithm::P256, key.as_bytes())?,
            Self::Rsa(key) => key.to_spki().to_vec(),
            Self::Secp256k1(key) => {
                pkcs8::to_public(Algorithm::Secp256k1, &key.to_bytes(Encoding::Uncompressed))?
            }
            Self::X25519(key) => pkcs8::to_public(Algorithm::X25519, key.as_bytes())?,
            Self::XWing(key) => pkcs8::to_public(Algorithm::XWing, key.as_bytes())?,
        };
        Ok(std::mem::take(&mut *pem::write("PUBLIC KEY", &spki)?))
    }

    /// Writes the key to a file with the usual permissions.
    ///
    /// # Errors
    /// Returns [`Error::Io`], also if `path` exists and `existing` forbids replacing it, and the
    /// errors of [`Self::to_text`].
    pub fn save(&self, path: &Path, existing: Existing) -> Result<()> {
        store::save_public(path, self.to_text()?.as_bytes(), existing)
    }
}

/// Writes `age1…` or an SSH public key, the 65 bytes of a secp256k1 key in hexadecimal, or PEM.
impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Age(recipient) => recipient.fmt(f),
            Self::Secp256k1(key) => {
                f.write_str(&base16ct::lower::encode_string(&key.to_bytes(Encoding::Uncompressed)))
            }
            // `fmt::Error` has no content, so the cause is lost.
            _ => f.write_str(&self.to_text().map_err(|_| fmt::Error)?),
        }
    }
}

fn plain(key: &SecretKey) -> Result<Zeroizing<String>> {
    match (key, to_pkcs8(key)?) {
        (_, Some(der)) => pem::write("PRIVATE KEY", &der),
        (SecretKey::Symmetric(jwk), _) => Ok(jwk.to_json()),
        (SecretKey::Age(identity), _) => {
            let (text, recipient) = (identity.to_text()?, identity.recipient().to_string());
            // As age-keygen does.
            let parts = ["# public key: ", &recipient, "\n", &text, "\n"];
            let parts = if identity.plugin().is_some() { &parts[3..] } else { &parts };
            // Allocated at full length: a growing string leaves copies behind.
            Ok(Zeroizing::new(parts.concat()))
        }
        _ => Err(Error::unsuitable_key("this kind of key cannot be saved")),
    }
}

/// Encodes the PKCS#8 of a key; `None` if its files have another format.
fn to_pkcs8(key: &SecretKey) -> Result<Option<Zeroizing<Vec<u8>>>> {
    let (algorithm, secret, public): (_, &[u8], _) = match key {
        SecretKey::Symmetric(_) | SecretKey::Age(_) => return Ok(None),
        SecretKey::Rsa(key) => return key.to_pkcs8().map(Some),
        SecretKey::P256(key) => (Algorithm::P256, key.as_bytes(), key.public().as_bytes().to_vec()),
        SecretKey::Secp256k1(key) => {
            (Algorithm::Secp256k1, key.as_bytes(), key.public().to_bytes(Encoding::Uncompressed))
        }
        SecretKey::X25519(key) => (Algorithm::X25519, key.as_bytes(), Vec::new()),
        SecretKey::XWing(key) => (Algorithm::XWing, key.seed(), Vec::new()),
    };
    pkcs8::to_private(algorithm, secret, &public).map(Some)
}
