//! Identities: the private keys and passphrases that decrypt a file.

use super::file_key::FileKey;
use super::header::Header;
use super::plugin::{self, Plugins, by_plugin};
use super::recipient::{Kind, Public, Recipient};
use super::scrypt::{MAX_WORK_FACTOR, Passphrase};
use super::ssh::AskPassphrase;
use super::stanza::{MAX_STANZAS, SCRYPT, Stanza};
use super::text::{Case, decode, encode};
use super::{hybrid, scrypt, ssh, x25519};
use crate::asymmetric::{x25519 as curve, xwing};
use crate::encoding::pem;
use crate::openssh;
use crate::prelude::*;
use base::interrupt;

/// A private key or a passphrase that decrypts files. It is wiped on drop, and `Debug` does not
/// show it.
///
/// It is parsed from `AGE-SECRET-KEY-1…`, `AGE-SECRET-KEY-PQ-1…`, `AGE-PLUGIN-NAME-1…` or an
/// OpenSSH private key. Two keys are equal if their recipients are; passphrases and the texts for
/// plugins are compared in constant time.
#[derive(Clone)]
pub struct Identity(Private);

#[derive(Clone)]
enum Private {
    X25519(curve::PrivateKey),
    Hybrid(xwing::PrivateKey),
    Ssh(ssh::Identity),
    Plugin(plugin::Address),
    Passphrase(Passphrase),
}

impl Identity {
    /// Generates a private key with the operating system's random generator.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the operating system returns no random bytes.
    pub fn generate(kind: Kind) -> Result<Self> {
        Ok(Self(match kind {
            Kind::X25519 => Private::X25519(curve::PrivateKey::generate()?),
            Kind::Hybrid => Private::Hybrid(xwing::PrivateKey::generate()?),
        }))
    }

    /// Returns a passphrase. It refuses files with a work factor above 20 (1 GiB of memory and some
    /// seconds).
    pub fn passphrase(text: &str) -> Self {
        Self::passphrase_with_max_work_factor(text, MAX_WORK_FACTOR)
    }

    /// Returns a passphrase with another limit of the work factor, at most 30. A file may then take
    /// 2^`max` KiB of memory and about 2^(`max` - 18) seconds.
    pub fn passphrase_with_max_work_factor(text: &str, max: u8) -> Self {
        Self(Private::Passphrase(Passphrase::new(text, max)))
    }

    /// Returns a passphrase that `ask` is called for, once, and only to decrypt a file that has
    /// one. `max` is the limit of [`Self::passphrase_with_max_work_factor`].
    pub fn passphrase_asking(ask: AskPassphrase, max: u8) -> Self {
        Self(Private::Passphrase(Passphrase::asking(ask, max)))
    }

    /// Parses an OpenSSH private key, decrypting it with `passphrase` if it is encrypted.
    ///
    /// # Errors
    /// Returns [`Error::Format`] for other text,
    /// [`Misuse::KeyPassphraseRequired`](base::Misuse::KeyPassphraseRequired) or
    /// [`Error::WrongPassphrase`] if the passphrase is missing or wrong,
    /// [`Misuse::KeyNotEncrypted`](base::Misuse::KeyNotEncrypted) if there is one but the key is
    /// not encrypted, [`Error::LimitExceeded`] for more than 1024 rounds of bcrypt, and
    /// [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for an RSA key that is too short or
    /// too long.
    pub fn from_ssh(text: &str, passphrase: Option<&str>) -> Result<Self> {
        Ok(Self(Private::Ssh(ssh::Identity::parse(text, passphrase)?)))
    }

    /// Parses an OpenSSH private key. If it is encrypted, `ask` is called once, and only to decrypt
    /// a file for this key: the public key is not encrypted and tells which files these are.
    ///
    /// # Errors
    /// Returns [`Error::Format`]. Decryption of a file returns the errors of `ask` and of
    /// [`Self::from_ssh`].
    pub fn from_ssh_asking(text: &str, ask: AskPassphrase) -> Result<Self> {
        Ok(Self(Private::Ssh(ssh::Identity::parse_asking(text, ask)?)))
    }

    /// Returns an identity without data, for the plugin itself: it may stand for all its keys.
    /// `name` is without `age-plugin-`.
    ///
    /// # Errors
    /// Returns [`Error::Format`] if no plugin can have this name.
    pub fn from_plugin(name: &str) -> Result<Self> {
        Ok(Self(Private::Plugin(plugin::Address::default_identity(name)?)))
    }

    /// Permits the plugin of the identity to run. Identities without a plugin stay as they are.
    #[must_use]
    pub fn with_plugins(self, plugins: &Plugins) -> Self {
        match self.0 {
            Private::Plugin(address) => Self(Private::Plugin(address.with_plugins(plugins))),
            _ => self,
        }
    }

