//! Keys in one value: a single key, or several with the prefixes of their messages.
//!
//! ```text
//! message = prefix || head || ciphertext || tail
//! prefix  = 5 bytes, or empty
//! ```
//!
//! The first key seals, every key opens. The prefix is not authenticated: as in Tink, it only says
//! which key to try.

use super::key::{MessageKey, TAG_LEN, in_batch};
use super::packed::{Offset, Packed, data_range, index_of, offset};
use crate::prelude::*;

/// Prefix length in bytes.
const PREFIX_LEN: usize = 5;

/// A key and the prefix of its messages.
pub(super) struct Prefixed {
    pub(super) prefix: Option<[u8; PREFIX_LEN]>,
    pub(super) key: MessageKey,
}

impl Prefixed {
    #[inline]
    pub(super) fn prefix_len(&self) -> usize {
        self.prefix.map_or(0, |prefix| prefix.len())
    }

    #[inline]
    pub(super) fn overhead(&self) -> usize {
        self.prefix_len() + self.key.overhead()
    }

    /// Seals `data` into its parts. `head` begins with the prefix.
    #[inline(always)]
    fn seal(&self, head: &mut [u8], aad: &[u8], data: InOut<'_>, tail: &mut [u8]) -> Result<()> {
        match &self.prefix {
            None => self.key.seal(head, aad, data, tail),
            Some(prefix) => self.seal_prefixed(prefix, head, aad, data, tail),
        }
    }

    #[inline(never)]
    fn seal_prefixed(
        &self,
        prefix: &[u8],
        head: &mut [u8],
        aad: &[u8],
        data: InOut<'_>,
        tail: &mut [u8],
    ) -> Result<()> {
        let (got, want) = (head.len(), prefix.len() + self.key.nonce_len());
        if got != want {
            return Err(Misuse::NonceLength { got, want }.into());
        }
        let (slot, head) = head.split_at_mut(prefix.len());
        self.key.seal(head, aad, data, tail)?;
        slot.copy_from_slice(prefix);
        Ok(())
    }

    #[inline]
    fn seal_into(&self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize> {
        let len = plaintext.len() + self.overhead();
        let out = memory::first(out, len)?;
        let (head, body) = out.split_at_mut(self.prefix_len() + self.key.nonce_len());
        let (ciphertext, tail) = body.split_at_mut(plaintext.len());
        self.seal(head, aad, InOut::apart(plaintext, ciphertext), tail)?;
        Ok(len)
    }

    fn sealed(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut sealed = memory::zeroed(plaintext.len() + self.overhead())?;
        self.seal_into(plaintext, &mut sealed, aad)?;
        Ok(sealed)
    }
}

/// One or more keys for messages. The first one seals, each one opens.
///
/// [`Aead`](crate::Aead) and [`hazmat::Aead`](crate::hazmat::Aead) hold one key, `KeyringAead`
/// those of a keyring. All have the methods of this type. A *sealed* message is
/// `nonce || ciphertext || tag` under a fresh random nonce, after the prefix of the key, if any.
pub struct MessageKeys {
    pub(super) first: Prefixed,
    /// The other keys of a keyring; `None` without a keyring.
    others: Option<Vec<Prefixed>>,
}

impl From<MessageKey> for MessageKeys {
    fn from(key: MessageKey) -> Self {
        Self { first: Prefixed { prefix: None, key }, others: None }
    }
}

impl MessageKeys {
    /// Makes a value of several keys with their prefixes. Refuses nonces of the caller, because
    /// such a message does not tell its key.
    ///
    /// # Panics
    /// Panics if there is no key.
    #[doc(hidden)]
    pub fn with_prefixes(
        keys: impl Iterator<Item = Result<(Option<[u8; PREFIX_LEN]>, MessageKey)>>,
    ) -> Result<Self> {
        let mut keys = keys.map(|key| key.map(|(prefix, key)| Prefixed { prefix, key }));
        let first = keys.next().expect("a first key")?;
        Ok(Self { first, others: Some(keys.collect::<Result<_, _>>()?) })
    }

