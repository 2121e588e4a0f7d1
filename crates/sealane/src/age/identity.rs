//! Who reads a file.

use super::file_key::FileKey;
use super::header::Header;
use super::recipient::{Public, Recipient};
use super::scrypt::{MOST_WORK, Passphrase};
use super::stanza::Stanza;
use super::{hybrid, scrypt, ssh, text, x25519};
use crate::asymmetric::{x25519 as curve, xwing};
use crate::{Error, Misuse};
use std::fmt;
use std::str::FromStr;
use zeroize::Zeroizing;

/// What opens a file: a private key or a passphrase. Wiped on drop; never shown.
///
/// From text: `AGE-SECRET-KEY-1…`, `AGE-SECRET-KEY-PQ-1…`, an OpenSSH private key.
#[derive(Clone)]
pub struct Identity(Private);

#[derive(Clone)]
enum Private {
    X25519(curve::PrivateKey),
    Hybrid(xwing::PrivateKey),
    Ssh(ssh::Identity),
    Passphrase(Passphrase),
}

/// Kinds of identities that are made here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Short; every program that knows age knows it.
    #[default]
    X25519,
    /// Safe from quantum computers as well.
    Hybrid,
}

impl Identity {
    /// A fresh one from the operating system.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn generate(kind: Kind) -> Result<Self, Error> {
        Ok(Self(match kind {
            Kind::X25519 => Private::X25519(curve::PrivateKey::generate()?),
            Kind::Hybrid => Private::Hybrid(xwing::PrivateKey::generate()?),
        }))
    }

    /// The passphrase. A file that asks for more than 2^20 of work, 1 GiB of memory and some seconds, is refused.
    pub fn passphrase(text: &str) -> Self {
        Self::passphrase_with_max_work_factor(text, MOST_WORK)
    }

    /// The same with another limit: 2^`most` KiB of memory, about 2^(`most` - 18) seconds; 30 at most.
    pub fn passphrase_with_max_work_factor(text: &str, most: u8) -> Self {
        Self(Private::Passphrase(Passphrase::new(text, most)))
    }

    /// The key in the text of an OpenSSH private key, and the passphrase where it is protected by one.
    ///
    /// # Errors
    /// [`Error::Format`]; [`Misuse::UnsuitableKey`] where a passphrase is missing, [`Error::WrongPassphrase`] where it is another one;
    /// [`Error::LimitExceeded`] where that would take minutes.
    pub fn from_ssh(text: &str, passphrase: Option<&str>) -> Result<Self, Error> {
        Ok(Self(Private::Ssh(ssh::Identity::parse(text, passphrase)?)))
    }

    /// Who can encrypt for it.
    pub fn recipient(&self) -> Recipient {
        Recipient(match &self.0 {
            Private::X25519(key) => Public::X25519(key.public()),
            Private::Hybrid(key) => Public::Hybrid(Box::new(key.public())),
            Private::Ssh(key) => Public::Ssh(key.recipient().clone()),
            Private::Passphrase(passphrase) => Public::Passphrase(passphrase.for_new_files()),
        })
    }

    /// The secret as one line of text, without a line feed.
    ///
    /// # Errors
    /// [`Misuse::UnsuitableKey`]: an SSH key keeps its own file, a passphrase none.
    pub fn to_text(&self) -> Result<Zeroizing<String>, Error> {
        match &self.0 {
            Private::X25519(key) => x25519::identity_text(key),
            Private::Hybrid(key) => hybrid::identity_text(key),
            Private::Ssh(_) | Private::Passphrase(_) => {
                Err(Misuse::UnsuitableKey("SSH keys and passphrases are not written as age identities")
                    .into())
            }
        }
    }

    /// The file key, where `wrapped` holds it for this identity.
    fn unwrap(&self, wrapped: &Wrapped) -> Result<Option<FileKey>, Error> {
        match (&self.0, wrapped) {
            (Private::X25519(key), Wrapped::X25519(wrapped)) => x25519::unwrap(key, wrapped),
            (Private::Hybrid(key), Wrapped::Hybrid(wrapped)) => hybrid::unwrap(key, wrapped),
            (Private::Ssh(key), Wrapped::SshEd25519(wrapped)) => key.unwrap_ed25519(wrapped),
            (Private::Ssh(key), Wrapped::SshRsa(wrapped)) => key.unwrap_rsa(wrapped),
            (Private::Passphrase(text), Wrapped::Scrypt(wrapped)) => scrypt::unwrap(text, wrapped),
            _ => Ok(None),
        }
    }
}

