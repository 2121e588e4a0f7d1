//! Messages under the keys of a keyring.

use super::kind::{KeyType, Purpose};
use super::{Enabled, Keyring};
use ::messages::{MessageKey, MessageKeys, message_keys};
use base::{Misuse, Result};
use providers::Provider;

/// The keys of a keyring, expanded for messages. The primary key seals, each enabled key opens.
///
/// It has the keys of the keyring at the time it was made. It can be shared between threads and
/// used after a fork. The methods are those of [`MessageKeys`].
///
/// ```
/// use sealane::KeyringAead;
/// use sealane::keys::{Keyring, Prefix};
///
/// let mut ring = Keyring::generate("aes-256-gcm".parse()?, Prefix::Tink)?;
/// let old = KeyringAead::new(&ring)?.seal(b"hello", b"header")?;
/// ring.rotate()?;
/// let aead = KeyringAead::new(&ring)?;
/// assert_eq!(aead.open(&old, b"header")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct KeyringAead {
    keys: MessageKeys,
}

impl KeyringAead {
    /// Expands the enabled keys of a keyring, each with the provider that
    /// [`Aead::new`](::messages::Aead::new) chooses.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of another use, and the errors of
    /// [`Aead::new`](::messages::Aead::new).
    pub fn new(keyring: &Keyring) -> Result<Self> {
        Self::with_provider(keyring, None)
    }

    /// Expands the enabled keys of a keyring with `provider`, or as [`Self::new`] if it is `None`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`] and of
    /// [`Aead::with_provider`](::messages::Aead::with_provider).
    pub fn with_provider(keyring: &Keyring, provider: Option<Provider>) -> Result<Self> {
        const NOT_FOR_MESSAGES: Misuse = Misuse::UnsuitableKey(
            "expected a keyring of AEAD keys, for example aes-256-gcm; found AES-SIV or streaming keys",
        );
        if keyring.purpose() != Purpose::Messages {
            return Err(NOT_FOR_MESSAGES.into());
        }
        let keys = expanded(keyring, |enabled| match *enabled.key_type {
            KeyType::Aead(algorithm) => MessageKey::new(algorithm, enabled.key, provider),
            KeyType::XaesShortSalt(salt) => MessageKey::with_short_salt(salt.into(), enabled.key, provider),
            KeyType::AesSiv | KeyType::Streaming(_) => Err(NOT_FOR_MESSAGES.into()),
        });
        Ok(Self { keys: keys? })
    }
}

message_keys!(KeyringAead: MessageKeys; |it| keys: it.len(), primary: it.primary());

/// Expands each enabled key, with its prefix; the primary key comes first.
pub(super) fn expanded(
    keyring: &Keyring,
    expand: impl Fn(&Enabled<'_>) -> Result<MessageKey>,
) -> Result<MessageKeys> {
    MessageKeys::with_prefixes(
        keyring.enabled().map(|enabled| Ok((enabled.prefix.bytes(enabled.id), expand(&enabled)?))),
    )
}
