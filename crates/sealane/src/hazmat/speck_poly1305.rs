//! Speck-Poly1305, as the Elixir library SpeckEx defines it.

use super::{ByteOrder, PIECE, Poly1305, Speck, SpeckSize, TAG_LEN};
use crate::error::MessagePart;
use crate::{Error, InOut, Misuse, nonce};
use providers::raw;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use zeroize::Zeroizing;

/// Speck in counter mode with a one-time Poly1305 key from the same stream, as SpeckEx has it:
/// `"speck128-256-poly1305"`.
///
/// With the keystream `ks` from `iv = nonce || 00000000` on: the one-time key is `ks[..32]`, the ciphertext
/// is the plaintext XOR `ks[32..]`, and the tag is over what RFC 8439 section 2.8 puts together. A *sealed*
/// message is `nonce || ciphertext || tag`, as with [`crate::Aead`].
///
/// **Prefer AES or ChaCha20.** Nobody has published an analysis of this construction. [`super::SpeckCtr`]
/// under the same key and iv has the same keystream: its user gives away the one-time key of a message here.
/// Never share a key between the two.
///
/// **Limits, enforced here.** With blocks of 128 bits: 2^36 - 32 bytes a message, so that the counter never
/// reaches the nonce, and 2^32 messages. With smaller blocks (see [`Aead::new_small_block`]): 2^(bits / 2)
/// blocks under one key, and a counter that never passes its end. What was sealed is counted in this object
/// only: whoever makes a second one from the same key has to count himself.
///
/// ```
/// use sealane::hazmat::{Aead, SpeckSize};
///
/// let aead = Aead::new(SpeckSize::from_name("speck128-256").unwrap(), &[7; 32])?;
/// let sealed = aead.seal(b"hello", b"header")?;
/// assert_eq!(aead.open(&sealed, b"header")?, b"hello");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Aead {
    speck: Speck,
    size: SpeckSize,
    nonce_len: usize,
    /// What was sealed: messages with large blocks, blocks with small ones.
    sealed: AtomicU64,
}

/// Bytes of the one-time key, where the keystream begins.
const ONE_TIME_KEY: usize = 32;
/// Bytes of the longest counter block.
const BLOCK: usize = 16;

impl Aead {
    /// With blocks of 128 bits and nonces of 12 bytes.
    ///
    /// # Errors
    /// [`Misuse::SmallBlock`] for the other sizes, [`Misuse::KeyLength`], [`Error::SelfTest`].
    pub fn new(size: SpeckSize, key: &[u8]) -> Result<Self, Error> {
        if size.block_len() < BLOCK {
            return Err(Misuse::SmallBlock(8 * size.block_len()).into());
        }
        Self::on(size, key, 12)
    }

    /// With blocks of 32 to 96 bits. **You do not want this**, unless you have to read what somebody wrote
    /// with it.
    ///
    /// The nonce is the whole counter block, and messages must not overlap: a message takes as many numbers,
    /// from its nonce on, as it has blocks together with the 32 bytes before it. So nonces are never made
    /// here: [`Aead::seal`] refuses, and [`Aead::encrypt`] does not.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Error::SelfTest`]; [`Misuse::LargeBlock`] for blocks of 128 bits.
    pub fn new_small_block(size: SpeckSize, key: &[u8]) -> Result<Self, Error> {
        if size.block_len() == BLOCK {
            return Err(Misuse::LargeBlock.into());
        }
        Self::on(size, key, size.block_len())
    }

    fn on(size: SpeckSize, key: &[u8], nonce_len: usize) -> Result<Self, Error> {
        let speck = Speck::new(size, key, ByteOrder::Big)?;
        Ok(Self { speck, size, nonce_len, sealed: AtomicU64::new(0) })
    }

    /// Which Speck it is.
    pub fn size(&self) -> SpeckSize {
        self.size
    }

