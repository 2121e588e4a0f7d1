//! Recipients: the public keys and passphrases of a file.

use super::file_key::FileKey;
use super::header::{MAX_HEADER_LEN, Writer};
use super::plugin::{self, Plugins, Role, by_plugin};
use super::scrypt::{DEFAULT_WORK_FACTOR, Passphrase};
use super::stanza::MAX_STANZAS;
use super::text::{Case, decode, encode};
use super::{hybrid, scrypt, ssh, tag, x25519};
use crate::asymmetric::{x25519 as curve, xwing};
use crate::openssh;
use crate::prelude::*;
use std::collections::BTreeSet;

/// A public key or a passphrase to encrypt a file for.
///
/// Parsed from `age1…`, `age1pq1…` (post-quantum), `age1tag1…` and `age1tagpq1…` (hardware keys,
/// classical and post-quantum), `age1NAME1…` (a plugin), `ssh-ed25519 AAAA…` or `ssh-rsa AAAA…`.
/// Keys with the same text are equal; passphrases are compared in constant time.
#[derive(Clone)]
pub struct Recipient(pub(super) Public);

/// Types of age keys that sealane generates, classical and post-quantum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// X25519: short keys, supported by all implementations of age.
    #[default]
    X25519,
    /// X-Wing, the hybrid of ML-KEM-768 and X25519: also secure against quantum computers.
    Hybrid,
}

/// The label of post-quantum recipients; they can be combined only with each other (c2sp.org/age).
const POST_QUANTUM: &str = "postquantum";

/// Security against quantum computers, the same for all recipients of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Security {
    PostQuantum,
    Classical,
    /// The plugin's labels will tell, once it has wrapped a file key.
    Unknown,
}

#[derive(Clone)]
pub(super) enum Public {
    X25519(curve::PublicKey),
    Hybrid(Box<xwing::PublicKey>),
    Ssh(ssh::Recipient),
    Tag(tag::Recipient),
    Plugin(plugin::Address),
    Passphrase(Passphrase),
}

impl Recipient {
    /// Permits the plugin of the recipient to run. Recipients without a plugin stay as they are.
    #[must_use]
    pub fn with_plugins(self, plugins: &Plugins) -> Self {
        match self.0 {
            Public::Plugin(address) => Self(Public::Plugin(address.with_plugins(plugins))),
            _ => self,
        }
    }

    /// Returns the name of the plugin, without `age-plugin-`.
    pub fn plugin(&self) -> Option<&str> {
        self.address().map(plugin::Address::name)
    }

    fn address(&self) -> Option<&plugin::Address> {
        if let Public::Plugin(address) = &self.0 { Some(address) } else { None }
    }

    /// Returns a passphrase with age's default work factor, 18 (N = 2^18).
    ///
    /// # Errors
    /// Returns [`Misuse::InvalidRecipients`] if it is empty.
    pub fn passphrase(text: &str) -> Result<Self> {
        Self::passphrase_with_work_factor(text, DEFAULT_WORK_FACTOR)
    }

    /// Returns a passphrase with a work factor, the base-2 logarithm of scrypt's N. Each attempt to
    /// decrypt takes 2^`work_factor` KiB of memory and about 2^(`work_factor` - 18) seconds.
    ///
    /// # Errors
    /// Returns [`Misuse::InvalidRecipients`] if the passphrase is empty or the work factor is 0,
    /// and [`Error::WorkFactor`] above 22.
    pub fn passphrase_with_work_factor(text: &str, work_factor: u8) -> Result<Self> {
        Ok(Self(Public::Passphrase(Passphrase::checked(text, work_factor)?)))
    }

    /// Returns whether a file for this recipient is known to be secure against quantum computers.
    /// Of a plugin, we do not know.
    pub fn is_post_quantum(&self) -> bool {
        self.security() == Security::PostQuantum
    }

