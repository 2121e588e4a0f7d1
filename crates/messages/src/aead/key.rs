//! One key: its algorithm, its nonces, and its limits.

use super::usage::{Limit, Usage};
use crate::Key;
use crate::nonce::{self, BatchNonces};
use crate::prelude::*;
use base::error::MessagePart;
use base::parallel::FreeThreads;
use providers::BatchError;

/// Tag length of every algorithm, in bytes.
pub(crate) const TAG_LEN: usize = 16;
/// Length of the longest nonce, in bytes.
const MAX_NONCE_LEN: usize = 32;
/// Messages per call to the provider in a batch.
pub(super) const GROUP: usize = 64;

/// One key of [`MessageKeys`](super::MessageKeys).
///
/// A message is `head || ciphertext || tail`. The head is the nonce and the tail is the tag. A
/// deterministic algorithm has no nonce: its head is the tag, and its tail is empty.
pub struct MessageKey {
    key: Box<dyn AeadKey>,
    head_len: usize,
    tail_len: usize,
    max_plaintext_len: u64,
    max_aad_len: u64,
    pub(super) threads: Option<NonZeroUsize>,
    nonces: Nonces,
    limit: Limit,
    algorithm: &'static str,
    key_len: usize,
    provider: Provider,
    variant: &'static str,
}

/// Where the nonces for sealing come from.
enum Nonces {
    /// Random, or from the caller.
    Random,
    /// From the caller only, for this reason.
    OfCaller(Misuse),
    /// Nowhere: the head is the tag.
    None,
}

/// The direction of a batch.
#[derive(Clone, Copy)]
pub(super) enum Direction<'a> {
    /// Seal with these nonces.
    Seal(&'a BatchNonces),
    Open,
}

impl MessageKey {
    /// Expands a key with `provider`, or with the default one.
    #[doc(hidden)]
    pub fn new(algorithm: Algorithm, key: &Key, provider: Option<Provider>) -> Result<Self> {
        let entry = providers::choose(algorithm, provider)?;
        Ok(Self {
            key: entry.key(key.as_bytes())?,
            head_len: algorithm.nonce_len(),
            tail_len: TAG_LEN,
            max_plaintext_len: algorithm.max_plaintext_len(),
            max_aad_len: algorithm.max_aad_len(),
            threads: None,
            nonces: Nonces::Random,
            limit: Usage::of(algorithm).map_or(Limit::None, Limit::Random),
            algorithm: algorithm.name(),
            key_len: algorithm.key_len(),
            provider: entry.provider,
            variant: entry.variant(),
        })
    }

    /// Expands an XAES-256-GCM key with a salt of `salt_len` bytes (8 to 11) at the beginning of
    /// each nonce.
    #[doc(hidden)]
    pub fn with_short_salt(salt_len: usize, key: &Key, provider: Option<Provider>) -> Result<Self> {
        let whole = Self::new(Algorithm::Xaes256Gcm, key, provider)?;
        Ok(Self {
            head_len: salt_len + Algorithm::Aes256Gcm.nonce_len(),
            key: providers::short_salt(whole.key, salt_len),
            ..whole
        })
    }

    /// Makes a native key outside the tables of providers, with random 12-byte nonces and without
    /// limits.
    pub(crate) fn native(
        key: impl AeadKey + 'static,
        algorithm: &'static str,
        key_len: usize,
        variant: &'static str,
    ) -> Self {
        Self {
            key: Box::new(key),
            head_len: 12,
            tail_len: TAG_LEN,
            max_plaintext_len: u64::MAX,
            max_aad_len: u64::MAX,
            threads: None,
            nonces: Nonces::Random,
            limit: Limit::None,
            algorithm,
            key_len,
            provider: Provider::Native,
            variant,
        }
    }

    /// Makes the key deterministic: the tag is the head of a message, and there is no nonce.
    pub(crate) fn without_nonces(self) -> Self {
        Self { head_len: TAG_LEN, tail_len: 0, nonces: Nonces::None, ..self }
    }