impl FromStr for Identity {
    type Err = Error;

    /// # Errors
    /// [`Error::Format`]; those of [`Self::from_ssh`].
    fn from_str(text: &str) -> Result<Self, Error> {
        if text.starts_with("-----BEGIN") {
            return Self::from_ssh(text, None);
        }
        const EXPECTED: Error = Error::Format(
            "not an age identity: expected AGE-SECRET-KEY-1... in capitals, without a typing error",
        );
        let (prefix, bytes) = text::decode(text).ok_or(EXPECTED)?;
        match prefix {
            x25519::IDENTITY => Ok(Self(Private::X25519(x25519::identity_from_bytes(&bytes)?))),
            hybrid::IDENTITY => Ok(Self(Private::Hybrid(hybrid::identity_from_bytes(&bytes)?))),
            x25519::RECIPIENT | hybrid::RECIPIENT => Err(Error::Format(
                "not an age identity but a recipient, which cannot decrypt: give the AGE-SECRET-KEY-... it belongs to",
            )),
            _ if prefix.starts_with("AGE-PLUGIN-") => {
                Err(Error::Format("not an age identity that is known: those of plugins are not"))
            }
            _ => Err(EXPECTED),
        }
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Private::X25519(_) => "Identity(X25519)",
            Private::Hybrid(_) => "Identity(X-Wing)",
            Private::Ssh(_) => "Identity(SSH)",
            Private::Passphrase(_) => "Identity(passphrase)",
        })
    }
}

/// A stanza of a kind that is known.
enum Wrapped {
    X25519(x25519::Wrapped),
    Hybrid(Box<hybrid::Wrapped>),
    SshEd25519(ssh::Ed25519Wrapped),
    SshRsa(ssh::RsaWrapped),
    Scrypt(scrypt::Wrapped),
}

impl Wrapped {
    /// `None` for another kind: whoever knows it may use it (c2sp.org/age, "Recipient stanza").
    fn parse(stanza: &Stanza<'_>) -> Result<Option<Self>, Error> {
        Ok(Some(match stanza.kind() {
            x25519::KIND => Self::X25519(x25519::Wrapped::parse(stanza)?),
            hybrid::KIND => Self::Hybrid(Box::new(hybrid::Wrapped::parse(stanza)?)),
            ssh::ED25519 => Self::SshEd25519(ssh::Ed25519Wrapped::parse(stanza)?),
            ssh::RSA => Self::SshRsa(ssh::RsaWrapped::parse(stanza)?),
            scrypt::KIND => Self::Scrypt(scrypt::Wrapped::parse(stanza)?),
            _ => return Ok(None),
        }))
    }
}

/// The file key of a header. Damage comes before anything else that is wrong: every stanza of a kind that is known is
/// read, whoever it is for.
pub(super) fn file_key(header: &Header, identities: &[Identity]) -> Result<FileKey, Error> {
    if header.wants_passphrase() && header.stanzas().len() > 1 {
        return Err(Error::Header("a passphrase stands beside another recipient"));
    }
    for stanza in header.stanzas() {
        Wrapped::parse(&stanza)?;
    }
    for wrapped in header.stanzas().filter_map(|stanza| Wrapped::parse(&stanza).transpose()) {
        let wrapped = wrapped?;
        for identity in identities {
            if let Some(file_key) = identity.unwrap(&wrapped)? {
                header.verify(&file_key)?;
                return Ok(file_key);
            }
        }
    }
    let passphrases =
        identities.iter().filter(|identity| matches!(identity.0, Private::Passphrase(_))).count();
    Err(match header.wants_passphrase() {
        true if passphrases > 0 => Error::WrongPassphrase,
        true => Error::PassphraseRequired,
        false if passphrases > 0 && passphrases == identities.len() => Error::IdentityRequired,
        false => Error::NoMatchingKey,
    })
}
