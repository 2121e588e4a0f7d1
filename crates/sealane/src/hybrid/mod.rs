//! Messages for the holder of a private key. How they are encrypted follows from the key.
//!
//! | key | suite | message |
//! |---|---|---|
//! | RSA | RSAES-OAEP (SHA-256) around a key for AES-256-GCM: [`rsa`] | `capsule[modulus] \|\| nonce[12] \|\| ciphertext \|\| tag[16]` |
//! | secp256k1 | ECIES as eciespy writes it unless told otherwise: [`ecies`] | `ephemeral[65] \|\| nonce[16] \|\| tag[16] \|\| ciphertext` |
//! | X25519, P-256, X-Wing | HPKE in base mode (RFC 9180): [`hpke`] | `encapsulation[32 \| 65 \| 1120] \|\| ciphertext \|\| tag[16]` |
//!
//! Keys of age are for files, and symmetric ones for [`crate::Aead`]. A message does not say who sent it: whoever has
//! the public key can write.
//!
//! ```
//! use sealane::hybrid::{self, Terms};
//! use sealane::keys::{Kind, SecretKey};
//!
//! let key = SecretKey::generate(Kind::XWing)?;
//! let public = key.public().expect("it is no symmetric key");
//! let terms = Terms { aad: b"header", ..Terms::default() };
//! let message = hybrid::seal(&public, b"hello", &terms)?;
//! assert_eq!(hybrid::open(&key, &message, &terms)?, b"hello");
//! # Ok::<(), sealane::Error>(())
//! ```

pub mod ecies;
pub mod hpke;
pub mod rsa;

use crate::keys::{PublicKey, SecretKey};
use crate::{Error, Misuse};

const FOR_FILES: Error =
    Error::Misuse(Misuse::UnsuitableKey("this is a key of age, which is for files and not for messages"));
const SYMMETRIC: Error =
    Error::Misuse(Misuse::UnsuitableKey("this is a symmetric key, and messages are opened by private ones"));
const NOT_HPKE: Error = Error::Misuse(Misuse::UnsuitableKey(
    "this key has no info and no choice of suites, which are HPKE's: say it in the associated data",
));
const NO_MODES: Error =
    Error::Misuse(Misuse::UnsuitableKey("HPKE has keys of X25519, P-256 and X-Wing; this is another one"));

/// What both sides say beside the message; it is not in there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terms<'a> {
    /// The associated data of the cipher.
    pub aad: &'a [u8],
    /// What the exchange is for. HPKE's alone.
    pub info: &'a [u8],
    /// The cipher, where it is not AES-256-GCM. HPKE's alone.
    pub suite: Option<hpke::Aead>,
}

/// A public key, and how it is used.
enum To<'a> {
    Rsa(&'a crate::asymmetric::rsa::PublicKey),
    Ecies(ecies::PublicKey),
    Hpke(hpke::PublicKey),
}

/// A private key, and how it is used.
enum By<'a> {
    Rsa(&'a crate::asymmetric::rsa::PrivateKey),
    Ecies(ecies::PrivateKey),
    Hpke(hpke::PrivateKey),
}

impl<'a> To<'a> {
    fn of(public: &'a PublicKey) -> Result<Self, Error> {
        Ok(match public {
            PublicKey::Age(_) => return Err(FOR_FILES),
            PublicKey::Rsa(key) => Self::Rsa(key),
            PublicKey::Secp256k1(key) => Self::Ecies((*key).into()),
            PublicKey::X25519(_) | PublicKey::P256(_) | PublicKey::XWing(_) => Self::Hpke(public.try_into()?),
        })
    }
}

impl<'a> By<'a> {
    fn of(secret: &'a SecretKey) -> Result<Self, Error> {
        Ok(match secret {
            SecretKey::Age(_) => return Err(FOR_FILES),
            SecretKey::Symmetric(_) => return Err(SYMMETRIC),
            SecretKey::Rsa(key) => Self::Rsa(key),
            SecretKey::Secp256k1(key) => Self::Ecies(key.clone().into()),
            SecretKey::X25519(_) | SecretKey::P256(_) | SecretKey::XWing(_) => Self::Hpke(secret.try_into()?),
        })
    }
}

impl TryFrom<&PublicKey> for hpke::PublicKey {
    type Error = Error;

    /// # Errors
    /// [`Misuse::UnsuitableKey`] for a key of RSA, secp256k1 or age.
    fn try_from(public: &PublicKey) -> Result<Self, Error> {
        match public {
            PublicKey::X25519(key) => Ok((*key).into()),
            PublicKey::P256(key) => Ok(key.clone().into()),
            PublicKey::XWing(key) => Ok(key.clone().into()),
            _ => Err(NO_MODES),
        }
    }
}

impl TryFrom<&SecretKey> for hpke::PrivateKey {
    type Error = Error;

    /// # Errors
    /// [`Misuse::UnsuitableKey`] for a symmetric key and one of RSA, secp256k1 or age.
    fn try_from(secret: &SecretKey) -> Result<Self, Error> {
        match secret {
            SecretKey::X25519(key) => Ok(key.clone().into()),
            SecretKey::P256(key) => Ok(key.clone().into()),
            SecretKey::XWing(key) => Ok(key.clone().into()),
            _ => Err(NO_MODES),
        }
    }
}