    /// Which build computes it.
    pub fn variant(&self) -> &'static str {
        self.speck.variant()
    }

    /// Bytes of a nonce.
    pub fn nonce_len(&self) -> usize {
        self.nonce_len
    }

    /// Bytes of a tag.
    pub fn tag_len(&self) -> usize {
        TAG_LEN
    }

    /// Bytes by which a sealed message is longer than its plaintext: nonce and tag.
    pub fn overhead(&self) -> usize {
        self.nonce_len + TAG_LEN
    }

    /// The longest plaintext, in bytes.
    pub fn max_plaintext_len(&self) -> u64 {
        self.most() * self.size.block_len() as u64 - ONE_TIME_KEY as u64
    }

    /// The most blocks of a message. And what may be sealed under one key: as many messages, or blocks where
    /// they are small.
    fn most(&self) -> u64 {
        1 << if self.is_small() { 4 * self.size.block_len() } else { 32 }
    }

    fn is_small(&self) -> bool {
        self.size.block_len() < BLOCK
    }

    /// Seals `plaintext` under a fresh random nonce.
    ///
    /// # Errors
    /// [`Error::LimitExceeded`]; [`Misuse::NonceTooShortForRandom`] with small blocks.
    pub fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = vec![0; plaintext.len() + self.overhead()];
        let (nonce, body) = sealed.split_at_mut(self.nonce_len);
        let (ciphertext, tag) = body.split_at_mut(plaintext.len());
        self.seal_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(sealed)
    }

    /// Opens a sealed message.
    ///
    /// # Errors
    /// [`Error::Authentication`].
    pub fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let (nonce, ciphertext) = sealed.split_at_checked(self.nonce_len).ok_or(Error::Authentication)?;
        self.decrypt(nonce, ciphertext, aad)
    }

    /// Encrypts under the caller's nonce, which must never be used twice: `ciphertext || tag`.
    ///
    /// # Errors
    /// [`Misuse::NonceLength`], [`Error::LimitExceeded`].
    pub fn encrypt(&self, nonce: &[u8], plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; plaintext.len() + TAG_LEN];
        let (ciphertext, tag) = out.split_at_mut(plaintext.len());
        self.encrypt_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(out)
    }

    /// Decrypts under the caller's nonce.
    ///
    /// # Errors
    /// [`Error::Authentication`], [`Misuse::NonceLength`].
    pub fn decrypt(&self, nonce: &[u8], ciphertext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let len = ciphertext.len().checked_sub(TAG_LEN).ok_or(Error::Authentication)?;
        let (ciphertext, tag) = ciphertext.split_at(len);
        let mut out = vec![0; len];
        self.decrypt_parts(nonce, aad, InOut::apart(ciphertext, &mut out), tag)?;
        Ok(out)
    }

    /// Seals `data` under a fresh nonce, which is written to `nonce`; the tag goes to `tag`.
    ///
    /// # Errors
    /// As [`Self::seal`]; [`Misuse::NonceLength`] and [`Misuse::TagLength`] where `nonce` or `tag` has
    /// another length.
    pub fn seal_parts(
        &self,
        nonce: &mut [u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        if self.is_small() {
            return Err(Misuse::NonceTooShortForRandom.into());
        }
        let mut fresh = [0; BLOCK];
        let fresh = &mut fresh[..self.nonce_len];
        nonce::fill(fresh)?;
        if nonce.len() != fresh.len() {
            return Err(Misuse::NonceLength { got: nonce.len(), want: fresh.len() }.into());
        }
        self.encrypt_parts(fresh, aad, data, tag)?;
        nonce.copy_from_slice(fresh);
        Ok(())
    }

    /// Encrypts `data` under `nonce`; the tag goes to `tag`.
    ///
    /// # Errors
    /// As [`Self::encrypt`]; [`Misuse::TagLength`] where `tag` has another length.
    pub fn encrypt_parts(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let (message, blocks) = self.begin(nonce, data.len())?;
        let got = tag.len();
        let tag: &mut [u8; TAG_LEN] = tag.try_into().map_err(|_| Misuse::TagLength { got, want: TAG_LEN })?;
        let mut mac = message.mac(aad)?;
        self.count(if self.is_small() { blocks } else { 1 })?;
        let mut at = 0;
        while at < data.len() {
            let n = (data.len() - at).min(PIECE);
            message.xor(at, data.part(at, n))?;
            mac.update(data.part(at, n).target());
            at += n;
        }
        *tag = mac.finalize_aead(aad.len() as u64, data.len() as u64);
        Ok(())
    }

    /// Decrypts `data` if `tag` fits.
    ///
    /// # Errors
    /// [`Error::Authentication`]: the destination is zero. [`Misuse::NonceLength`], [`Error::LimitExceeded`].
    pub fn decrypt_parts(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let (message, _) = self.begin(nonce, data.len())?;
        let mut mac = message.mac(aad)?;
        mac.update(data.source());
        let right = mac.finalize_aead(aad.len() as u64, data.len() as u64);
        if !tag.try_into().is_ok_and(|tag| raw::equal(&right, tag)) {
            data.target().fill(0);
            return Err(Error::Authentication);
        }
        message.xor(0, data)
    }

    /// A message of `len` bytes, and how many blocks it takes.
    fn begin(&self, nonce: &[u8], len: usize) -> Result<(Message<'_>, u64), Error> {
        if nonce.len() != self.nonce_len {
            return Err(Misuse::NonceLength { got: nonce.len(), want: self.nonce_len }.into());
        }
        if len as u64 > self.max_plaintext_len() {
            let limit = self.max_plaintext_len().into();
            return Err(Error::MessageLength { part: MessagePart::Data, found: len as u128, limit });
        }
        let mut iv = [0; BLOCK];
        iv[..nonce.len()].copy_from_slice(nonce);
        let blocks = (len as u64 + ONE_TIME_KEY as u64).div_ceil(self.size.block_len() as u64);
        if self.is_small() {
            let first = u128::from_be_bytes(iv) >> (128 - 8 * nonce.len());
            if first + u128::from(blocks) > 1 << (8 * nonce.len()) {
                return Err(Error::LimitExceeded("from this nonce on, the counter would pass its end"));
            }
        }
        Ok((Message { speck: &self.speck, iv, block_len: self.size.block_len() }, blocks))
    }

    /// Counts what is about to be sealed.
    fn count(&self, more: u64) -> Result<(), Error> {
        let limit = self.most();
        let counted = self.sealed.fetch_update(Relaxed, Relaxed, |sealed| {
            sealed.checked_add(more).filter(|sealed| *sealed <= limit)
        });
        counted
            .map(drop)
            .map_err(|_| Error::LimitExceeded("this key has sealed as much as is safe: take another"))
    }
}

