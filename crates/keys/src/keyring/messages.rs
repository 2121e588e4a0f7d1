//! Messages under the keys of a keyring.
//!
//! ```text
//! message = prefix || nonce || ciphertext || tag
//! ```

use super::Keyring;
use super::kind::{KeyType, Purpose};
use super::prefixed::{PrefixedKeys, first_opened, messages, opened_one_by_one};
use base::debug_fields;
use base::{Error, Misuse, memory};
use messages::Aead;
use messages::aead::batch::{batch_aad, each_fresh};
use messages::aead::packed::{Offset, data_range, in_batch, index_of, longer, packed_len, shorter};
use providers::Provider;
use providers::{BatchAad, InOut};
use std::num::NonZeroUsize;
use zeroize::Zeroizing;

/// The keys of a keyring, expanded for messages. The primary key seals, and each enabled key opens.
///
/// It has the keys that the keyring had when it was made. It can be shared between threads and used after a fork.
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
    keys: PrefixedKeys<Aead>,
}

impl KeyringAead {
    /// Expands the enabled keys of a keyring, each with the provider that [`Aead::new`] chooses.
    ///
    /// # Errors
    /// Returns [`Misuse::UnsuitableKey`] for a keyring of another use, and the errors of [`Aead::new`].
    pub fn new(keyring: &Keyring) -> Result<Self, Error> {
        Self::with_provider(keyring, None)
    }

    /// Expands the enabled keys of a keyring with `provider`, or as [`Self::new`] does if it is `None`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`] and of [`Aead::with_provider`].
    pub fn with_provider(keyring: &Keyring, provider: Option<Provider>) -> Result<Self, Error> {
        const NOT_FOR_MESSAGES: Misuse = Misuse::UnsuitableKey(
            "expected a keyring of AEAD keys, for example aes-256-gcm; found AES-SIV or streaming keys",
        );
        if keyring.purpose() != Purpose::Messages {
            return Err(NOT_FOR_MESSAGES.into());
        }
        let keys = PrefixedKeys::expanded(keyring, |enabled| match *enabled.key_type {
            KeyType::Aead(algorithm) => Aead::with_provider(algorithm, enabled.key, provider),
            KeyType::XaesShortSalt(salt) => Aead::with_short_salt(salt.into(), enabled.key, provider),
            KeyType::AesSiv | KeyType::Streaming(_) => Err(NOT_FOR_MESSAGES.into()),
        });
        Ok(Self { keys: keys? })
    }

