//! Who can read a file.

use super::file_key::FileKey;
use super::header::{MOST, Writer};
use super::scrypt::{Passphrase, WORK};
use super::{hybrid, scrypt, ssh, text, x25519};
use crate::asymmetric::{x25519 as curve, xwing};
use crate::{Error, Misuse};
use std::fmt;
use std::str::FromStr;

/// Somebody who can read a file: a public key, or whoever knows a passphrase.
///
/// From text: `age1…`, `age1pq1…` (safe from quantum computers), `ssh-ed25519 AAAA…`, `ssh-rsa AAAA…`.
#[derive(Clone)]
pub struct Recipient(pub(super) Public);

#[derive(Clone)]
pub(super) enum Public {
    X25519(curve::PublicKey),
    Hybrid(Box<xwing::PublicKey>),
    Ssh(ssh::Recipient),
    Passphrase(Passphrase),
}

impl Recipient {
    /// Whoever knows the passphrase. Work: 2^18, as in the program `age`.
    ///
    /// # Errors
    /// [`Misuse::InvalidRecipients`] where it is empty.
    pub fn passphrase(text: &str) -> Result<Self, Error> {
        Self::passphrase_with_work(text, WORK)
    }

    /// The same, with work for whoever guesses it, and for those who know: 2^`work` KiB of memory, about
    /// 2^(`work` - 18) seconds.
    ///
    /// # Errors
    /// [`Misuse::InvalidRecipients`] for an empty passphrase and for no work; [`Error::WorkFactor`] past 22.
    pub fn passphrase_with_work(text: &str, work: u8) -> Result<Self, Error> {
        Ok(Self(Public::Passphrase(Passphrase::checked(text, work)?)))
    }

    /// Whether recordings of today stay closed to quantum computers of tomorrow.
    pub fn is_post_quantum(&self) -> bool {
        matches!(self.0, Public::Hybrid(_) | Public::Passphrase(_))
    }
}

impl FromStr for Recipient {
    type Err = Error;

    /// # Errors
    /// [`Error::Format`] says what it is instead; [`Misuse::UnsuitableKey`] for an SSH key that is too short.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text.starts_with("ssh-") {
            return ssh::Recipient::parse(text).map(|key| Self(Public::Ssh(key)));
        }
        let (prefix, bytes) = text::decode(text).ok_or(Error::Format(
            "not a recipient: expected age1... or an SSH public key, without a typing error",
        ))?;
        match prefix {
            x25519::RECIPIENT => Ok(Self(Public::X25519(x25519::recipient_from_bytes(&bytes)?))),
            hybrid::RECIPIENT => Ok(Self(Public::Hybrid(Box::new(hybrid::recipient_from_bytes(&bytes)?)))),
            _ if prefix.starts_with("AGE-SECRET-KEY-") => Err(Error::Format(
                "not a recipient but an identity, which is secret: give the recipient that belongs to it",
            )),
            _ if prefix.starts_with("age1") => Err(Error::Format(
                "not a recipient that is known: those of plugins and of hardware keys are not",
            )),
            _ => Err(Error::Format("not a recipient: expected age1... or an SSH public key")),
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.0 {
            Public::X25519(key) => x25519::recipient_text(key),
            Public::Hybrid(key) => hybrid::recipient_text(key),
            Public::Ssh(key) => return f.write_str(key.text()),
            Public::Passphrase(_) => return f.write_str("(a passphrase)"),
        };
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recipient({self})")
    }
}

/// The header of a new file for `recipients`.
pub(super) fn header(recipients: &[Recipient], file_key: &FileKey) -> Result<String, Error> {
    check_recipients(recipients)?;
    let mut header = Writer::new();
    for recipient in recipients {
        match &recipient.0 {
            Public::X25519(key) => x25519::wrap(key, file_key, &mut header)?,
            Public::Hybrid(key) => hybrid::wrap(key, file_key, &mut header)?,
            Public::Ssh(key) => key.wrap(file_key, &mut header)?,
            Public::Passphrase(passphrase) => scrypt::wrap(passphrase, file_key, &mut header)?,
        }
    }
    let header = header.finish(file_key);
    match header.len() {
        ..=MOST => Ok(header),
        _ => Err(Error::LimitExceeded("a header of more than 16 MiB: there are too many recipients")),
    }
}

/// Checks that the recipients can be combined in one file.
///
/// # Errors
/// [`Misuse::InvalidRecipients`].
pub(crate) fn check_recipients(recipients: &[Recipient]) -> Result<(), Error> {
    let count = |is: fn(&Public) -> bool| recipients.iter().filter(|recipient| is(&recipient.0)).count();
    let (passphrases, hybrids) =
        (count(|key| matches!(key, Public::Passphrase(_))), count(|key| matches!(key, Public::Hybrid(_))));
    let wrong = match recipients.len() {
        0 => "there is no recipient: nobody could read the file",
        all if passphrases > 0 && all > 1 => {
            "a passphrase must be alone: no second one, and no other recipient"
        }
        all if hybrids > 0 && all > hybrids => {
            "a post-quantum recipient (age1pq1...) beside one that is not: the weaker one decides; \
             make a file for each kind"
        }
        _ => return Ok(()),
    };
    Err(Misuse::InvalidRecipients(wrong).into())
}