    /// Sets the length of nonces, and why only the caller may choose them.
    pub(crate) fn with_nonces_of_caller(self, nonce_len: usize, reason: Misuse) -> Self {
        Self { head_len: nonce_len, nonces: Nonces::OfCaller(reason), ..self }
    }

    /// Sets the maximum length of a message, and what limits their number.
    pub(crate) fn with_limits(self, max_plaintext_len: u64, limit: Limit) -> Self {
        Self { max_plaintext_len, limit, ..self }
    }

    /// Returns the name of the algorithm, such as `"aes-256-gcm"`.
    pub fn algorithm(&self) -> &'static str {
        self.algorithm
    }

    /// Returns the key length of this algorithm in bytes.
    pub fn key_len(&self) -> usize {
        self.key_len
    }

    /// Returns the provider in use.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the provider's variant in use, such as `"vaes512"`.
    pub fn variant(&self) -> &'static str {
        self.variant
    }

    /// Returns the length before the ciphertext: the nonce, or a deterministic algorithm's
    /// synthetic IV.
    #[inline]
    pub fn nonce_len(&self) -> usize {
        self.head_len
    }

    /// Returns the length after the ciphertext: the tag, unless it is the synthetic IV.
    #[inline]
    pub fn tag_len(&self) -> usize {
        self.tail_len
    }

    /// Returns the difference in length between a sealed message and its plaintext.
    #[inline]
    pub fn overhead(&self) -> usize {
        self.head_len + self.tail_len
    }

    /// Returns the maximum plaintext length in bytes.
    pub fn max_plaintext_len(&self) -> u64 {
        self.max_plaintext_len
    }

    /// Returns whether a message of `len` bytes is divided between threads, if any are free.
    #[must_use]
    pub fn divides(&self, len: usize) -> bool {
        FreeThreads::for_message(len, self.threads).is_some() && self.key.divides_messages()
    }

    /// Returns the number of messages sealed; see
    /// [`MessageKeys::sealed_messages`](super::MessageKeys::sealed_messages).
    pub fn sealed_messages(&self) -> Option<u64> {
        if let Limit::Random(usage) = &self.limit { Some(usage.get()) } else { None }
    }

    /// Counts messages that other objects sealed under this key.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if they would exceed the limit, and counts none.
    pub fn count_messages(&self, messages: u64) -> Result<()> {
        match &self.limit {
            Limit::Random(usage) => usage.count(messages),
            Limit::Every(counter) => counter.count(messages),
            Limit::None => Ok(()),
        }
    }

    /// Returns true once, at 75 % of the message limit.
    #[inline]
    pub fn take_limit_warning(&self) -> bool {
        matches!(&self.limit, Limit::Random(usage) if usage.take_warning())
    }

    // One message in parts.

    /// Seals `data` under a fresh random nonce; writes head and tail.
    #[inline]
    pub(super) fn seal(&self, head: &mut [u8], aad: &[u8], data: InOut<'_>, tail: &mut [u8]) -> Result<()> {
        // Check the head first: in place, a later error would cost the plaintext.
        self.check(head, aad.len(), data.len())?;
        match &self.nonces {
            Nonces::Random => {}
            Nonces::OfCaller(reason) => return Err(reason.clone().into()),
            Nonces::None => return Ok(self.key.seal(&[], aad, data, tag_array(head)?)?),
        }
        let tag = tag_array(tail)?;
        match self.head_len {
            12 => self.seal_fresh::<12>(head, aad, data, tag),
            16 => self.seal_fresh::<16>(head, aad, data, tag),
            24 => self.seal_fresh::<24>(head, aad, data, tag),
            32 => self.seal_fresh::<32>(head, aad, data, tag),
            len => {
                let mut fresh = [0; MAX_NONCE_LEN];
                let fresh = &mut fresh[..len];
                nonce::fill(fresh)?;
                self.seal_with(fresh, aad, data, tag)?;
                head.copy_from_slice(fresh);
                Ok(())
            }
        }
    }

    /// Seals `data` under a fresh random nonce of `N` bytes; writes it to `nonce`.
    #[inline(always)]
    fn seal_fresh<const N: usize>(
        &self,
        nonce: &mut [u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; TAG_LEN],
    ) -> Result<()> {
        let got = nonce.len();
        let Some(slot) = nonce.first_chunk_mut::<N>() else {
            return Err(Misuse::NonceLength { got, want: N }.into());
        };
        match &self.limit {
            Limit::Random(usage) => usage.count_one()?,
            Limit::Every(counter) => counter.count(1)?,
            Limit::None => {}
        }
        if providers::FIPS
            && let Some(sealed) = self.key.seal_fresh(slot, aad, data.reborrow(), tag)
        {
            return Ok(sealed?);
        }
        let mut fresh = [0; N];
        nonce::fill_array(&mut fresh)?;
        self.seal_with(&fresh, aad, data, tag)?;
        *slot = fresh;
        Ok(())
    }

    /// Encrypts `data` under `nonce`; writes the tag to `tag`.
    #[inline(always)]
    pub(super) fn encrypt(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<()> {
        self.check(nonce, aad.len(), data.len())?;
        let tag = tag_array(tag)?;
        if let Limit::Every(counter) = &self.limit {
            counter.count_message(nonce, data.len())?;
        }
        self.seal_with(nonce, aad, data, tag)
    }

    /// Encrypts a message after its lengths were checked, on as many threads as it is worth.
    #[inline(always)]
    fn seal_with(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; TAG_LEN]) -> Result<()> {
        match FreeThreads::for_message(data.len(), self.threads) {
            None => self.key.seal(nonce, aad, data, tag)?,
            Some(threads) => self.key.seal_on(&threads, nonce, aad, data, tag)?,
        }
        Ok(())
    }

    /// Decrypts `data` if head (without a prefix) and tail authenticate it.
    ///
    /// # Errors
    /// Returns the errors of [`MessageKeys::decrypt_parts`](super::MessageKeys::decrypt_parts).
    #[inline(always)]
    pub fn decrypt_parts(&self, head: &[u8], aad: &[u8], data: InOut<'_>, tail: &[u8]) -> Result<()> {
        self.check(head, aad.len(), data.len())?;
        if let Limit::Every(counter) = &self.limit {
            counter.check_nonce(head, data.len())?;
        }
        let (nonce, tag) = if self.tail_len == 0 { (&[][..], head) } else { (head, tail) };
        // An attacker controls the tag's length, so we report a wrong length like a wrong tag.
        let tag = tag.try_into().map_err(|_| Error::Authentication)?;
        match FreeThreads::for_message(data.len(), self.threads) {
            None => self.key.open(nonce, aad, data, tag)?,
            Some(threads) => self.key.open_on(&threads, nonce, aad, data, tag)?,
        }
        Ok(())
    }

    // One whole message: head || ciphertext || tail.

    /// Opens a message without its prefix into the start of `out`. Returns the number of bytes
    /// written.
    ///
    /// # Errors
    /// Returns the errors of [`MessageKeys::open_into`](super::MessageKeys::open_into).
    #[inline]
    pub fn open_into(&self, sealed: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize> {
        let (head, body) = sealed.split_at_checked(self.head_len).ok_or(Error::Authentication)?;
        self.decrypt_into(head, body, aad, out)
    }

    /// Opens a message without its prefix.
    pub(super) fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = memory::zeroed(sealed.len().saturating_sub(self.overhead()))?;
        self.open_into(sealed, &mut plaintext, aad)?;
        Ok(plaintext)
    }

    /// Decrypts `ciphertext || tail` into the start of `out`.
    #[inline]
    pub(super) fn decrypt_into(&self, head: &[u8], body: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        self.check_head_len(head.len())?;
        let len = body.len().checked_sub(self.tail_len).ok_or(Error::Authentication)?;
        let (ciphertext, tail) = body.split_at(len);
        let out = memory::first(out, len)?;
        self.decrypt_parts(head, aad, InOut::apart(ciphertext, out), tail)?;
        Ok(len)
    }

    // Messages of a batch.

    /// Draws the nonces of `count` messages.
    pub(super) fn batch_nonces(&self, count: usize) -> Result<BatchNonces> {
        if let Nonces::OfCaller(reason) = &self.nonces {
            return Err(reason.clone().into());
        }
        self.count_messages(count as u64)?;
        BatchNonces::new(count.saturating_mul(self.batch_nonce_len()))
    }

    fn batch_nonce_len(&self) -> usize {
        if self.tail_len == 0 { 0 } else { self.head_len }
    }

    /// Processes at most [`GROUP`] messages without prefixes, from index `first` of the batch.
    pub(super) fn group(
        &self,
        direction: Direction<'_>,
        aad: BatchAad<'_>,
        first: usize,
        from: &[&[u8]],
        to: &mut [&mut [u8]],
    ) -> Result<()> {
        let aad = aad.from(first);
        let nonce_len = self.batch_nonce_len();
        match direction {
            // The module approves only nonces that it generates itself.
            Direction::Seal(_) if providers::FIPS => {
                from.iter().zip(to).enumerate().try_for_each(|(i, (from, to))| {
                    let (nonce, body) = to.split_at_mut(nonce_len);
                    let (data, tag) = body.split_at_mut(from.len());
                    let tag = tag_array(tag)?;
                    let sealed = self.key.seal_fresh(nonce, aad.of(i), InOut::apart(from, data), tag);
                    let sealed = sealed.ok_or(Error::NotApproved(self.algorithm))?;
                    sealed.map_err(|error| in_batch(first + i, error.into()))
                })
            }
            Direction::Seal(nonces) => {
                let mut bytes = [0; GROUP * MAX_NONCE_LEN];
                let bytes = &mut bytes[..from.len() * nonce_len];
                nonces.fill(first * nonce_len, bytes)?;
                self.key.seal_batch(bytes, aad, from, to).map_err(|error| of_message(first, error))
            }
            Direction::Open => {
                self.key.open_batch(nonce_len, aad, from, to).map_err(|error| of_message(first, error))
            }
        }
    }

    // Lengths.

    /// Checks the length of a head, before anything that an attacker controls.
    #[inline(always)]
    pub(super) fn check_head_len(&self, got: usize) -> Result<()> {
        let want = self.head_len;
        if got == want { Ok(()) } else { Err(Misuse::NonceLength { got, want }.into()) }
    }

    /// Checks the lengths of a message against the algorithm.
    #[inline(always)]
    pub(super) fn check(&self, head: &[u8], aad_len: usize, len: usize) -> Result<()> {
        self.check_head_len(head.len())?;
        self.check_lens(aad_len, len)
    }

    /// Checks the lengths of data and associated data.
    #[inline(always)]
    pub(super) fn check_lens(&self, aad_len: usize, len: usize) -> Result<()> {
        if len as u64 > self.max_plaintext_len {
            return Err(too_long(MessagePart::Data, len, self.max_plaintext_len));
        }
        if aad_len as u64 > self.max_aad_len {
            return Err(too_long(MessagePart::AssociatedData, aad_len, self.max_aad_len));
        }
        Ok(())
    }
}

#[cold]
fn too_long(part: MessagePart, found: usize, limit: u64) -> Error {
    Error::MessageLength { part, found: found as u128, limit: limit.into() }
}

#[inline]
fn tag_array(tag: &mut [u8]) -> Result<&mut [u8; TAG_LEN], Misuse> {
    let got = tag.len();
    // The conversion fails only if the length is wrong.
    tag.try_into().map_err(|_| Misuse::TagLength { got, want: TAG_LEN })
}

/// Returns the error of a message from its index relative to message `first`.
#[cold]
fn of_message<E: Into<Error>>(first: usize, error: BatchError<E>) -> Error {
    in_batch(first + error.index, error.error.into())
}

#[cold]
pub(super) fn in_batch(index: usize, error: Error) -> Error {
    Error::InBatch { index, source: Box::new(error) }
}

debug_fields!(MessageKey; |it| algorithm: it.algorithm, provider: it.provider.name(), variant: it.variant);
