//! Authenticated encryption of one message.

use crate::{Key, nonce};
use base::debug_fields;
use base::error::MessagePart;
use base::parallel::FreeThreads;
use base::{Error, Misuse, memory};
use providers::{AeadKey, InOut};
use providers::{Algorithm, Provider};
use std::num::NonZeroUsize;

pub mod batch;
pub(crate) mod deterministic;
pub mod packed;
mod usage;

use usage::Usage;

/// The length of the tag of every algorithm, in bytes.
const TAG_LEN: usize = 16;

/// An algorithm with a key. It can be shared between threads and used after a fork.
///
/// A *sealed* message is `nonce || ciphertext || tag` under a fresh random nonce. Functions named `encrypt` and
/// `decrypt` take the nonce from the caller, and a nonce must never be used twice with the same key.
///
/// ```
/// use sealane::{Aead, Algorithm, Key};
///
/// let aead = Aead::new(Algorithm::ChaCha20Poly1305, &Key::generate(32)?)?;
/// let sealed = aead.seal(b"hello", b"header")?;
/// assert_eq!(sealed.len(), 5 + aead.overhead());
/// assert_eq!(aead.open(&sealed, b"header")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Aead {
    algorithm: Algorithm,
    provider: Provider,
    variant: &'static str,
    nonce_len: usize,
    threads: Option<NonZeroUsize>,
    key: Box<dyn AeadKey>,
    /// `None` for algorithms whose random nonces need no limit.
    usage: Option<Usage>,
}

impl Aead {
    /// Expands a key with the provider that is selected on this machine: the process default, else
    /// `SEALANE_PROVIDER`, else the fastest one.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for a key that the algorithm does not take, [`Error::ProviderUnavailable`] if the
    /// selected provider cannot compute the algorithm or none can, [`Error::Environment`] if `SEALANE_PROVIDER` or
    /// `SEALANE_CPU` is invalid, and [`Error::SelfTest`] or [`Error::ProviderRefused`] if the provider fails.
    pub fn new(algorithm: Algorithm, key: &Key) -> Result<Self, Error> {
        Self::with_provider(algorithm, key, None)
    }

    /// Expands a key with `provider`, or as [`Self::new`] does if it is `None`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`]. [`Error::ProviderUnavailable`] lists the providers that can be used.
    pub fn with_provider(algorithm: Algorithm, key: &Key, provider: Option<Provider>) -> Result<Self, Error> {
        let entry = providers::choose(algorithm, provider)?;
        Ok(Self {
            algorithm,
            provider: entry.provider,
            variant: entry.variant(),
            nonce_len: algorithm.nonce_len(),
            threads: None,
            key: entry.key(key.as_bytes())?,
            usage: Usage::of(algorithm),
        })
    }

    /// Expands a key of XAES-256-GCM with a salt of `salt_len` bytes, 8 to 11, which are the beginning of the nonce.
    #[doc(hidden)]
    pub fn with_short_salt(salt_len: usize, key: &Key, provider: Option<Provider>) -> Result<Self, Error> {
        let whole = Self::with_provider(Algorithm::Xaes256Gcm, key, provider)?;
        Ok(Self {
            nonce_len: salt_len + Algorithm::Aes256Gcm.nonce_len(),
            key: providers::short_salt(whole.key, salt_len),
            ..whole
        })
    }

    /// Sets the number of threads that one long message or large batch may use, the calling thread included. The default is
    /// all that are free, up to 8. A message or batch of less than about 512 KiB uses one. So do messages of algorithms that
    /// cannot be divided: AEGIS, and those of providers other than native.
    #[must_use]
    pub fn with_threads(self, threads: NonZeroUsize) -> Self {
        Self { threads: Some(threads), ..self }
    }

