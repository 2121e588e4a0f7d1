//! A private or symmetric key.

use super::read::{self, DecryptWith};
use super::write::{self, Protection};
use super::{Existing, Kind, Public, store};
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::{Error, Key, Misuse, age};
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

/// A private or symmetric key. Wiped on drop; never shown.
#[non_exhaustive]
pub enum Secret {
    /// Bytes for a cipher.
    Symmetric(Key),
    /// An identity that opens age files.
    Age(age::Identity),
    /// P-256.
    P256(p256::PrivateKey),
    /// RSA.
    Rsa(rsa::PrivateKey),
    /// secp256k1.
    Secp256k1(secp256k1::PrivateKey),
    /// X25519.
    X25519(x25519::PrivateKey),
    /// X-Wing.
    XWing(xwing::PrivateKey),
}

impl Secret {
    /// A fresh key from the operating system. RSA takes up to seconds.
    ///
    /// # Errors
    /// [`Error::Io`] where the operating system has no random bytes.
    pub fn generate(kind: Kind) -> Result<Self, Error> {
        kind.generate()
    }

    /// Which kind it is; `None` for one that is not made here: a symmetric or an RSA key of another length, an
    /// identity with a key of SSH.
    pub fn kind(&self) -> Option<Kind> {
        match self {
            Self::Symmetric(key) => match key.as_bytes().len() {
                16 => Some(Kind::Aes128),
                24 => Some(Kind::Aes192),
                32 => Some(Kind::Aes256),
                _ => None,
            },
            _ => self.public()?.kind(),
        }
    }

    /// The public side; `None` of a symmetric key.
    pub fn public(&self) -> Option<Public> {
        match self {
            Self::Symmetric(_) => None,
            // Who knows a passphrase is nobody in public.
            Self::Age(identity) => Some(identity.recipient()).filter(has_text).map(Public::Age),
            Self::P256(key) => Some(Public::P256(key.public())),
            Self::Rsa(key) => Some(Public::Rsa(key.public())),
            Self::Secp256k1(key) => Some(Public::Secp256k1(key.public())),
            Self::X25519(key) => Some(Public::X25519(key.public())),
            Self::XWing(key) => Some(Public::XWing(key.public())),
        }
    }

    /// The symmetric key.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] of a private key.
    pub fn into_symmetric(self) -> Result<Key, Error> {
        match self {
            Self::Symmetric(key) => Ok(key),
            _ => Err(Misuse::UnsuitableKey("a symmetric key is needed, and this is a private one").into()),
        }
    }

    /// As a file has it; encrypted where there is a passphrase.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] for an empty passphrase and for a key that has no text; [`Error::Io`] where the operating
    /// system has no random bytes.
    pub fn to_text(&self, passphrase: Option<&str>) -> Result<Zeroizing<String>, Error> {
        write::text(self, passphrase.map_or(Protection::Open, Protection::Passphrase))
    }

    /// The same in an age file that every one of `recipients` can open.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`] for a key that has no text, [`Misuse::InvalidRecipients`]; [`Error::Io`].
    pub fn to_text_for(&self, recipients: &[age::Recipient]) -> Result<Zeroizing<String>, Error> {
        write::text(self, Protection::Recipients(recipients))
    }

    /// The key that is written so: see [the table](crate::keys). A passphrase is for encrypted texts alone: whoever
    /// gives one believes that the text is encrypted, and should learn that it is not.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Truncated`]; [`Error::WrongPassphrase`] for another passphrase;
    /// [`Misuse::KeyPassphraseRequired`], [`Misuse::KeyIdentityRequired`], [`Misuse::KeyNotEncrypted`]; [`Error::LimitExceeded`]
    /// and [`Error::WorkFactor`] for a passphrase that would keep the machine busy.
    pub fn from_text(text: &str, passphrase: Option<&str>) -> Result<Self, Error> {
        read::secret(text.as_bytes(), passphrase.map_or(DecryptWith::Nothing, DecryptWith::Passphrase))
    }

    /// The key in an age file that one of `identities` opens.
    ///
    /// # Errors
    /// As [`Self::from_text`]; [`Error::NoMatchingKey`].
    pub fn from_text_with(text: &str, identities: &[age::Identity]) -> Result<Self, Error> {
        read::secret(text.as_bytes(), DecryptWith::Identities(identities))
    }

    /// Writes the key to a file that only its owner can read, encrypted where there is a passphrase.
    ///
    /// # Errors
    /// [`Error::Io`], also where `path` exists and is not to be replaced; [`Self::to_text`]'s.
    pub fn save(&self, path: &Path, passphrase: Option<&str>, existing: Existing) -> Result<(), Error> {
        store::write_secret(path, self.to_text(passphrase)?.as_bytes(), existing)
    }

    /// The same for recipients, as an age file.
    ///
    /// # Errors
    /// [`Error::Io`], also where `path` exists and is not to be replaced; [`Self::to_text_for`]'s.
    pub fn save_for(
        &self,
        path: &Path,
        recipients: &[age::Recipient],
        existing: Existing,
    ) -> Result<(), Error> {
        store::write_secret(path, self.to_text_for(recipients)?.as_bytes(), existing)
    }

    /// The key in a file, whatever its kind.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Self::from_text`]'s.
    pub fn load(path: &Path, passphrase: Option<&str>) -> Result<Self, Error> {
        read::secret(&store::read(path)?, passphrase.map_or(DecryptWith::Nothing, DecryptWith::Passphrase))
    }

    /// The key in an age file that one of `identities` opens.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Self::from_text_with`]'s.
    pub fn load_with(path: &Path, identities: &[age::Identity]) -> Result<Self, Error> {
        read::secret(&store::read(path)?, DecryptWith::Identities(identities))
    }
}

pub(super) fn rsa_kind(bits: usize) -> Option<Kind> {
    match bits {
        2048 => Some(Kind::Rsa2048),
        3072 => Some(Kind::Rsa3072),
        4096 => Some(Kind::Rsa4096),
        _ => None,
    }
}

pub(super) fn age_kind(recipient: &age::Recipient) -> Option<Kind> {
    let text = recipient.to_string();
    let starts = |prefix: &str| text.starts_with(prefix);
    (starts("age1pq1").then_some(Kind::AgePq)).or(starts("age1").then_some(Kind::Age))
}

fn has_text(recipient: &age::Recipient) -> bool {
    age_kind(recipient).is_some() || recipient.to_string().starts_with("ssh-")
}

/// Its kind alone.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self, self.kind()) {
            (_, Some(kind)) => write!(f, "Secret({kind})"),
            (Self::Symmetric(key), _) => write!(f, "Secret({} bytes)", key.as_bytes().len()),
            (Self::Rsa(key), _) => write!(f, "Secret(RSA, {} bits)", key.bits()),
            _ => f.write_str("Secret(age)"),
        }
    }
}