/// Bytes of a message with a plaintext of `plaintext_len` bytes.
///
/// # Errors
/// [`Misuse::UnsuitableKey`] for a key that is not for messages; [`Error::LimitExceeded`].
pub fn sealed_len(public: &PublicKey, plaintext_len: usize) -> Result<usize, Error> {
    match To::of(public)? {
        To::Rsa(key) => rsa::sealed_len(key, plaintext_len),
        To::Ecies(_) => ecies::sealed_len(&ecies::Config::default(), plaintext_len),
        To::Hpke(key) => hpke::sealed_len(&key, plaintext_len),
    }
}

/// Encrypts `plaintext` for whoever has the private key.
///
/// # Errors
/// [`Misuse::UnsuitableKey`] for a key that is not for messages, and for terms that it does not know; those of the suite.
pub fn seal(public: &PublicKey, plaintext: &[u8], terms: &Terms<'_>) -> Result<Vec<u8>, Error> {
    let mut message = vec![0; sealed_len(public, plaintext.len())?];
    seal_into(public, plaintext, terms, &mut message)?;
    Ok(message)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`seal`]; [`Misuse::OutputTooShort`].
pub fn seal_into(
    public: &PublicKey,
    plaintext: &[u8],
    terms: &Terms<'_>,
    out: &mut [u8],
) -> Result<usize, Error> {
    match To::of(public)? {
        To::Rsa(key) => rsa::seal_into(key, plaintext, terms.aad_alone()?, out),
        To::Ecies(key) => {
            ecies::seal_into(&ecies::Config::default(), &key, plaintext, terms.aad_alone()?, out)
        }
        To::Hpke(key) => hpke::seal_into(terms.aead(), &key, plaintext, terms.aad, terms.info, out),
    }
}

/// Bytes of the plaintext of a message of `sealed_len` bytes.
///
/// # Errors
/// [`Misuse::UnsuitableKey`] for a key that is not for messages; [`Error::Truncated`] where no message is so short.
pub fn opened_len(secret: &SecretKey, sealed_len: usize) -> Result<usize, Error> {
    match By::of(secret)? {
        By::Rsa(key) => rsa::opened_len(key, sealed_len),
        By::Ecies(_) => {
            let overhead = ecies::sealed_len(&ecies::Config::default(), 0)?;
            sealed_len.checked_sub(overhead).ok_or(Error::Truncated)
        }
        By::Hpke(key) => hpke::opened_len(&key, sealed_len),
    }
}

/// Decrypts a message.
///
/// # Errors
/// [`Error::Authentication`] for another key, other terms or a changed message; [`Error::Truncated`]; of secp256k1
/// [`Error::Format`] where it begins with no point of the curve; [`Misuse::UnsuitableKey`] as [`seal`].
pub fn open(secret: &SecretKey, message: &[u8], terms: &Terms<'_>) -> Result<Vec<u8>, Error> {
    let mut plaintext = vec![0; opened_len(secret, message.len())?];
    open_into(secret, message, terms, &mut plaintext)?;
    Ok(plaintext)
}

/// The same into the start of `out`; returns the number of bytes written.
///
/// # Errors
/// Those of [`open`]: what would have been the plaintext is zero then. [`Misuse::OutputTooShort`].
pub fn open_into(
    secret: &SecretKey,
    message: &[u8],
    terms: &Terms<'_>,
    out: &mut [u8],
) -> Result<usize, Error> {
    match By::of(secret)? {
        By::Rsa(key) => rsa::open_into(key, message, terms.aad_alone()?, out),
        By::Ecies(key) => ecies::open_into(&ecies::Config::default(), &key, message, terms.aad_alone()?, out),
        By::Hpke(key) => hpke::open_into(terms.aead(), &key, message, terms.aad, terms.info, out),
    }
}

impl<'a> Terms<'a> {
    fn aead(&self) -> hpke::Aead {
        self.suite.unwrap_or_default()
    }

    /// Of a key that knows no others: what was said must count, or be an error.
    fn aad_alone(&self) -> Result<&'a [u8], Error> {
        match self.info.is_empty() && self.suite.is_none() {
            true => Ok(self.aad),
            false => Err(NOT_HPKE),
        }
    }
}

/// The start of `out`, `need` bytes of it.
fn first(out: &mut [u8], need: usize) -> Result<&mut [u8], Misuse> {
    let got = out.len();
    out.get_mut(..need).ok_or(Misuse::OutputTooShort { got, need })
}

/// Opens into `out`, which is zero where that fails, whatever lay there before: a caller who overlooks the error has
/// nothing to go on with.
fn or_zero<T>(out: &mut [u8], open: impl FnOnce(&mut [u8]) -> Result<T, Error>) -> Result<T, Error> {
    let opened = open(out);
    if opened.is_err() {
        out.fill(0);
    }
    opened
}