    fn security(&self) -> Security {
        match &self.0 {
            Public::Hybrid(_) | Public::Passphrase(_) | Public::Tag(tag::Recipient::Hybrid(_)) => {
                Security::PostQuantum
            }
            Public::X25519(_) | Public::Ssh(_) | Public::Tag(_) => Security::Classical,
            Public::Plugin(_) => Security::Unknown,
        }
    }

    /// Returns whether this is a passphrase, which must be the only recipient of a file.
    pub fn is_passphrase(&self) -> bool {
        matches!(self.0, Public::Passphrase(_))
    }

    /// Returns the type of the key; `None` for an SSH key, a key with a tag, a plugin or a
    /// passphrase.
    pub fn kind(&self) -> Option<Kind> {
        match self.0 {
            Public::X25519(_) => Some(Kind::X25519),
            Public::Hybrid(_) => Some(Kind::Hybrid),
            Public::Ssh(_) | Public::Tag(_) | Public::Plugin(_) | Public::Passphrase(_) => None,
        }
    }
}

impl FromStr for Recipient {
    type Err = Error;

    /// # Errors
    /// Returns [`Error::Format`] if it is not a recipient, and [`Misuse::UnsuitableKey`] for an RSA
    /// key of the wrong size.
    fn from_str(text: &str) -> Result<Self> {
        if openssh::is_public(text) {
            return ssh::Recipient::parse(text).map(|key| Self(Public::Ssh(key)));
        }
        let (prefix, bytes) = decode(text).ok_or(Error::Format(
            "expected a recipient, age1... or an SSH public key, found other text or a typing error",
        ))?;
        match prefix {
            x25519::RECIPIENT => Ok(Self(Public::X25519(x25519::recipient_from_bytes(&bytes)?))),
            hybrid::RECIPIENT => Ok(Self(Public::Hybrid(Box::new(hybrid::recipient_from_bytes(&bytes)?)))),
            tag::CLASSICAL => tag::Recipient::classical(&bytes).map(|key| Self(Public::Tag(key))),
            tag::HYBRID => tag::Recipient::hybrid(&bytes).map(|key| Self(Public::Tag(key))),
            _ if ["AGE-SECRET-KEY-", "AGE-PLUGIN-"].iter().any(|mark| prefix.starts_with(mark)) => {
                Err(Error::Format(
                    "expected a recipient (age1...), found an identity (AGE-SECRET-KEY-... or AGE-PLUGIN-...), which is secret; give \
                 the recipient of the identity",
                ))
            }
            _ => plugin::Address::recipient(prefix, text)
                .map(|address| Self(Public::Plugin(address)))
                .ok_or(Error::Format("expected a recipient: age1... or an SSH public key")),
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match &self.0 {
            Public::X25519(key) => encode(x25519::RECIPIENT, key.as_bytes(), Case::Lower),
            Public::Hybrid(key) => encode(hybrid::RECIPIENT, key.as_bytes(), Case::Lower),
            Public::Ssh(key) => return f.write_str(&key.text),
            Public::Tag(key) => key.text(),
            Public::Plugin(address) if address.role == Role::Recipient => {
                return f.write_str(&address.text);
            }
            Public::Plugin(address) => {
                return write!(f, "(the recipient of an identity of age plugin {})", address.name());
            }
            Public::Passphrase(_) => return f.write_str("(a passphrase)"),
        };
        // `fmt::Error` has no content, so the cause is lost.
        f.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl PartialEq for Recipient {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Public::Passphrase(a), Public::Passphrase(b)) => a == b,
            (Public::Plugin(a), Public::Plugin(b)) => a == b,
            _ => self.to_string() == other.to_string(),
        }
    }
}

impl Eq for Recipient {}

debug_text!(Recipient; |it| "Recipient({it})");