    /// Returns whether a message of `len` bytes is divided between threads, if others than the calling one are free.
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
        FreeThreads::for_message(len, self.threads).is_some() && self.key.divides_messages()
    }

    /// Returns the algorithm that this key encrypts and decrypts messages with.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the provider that was chosen to compute the algorithm for this key.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Returns the variant of the provider that computes the algorithm, for example `"vaes512"`.
    pub fn variant(&self) -> &'static str {
        self.variant
    }

    /// Returns the length in bytes of a nonce, which must never be used twice with a key.
    #[inline]
    pub fn nonce_len(&self) -> usize {
        self.nonce_len
    }

    /// Returns the length in bytes of a tag, which authenticates a message.
    #[inline]
    pub fn tag_len(&self) -> usize {
        TAG_LEN
    }

    /// Returns the number of bytes by which a sealed message is longer than its plaintext: nonce and tag.
    #[inline]
    pub fn overhead(&self) -> usize {
        self.nonce_len + TAG_LEN
    }

    /// Returns the maximum length in bytes of a plaintext that one message can have.
    pub fn max_plaintext_len(&self) -> u64 {
        self.algorithm.max_plaintext_len()
    }

    /// Returns the number of messages that this object has sealed, for AES-GCM and ChaCha20-Poly1305; `None` for other
    /// algorithms, which need no limit. Threads count in blocks, so it can be up to twice the number, but not less.
    ///
    /// From 2^32 on, sealing is refused. Two of that many random nonces of 96 bits are equal with a probability of 2^-33, and
    /// a repeated nonce reveals the XOR of two messages and allows forgeries. The nonces of XChaCha20-Poly1305, XAES-256-GCM
    /// and AEGIS are longer. Those of AES-GCM-SIV may repeat: that reveals only whether two messages are equal.
    ///
    /// Other objects with the same key, also those of other processes, are not counted; see [`Self::count_messages`].
    pub fn sealed_messages(&self) -> Option<u64> {
        self.usage.as_ref().map(Usage::get)
    }

    /// Counts messages that other objects sealed under this key, for example before the process was started again.
    ///
    /// # Errors
    /// Returns [`Error::LimitExceeded`] if they would exceed 2^32 messages and the algorithm has a limit; see
    /// [`Self::sealed_messages`]. Nothing is counted then.
    pub fn count_messages(&self, messages: u64) -> Result<(), Error> {
        self.usage.as_ref().map_or(Ok(()), |usage| usage.count(messages))
    }

    /// Returns true once, when three quarters of 2^32 messages are counted. Then it is time to rotate the key.
    #[inline]
    pub fn take_limit_warning(&self) -> bool {
        self.usage.as_ref().is_some_and(Usage::take_warning)
    }

    // Sealed messages: nonce || ciphertext || tag.

    /// Seals `plaintext` under a fresh random nonce and returns the nonce, the ciphertext and the tag as one message.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if `plaintext` or `aad` is too long for the algorithm, [`Error::LimitExceeded`] if
    /// this object has sealed as many messages as [`Self::sealed_messages`] allows, and [`Error::Io`] if the operating
    /// system returns no random bytes.
    pub fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = memory::zeroed(plaintext.len() + self.overhead())?;
        self.seal_into(plaintext, &mut sealed, aad)?;
        Ok(sealed)
    }

    /// Opens a sealed message and returns its plaintext if the message and `aad` are authentic.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the message, the key or `aad` differs, and [`Error::MessageLength`] if the
    /// message is longer than the algorithm allows.
    pub fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut plaintext = memory::zeroed(sealed.len().saturating_sub(self.overhead()))?;
        self.open_into(sealed, &mut plaintext, aad)?;
        Ok(plaintext)
    }

    /// Seals into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`], and [`Misuse::OutputTooShort`]. Nothing is written then.
    pub fn seal_into(&self, plaintext: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize, Error> {
        let len = plaintext.len() + self.overhead();
        let out = memory::first(out, len)?;
        let (nonce, body) = out.split_at_mut(self.nonce_len);
        let (ciphertext, tag) = body.split_at_mut(plaintext.len());
        self.seal_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(len)
    }

    /// Seals in place. The plaintext is `buffer[nonce_len..][..len]`; the sealed message is the start of `buffer`, up to
    /// the returned length.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_into`].
    pub fn seal_in_place(&self, buffer: &mut [u8], len: usize, aad: &[u8]) -> Result<usize, Error> {
        // `len` is not trusted, so the sum saturates at a length that no buffer has.
        let total = len.saturating_add(self.overhead());
        let buffer = memory::first(buffer, total)?;
        let (nonce, body) = buffer.split_at_mut(self.nonce_len);
        let (data, tag) = body.split_at_mut(len);
        self.seal_parts(nonce, aad, InOut::in_place(data), tag)?;
        Ok(total)
    }

    /// Opens into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`], and [`Misuse::OutputTooShort`]. `out` has no plaintext then.
    pub fn open_into(&self, sealed: &[u8], out: &mut [u8], aad: &[u8]) -> Result<usize, Error> {
        let (nonce, ciphertext) = sealed.split_at_checked(self.nonce_len).ok_or(Error::Authentication)?;
        self.decrypt_into(nonce, ciphertext, aad, out)
    }

    /// Opens in place, so the plaintext replaces its ciphertext.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`]. After [`Error::Authentication`], the bytes between nonce and tag are zero.
    pub fn open_in_place<'a>(&self, sealed: &'a mut [u8], aad: &[u8]) -> Result<&'a mut [u8], Error> {
        let len = sealed.len().checked_sub(self.overhead()).ok_or(Error::Authentication)?;
        let (nonce, body) = sealed.split_at_mut(self.nonce_len);
        let (data, tag) = body.split_at_mut(len);
        self.decrypt_parts(nonce, aad, InOut::in_place(data), tag)?;
        Ok(data)
    }

    /// Returns a buffer for messages of up to `capacity` bytes of plaintext, which are sealed in place.
    pub fn buffer(&self, capacity: usize) -> Buffer<'_> {
        // bounded: the caller chooses the capacity, not an input.
        Buffer { aead: self, bytes: vec![0; capacity.saturating_add(self.overhead())] }
    }

    // Explicit nonces: ciphertext || tag.

    /// Encrypts under `nonce`, which must never be used twice with one key.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] if `nonce` does not have the length that the algorithm requires, and
    /// [`Error::MessageLength`] if `plaintext` or `aad` is too long.
    pub fn encrypt(&self, nonce: &[u8], plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = memory::zeroed(plaintext.len() + TAG_LEN)?;
        self.encrypt_into(nonce, plaintext, aad, &mut out)?;
        Ok(out)
    }

    /// Encrypts into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt`], and [`Misuse::OutputTooShort`] if `out` is too short.
    pub fn encrypt_into(
        &self,
        nonce: &[u8],
        plaintext: &[u8],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        let len = plaintext.len() + TAG_LEN;
        let (ciphertext, tag) = memory::first(out, len)?.split_at_mut(plaintext.len());
        self.encrypt_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(len)
    }

    /// Decrypts a ciphertext that was encrypted under `nonce`.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the ciphertext, the nonce, the key or `aad` differs, and the errors of
    /// [`Self::encrypt`].
    pub fn decrypt(&self, nonce: &[u8], ciphertext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = memory::zeroed(ciphertext.len().saturating_sub(TAG_LEN))?;
        self.decrypt_into(nonce, ciphertext, aad, &mut out)?;
        Ok(out)
    }

    /// Decrypts into the start of `out` and returns the number of bytes written.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`], and [`Misuse::OutputTooShort`]. `out` has no plaintext then.
    pub fn decrypt_into(
        &self,
        nonce: &[u8],
        ciphertext: &[u8],
        aad: &[u8],
        out: &mut [u8],
    ) -> Result<usize, Error> {
        self.check_nonce(nonce)?;
        let len = ciphertext.len().checked_sub(TAG_LEN).ok_or(Error::Authentication)?;
        let (ciphertext, tag) = ciphertext.split_at(len);
        let out = memory::first(out, len)?;
        self.decrypt_parts(nonce, aad, InOut::apart(ciphertext, out), tag)?;
        Ok(len)
    }

    // Nonce, data and tag in separate buffers. All calls above end here.

    /// Encrypts `data` under a fresh random nonce, and writes the nonce to `nonce` and the tag to `tag`.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] or [`Misuse::TagLength`] if `nonce` or `tag` does not have the length that the
    /// algorithm requires, and the errors of [`Self::seal`]. Nothing is written then.
    #[inline]
    pub fn seal_parts(
        &self,
        nonce: &mut [u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        // The slot for the nonce is checked first. In place, the plaintext would be lost otherwise.
        self.check(nonce, aad.len(), data.len())?;
        let tag = tag_array(tag)?;
        match self.nonce_len {
            12 => self.seal_fresh::<12>(nonce, aad, data, tag),
            16 => self.seal_fresh::<16>(nonce, aad, data, tag),
            24 => self.seal_fresh::<24>(nonce, aad, data, tag),
            32 => self.seal_fresh::<32>(nonce, aad, data, tag),
            len => {
                let mut fresh = [0; 32];
                let fresh = &mut fresh[..len];
                nonce::fill(fresh)?;
                self.seal_with(fresh, aad, data, tag)?;
                nonce.copy_from_slice(fresh);
                Ok(())
            }
        }
    }

    /// Encrypts `data` under a fresh random nonce of `N` bytes, and writes the nonce to `nonce`.
    #[inline(always)]
    fn seal_fresh<const N: usize>(
        &self,
        nonce: &mut [u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; TAG_LEN],
    ) -> Result<(), Error> {
        let got = nonce.len();
        let Some(slot) = nonce.first_chunk_mut::<N>() else {
            return Err(Misuse::NonceLength { got, want: N }.into());
        };
        if let Some(usage) = &self.usage {
            usage.count_one()?;
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

    /// Encrypts `data` under `nonce`, which must never be used twice with one key. Writes the tag to `tag`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal_parts`].
    #[inline(always)]
    pub fn encrypt_parts(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        self.check(nonce, aad.len(), data.len())?;
        self.seal_with(nonce, aad, data, tag_array(tag)?)
    }

    /// Encrypts a message whose lengths were checked, on as many threads as its length is worth.
    #[inline(always)]
    fn seal_with(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; TAG_LEN],
    ) -> Result<(), Error> {
        match FreeThreads::for_message(data.len(), self.threads) {
            None => self.key.seal(nonce, aad, data, tag)?,
            Some(threads) => self.key.seal_on(&threads, nonce, aad, data, tag)?,
        }
        Ok(())
    }

    /// Decrypts `data` if `tag` matches the nonce, the associated data and the ciphertext.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the tag does not match. The destination is zero then, or unchanged if the
    /// tag does not have 16 bytes. Also returns the errors of [`Self::encrypt`].
    #[inline(always)]
    pub fn decrypt_parts(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &[u8]) -> Result<(), Error> {
        self.check(nonce, aad.len(), data.len())?;
        // An attacker controls the length of the tag, so a wrong length is not distinguished from a wrong tag.
        let tag = tag.try_into().map_err(|_| Error::Authentication)?;
        match FreeThreads::for_message(data.len(), self.threads) {
            None => self.key.open(nonce, aad, data, tag)?,
            Some(threads) => self.key.open_on(&threads, nonce, aad, data, tag)?,
        }
        Ok(())
    }

    /// Checks the length of a nonce of the caller. Calls with a nonce check it before anything that an attacker controls.
    #[inline(always)]
    fn check_nonce(&self, nonce: &[u8]) -> Result<(), Error> {
        if nonce.len() == self.nonce_len {
            return Ok(());
        }
        Err(Misuse::NonceLength { got: nonce.len(), want: self.nonce_len }.into())
    }

    /// Checks the lengths of a message against the algorithm.
    #[inline(always)]
    fn check(&self, nonce: &[u8], aad_len: usize, len: usize) -> Result<(), Error> {
        self.check_nonce(nonce)?;
        self.check_lens(aad_len, len)
    }

    /// Checks the lengths of data and associated data.
    #[inline(always)]
    fn check_lens(&self, aad_len: usize, len: usize) -> Result<(), Error> {
        if len as u64 > self.algorithm.max_plaintext_len() {
            return Err(too_long(MessagePart::Data, len, self.algorithm.max_plaintext_len()));
        }
        if aad_len as u64 > self.algorithm.max_aad_len() {
            return Err(too_long(MessagePart::AssociatedData, aad_len, self.algorithm.max_aad_len()));
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

debug_fields!(Aead; |it| algorithm: it.algorithm.name(), provider: it.provider.name(), variant: it.variant);

/// A buffer for one message, which is filled by the caller and sealed without a copy. It is wiped on drop.
///
/// ```
/// # use sealane::{Aead, Algorithm, Key};
/// # let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32)?)?;
/// let mut buffer = aead.buffer(4096);
/// buffer.plaintext()[..5].copy_from_slice(b"hello");
/// let wire = buffer.seal(5, b"")?;
/// assert_eq!(aead.open(wire, b"")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Buffer<'a> {
    aead: &'a Aead,
    bytes: Vec<u8>,
}

impl Buffer<'_> {
    /// Returns the part of the buffer for the plaintext.
    pub fn plaintext(&mut self) -> &mut [u8] {
        let (from, to) = (self.aead.nonce_len, self.bytes.len() - TAG_LEN);
        &mut self.bytes[from..to]
    }

    /// Seals the first `len` bytes. The sealed message stays in the buffer until the next call.
    ///
    /// # Errors
    /// Returns [`Misuse::BufferTooShort`] if `len` exceeds the capacity, and the errors of [`Aead::seal`].
    pub fn seal(&mut self, len: usize, aad: &[u8]) -> Result<&[u8], Error> {
        let holds = self.plaintext().len();
        if len > holds {
            return Err(Misuse::BufferTooShort { got: holds, need: len }.into());
        }
        let total = self.aead.seal_in_place(&mut self.bytes, len, aad)?;
        Ok(&self.bytes[..total])
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.bytes);
    }
}

debug_fields!(Buffer<'_>; |it| aead: it.aead);

#[cfg(test)]
mod test {
    use super::*;

    /// Checked as numbers, because no test can process 64 GiB.
    #[test]
    fn the_longest_messages() {
        for &algorithm in Algorithm::ALL {
            let aead = Aead::new(algorithm, &Key::generate(algorithm.key_len()).unwrap()).unwrap();
            let nonce = vec![0; aead.nonce_len];
            let (data, aad) = (aead.max_plaintext_len() as usize, algorithm.max_aad_len() as usize);
            aead.check(&nonce, aad, data).unwrap();
            aead.check(&nonce, 0, 0).unwrap();
            let refused = |aad, data| match aead.check(&nonce, aad, data) {
                Err(Error::MessageLength { part, found, limit }) => (part, found - limit),
                other => panic!("{}: {other:?}", algorithm.name()),
            };
            assert_eq!(refused(0, data + 1), (MessagePart::Data, 1));
            assert_eq!(refused(0, data + 2), (MessagePart::Data, 2));
            if aad < usize::MAX - 1 {
                assert_eq!(refused(aad + 1, data), (MessagePart::AssociatedData, 1));
                assert_eq!(refused(aad + 2, data), (MessagePart::AssociatedData, 2));
            }
        }
    }

    #[test]
    fn a_buffer_seals_up_to_its_length() {
        let aead = Aead::new(Algorithm::Aes256Gcm, &Key::generate(32).unwrap()).unwrap();
        let mut buffer = aead.buffer(100);
        for len in [0, 1, 99, 100] {
            buffer.plaintext().fill(7);
            let wire = buffer.seal(len, b"aad").unwrap();
            assert_eq!(wire.len(), aead.overhead() + len);
            assert_eq!(aead.open(wire, b"aad").unwrap(), vec![7; len]);
        }
        for len in [101, 102, 1000] {
            let refused = buffer.seal(len, b"").map(<[u8]>::len);
            assert!(
                matches!(refused, Err(Error::Misuse(Misuse::BufferTooShort { got: 100, need })) if need == len)
            );
        }
    }
}
