//! Messages for the holder of a private key. The type of key selects the suite.
//!
//! | key | suite | message |
//! |---|---|---|
//! | RSA | RSAES-OAEP (SHA-256) and AES-256-GCM: [`rsa`] | `wrapped key[modulus] \|\| nonce[12] \|\| ciphertext \|\| tag[16]` |
//! | secp256k1 | ECIES with the default configuration of eciespy: [`ecies`] | `ephemeral[65] \|\| nonce[16] \|\| tag[16] \|\| ciphertext` |
//! | X25519, P-256, X-Wing | HPKE in base mode (RFC 9180): [`hpke`] | `enc[32 \| 65 \| 1120] \|\| ciphertext \|\| tag[16]` |
//!
//! age keys are for files ([`crate::age`]), symmetric keys for [`Aead`](messages::Aead). A message
//! does not name its sender: anyone with the public key can seal.
//!
//! ```
//! use sealane::hybrid::{self, Opener, Options, Sealer};
//! use sealane::keys::{Kind, SecretKey};
//!
//! let key = SecretKey::generate(Kind::XWing)?;
//! let public = key.public().expect("X-Wing keys have a public part");
//! let message = hybrid::sealer(&public, Options::default())?.seal(b"hello", b"header")?;
//! assert_eq!(hybrid::opener(&key, Options::default())?.open(&message, b"header")?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

pub mod ecies;
pub mod hpke;
mod message;
pub mod rsa;

pub use message::{Opener, Sealer};

use crate::{PublicKey, SecretKey};
use base::{Error, Result};

const AGE_KEY: Error =
    Error::unsuitable_key("expected a key for messages, found an age key, which is for files");
const SYMMETRIC_KEY: Error = Error::unsuitable_key("expected a private key, found a symmetric key; use Aead");
const NO_HPKE: Error = Error::unsuitable_key(
    "info and suite are options of HPKE, and this key is not used with HPKE; put the info into the associated data",
);
const NO_HPKE_KEY: Error =
    Error::unsuitable_key("expected an HPKE key: X25519, P-256 or X-Wing; found another type");

/// Options of HPKE, the same on both sides. Other suites reject them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The `info` of HPKE; it describes the exchange.
    pub info: &'a [u8],
    /// The AEAD of HPKE; AES-256-GCM by default.
    pub suite: Option<hpke::Aead>,
}

impl<'a> Options<'a> {
    /// Returns options with the suite of this name.
    #[doc(hidden)]
    pub fn named(info: &'a [u8], suite: Option<&str>) -> Result<Self> {
        let suite = suite.map(|name| messages::named::algorithm(name)?.try_into()).transpose()?;
        Ok(Self { info, suite })
    }

    /// Returns whether none is given. Ignoring them for a key of another suite would be a surprise.
    fn is_empty(&self) -> bool {
        self.info.is_empty() && self.suite.is_none()
    }
}

impl TryFrom<&PublicKey> for hpke::PublicKey {
    type Error = Error;

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for a key of RSA, secp256k1
    /// or age.
    fn try_from(public: &PublicKey) -> Result<Self> {
        match public {
            PublicKey::X25519(key) => Ok((*key).into()),
            PublicKey::P256(key) => Ok(key.clone().into()),
            PublicKey::XWing(key) => Ok(key.clone().into()),
            _ => Err(NO_HPKE_KEY),
        }
    }
}

impl TryFrom<&SecretKey> for hpke::PrivateKey {
    type Error = Error;

    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for a symmetric key, and a
    /// key of RSA, secp256k1 or age.
    fn try_from(secret: &SecretKey) -> Result<Self> {
        match secret {
            SecretKey::X25519(key) => Ok(key.clone().into()),
            SecretKey::P256(key) => Ok(key.clone().into()),
            SecretKey::XWing(key) => Ok(key.clone().into()),
            _ => Err(NO_HPKE_KEY),
        }
    }
}

/// Returns a public key's suite, to seal messages for the holder of the private key.
///
/// # Errors
/// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) if the key is not for messages,
/// or its suite does not have the options.
pub fn sealer<'a>(public: &'a PublicKey, options: Options<'a>) -> Result<Box<dyn Sealer + 'a>> {
    Ok(match public {
        PublicKey::Age(_) => return Err(AGE_KEY),
        PublicKey::Rsa(key) if options.is_empty() => Box::new(key.clone()),
        PublicKey::Secp256k1(key) if options.is_empty() => {
            Box::new(ecies::EciesSealer::new(ecies::Config::default(), (*key).into())?)
        }
        PublicKey::Rsa(_) | PublicKey::Secp256k1(_) => return Err(NO_HPKE),
        PublicKey::X25519(_) | PublicKey::P256(_) | PublicKey::XWing(_) => Box::new(hpke::HpkeSealer {
            public: public.try_into()?,
            aead: options.suite.unwrap_or_default(),
            mode: hpke::Mode::Base,
            info: options.info,
        }),
    })
}

/// Returns a private key's suite, to open messages.
///
/// # Errors
/// Returns the errors of [`sealer`].
pub fn opener<'a>(secret: &'a SecretKey, options: Options<'a>) -> Result<Box<dyn Opener + 'a>> {
    Ok(match secret {
        SecretKey::Age(_) => return Err(AGE_KEY),
        SecretKey::Symmetric(_) => return Err(SYMMETRIC_KEY),
        SecretKey::Rsa(key) if options.is_empty() => Box::new(key.clone()),
        SecretKey::Secp256k1(key) if options.is_empty() => {
            Box::new(ecies::EciesOpener::new(ecies::Config::default(), key.clone().into())?)
        }
        SecretKey::Rsa(_) | SecretKey::Secp256k1(_) => return Err(NO_HPKE),
        SecretKey::X25519(_) | SecretKey::P256(_) | SecretKey::XWing(_) => Box::new(hpke::HpkeOpener {
            private: secret.try_into()?,
            aead: options.suite.unwrap_or_default(),
            mode: hpke::Mode::Base,
            info: options.info,
        }),
    })
}