    /// Sets the maximum number of threads for a long message or a large batch, including the
    /// calling one. The default is all free threads, up to 8. A message or batch of less than about
    /// 512 KiB uses one. So do messages that cannot be divided: AEGIS, and every provider but
    /// native.
    #[must_use]
    pub fn with_threads(mut self, threads: NonZeroUsize) -> Self {
        self.first.key.threads = Some(threads);
        self.others.iter_mut().flatten().for_each(|other| other.key.threads = Some(threads));
        self
    }

    fn all(&self) -> impl Iterator<Item = &Prefixed> {
        std::iter::once(&self.first).chain(self.others.iter().flatten())
    }

    /// Returns the key that seals.
    #[inline]
    pub fn primary(&self) -> &MessageKey {
        &self.first.key
    }

    /// Returns the number of keys; each can open messages.
    #[expect(clippy::len_without_is_empty, reason = "there is a first key")]
    pub fn len(&self) -> usize {
        1 + self.others.as_ref().map_or(0, Vec::len)
    }

    /// Returns whether the keys come from a keyring, even if it has one.
    #[inline]
    pub fn is_keyring(&self) -> bool {
        self.others.is_some()
    }

    /// Returns the only key, for calls with a nonce.
    #[inline(always)]
    fn alone(&self) -> Result<&MessageKey, Misuse> {
        if self.others.is_none() { Ok(&self.first.key) } else { Err(Misuse::KeyringNonce) }
    }

    /// Returns whether a message of `len` bytes is divided between threads, if any are free.
    ///
    /// ```
    /// use sealane::{Aead, Algorithm, Key};
    ///
    /// let aegis = Aead::new(Algorithm::Aegis256, &Key::generate(32)?)?;
    /// assert!(!aegis.divides(1 << 30));
    /// # Ok::<(), sealane::Error>(())
    /// ```
    #[must_use]
    pub fn divides(&self, len: usize) -> bool {
        self.primary().divides(len)
    }

    /// Returns the provider in use.
    pub fn provider(&self) -> Provider {
        self.primary().provider()
    }

    /// Returns the provider's variant in use, such as `"vaes512"`.
    pub fn variant(&self) -> &'static str {
        self.primary().variant()
    }

    /// Returns the length of a nonce in bytes, with the prefix in a keyring. Never use a nonce
    /// twice with a key.
    #[inline]
    pub fn nonce_len(&self) -> usize {
        self.first.prefix_len() + self.primary().nonce_len()
    }

    /// Returns the length before the ciphertext of a sealed message: prefix and nonce.
    #[inline]
    pub fn head_len(&self) -> usize {
        self.nonce_len()
    }

    /// Returns the length of a tag in bytes.
    #[inline]
    pub fn tag_len(&self) -> usize {
        self.primary().tag_len()
    }

    /// Returns the difference in length between a sealed message and its plaintext.
    #[inline]
    pub fn overhead(&self) -> usize {
        self.first.overhead()
    }

    /// Returns the maximum plaintext length in bytes.
    pub fn max_plaintext_len(&self) -> u64 {
        self.primary().max_plaintext_len()
    }

    /// Returns the number of messages sealed by this object under AES-GCM or ChaCha20-Poly1305, or
    /// `None`: other algorithms need no limit. Threads count in blocks, so the result may be up to
    /// twice too high, but is never too low.
    ///
    /// From 2^32 on, sealing is refused: of that many random 96-bit nonces, two are equal with a
    /// probability of 2^-33, and a repeated nonce reveals the XOR of two messages and allows
    /// forgeries. XChaCha20-Poly1305, XAES-256-GCM and AEGIS have longer nonces. Those of
    /// AES-GCM-SIV may repeat, which reveals only whether two messages are equal.
    ///
    /// Other objects with the same key, in this or other processes, are not counted; see
    /// [`Self::count_messages`].
    pub fn sealed_messages(&self) -> Option<u64> {
        self.primary().sealed_messages()
    }

    /// Counts messages that other objects sealed under this key, for example before a restart.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if the algorithm has a limit and they would exceed it (2^32
    /// messages, see [`Self::sealed_messages`]), and counts none.
    pub fn count_messages(&self, messages: u64) -> Result<()> {
        self.primary().count_messages(messages)
    }

    /// Returns true once, at 75 % of the limit of 2^32 messages: time to rotate the key.
    #[inline]
    pub fn take_limit_warning(&self) -> bool {
        self.primary().take_limit_warning()
    }

    // Sealed messages: prefix || nonce || ciphertext || tag.

