//! Deterministic encryption under the keys of a keyring.

use super::Keyring;
use super::kind::{KeyType, Purpose};
use super::messages::expanded;
use ::messages::{DeterministicAead, DeterministicAlgorithm, MessageKey, message_keys};
use base::{Misuse, Result};

/// The keys of a keyring, expanded for deterministic encryption. The primary key encrypts, each
/// enabled key decrypts.
///
/// **It reveals which messages are equal**, like [`DeterministicAead`]. Under two keys, equal
/// messages have different ciphertexts, so search for the ciphertexts of all enabled keys:
/// [`DeterministicAead::encrypt_with_all_keys`].
///
/// It has the keys of the keyring at the time it was made. It can be shared between threads and
/// used after a fork. The methods are those of [`DeterministicAead`].
///
/// ```
/// use sealane::KeyringDeterministicAead;
/// use sealane::keys::{Keyring, Prefix};
///
/// let mut ring = Keyring::generate("aes-256-siv".parse()?, Prefix::Tink)?;
/// let stored = KeyringDeterministicAead::new(&ring)?.encrypt(b"alice@example.com", b"users.email")?;
/// ring.rotate()?;
/// let daead = KeyringDeterministicAead::new(&ring)?;
/// assert!(daead.encrypt_with_all_keys(b"alice@example.com", b"users.email")?.contains(&stored));
/// assert_eq!(daead.decrypt(&stored, b"users.email")?, b"alice@example.com");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct KeyringDeterministicAead {
    keys: DeterministicAead,
}

impl KeyringDeterministicAead {
    /// Expands the enabled keys of a keyring.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of another use, and the errors of
    /// [`DeterministicAead::new`].
    pub fn new(keyring: &Keyring) -> Result<Self> {
        const OTHER_USE: Misuse =
            Misuse::UnsuitableKey("expected a keyring of aes-256-siv keys, found AEAD or streaming keys");
        if keyring.purpose() != Purpose::Deterministic {
            return Err(OTHER_USE.into());
        }
        let keys = expanded(keyring, |enabled| match enabled.key_type {
            KeyType::AesSiv => MessageKey::deterministic(DeterministicAlgorithm::Aes256Siv, enabled.key),
            _ => Err(OTHER_USE.into()),
        });
        Ok(Self { keys: keys?.into() })
    }
}

message_keys!(KeyringDeterministicAead: DeterministicAead; |it| keys: it.len(), primary: it.primary());