    /// Returns the name of the plugin, without `age-plugin-`.
    pub fn plugin(&self) -> Option<&str> {
        self.address().map(plugin::Address::name)
    }

    /// Returns the recipient of this identity: a public key, or the secret passphrase. For a
    /// plugin, it has no text, because only the plugin knows the public key.
    pub fn recipient(&self) -> Recipient {
        Recipient(match &self.0 {
            Private::X25519(key) => Public::X25519(key.public()),
            Private::Hybrid(key) => Public::Hybrid(Box::new(key.public())),
            Private::Ssh(key) => Public::Ssh(key.public.clone()),
            Private::Plugin(address) => Public::Plugin(address.clone()),
            Private::Passphrase(passphrase) => Public::Passphrase(passphrase.for_new_files()),
        })
    }

    /// Encodes the secret as one line of text, without line feed.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`](base::Misuse::UnsuitableKey) for an SSH key or a
    /// passphrase: they have no age encoding.
    pub fn to_text(&self) -> Result<Zeroizing<String>> {
        match &self.0 {
            Private::X25519(key) => encode(x25519::IDENTITY, key.as_bytes(), Case::Upper),
            Private::Hybrid(key) => encode(hybrid::IDENTITY, key.seed(), Case::Upper),
            Private::Plugin(address) => Ok(address.text.clone()),
            Private::Ssh(_) | Private::Passphrase(_) => {
                Err(Error::unsuitable_key("SSH keys and passphrases cannot be saved as age identities"))
            }
        }
    }

    /// Unwraps the file key; `None` if it is wrapped for another identity.
    fn unwrap(&self, wrapped: &Wrapped) -> Result<Option<FileKey>> {
        match (&self.0, wrapped) {
            (Private::X25519(key), Wrapped::X25519(wrapped)) => x25519::unwrap(key, wrapped),
            (Private::Hybrid(key), Wrapped::Hybrid(wrapped)) => hybrid::unwrap(key, wrapped),
            (Private::Ssh(key), Wrapped::Ssh(wrapped)) => key.unwrap(wrapped),
            (Private::Passphrase(text), Wrapped::Scrypt(wrapped)) => scrypt::unwrap(text, wrapped),
            _ => Ok(None),
        }
    }

    /// Returns whether [`Self::unwrap`] has work to do for a stanza. A header can repeat it.
    fn tries(&self, wrapped: &Wrapped) -> bool {
        match (&self.0, wrapped) {
            (Private::X25519(_), Wrapped::X25519(_)) | (Private::Hybrid(_), Wrapped::Hybrid(_)) => true,
            (Private::Ssh(key), Wrapped::Ssh(wrapped)) => key.has_tag(&wrapped.tag),
            _ => false,
        }
    }

    fn address(&self) -> Option<&plugin::Address> {
        if let Private::Plugin(address) = &self.0 { Some(address) } else { None }
    }

    fn max_stanzas(&self) -> usize {
        if matches!(self.0, Private::Ssh(_)) { MAX_TAGGED_STANZAS } else { MAX_STANZAS }
    }
}

impl FromStr for Identity {
    type Err = Error;

    /// # Errors
    /// Returns [`Error::Format`] if the text is not an identity, and the errors of
    /// [`Self::from_ssh`].
    fn from_str(text: &str) -> Result<Self> {
        if pem::is_pem(text) {
            return Self::from_ssh(text, None);
        }
        const EXPECTED: Error = Error::Format(
            "expected an age identity, AGE-SECRET-KEY-1... in upper case, found other text or a typing error",
        );
        const RECIPIENT: Error = Error::Format(
            "expected an age identity (AGE-SECRET-KEY-...), found a recipient (age1...), which cannot decrypt; give the \
             identity of the recipient",
        );
        let (prefix, bytes) = decode(text).ok_or_else(|| match text {
            _ if openssh::is_public(text) => Error::Format(
                "expected an age identity or an SSH private key, found a public key, which cannot decrypt",
            ),
            _ if text.starts_with('{') => Error::Format(
                "expected an age identity, AGE-SECRET-KEY-1..., found JSON; a symmetric key decrypts as the key (-k)",
            ),
            _ => EXPECTED,
        })?;
        match prefix {
            x25519::IDENTITY => Ok(Self(Private::X25519(x25519::identity_from_bytes(&bytes)?))),
            hybrid::IDENTITY => Ok(Self(Private::Hybrid(hybrid::identity_from_bytes(&bytes)?))),
            x25519::RECIPIENT => Err(RECIPIENT),
            _ if prefix.starts_with("age1") => Err(RECIPIENT),
            _ => plugin::Address::identity(prefix, text)
                .map(|address| Self(Private::Plugin(address)))
                .ok_or(EXPECTED),
        }
    }
}

crate::asymmetric::equal_by!(Identity: recipient());

