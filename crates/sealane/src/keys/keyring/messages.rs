//! Messages under the keys of a keyring.
//!
//! ```text
//! message = prefix || nonce || ciphertext || tag
//! prefix  = 01 || id[4, big-endian]   TINK
//!           00 || id[4, big-endian]   CRUNCHY, LEGACY
//!           empty                     RAW
//! ```
//!
//! The prefix is not authenticated. It only tells which key to try, as in Tink.

use super::Keyring;
use super::kind::{KeyType, Purpose};
use crate::aead::packed::{Offset, data_range, in_batch, index_of, longer};
use crate::{Aead, Error, Misuse, Provider, memory};
use providers::InOut;
use std::num::NonZeroUsize;

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
    /// The enabled keys, the primary key first.
    keys: Vec<PrefixedKey>,
}

/// A key with the bytes before each of its messages.
struct PrefixedKey {
    prefix: Option<[u8; PREFIX_LEN]>,
    aead: Aead,
}

const PREFIX_LEN: usize = 5;

/// The key of all messages of a batch, and the messages without their prefixes.
type CommonKey<'a> = (&'a Aead, Vec<&'a [u8]>);

impl PrefixedKey {
    fn prefix(&self) -> &[u8] {
        self.prefix.as_ref().map_or(&[], |prefix| prefix)
    }
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
        let keys = keyring.enabled().map(|enabled| {
            let aead = match *enabled.key_type {
                KeyType::Aead(algorithm) => Aead::with_provider(algorithm, enabled.key, provider)?,
                KeyType::XaesShortSalt(salt) => Aead::with_short_salt(salt.into(), enabled.key, provider)?,
                KeyType::AesSiv | KeyType::Streaming(_) => return Err(NOT_FOR_MESSAGES.into()),
            };
            Ok(PrefixedKey { prefix: enabled.prefix.bytes(enabled.id), aead })
        });
        Ok(Self { keys: keys.collect::<Result<_, Error>>()? })
    }

    /// Sets the number of threads that one long message or large batch may use; see [`Aead::with_threads`].
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        let keys = self.keys.into_iter();
        Self { keys: keys.map(|key| PrefixedKey { aead: key.aead.with_threads(threads), ..key }).collect() }
    }

    /// Returns the primary key, which seals. Its messages have no prefix if they are sealed with it directly.
    pub fn primary(&self) -> &Aead {
        &self.keys[0].aead
    }

    /// Returns the number of keys, which all can open messages.
    #[expect(clippy::len_without_is_empty, reason = "a keyring has a primary key")]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the number of bytes before the ciphertext of a message that the primary key seals: prefix and nonce.
    #[inline]
    pub fn head_len(&self) -> usize {
        self.keys[0].prefix().len() + self.primary().nonce_len()
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
        let prefix = self.keys[0].prefix();
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
        let prefix = self.keys[0].prefix();
        let (slot, nonce) = head.split_at_mut(prefix.len());
        self.primary().seal_parts(nonce, aad, data, tag)?;
        slot.copy_from_slice(prefix);
        Ok(())
    }

    /// Opens a message of any enabled key. The prefix tells which key, and keys without a prefix are tried in turn.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if no key opens the message with `aad`, and [`Error::MessageLength`] if it is
    /// longer than its algorithm allows.
    pub fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        for (aead, sealed) in self.candidates(sealed) {
            match aead.open(sealed, aad) {
                Err(Error::Authentication) => {}
                opened => return opened,
            }
        }
        Err(Error::Authentication)
    }

    /// Returns the key of a message and the message without its prefix, if only one key can open it.
    #[inline]
    pub fn only_candidate<'a>(&'a self, sealed: &'a [u8]) -> Option<(&'a Aead, &'a [u8])> {
        let mut candidates = self.candidates(sealed);
        match (candidates.next(), candidates.next()) {
            (only, None) => only,
            _ => None,
        }
    }

    /// Returns the keys that can have sealed a message, each with the message without its prefix. As in Tink, keys with the
    /// prefix of the message come first.
    #[inline]
    fn candidates<'a>(&'a self, sealed: &'a [u8]) -> impl Iterator<Item = (&'a Aead, &'a [u8])> {
        let (prefix, rest) = match sealed.split_first_chunk() {
            Some((prefix, rest)) => (Some(*prefix), rest),
            None => (None, sealed),
        };
        let prefixed = self.keys.iter().filter(move |key| key.prefix.is_some() && key.prefix == prefix);
        let raw = self.keys.iter().filter(|key| key.prefix.is_none());
        prefixed.map(move |key| (&key.aead, rest)).chain(raw.map(move |key| (&key.aead, sealed)))
    }

    /// Seals each of `messages` with the primary key, with the associated data of the same index if there is any.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::seal_many`].
    pub fn seal_many(&self, messages: &[&[u8]], aads: Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>, Error> {
        let prefix = self.keys[0].prefix();
        let mut sealed: Vec<Vec<u8>> = memory::with_capacity(messages.len())?;
        for message in messages {
            let mut out = memory::zeroed(message.len() + self.overhead())?;
            out[..prefix.len()].copy_from_slice(prefix);
            sealed.push(out);
        }
        let mut bodies: Vec<&mut [u8]> = memory::with_capacity(sealed.len())?;
        bodies.extend(sealed.iter_mut().map(|sealed| &mut sealed[prefix.len()..]));
        self.primary().seal_many_into(messages, aads, &mut bodies)?;
        Ok(sealed)
    }

    /// Opens each of `sealed`, which any enabled keys sealed.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::open_many`].
    pub fn open_many(&self, sealed: &[&[u8]], aads: Option<&[&[u8]]>) -> Result<Vec<Vec<u8>>, Error> {
        if let Some((aead, bodies)) = self.common_candidate(sealed)? {
            return aead.open_many(&bodies, aads);
        }
        let (got, want) = (aads.map_or(sealed.len(), <[_]>::len), sealed.len());
        if got != want {
            return Err(Misuse::CountPerMessage { part: "associated data", got, want }.into());
        }
        let mut opened = memory::with_capacity(sealed.len())?;
        for (index, message) in sealed.iter().enumerate() {
            let aad = aads.map_or(&[][..], |aads| aads[index]);
            opened.push(self.open(message, aad).map_err(|error| in_batch(index, error))?);
        }
        Ok(opened)
    }

    /// Returns the key of all messages and the messages without their prefixes, if one key sealed all of them.
    fn common_candidate<'a>(&'a self, sealed: &[&'a [u8]]) -> Result<Option<CommonKey<'a>>, Error> {
        let mut bodies = memory::with_capacity(sealed.len())?;
        let mut common: Option<&Aead> = None;
        for message in sealed {
            let Some((aead, body)) = self.only_candidate(message) else { return Ok(None) };
            if !std::ptr::eq(*common.get_or_insert(aead), aead) {
                return Ok(None);
            }
            bodies.push(body);
        }
        Ok(common.map(|aead| (aead, bodies)))
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
        let offsets_of_result = longer(offsets, data.len(), self.overhead())?;
        let mut out = memory::zeroed(offsets_of_result.last().map_or(0, |&last| index_of(last)))?;
        let (prefix, count) = (self.keys[0].prefix(), offsets.len() - 1);
        let (mut messages, mut bodies) = (memory::with_capacity(count)?, memory::with_capacity(count)?);
        let mut rest = &mut out[..];
        for pair in offsets.windows(2) {
            let message = &data[index_of(pair[0])..index_of(pair[1])];
            let (sealed, after) = rest.split_at_mut(message.len() + self.overhead());
            let (slot, body) = sealed.split_at_mut(prefix.len());
            slot.copy_from_slice(prefix);
            messages.push(message);
            bodies.push(body);
            rest = after;
        }
        let aads = vec![aad; if aad.is_empty() { 0 } else { count }];
        self.primary().seal_many_into(&messages, (!aads.is_empty()).then_some(&aads), &mut bodies)?;
        Ok((out, offsets_of_result))
    }

    /// Opens packed messages, which any enabled keys sealed. Returns the plaintexts, packed, and their offsets.
    ///
    /// # Errors
    /// Returns the errors of [`Aead::open_packed`].
    pub fn open_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<(Vec<u8>, Vec<O>), Error> {
        let range = data_range(offsets, data.len())?;
        let mut sealed = memory::with_capacity(offsets.len() - 1)?;
        sealed.extend(offsets.windows(2).map(|pair| &data[index_of(pair[0])..index_of(pair[1])]));
        let aads = vec![aad; if aad.is_empty() { 0 } else { sealed.len() }];
        let opened = self.open_many(&sealed, (!aads.is_empty()).then_some(&aads))?;
        // The plaintexts are shorter than the messages, so neither they nor their offsets are too long.
        let (mut plain, mut ends) =
            (memory::with_capacity(range.len())?, memory::with_capacity(offsets.len())?);
        ends.push(O::try_from(0).map_err(|_| Error::LimitExceeded(O::LIMIT))?);
        for message in &opened {
            plain.extend_from_slice(message);
            // See above: the conversion cannot fail.
            ends.push(O::try_from(plain.len() as i64).map_err(|_| Error::LimitExceeded(O::LIMIT))?);
        }
        Ok((plain, ends))
    }
}

debug_fields!(KeyringAead; |it| keys: it.keys.len(), primary: it.primary());
