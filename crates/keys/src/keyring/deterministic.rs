//! Deterministic encryption under the keys of a keyring.
//!
//! ```text
//! message = prefix || synthetic IV || ciphertext
//! ```

use super::Keyring;
use super::kind::{KeyType, Purpose};
use super::prefixed::{PrefixedKeys, first_opened, messages, opened_one_by_one};
use base::debug_fields;
use base::{Error, Misuse, memory};
use messages::aead::packed::{Offset, data_range, longer, packed_len, shorter};
use messages::{DeterministicAead, DeterministicAlgorithm};
use std::num::NonZeroUsize;

/// The keys of a keyring, expanded for deterministic encryption. The primary key encrypts, and each enabled key decrypts.
///
/// **It reveals which messages are equal**, as [`DeterministicAead`] does. Ciphertexts of equal messages under two keys
/// differ, so a search has to look for the ciphertexts of all enabled keys: [`Self::encrypt_with_all_keys`].
///
/// It has the keys that the keyring had when it was made. It can be shared between threads and used after a fork.
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
    keys: PrefixedKeys<DeterministicAead>,
}

impl KeyringDeterministicAead {
    /// Expands the enabled keys of a keyring.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of another use, and the errors of [`DeterministicAead::new`].
    pub fn new(keyring: &Keyring) -> Result<Self, Error> {
        const OTHER_USE: Misuse =
            Misuse::UnsuitableKey("expected a keyring of aes-256-siv keys, found AEAD or streaming keys");
        if keyring.purpose() != Purpose::Deterministic {
            return Err(OTHER_USE.into());
        }
        let keys = PrefixedKeys::expanded(keyring, |enabled| match enabled.key_type {
            KeyType::AesSiv => DeterministicAead::new(DeterministicAlgorithm::Aes256Siv, enabled.key),
            _ => Err(OTHER_USE.into()),
        });
        Ok(Self { keys: keys? })
    }

    /// Sets the number of threads that packed messages may use; see [`DeterministicAead::with_threads`].
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { keys: self.keys.map(|key| key.with_threads(threads)) }
    }

    /// Returns the primary key, which encrypts. Its messages have no prefix if they are encrypted with it directly.
    pub fn primary(&self) -> &DeterministicAead {
        &self.keys.primary().key
    }

    /// Returns the number of keys, which all can decrypt messages.
    #[expect(clippy::len_without_is_empty, reason = "a keyring has a primary key")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of bytes by which a message that the primary key encrypts is longer than its plaintext: the
    /// prefix and the synthetic IV.
    #[inline]
    pub fn overhead(&self) -> usize {
        self.keys.primary().prefix().len() + self.primary().overhead()
    }

    /// Encrypts `data` with the primary key. The result is always the same for the same primary key, data and associated
    /// data.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if there is no memory for the result.
    pub fn encrypt(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = memory::zeroed(data.len() + self.overhead())?;
        self.encrypt_into(data, aad, &mut out)?;
        Ok(out)
    }

    /// Encrypts with the primary key into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns [`Misuse::OutputTooShort`] if `out` is too short. Nothing is written then.
    pub fn encrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        let len = data.len() + self.overhead();
        let prefix = self.keys.primary().prefix();
        let (head, body) = memory::first(out, len)?.split_at_mut(prefix.len());
        self.primary().encrypt_into(data, aad, body)?;
        head.copy_from_slice(prefix);
        Ok(len)
    }

    /// Encrypts `data` with each enabled key, the primary key first. A stored value that is equal to one of the results has
    /// the plaintext `data`, so this is how encrypted values are searched while several keys are enabled.
    ///
    /// # Errors
    /// Returns [`Error::OutOfMemory`] if there is no memory for the results.
    pub fn encrypt_with_all_keys(&self, data: &[u8], aad: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        let mut all = memory::with_capacity(self.len())?;
        for key in self.keys.iter() {
            let prefix = key.prefix();
            let mut out = memory::zeroed(prefix.len() + data.len() + key.key.overhead())?;
            let (head, body) = out.split_at_mut(prefix.len());
            head.copy_from_slice(prefix);
            key.key.encrypt_into(data, aad, body)?;
            all.push(out);
        }
        Ok(all)
    }

    /// Decrypts a message of any enabled key. The prefix tells which key, and keys without a prefix are tried in turn.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if no key decrypts the message with `aad`.
    pub fn decrypt(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        first_opened(self.keys.candidates(data).map(|(key, data)| key.key.decrypt(data, aad)))
    }

    /// Decrypts a message into the start of `out`, which is not shorter than it. Returns the length of the plaintext.
    fn decrypt_into(&self, data: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize, Error> {
        first_opened(self.keys.candidates(data).map(|(key, data)| key.key.decrypt_into(data, aad, out)))
    }

    /// Returns the key of a message and the length of its prefix, if only one key can decrypt it. Of the message, the first
    /// five bytes are enough.
    #[inline]
    pub fn only_candidate<'k>(&'k self, data: &[u8]) -> Option<(&'k DeterministicAead, usize)> {
        self.keys.only(data).map(|(key, _)| (&key.key, key.prefix().len()))
    }

    /// Encrypts packed messages with the primary key. Returns the encrypted messages, packed, and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`DeterministicAead::encrypt_packed`].
    pub fn encrypt_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        let ends = longer(offsets, data.len(), self.overhead())?;
        let mut out = memory::zeroed(packed_len(&ends))?;
        let result_len = |len, count| len + count * self.overhead();
        let encrypt = |message: &[u8], out: &mut [u8]| self.encrypt_into(message, aad, out);
        self.primary().packed(data, offsets, &mut out, result_len, encrypt)?;
        Ok((out, ends))
    }

    /// Decrypts packed messages, which any enabled keys encrypted. Returns the plaintexts, packed, and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`DeterministicAead::decrypt_packed`]. No plaintext is left in memory then.
    pub fn decrypt_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        data_range(offsets, data.len())?;
        let encrypted = messages(data, offsets)?;
        let Some((key, _)) = self.keys.common(&encrypted)? else {
            return opened_one_by_one(&encrypted, |message, out| self.decrypt_into(message, aad, out));
        };
        let (prefix_len, overhead) = (key.prefix().len(), key.prefix().len() + key.key.overhead());
        let ends = shorter(offsets, data.len(), overhead)?;
        let mut plain = memory::zeroed(packed_len(&ends))?;
        let result_len = |len, count| len - count * overhead;
        let decrypt = |message: &[u8], out: &mut [u8]| key.key.decrypt_into(&message[prefix_len..], aad, out);
        key.key.packed(data, offsets, &mut plain, result_len, decrypt)?;
        Ok((plain, ends))
    }
}

debug_fields!(KeyringDeterministicAead; |it| keys: it.keys.len(), primary: it.primary());
