//! The public side of a key, and its text.

use super::pkcs8::{self, Algorithm};
use super::shape::Shape;
use super::{Existing, Kind, pem, secret, store};
use crate::asymmetric::secp256k1::Encoding;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::{Error, age};
use std::fmt;
use std::path::Path;

const NOT_PUBLIC: Error = Error::Format("not a public key: this file holds a private one");
const NO_HEX: Error =
    Error::Format("not a public key of secp256k1: it has other characters than hexadecimal digits");

/// The public side of a key.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Public {
    /// A recipient of age files.
    Age(age::Recipient),
    /// P-256.
    P256(p256::PublicKey),
    /// RSA.
    Rsa(rsa::PublicKey),
    /// secp256k1.
    Secp256k1(secp256k1::PublicKey),
    /// X25519.
    X25519(x25519::PublicKey),
    /// X-Wing.
    XWing(xwing::PublicKey),
}

impl Public {
    /// Which kind it is; `None` for one that is not made here: an RSA key of another size, a recipient with a key of
    /// SSH.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Age(recipient) => secret::age_kind(recipient),
            Self::P256(_) => Some(Kind::P256),
            Self::Rsa(key) => secret::rsa_kind(key.bits()),
            Self::Secp256k1(_) => Some(Kind::Secp256k1),
            Self::X25519(_) => Some(Kind::X25519),
            Self::XWing(_) => Some(Kind::XWing),
        }
    }

    /// As a file has it: `age1…`, or an SPKI in PEM.
    ///
    /// # Errors
    /// [`Error::Misuse`] for a recipient that has no text.
    pub fn to_text(&self) -> Result<String, Error> {
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

    /// The key that is written so: `age1…`, a recipient of SSH, an SPKI or PKCS#1 in PEM, or secp256k1 in hexadecimal
    /// (33, 65 or, as Ethereum has them, 64 bytes, with or without `0x`).
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Truncated`].
    pub fn from_text(text: &str) -> Result<Self, Error> {
        Self::from_content(text.as_bytes())
    }

    fn from_content(content: &[u8]) -> Result<Self, Error> {
        match Shape::of(content)? {
            Shape::Recipient(line) => line.parse().map(Self::Age),
            Shape::Pem(text) => {
                let block = pem::read(text)?;
                match &block.label[..] {
                    "PUBLIC KEY" => Self::from_spki(&block.der),
                    "RSA PUBLIC KEY" => Self::from_spki(&pkcs8::to_public(Algorithm::Rsa, &block.der)?),
                    label if label.ends_with("PRIVATE KEY") => Err(NOT_PUBLIC),
                    _ => Err(Error::Format("not a public key in PEM: expected -----BEGIN PUBLIC KEY-----")),
                }
            }
            Shape::PublicHex(digits) => {
                let bytes = base16ct::mixed::decode_vec(digits).map_err(|_| NO_HEX)?;
                secp256k1::PublicKey::from_bytes(&bytes).map(Self::Secp256k1)
            }
            Shape::Jwk(_) => Err(Error::Format(
                "not a public key: this is a JSON Web Key, of which only secret ones are read",
            )),
            Shape::Identity(_) | Shape::PrivateHex(_) => Err(NOT_PUBLIC),
            Shape::Wrapped(_) => Err(Error::Format("not a public key: this is an age file")),
        }
    }

    fn from_spki(der: &[u8]) -> Result<Self, Error> {
        let (algorithm, bytes) = pkcs8::public(der)?;
        Ok(match algorithm {
            Algorithm::P256 => Self::P256(p256::PublicKey::from_bytes(bytes)?),
            Algorithm::Rsa => Self::Rsa(rsa::PublicKey::from_spki(bytes)?),
            Algorithm::Secp256k1 => {
                // 64 bytes are Ethereum's, and no point in the sense of SEC 1.
                let bytes = Some(bytes).filter(|bytes| bytes.len() != 64).ok_or(pkcs8::NO_PUBLIC)?;
                Self::Secp256k1(secp256k1::PublicKey::from_bytes(bytes)?)
            }
            Algorithm::X25519 => {
                let bytes = bytes.try_into().map_err(|_| pkcs8::NO_PUBLIC)?;
                Self::X25519(x25519::PublicKey::from_bytes(bytes))
            }
            Algorithm::XWing => Self::XWing(xwing::PublicKey::from_bytes(bytes)?),
        })
    }

    /// Writes the key to a file that others may read as any other.
    ///
    /// # Errors
    /// [`Error::Io`], also where `path` exists and is not to be replaced; [`Self::to_text`]'s.
    pub fn save(&self, path: &Path, existing: Existing) -> Result<(), Error> {
        store::write_public(path, self.to_text()?.as_bytes(), existing)
    }

    /// The key in a file.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Self::from_text`]'s.
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::from_content(&store::read(path)?)
    }
}

impl PartialEq for Public {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Age(a), Self::Age(b)) => a.to_string() == b.to_string(),
            (Self::P256(a), Self::P256(b)) => a == b,
            (Self::Rsa(a), Self::Rsa(b)) => a == b,
            (Self::Secp256k1(a), Self::Secp256k1(b)) => a == b,
            (Self::X25519(a), Self::X25519(b)) => a == b,
            (Self::XWing(a), Self::XWing(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Public {}

/// What is passed on: `age1…`; secp256k1 as 65 bytes in hexadecimal; otherwise PEM.
impl fmt::Display for Public {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Age(recipient) => recipient.fmt(f),
            Self::Secp256k1(key) => {
                f.write_str(&base16ct::lower::encode_string(&key.to_bytes(Encoding::Uncompressed)))
            }
            _ => f.write_str(&self.to_text().map_err(|_| fmt::Error)?),
        }
    }
}