/// One message: its keystream.
struct Message<'a> {
    speck: &'a Speck,
    iv: [u8; BLOCK],
    block_len: usize,
}

impl Message<'_> {
    /// The authenticator, up to the data.
    fn mac(&self, aad: &[u8]) -> Result<Poly1305, Error> {
        let mut once = Zeroizing::new([0; ONE_TIME_KEY]);
        self.speck.xor_from(&self.iv[..self.block_len], 0, InOut::in_place(&mut *once))?;
        let mut mac = Poly1305::new(&*once)?;
        mac.update(aad).pad(aad.len() as u64);
        Ok(mac)
    }

    /// XORs the keystream from byte `at` of the data on.
    fn xor(&self, at: usize, data: InOut<'_>) -> Result<(), Error> {
        self.speck.xor_from(&self.iv[..self.block_len], (ONE_TIME_KEY + at) as u64, data)
    }
}

impl fmt::Debug for Aead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aead")
            .field("size", &self.size.name())
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn aead(name: &str) -> Aead {
        let size = SpeckSize::from_name(name).unwrap();
        let key: Vec<u8> = (0..size.key_len() as u8).collect();
        Aead::new(size, &key).or_else(|_| Aead::new_small_block(size, &key)).unwrap()
    }

    #[test]
    fn limits_by_name() {
        let longest = |name| aead(name).max_plaintext_len();
        assert_eq!(longest("speck128-256"), (1 << 36) - 32);
        assert_eq!(longest("speck64-128"), (8 << 32) - 32);
        assert_eq!(longest("speck32-64"), (4 << 16) - 32);
        assert_eq!([longest("speck48-72"), longest("speck96-96")], [(6 << 24) - 32, (12 << 48) - 32]);
    }

    #[test]
    fn messages_are_counted() {
        let a = aead("speck128-128");
        a.sealed.store((1 << 32) - 1, Relaxed);
        let sealed = a.seal(b"the last one", b"").unwrap();
        let (mut data, mut tag) = ([0xee; 5], [0xee; 16]);
        for _ in 0..2 {
            assert!(matches!(a.seal(b"", b""), Err(Error::LimitExceeded(_))));
            let refused = a.encrypt_parts(&[0; 12], b"", InOut::in_place(&mut data), &mut tag);
            assert!(matches!(refused, Err(Error::LimitExceeded(_))));
        }
        assert_eq!((data, tag), ([0xee; 5], [0xee; 16]), "written");
        assert_eq!(a.open(&sealed, b"").unwrap(), b"the last one");
    }

    #[test]
    fn small_blocks_are_counted() {
        let a = aead("speck32-64");
        // 2^16 blocks: 8 for the one-time key and 1 for data.
        a.sealed.store((1 << 16) - 9, Relaxed);
        assert!(a.encrypt(&[0; 4], &[0; 5], b"").is_err());
        a.encrypt(&[0; 4], &[0; 4], b"").unwrap();
        assert!(a.encrypt(&[0; 4], b"", b"").is_err());
        // The counter may reach its end, not pass it.
        let a = aead("speck32-64");
        let nonce = |before: u32| before.wrapping_neg().to_be_bytes();
        a.encrypt(&nonce(9), &[0; 4], b"").unwrap();
        for before in [8, 1] {
            assert!(matches!(a.encrypt(&nonce(before), &[0; 4], b""), Err(Error::LimitExceeded(_))));
        }
        assert!(matches!(a.seal(b"", b""), Err(Error::Misuse(Misuse::NonceTooShortForRandom))));
        let small = Aead::new(SpeckSize::from_name("speck64-96").unwrap(), &[0; 12]);
        assert!(matches!(small, Err(Error::Misuse(Misuse::SmallBlock(64)))));
    }
}