debug_text!(Identity; |it| "Identity({})", match &it.0 {
    Private::X25519(_) => "X25519",
    Private::Hybrid(_) => "X-Wing",
    Private::Ssh(_) => "SSH",
    Private::Plugin(_) => "plugin",
    Private::Passphrase(_) => "passphrase",
});

/// Maximum number of stanzas that an SSH key tries. Stanzas name SSH keys by four bytes of a hash,
/// so more than this are for the same key.
const MAX_TAGGED_STANZAS: usize = 16;

/// A parsed stanza of known type.
enum Wrapped {
    X25519(x25519::Wrapped),
    Hybrid(Box<hybrid::Wrapped>),
    Ssh(ssh::Wrapped),
    Scrypt(scrypt::Wrapped),
}

impl Wrapped {
    /// Returns `None` for an unknown type: it must be ignored (c2sp.org/age, "Recipient stanza").
    fn parse(stanza: &Stanza<'_>) -> Result<Option<Self>> {
        Ok(Some(match stanza.kind() {
            x25519::KIND => Self::X25519(x25519::Wrapped::parse(stanza)?),
            hybrid::KIND => Self::Hybrid(Box::new(hybrid::Wrapped::parse(stanza)?)),
            ssh::ED25519 | ssh::RSA => Self::Ssh(ssh::Wrapped::parse(stanza)?),
            SCRYPT => Self::Scrypt(scrypt::Wrapped::parse(stanza)?),
            _ => return Ok(None),
        }))
    }
}

/// Unwraps the file key of a header. Reports damage before any other error, so it first parses
/// every stanza of a known type.
pub(super) fn file_key(header: &Header, identities: &[Identity]) -> Result<FileKey> {
    unwrap_file_key(header, identities, |file_key| header.verify(file_key))
}

/// Like [`file_key`], for a header with a wrong MAC, for example because another recipient's stanza
/// is damaged. The stanza that an identity unwraps is authenticated by itself. Plugins are not
/// used.
pub(super) fn file_key_of_damaged(header: &Header, identities: &[Identity]) -> Result<FileKey> {
    let native = |identity: &&Identity| identity.plugin().is_none();
    let native: Vec<_> = identities.iter().filter(native).cloned().collect();
    unwrap_file_key(header, &native, |_| Ok(()))
}

fn unwrap_file_key(
    header: &Header,
    identities: &[Identity],
    verify: impl Fn(&FileKey) -> Result<()>,
) -> Result<FileKey> {
    Computation::Age.check()?;
    if header.has_passphrase() && header.stanzas().len() > 1 {
        return Err(Error::Header("a scrypt stanza is combined with another recipient"));
    }
    // bounded: one number per key of the caller.
    let mut tries = vec![0; identities.len()];
    for stanza in header.stanzas() {
        let Some(wrapped) = Wrapped::parse(&stanza)? else { continue };
        for (tries, identity) in tries.iter_mut().zip(identities) {
            *tries += usize::from(identity.tries(&wrapped));
        }
    }
    interrupt::check()?;
    // Checked before the work begins.
    if tries.iter().zip(identities).any(|(tries, identity)| *tries > identity.max_stanzas()) {
        return Err(Error::LimitExceeded(
            "the header has more recipients than an identity tries: 4096, or 16 for one SSH key",
        ));
    }
    for wrapped in header.stanzas().filter_map(|stanza| Wrapped::parse(&stanza).transpose()) {
        let wrapped = wrapped?;
        for identity in identities {
            interrupt::check()?;
            if let Some(file_key) = identity.unwrap(&wrapped)? {
                verify(&file_key)?;
                return Ok(file_key);
            }
        }
    }
    if let Some(file_key) = with_plugins(header, identities)? {
        return Ok(file_key);
    }
    let passphrases =
        identities.iter().filter(|identity| matches!(identity.0, Private::Passphrase(_))).count();
    Err(match header.has_passphrase() {
        true if passphrases > 0 => Error::WrongPassphrase,
        true => Error::PassphraseRequired,
        false if passphrases > 0 && passphrases == identities.len() => Error::IdentityRequired,
        false => Error::NoMatchingKey,
    })
}

/// Unwraps the file key of a header with plugins. A plugin's error counts only if no other plugin
/// unwraps the file key.
fn with_plugins(header: &Header, identities: &[Identity]) -> Result<Option<FileKey>> {
    let groups = by_plugin(identities.iter().filter_map(Identity::address));
    if !groups.is_empty() && header.stanzas().len() > MAX_STANZAS {
        return Err(Error::LimitExceeded("the header has more recipients than a plugin tries: 4096"));
    }
    let mut first = None;
    for group in groups {
        match plugin::unwrap(&group, header) {
            Ok(None) => {}
            Err(why @ Error::Plugin(_)) => {
                first.get_or_insert(why);
            }
            found => return found,
        }
    }
    first.map_or(Ok(None), Err)
}