pub(super) fn header(recipients: &[Recipient], file_key: &FileKey) -> Result<String> {
    Computation::Age.check()?;
    check_recipients(recipients)?;
    let mut header = Writer::new();
    for recipient in recipients {
        match &recipient.0 {
            Public::X25519(key) => x25519::wrap(key, file_key, &mut header)?,
            Public::Hybrid(key) => hybrid::wrap(key, file_key, &mut header)?,
            Public::Ssh(key) => key.wrap(file_key, &mut header)?,
            Public::Tag(key) => key.wrap(file_key, &mut header)?,
            Public::Passphrase(passphrase) => scrypt::wrap(passphrase, file_key, &mut header)?,
            Public::Plugin(_) => {}
        }
    }
    // Recipients without a plugin are known to have equal labels.
    let mut labels: Option<BTreeSet<_>> =
        recipients.iter().find_map(|recipient| match recipient.security() {
            Security::PostQuantum => Some(BTreeSet::from([POST_QUANTUM.to_owned()])),
            Security::Classical => Some(BTreeSet::new()),
            Security::Unknown => None,
        });
    for group in by_plugin(recipients.iter().filter_map(Recipient::address)) {
        let found = plugin::wrap(&group, file_key, &mut header)?;
        if labels.as_ref().is_some_and(|labels| *labels != found) {
            return Err(Misuse::InvalidRecipients(
                "the recipients of an age plugin cannot be combined with the other recipients; encrypt one file for each",
            )
            .into());
        }
        labels = Some(found);
    }
    let header = header.finish(file_key);
    match header.len() {
        ..=MAX_HEADER_LEN => Ok(header),
        _ => Err(Error::LimitExceeded("the recipients need a header of more than 16 MiB")),
    }
}

/// Checks whether the recipients can be combined in a file, as far as we know before plugins run.
///
/// # Errors
/// Returns [`Misuse::InvalidRecipients`] with the reason, and [`Error::Plugin`] for a plugin that
/// may not run.
pub fn check_recipients(recipients: &[Recipient]) -> Result<()> {
    let passphrases = recipients.iter().filter(|recipient| recipient.is_passphrase()).count();
    let has = |security| recipients.iter().any(|recipient| recipient.security() == security);
    let wrong = match recipients.len() {
        0 => "there is no recipient, so the file could never be decrypted",
        all if passphrases > 0 && all > 1 => {
            "a passphrase cannot be combined with another passphrase or recipient"
        }
        _ if has(Security::PostQuantum) && has(Security::Classical) => {
            "a post-quantum recipient (age1pq1..., age1tagpq1...) cannot be combined with a classical one, which would decide the \
             security; encrypt one file for each type"
        }
        // With more of one type, no identity could decrypt the file.
        all if all > MAX_STANZAS => "a file has at most 4096 recipients; encrypt several files",
        _ => {
            let mut addresses = recipients.iter().filter_map(Recipient::address);
            return addresses.try_for_each(|address| address.plugins().map(drop));
        }
    };
    Err(Misuse::InvalidRecipients(wrong).into())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::age::Identity;

    #[test]
    fn kinds_of_recipients() {
        let of = |kind| Identity::generate(kind).unwrap().recipient();
        let passphrase = Recipient::passphrase("text").unwrap();
        for (recipient, kind, is_passphrase, is_post_quantum) in [
            (of(Kind::X25519), Some(Kind::X25519), false, false),
            (of(Kind::Hybrid), Some(Kind::Hybrid), false, true),
            (passphrase, None, true, true),
        ] {
            assert_eq!(recipient.kind(), kind);
            assert_eq!(recipient.is_passphrase(), is_passphrase, "{recipient}");
            assert_eq!(recipient.is_post_quantum(), is_post_quantum, "{recipient}");
        }
    }

    /// Readers refuse a header with more stanzas, so we must not write one.
    #[test]
    fn as_many_recipients_as_a_header_may_have() {
        let recipient = Identity::generate(Kind::X25519).unwrap().recipient();
        let mut recipients = vec![recipient; MAX_STANZAS];
        check_recipients(&recipients).unwrap();
        recipients.push(recipients[0].clone());
        let refused = check_recipients(&recipients);
        assert!(
            matches!(refused, Err(Error::Misuse(Misuse::InvalidRecipients(why))) if why.contains("4096"))
        );
    }
}