    /// Seals `plaintext` under a fresh random nonce. Returns nonce, ciphertext and tag as one
    /// message.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if `plaintext` or `aad` is too long for the algorithm,
    /// [`Error::LimitExceeded`] at the limit of [`Self::sealed_messages`], [`Error::Io`] if the
    /// operating system returns no random bytes, and [`Misuse::NonceTooShortForRandom`] or
    /// [`Misuse::CounterBlockForRandom`] if the caller must choose the nonce.
    pub fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        self.first.sealed(plaintext, aad)
    }

    /// Seals with each key, the primary key first.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`].
    pub fn seal_with_all_keys(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.all().map(|key| key.sealed(plaintext, aad)).collect()
    }

    /// Opens a sealed message. Returns the plaintext if the message and `aad` are authentic. The
    /// prefix selects the key of a keyring; keys without a prefix are tried in turn.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the message, the key or `aad` is wrong, and
    /// [`Error::MessageLength`] if the message is longer than the algorithm allows.
    pub fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        if self.others.is_none() {
            return self.first.key.open(sealed, aad);
        }
        first_opened(self.candidates(sealed).map(|(key, sealed)| key.key.open(sealed, aad)))
    }

    /// Seals into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`] and [`Misuse::OutputTooShort`], and writes nothing.
    // Inlined into its callers, calls of 64 bytes take up to 7 % longer.
    #[inline(never)]
    pub fn seal_into(&self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize> {
        self.first.seal_into(plaintext, out, aad)
    }

    /// Opens into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`] and [`Misuse::OutputTooShort`], and leaves no plaintext
    /// in `out`.
    pub fn open_into(&self, sealed: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize> {
        if self.others.is_none() {
            return self.first.key.open_into(sealed, out, aad);
        }
        match self.only(sealed) {
            Some((key, body)) => key.key.open_into(body, out, aad),
            None => {
                // The length depends on the key, so copy the plaintext once the key is known.
                let plaintext = Zeroizing::new(self.open(sealed, aad)?);
                memory::first(out, plaintext.len())?.copy_from_slice(&plaintext);
                Ok(plaintext.len())
            }
        }
    }

    /// Seals in place. The plaintext is `buffer[nonce_len..][..len]`; the sealed message is the
    /// start of `buffer`, up to the returned length.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_into`].
    pub fn seal_in_place(&self, buffer: &mut [u8], len: usize, aad: &[u8]) -> Result<usize> {
        // `len` is not trusted: the sum saturates at a length that no buffer has.
        let total = len.saturating_add(self.overhead());
        let (head, body) = memory::first(buffer, total)?.split_at_mut(self.head_len());
        let (data, tail) = body.split_at_mut(len);
        self.first.seal(head, aad, InOut::in_place(data), tail)?;
        Ok(total)
    }

    /// Opens in place: the plaintext replaces its ciphertext.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`]. After [`Error::Authentication`], the bytes between
    /// nonce and tag are zero, unless several keys of a keyring may have sealed the message.
    pub fn open_in_place<'a>(&self, sealed: &'a mut [u8], aad: &[u8]) -> Result<&'a mut [u8]> {
        let Some((key, prefix_len)) = self.only_candidate(sealed) else {
            let plaintext = Zeroizing::new(self.open(sealed, aad)?);
            let data = &mut sealed[..plaintext.len()];
            data.copy_from_slice(&plaintext);
            return Ok(data);
        };
        let body = sealed.get_mut(prefix_len..).ok_or(Error::Authentication)?;
        let len = body.len().checked_sub(key.overhead()).ok_or(Error::Authentication)?;
        let (head, body) = body.split_at_mut(key.nonce_len());
        let (data, tail) = body.split_at_mut(len);
        key.decrypt_parts(head, aad, InOut::in_place(data), tail)?;
        Ok(data)
    }

    // Explicit nonces: ciphertext || tag.

    /// Encrypts under `nonce`. Never use a nonce twice with the same key.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] if `nonce` has the wrong length, [`Error::MessageLength`] if
    /// `plaintext` or `aad` is too long, and [`Misuse::KeyringNonce`] with a keyring.
    pub fn encrypt(&self, nonce: &[u8], plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut out = memory::zeroed(plaintext.len() + TAG_LEN)?;
        self.encrypt_into(nonce, plaintext, aad, &mut out)?;
        Ok(out)
    }

    /// Encrypts into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt`] and [`Misuse::OutputTooShort`].
    pub fn encrypt_into(&self, nonce: &[u8], plaintext: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        let len = plaintext.len() + TAG_LEN;
        let (ciphertext, tag) = memory::first(out, len)?.split_at_mut(plaintext.len());
        self.encrypt_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(len)
    }

    /// Decrypts a ciphertext made under `nonce`.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the ciphertext, the nonce, the key or `aad` is wrong,
    /// and the errors of [`Self::encrypt`].
    pub fn decrypt(&self, nonce: &[u8], ciphertext: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut out = memory::zeroed(ciphertext.len().saturating_sub(TAG_LEN))?;
        self.decrypt_into(nonce, ciphertext, aad, &mut out)?;
        Ok(out)
    }

    /// Decrypts into the start of `out`. Returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`] and [`Misuse::OutputTooShort`], and leaves no
    /// plaintext in `out`.
    pub fn decrypt_into(&self, nonce: &[u8], ciphertext: &[u8], aad: &[u8], out: &mut [u8]) -> Result<usize> {
        self.alone()?.decrypt_into(nonce, ciphertext, aad, out)
    }

    /// Checks the length of a caller's nonce; [`Self::decrypt`] does so before anything that an
    /// attacker controls.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] and [`Misuse::KeyringNonce`].
    #[inline]
    pub fn check_nonce_len(&self, nonce_len: usize) -> Result<()> {
        self.alone()?.check_head_len(nonce_len)
    }

    // Nonce, data and tag in separate buffers.

    /// Encrypts `data` under a fresh random nonce; writes prefix and nonce to `nonce`, the tag to
    /// `tag`.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] or [`Misuse::TagLength`] if `nonce` or `tag` has the wrong
    /// length, and the errors of [`Self::seal`]. Writes nothing on error.
    #[inline]
    pub fn seal_parts(&self, nonce: &mut [u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<()> {
        self.first.seal(nonce, aad, data, tag)
    }

    /// Encrypts `data` under `nonce`; writes the tag to `tag`. Never use a nonce twice with the
    /// same key.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt`] and [`Misuse::TagLength`].
    #[inline(always)]
    pub fn encrypt_parts(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8]) -> Result<()> {
        self.alone()?.encrypt(nonce, aad, data, tag)
    }

    /// Decrypts `data` if `tag` matches the nonce, the associated data and the ciphertext.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the tag does not match, and leaves a zero destination,
    /// or an unchanged one if the tag does not have 16 bytes. Also returns the errors of
    /// [`Self::encrypt`].
    #[inline(always)]
    pub fn decrypt_parts(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8]) -> Result<()> {
        self.alone()?.decrypt_parts(nonce, aad, data, tag)
    }

    // The key of a message.

    /// Returns the key of a message and the length of its prefix, if only one key can open it. The
    /// first five bytes of the message are enough.
    #[inline]
    pub fn only_candidate(&self, sealed: &[u8]) -> Option<(&MessageKey, usize)> {
        if self.others.is_none() {
            return Some((&self.first.key, 0));
        }
        self.only(sealed).map(|(key, _)| (&key.key, key.prefix_len()))
    }

    /// Returns the difference in length between each sealed message and its plaintext, if one key
    /// sealed them all.
    #[inline]
    pub fn common_overhead(&self, sealed: &[&[u8]]) -> Option<usize> {
        self.common(sealed.iter().copied()).map(Prefixed::overhead)
    }

    /// Returns the keys that may have sealed a message, each with the message without its prefix.
    /// As in Tink, keys with the message's prefix come first.
    fn candidates<'k, 'm>(&'k self, sealed: &'m [u8]) -> impl Iterator<Item = (&'k Prefixed, &'m [u8])> {
        let (prefix, rest) = match sealed.split_first_chunk() {
            Some((prefix, rest)) => (Some(*prefix), rest),
            None => (None, sealed),
        };
        let prefixed = self.all().filter(move |key| key.prefix.is_some() && key.prefix == prefix);
        let raw = self.all().filter(|key| key.prefix.is_none());
        prefixed.map(move |key| (key, rest)).chain(raw.map(move |key| (key, sealed)))
    }

    /// Returns the key that sealed a message, and the message without its prefix, if only one key
    /// is possible.
    fn only<'k, 'm>(&'k self, sealed: &'m [u8]) -> Option<(&'k Prefixed, &'m [u8])> {
        let mut candidates = self.candidates(sealed);
        candidates.next().filter(|_| candidates.next().is_none())
    }

    /// Returns the key of all messages of a batch, if one key sealed them all.
    pub(super) fn common<'m>(&self, mut sealed: impl Iterator<Item = &'m [u8]>) -> Option<&Prefixed> {
        if self.others.is_none() {
            return Some(&self.first);
        }
        let (first, _) = self.only(sealed.next()?)?;
        sealed
            .all(|sealed| self.only(sealed).is_some_and(|(key, _)| std::ptr::eq(key, first)))
            .then_some(first)
    }

    /// Opens messages one after the other, as their keys may differ.
    pub(super) fn open_each(&self, sealed: &[&[u8]], aad: BatchAad<'_>) -> Result<Vec<Vec<u8>>> {
        let mut opened = Zeroizing::new(memory::with_capacity(sealed.len())?);
        for (index, message) in sealed.iter().enumerate() {
            let plain = self.open(message, aad.of(index)).map_err(|error| in_batch(index, error))?;
            opened.push(plain);
        }
        Ok(std::mem::take(&mut *opened))
    }

    /// Opens packed messages like [`Self::open_each`]. Returns the packed plaintexts and their
    /// offsets.
    pub(super) fn open_each_packed<O: Offset>(
        &self,
        data: &[u8],
        offsets: &[O],
        aad: &[u8],
    ) -> Result<Packed<O>> {
        // Plaintexts are shorter than messages, so they and their offsets fit.
        let mut plain = Zeroizing::new(memory::zeroed(data_range(offsets, data.len())?.len())?);
        let (mut ends, mut end) = (memory::with_capacity(offsets.len())?, 0);
        ends.push(offset(0)?);
        for (index, pair) in offsets.windows(2).enumerate() {
            let candidates = self.candidates(&data[index_of(pair[0])..index_of(pair[1])]);
            let out = &mut plain[end..];
            let opened = first_opened(candidates.map(|(key, sealed)| key.key.open_into(sealed, out, aad)));
            end += opened.map_err(|error| in_batch(index, error))?;
            ends.push(offset(end)?);
        }
        plain.truncate(end);
        Ok((std::mem::take(&mut *plain), ends))
    }
}