    /// Sets the number of threads that one long message or large batch may use; see [`Aead::with_threads`].
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { keys: self.keys.map(|key| key.with_threads(threads)) }
    }

    /// Returns the primary key, which seals. Its messages have no prefix if they are sealed with it directly.
    pub fn primary(&self) -> &Aead {
        &self.keys.primary().key
    }

    /// Returns the number of keys, which all can open messages.
    #[expect(clippy::len_without_is_empty, reason = "a keyring has a primary key")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of bytes before the ciphertext of a message that the primary key seals: prefix and nonce.
    #[inline]
    pub fn head_len(&self) -> usize {
        self.keys.primary().prefix().len() + self.primary().nonce_len()
    }

    /// Returns the number of bytes by which a message that the primary key seals is longer than its plaintext.
    #[inline]
    pub fn overhead(&self) -> usize {
        self.head_len() + self.primary().tag_len()
    }

    /// Seals `plaintext` with the primary key, and returns prefix, nonce, ciphertext and tag as one message.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal`].
    pub fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = memory::zeroed(plaintext.len() + self.overhead())?;
        self.seal_into(plaintext, &mut sealed, aad)?;
        Ok(sealed)
    }

    /// Seals into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal_into`].
    pub fn seal_into(&self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize, Error> {
        let len = plaintext.len() + self.overhead();
        let prefix = self.keys.primary().prefix();
        let (head, body) = memory::first(out, len)?.split_at_mut(prefix.len());
        self.primary().seal_into(plaintext, body, aad)?;
        head.copy_from_slice(prefix);
        Ok(len)
    }

    /// Encrypts `data` under a fresh random nonce. Writes prefix and nonce to `head`, and the tag to `tag`.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal_parts`]. Nothing is written then.
    pub fn seal_parts(
        &self,
        head: &mut [u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let (got, want) = (head.len(), self.head_len());
        if got != want {
            return Err(Misuse::NonceLength { got, want }.into());
        }
        let prefix = self.keys.primary().prefix();
        let (slot, nonce) = head.split_at_mut(prefix.len());
        self.primary().seal_parts(nonce, aad, data, tag)?;
        slot.copy_from_slice(prefix);
        Ok(())
    }

    /// Opens a message of any enabled key. The prefix tells which key, and keys without a prefix are tried in turn.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if no key opens the message with `aad`, and [`Error::MessageLength`] if no key opens
    /// it and it is longer than the algorithm of one of them allows.
    pub fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        first_opened(self.keys.candidates(sealed).map(|(key, sealed)| key.key.open(sealed, aad)))
    }

    /// Opens a message into the start of `out`, which is not shorter than the message. Returns the length of the plaintext.
    fn open_into(&self, sealed: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize, Error> {
        first_opened(self.keys.candidates(sealed).map(|(key, sealed)| key.key.open_into(sealed, out, aad)))
    }

    /// Returns the key of a message and the length of its prefix, if only one key can open it. Of the message, the first
    /// five bytes are enough.
    #[inline]
    pub fn only_candidate<'k>(&'k self, sealed: &[u8]) -> Option<(&'k Aead, usize)> {
        self.keys.only(sealed).map(|(key, _)| (&key.key, key.prefix().len()))
    }

    /// Seals each of `messages` with the primary key, with the associated data of the same index if there is any.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal_many`].
    pub fn seal_many(&self, messages: &[&[u8]], aads: Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>, Error> {
        let (prefix, aad) = (self.keys.primary().prefix(), batch_aad(aads, messages.len())?);
        let lens = messages.iter().map(|message| message.len() + self.overhead());
        each_fresh(lens, |sealed| {
            let mut bodies = memory::with_capacity(sealed.len())?;
            for sealed in sealed {
                let (slot, body) = sealed.split_at_mut(prefix.len());
                slot.copy_from_slice(prefix);
                bodies.push(body);
            }
            self.primary().seal_list(messages, aad, &mut bodies)
        })
    }

    /// Opens each of `sealed`, which any enabled keys sealed.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::open_many`]. No plaintext is left in memory then.
    pub fn open_many(&self, sealed: &[&[u8]], aads: Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>, Error> {
        if let Some((key, bodies)) = self.keys.common(sealed)? {
            return key.key.open_many(&bodies, aads);
        }
        let aad = batch_aad(aads, sealed.len())?;
        let mut opened = Zeroizing::new(memory::with_capacity(sealed.len())?);
        for (index, message) in sealed.iter().enumerate() {
            let plain = self.open(message, aad.of(index)).map_err(|error| in_batch(index, error))?;
            opened.push(plain);
        }
        Ok(std::mem::take(&mut *opened))
    }

    /// Seals packed messages with the primary key. Returns the sealed messages, packed, and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal_packed`].
    pub fn seal_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        let ends = longer(offsets, data.len(), self.overhead())?;
        let mut out = memory::zeroed(packed_len(&ends))?;
        let prefix = self.keys.primary().prefix();
        let mut bodies = pieces(&mut out, &ends)?;
        for body in &mut bodies {
            let (slot, rest) = std::mem::take(body).split_at_mut(prefix.len());
            slot.copy_from_slice(prefix);
            *body = rest;
        }
        self.primary().seal_list(&messages(data, offsets)?, BatchAad::Shared(aad), &mut bodies)?;
        Ok((out, ends))
    }

    /// Opens packed messages, which any enabled keys sealed. Returns the plaintexts, packed, and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::open_packed`]. No plaintext is left in memory then.
    pub fn open_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        data_range(offsets, data.len())?;
        let sealed = messages(data, offsets)?;
        if let Some((key, bodies)) = self.keys.common(&sealed)? {
            let ends = shorter(offsets, data.len(), key.prefix().len() + key.key.overhead())?;
            let mut plain = memory::zeroed(packed_len(&ends))?;
            key.key.open_list(&bodies, BatchAad::Shared(aad), &mut pieces(&mut plain, &ends)?)?;
            return Ok((plain, ends));
        }
        opened_one_by_one(&sealed, |message, out| self.open_into(message, out, aad))
    }
}

/// Divides the memory of packed results, the first of which is at its start.
fn pieces<'a, O: Offset>(mut out: &'a mut [u8], ends: &[O]) -> Result<Vec<&'a mut [u8]>, Error> {
    let mut pieces = memory::with_capacity(ends.len() - 1)?;
    for pair in ends.windows(2) {
        let (piece, rest) = out.split_at_mut(index_of(pair[1]) - index_of(pair[0]));
        pieces.push(piece);
        out = rest;
    }
    Ok(pieces)
}

debug_fields!(KeyringAead; |it| keys: it.keys.len(), primary: it.primary());
