//! A private or symmetric key, and its text.

use super::pkcs8::{self, Algorithm, Private};
use super::shape::Shape;
use super::{Existing, Kind, Public, from_jwk, pbes2, pem, store, to_jwk};
use crate::asymmetric::secp256k1::Encoding;
use crate::asymmetric::{p256, rsa, secp256k1, x25519, xwing};
use crate::{Error, Key, Misuse, age};
use std::fmt;
use std::path::Path;
use zeroize::Zeroizing;

const NOT_PRIVATE: Error = Error::Format("a private key: this is a public one");
const NO_NUMBER: Error =
    Error::Format("a private key of its curve: it must have 32 bytes, from 1 to the order less 1");

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

/// What a text is encrypted with.
enum Lock<'a> {
    Open,
    Passphrase(&'a str),
    Recipients(&'a [age::Recipient]),
}

/// What opens a text.
enum Unlock<'a> {
    Nothing,
    Passphrase(&'a str),
    Identities(&'a [age::Identity]),
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
    /// [`Misuse::Key`] of a private key.
    pub fn into_symmetric(self) -> Result<Key, Error> {
        match self {
            Self::Symmetric(key) => Ok(key),
            _ => Err(Misuse::Key("a symmetric key is needed, and this is a private one").into()),
        }
    }

    /// As a file has it; encrypted where there is a passphrase.
    ///
    /// # Errors
    /// [`Misuse::Key`] for an empty passphrase and for a key that has no text; [`Error::Io`] where the operating
    /// system has no random bytes.
    pub fn to_text(&self, passphrase: Option<&str>) -> Result<Zeroizing<String>, Error> {
        self.written(passphrase.map_or(Lock::Open, Lock::Passphrase))
    }

    /// The same in an age file that every one of `recipients` can open.
    ///
    /// # Errors
    /// [`Misuse::Key`] for a key that has no text, [`Misuse::Recipient`]; [`Error::Io`].
    pub fn to_text_for(&self, recipients: &[age::Recipient]) -> Result<Zeroizing<String>, Error> {
        self.written(Lock::Recipients(recipients))
    }

    fn written(&self, lock: Lock<'_>) -> Result<Zeroizing<String>, Error> {
        if let (Lock::Passphrase(passphrase), Some(der)) = (&lock, self.to_pkcs8()?) {
            return pem::write("ENCRYPTED PRIVATE KEY", &pbes2::seal(&der, passphrase)?);
        }
        let text = self.plain_text()?;
        let file = match lock {
            Lock::Open => return Ok(text),
            Lock::Passphrase("") => return Err(pbes2::EMPTY_PASSPHRASE),
            Lock::Passphrase(passphrase) => {
                let recipient = age::Recipient::passphrase(passphrase)?;
                age::seal(text.as_bytes(), &[recipient], age::Armor::Ascii)?
            }
            Lock::Recipients(recipients) => age::seal(text.as_bytes(), recipients, age::Armor::Ascii)?,
        };
        let file = String::from_utf8(file).map_err(|_| Error::Format("an armored age file"))?;
        Ok(Zeroizing::new(file))
    }

    fn plain_text(&self) -> Result<Zeroizing<String>, Error> {
        match self {
            Self::Symmetric(key) => Ok(to_jwk(key)),
            Self::Age(identity) => {
                let (identity, recipient) = (identity.to_text()?, identity.recipient().to_string());
                // Room for all of it: a string that grows leaves copies behind.
                let mut text = Zeroizing::new(String::with_capacity(recipient.len() + identity.len() + 32));
                for part in ["# public key: ", &recipient, "\n", &identity, "\n"] {
                    text.push_str(part);
                }
                Ok(text)
            }
            _ => pem::write("PRIVATE KEY", &self.to_pkcs8()?.ok_or(NO_TEXT)?),
        }
    }

    fn to_pkcs8(&self) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        let (algorithm, secret, public): (_, &[u8], _) = match self {
            Self::Symmetric(_) | Self::Age(_) => return Ok(None),
            Self::Rsa(key) => return key.to_pkcs8().map(Some),
            Self::P256(key) => (Algorithm::P256, key.as_bytes(), key.public().as_bytes().to_vec()),
            Self::Secp256k1(key) => {
                (Algorithm::Secp256k1, key.as_bytes(), key.public().to_bytes(Encoding::Uncompressed))
            }
            Self::X25519(key) => (Algorithm::X25519, key.as_bytes(), Vec::new()),
            Self::XWing(key) => (Algorithm::XWing, key.seed(), Vec::new()),
        };
        pkcs8::to_private(algorithm, secret, &public).map(Some)
    }

    /// The key that is written so: see [the table](crate::keys). A passphrase is for encrypted texts alone: whoever
    /// gives one believes that the text is encrypted, and should learn that it is not.
    ///
    /// # Errors
    /// [`Error::Format`], [`Error::Truncated`]; [`Error::Passphrase`] for another passphrase;
    /// [`Misuse::PassphraseMissing`], [`Misuse::IdentityMissing`], [`Misuse::NotEncrypted`]; [`Error::LimitExceeded`]
    /// and [`Error::WorkFactor`] for a passphrase that would keep the machine busy.
    pub fn from_text(text: &str, passphrase: Option<&str>) -> Result<Self, Error> {
        Self::read(text.as_bytes(), passphrase.map_or(Unlock::Nothing, Unlock::Passphrase))
    }

    /// The key in an age file that one of `identities` opens.
    ///
    /// # Errors
    /// As [`Self::from_text`]; [`Error::NoMatchingKey`].
    pub fn from_text_with(text: &str, identities: &[age::Identity]) -> Result<Self, Error> {
        Self::read(text.as_bytes(), Unlock::Identities(identities))
    }

    fn read(content: &[u8], unlock: Unlock<'_>) -> Result<Self, Error> {
        match (Shape::of(content)?, unlock) {
            (Shape::Wrapped(file), unlock) => {
                let text = unwrapped(file, unlock)?;
                Self::plain(Shape::of(&text)?)
            }
            (Shape::Pem(text), unlock) => match (Encrypted::of(pem::read(text)?), unlock) {
                (Ok(Encrypted(der)), Unlock::Passphrase(passphrase)) => {
                    let der = pbes2::open(&der, passphrase)?;
                    // One wrong passphrase in 256 leaves what looks like padding.
                    pkcs8::is_private(&der).then_some(()).ok_or(Error::Passphrase)?;
                    Self::from_private(pkcs8::private(&der)?)
                }
                (Ok(_), _) => Err(Misuse::PassphraseMissing.into()),
                (Err(block), unlock) => plainly(Self::from_block(&block)?, unlock),
            },
            (shape, unlock) => plainly(Self::plain(shape)?, unlock),
        }
    }

    /// Of what is not encrypted, or not any more.
    fn plain(shape: Shape<'_>) -> Result<Self, Error> {
        match shape {
            Shape::Jwk(text) => from_jwk(text).map(Self::Symmetric),
            Shape::Pem(text) => Self::from_block(&pem::read(text)?),
            Shape::Identity(line) => line.parse().map(Self::Age),
            Shape::PrivateHex(digits) => {
                let mut bytes = Zeroizing::new([0; 32]);
                base16ct::mixed::decode(digits, &mut *bytes).map_err(|_| {
                    Error::Format("a private key of 64 hexadecimal digits: it has other characters")
                })?;
                secp256k1::PrivateKey::from_bytes(&bytes).map(Self::Secp256k1).map_err(|_| NO_NUMBER)
            }
            Shape::Recipient(_) | Shape::PublicHex(_) => Err(NOT_PRIVATE),
            Shape::Wrapped(_) => Err(Error::Format("a key: there is another age file in this one")),
        }
    }

    fn from_block(block: &pem::Block) -> Result<Self, Error> {
        match &block.label[..] {
            "PRIVATE KEY" => Self::from_private(pkcs8::private(&block.der)?),
            "EC PRIVATE KEY" => Self::from_private(pkcs8::private_sec1(&block.der)?),
            "RSA PRIVATE KEY" => {
                let pkcs8 = pkcs8::to_private(Algorithm::Rsa, &block.der, &[])?;
                Self::from_private(pkcs8::private(&pkcs8)?)
            }
            "ENCRYPTED PRIVATE KEY" => {
                Err(Error::Format("a key: what the age file holds is encrypted once more"))
            }
            "OPENSSH PRIVATE KEY" => Err(Error::Format(
                "a key file of its own: keys of OpenSSH are identities for age files alone",
            )),
            label if label.ends_with("PUBLIC KEY") => Err(NOT_PRIVATE),
            _ => Err(Error::Format("a private key in PEM: expected -----BEGIN PRIVATE KEY-----")),
        }
    }

    fn from_private(private: Private<'_>) -> Result<Self, Error> {
        let bytes = private.secret;
        let number = || <&[u8; 32]>::try_from(bytes).map_err(|_| NO_NUMBER);
        match private.algorithm {
            Algorithm::Rsa => rsa::PrivateKey::from_pkcs8(bytes).map(Self::Rsa),
            Algorithm::P256 => {
                let key = p256::PrivateKey::from_bytes(number()?).map_err(|_| NO_NUMBER)?;
                private.check(key.public().as_bytes())?;
                Ok(Self::P256(key))
            }
            Algorithm::Secp256k1 => {
                let key = secp256k1::PrivateKey::from_bytes(number()?).map_err(|_| NO_NUMBER)?;
                private.check(&key.public().to_bytes(Encoding::Uncompressed))?;
                Ok(Self::Secp256k1(key))
            }
            Algorithm::X25519 => {
                let bytes = bytes
                    .try_into()
                    .map_err(|_| Error::Format("a private key of X25519: it must have 32 bytes"))?;
                let key = x25519::PrivateKey::from_bytes(bytes)?;
                private.check(key.public().as_bytes())?;
                Ok(Self::X25519(key))
            }
            Algorithm::XWing => {
                let seed =
                    bytes.try_into().map_err(|_| Error::Format("a seed of X-Wing: it must have 32 bytes"))?;
                let key = xwing::PrivateKey::from_seed(seed);
                private.check(key.public().as_bytes())?;
                Ok(Self::XWing(key))
            }
        }
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
        Self::read(&store::read(path)?, passphrase.map_or(Unlock::Nothing, Unlock::Passphrase))
    }

    /// The key in an age file that one of `identities` opens.
    ///
    /// # Errors
    /// [`Error::Io`], and [`Self::from_text_with`]'s.
    pub fn load_with(path: &Path, identities: &[age::Identity]) -> Result<Self, Error> {
        Self::read(&store::read(path)?, Unlock::Identities(identities))
    }
}

const NO_TEXT: Error = Error::Misuse(Misuse::Key("this key has no text, and cannot be kept in a file"));

/// An encrypted PKCS#8.
struct Encrypted(Zeroizing<Vec<u8>>);

impl Encrypted {
    fn of(block: pem::Block) -> Result<Self, pem::Block> {
        match &block.label[..] {
            "ENCRYPTED PRIVATE KEY" => Ok(Self(block.der)),
            _ => Err(block),
        }
    }
}

fn plainly(secret: Secret, unlock: Unlock<'_>) -> Result<Secret, Error> {
    match unlock {
        Unlock::Nothing => Ok(secret),
        _ => Err(Misuse::NotEncrypted.into()),
    }
}

/// The text in an age file.
fn unwrapped(file: &[u8], unlock: Unlock<'_>) -> Result<Zeroizing<Vec<u8>>, Error> {
    let mut binary = Vec::new();
    let file = match age::Armor::detect(file) {
        Some(age::Armor::Ascii) => {
            let mut decoder = age::armor::Decoder::new();
            decoder.push(file, &mut binary)?;
            decoder.finish(&mut binary)?;
            &binary
        }
        _ => file,
    };
    let (header, _) = age::Header::parse_whole(file)?;
    match (unlock, header.wants_passphrase()) {
        (Unlock::Passphrase(passphrase), true) => age::open(file, &[age::Identity::passphrase(passphrase)]),
        (Unlock::Identities(identities), false) => age::open(file, identities),
        (_, true) => Err(Misuse::PassphraseMissing.into()),
        (_, false) => Err(Misuse::IdentityMissing.into()),
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