/// Returns the result of the first key that opens the message.
///
/// # Errors
/// Returns [`Error::MessageLength`] if no key opens it and it is too long for one of them, else
/// [`Error::Authentication`]. Any other error is not about a key and ends the search.
fn first_opened<T>(attempts: impl Iterator<Item = Result<T>>) -> Result<T> {
    let mut refused = Error::Authentication;
    for attempt in attempts {
        match attempt {
            Err(Error::Authentication) => {}
            Err(too_long @ Error::MessageLength { .. }) => refused = too_long,
            ended => return ended,
        }
    }
    Err(refused)
}

debug_fields!(MessageKeys; |it| keys: it.len(), primary: it.primary());

#[cfg(test)]
mod test {
    use super::*;
    use base::error::MessagePart;

    /// A message is too long for an algorithm from 64 GiB on; no test has that much.
    #[test]
    fn a_key_that_refuses_the_length_does_not_end_the_search() {
        let too_long = || Err(Error::MessageLength { part: MessagePart::Data, found: 2, limit: 1 });
        let refused = || Err(Error::Authentication);
        let found = |attempts: [Result<u8>; 3]| first_opened(attempts.into_iter());
        assert_eq!(found([too_long(), refused(), Ok(7)]).unwrap(), 7);
        for attempts in [[too_long(), refused(), refused()], [refused(), too_long(), refused()]] {
            assert!(matches!(found(attempts), Err(Error::MessageLength { found: 2, .. })));
        }
        assert!(matches!(found([refused(), refused(), refused()]), Err(Error::Authentication)));
        let ended = found([refused(), Err(Error::OutOfMemory { bytes: 1 }), Ok(7)]);
        assert!(matches!(ended, Err(Error::OutOfMemory { .. })));
    }
}
