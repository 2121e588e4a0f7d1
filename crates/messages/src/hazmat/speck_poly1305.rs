//! Speck-Poly1305 as the Elixir library SpeckEx defines it.

use super::{ByteOrder, PIECE, Poly1305, Speck, SpeckSize, TAG_LEN};
use crate::nonce;
use base::debug_fields;
use base::error::MessagePart;
use base::{Error, Misuse, memory};
use providers::InOut;
use providers::{SourceCopy, raw};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use zeroize::Zeroizing;

/// The AEAD of SpeckEx: Speck in counter mode with a one-time Poly1305 key from the same keystream, for example
/// `"speck128-256-poly1305"`.
///
/// Let `ks` be the keystream from `iv = nonce || 00000000` on. The one-time key is `ks[..32]`, the ciphertext is the
/// plaintext XOR `ks[32..]`, and the tag covers the input of RFC 8439, section 2.8. A *sealed* message is
/// `nonce || ciphertext || tag`, as with [`crate::Aead`].
///
/// **Prefer AES or ChaCha20.** There is no published analysis of this construction. [`super::SpeckCtr`] with the same key
/// and IV has the same keystream, so its output reveals the one-time key of a message here. Never share a key between
/// the two.
///
/// **Limits, enforced here.** With blocks of 128 bits: 2^36 - 32 bytes per message, so that the counter never reaches the
/// nonce, and 2^32 messages. With smaller blocks (see [`Aead::new_small_block`]): 2^(bits / 2) blocks under one key, and
/// a counter that does not wrap. With nonces of a whole block of 128 bits ([`Aead::new_block_nonce`]), the caller keeps the
/// counters of messages apart. Messages are counted per object. If two objects have the same key, for example in a
/// process and its forked child, the caller must count.
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
    /// Number of sealed messages, or of sealed blocks if blocks are small.
    sealed: AtomicU64,
}

/// Length in bytes of the one-time key at the start of the keystream.
const ONE_TIME_KEY_LEN: usize = 32;
/// Length in bytes of the longest counter block.
const MAX_BLOCK_LEN: usize = 16;

impl Aead {
    /// Expands a key for blocks of 128 bits and nonces of 12 bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::SmallBlock`] for other sizes, and the errors of [`Speck::new`].
    pub fn new(size: SpeckSize, key: &[u8]) -> Result<Self, Error> {
        if size.block_len() < MAX_BLOCK_LEN {
            return Err(Misuse::SmallBlock(8 * size.block_len()).into());
        }
        Self::with_nonce_len(size, key, 12)
    }

    /// Expands a key for blocks of 32 to 96 bits. **Use this only to read existing messages.**
    ///
    /// The nonce is the whole counter block, and messages must not overlap. A message uses one counter value per block of
    /// its data and of the one-time key, from its nonce on. Therefore nonces are not generated: [`Aead::seal`] returns an
    /// error, and [`Aead::encrypt`] takes the nonce from the caller.
    ///
    /// # Errors
    /// Returns [`Misuse::LargeBlock`] for blocks of 128 bits, and the errors of [`Speck::new`].
    pub fn new_small_block(size: SpeckSize, key: &[u8]) -> Result<Self, Error> {
        if size.block_len() == MAX_BLOCK_LEN {
            return Err(Misuse::LargeBlock.into());
        }
        Self::with_nonce_len(size, key, size.block_len())
    }

    /// Expands a key for blocks of 128 bits and nonces of a whole block, as the low-level functions of SpeckEx take them.
    /// **Use this only to exchange messages with such a program.**
    ///
    /// The first message block has the counter `nonce + 2`, modulo 2^128; a nonce of [`Self::new`] is the same one with four
    /// zeros at its end. Messages of which one begins inside another have a keystream in common, which reveals their
    /// plaintexts. Therefore nonces are not generated: [`Aead::seal`] returns an error, and [`Aead::encrypt`] takes the nonce
    /// from the caller. The limits are those of [`Self::new`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::new`].
    pub fn new_block_nonce(size: SpeckSize, key: &[u8]) -> Result<Self, Error> {
        Self::new(size, key).map(|aead| Self { nonce_len: MAX_BLOCK_LEN, ..aead })
    }

    fn with_nonce_len(size: SpeckSize, key: &[u8], nonce_len: usize) -> Result<Self, Error> {
        let speck = Speck::new(size, key, ByteOrder::Big)?;
        Ok(Self { speck, size, nonce_len, sealed: AtomicU64::new(0) })
    }

    /// Returns the sizes of a block and of a key of this cipher.
    pub fn size(&self) -> SpeckSize {
        self.size
    }

    /// Returns the variant of the kernel that computes the result, for example `"avx512"`.
    pub fn variant(&self) -> &'static str {
        self.speck.variant()
    }

    /// Returns the length in bytes of a nonce, which must never be used twice with a key.
    pub fn nonce_len(&self) -> usize {
        self.nonce_len
    }

    /// Returns the length in bytes of a tag, which authenticates a message.
    pub fn tag_len(&self) -> usize {
        TAG_LEN
    }

    /// Returns the number of bytes by which a sealed message is longer than its plaintext: nonce and tag.
    pub fn overhead(&self) -> usize {
        self.nonce_len + TAG_LEN
    }

    /// Returns the maximum length in bytes of a plaintext that one message can have.
    pub fn max_plaintext_len(&self) -> u64 {
        self.limit() * self.size.block_len() as u64 - ONE_TIME_KEY_LEN as u64
    }

    /// Returns the maximum number of blocks of a message. It is also the maximum number of messages under one key, or
    /// of blocks if blocks are small.
    fn limit(&self) -> u64 {
        1 << if self.is_small() { 4 * self.size.block_len() } else { 32 }
    }

    fn is_small(&self) -> bool {
        self.size.block_len() < MAX_BLOCK_LEN
    }

    /// Seals `plaintext` under a fresh random nonce and returns the nonce, the ciphertext and the tag as one message.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceTooShortForRandom`] with small blocks, [`Misuse::CounterBlockForRandom`] after
    /// [`Self::new_block_nonce`], [`Error::Io`] if the operating system returns no random bytes, and the errors of
    /// [`Self::encrypt`].
    pub fn seal(&self, plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = memory::zeroed(plaintext.len() + self.overhead())?;
        let (nonce, body) = sealed.split_at_mut(self.nonce_len);
        let (ciphertext, tag) = body.split_at_mut(plaintext.len());
        self.seal_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(sealed)
    }

    /// Opens a sealed message and returns its plaintext if the message and `aad` are authentic.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`]. A message that is too short is [`Error::Authentication`].
    pub fn open(&self, sealed: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let (nonce, ciphertext) = sealed.split_at_checked(self.nonce_len).ok_or(Error::Authentication)?;
        self.decrypt(nonce, ciphertext, aad)
    }

    /// Encrypts under `nonce`, which must never be used twice, to `ciphertext || tag`.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] for a nonce of another length, [`Error::MessageLength`] above
    /// [`Self::max_plaintext_len`], and [`Error::LimitExceeded`] if this object has sealed the maximum number of
    /// messages or blocks, or the counter of small blocks would wrap.
    pub fn encrypt(&self, nonce: &[u8], plaintext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        let mut out = memory::zeroed(plaintext.len() + TAG_LEN)?;
        let (ciphertext, tag) = out.split_at_mut(plaintext.len());
        self.encrypt_parts(nonce, aad, InOut::apart(plaintext, ciphertext), tag)?;
        Ok(out)
    }

    /// Decrypts `ciphertext || tag` that was encrypted under `nonce`.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if the ciphertext, the nonce, the key or `aad` differs, and
    /// [`Misuse::NonceLength`], [`Error::MessageLength`] or [`Error::LimitExceeded`] for a message that no key can
    /// seal.
    pub fn decrypt(&self, nonce: &[u8], ciphertext: &[u8], aad: &[u8]) -> Result<Vec<u8>, Error> {
        self.check_nonce(nonce)?;
        let len = ciphertext.len().checked_sub(TAG_LEN).ok_or(Error::Authentication)?;
        let (ciphertext, tag) = ciphertext.split_at(len);
        let mut out = memory::zeroed(len)?;
        self.decrypt_parts(nonce, aad, InOut::apart(ciphertext, &mut out), tag)?;
        Ok(out)
    }

    /// Encrypts `data` under a fresh random nonce, and writes the nonce to `nonce` and the tag to `tag`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`], and [`Misuse::TagLength`] if `tag` has another length.
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
        if self.nonce_len == MAX_BLOCK_LEN {
            return Err(Misuse::CounterBlockForRandom.into());
        }
        let mut fresh = [0; MAX_BLOCK_LEN];
        let fresh = &mut fresh[..self.nonce_len];
        nonce::fill(fresh)?;
        if nonce.len() != fresh.len() {
            return Err(Misuse::NonceLength { got: nonce.len(), want: fresh.len() }.into());
        }
        self.encrypt_parts(fresh, aad, data, tag)?;
        nonce.copy_from_slice(fresh);
        Ok(())
    }

    /// Encrypts `data` under `nonce` and writes the tag to `tag`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt`]; [`Misuse::TagLength`] if `tag` has another length.
    pub fn encrypt_parts(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let (message, blocks) = self.begin(nonce, data.len())?;
        let got = tag.len();
        // The conversion fails only if the length is wrong.
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

    /// Decrypts `data` if `tag` matches the nonce, the associated data and the ciphertext.
    ///
    /// # Errors
    /// Returns the errors of [`Self::decrypt`]. After [`Error::Authentication`], the destination is zero.
    pub fn decrypt_parts(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let (message, _) = self.begin(nonce, data.len())?;
        let mut mac = message.mac(aad)?;
        let (len, mut copy) = (data.len(), SourceCopy::<PIECE>::new());
        for at in (0..len).step_by(PIECE) {
            // The bytes that are authenticated are the bytes that are decrypted, even if the source changes meanwhile.
            let piece = data.part(at, PIECE.min(len - at)).copy_source(&mut copy);
            mac.update(piece.source());
            message.xor(at, piece)?;
        }
        let expected_tag = mac.finalize_aead(aad.len() as u64, len as u64);
        if tag.try_into().is_ok_and(|tag| raw::equal(&expected_tag, tag)) {
            return Ok(());
        }
        data.target().fill(0);
        Err(Error::Authentication)
    }

    /// Checks the length of a nonce of the caller. It is checked before anything that an attacker controls.
    fn check_nonce(&self, nonce: &[u8]) -> Result<(), Error> {
        if nonce.len() == self.nonce_len {
            return Ok(());
        }
        Err(Misuse::NonceLength { got: nonce.len(), want: self.nonce_len }.into())
    }

    /// Returns a message of `len` bytes and its number of blocks.
    fn begin(&self, nonce: &[u8], len: usize) -> Result<(Message<'_>, u64), Error> {
        self.check_nonce(nonce)?;
        if len as u64 > self.max_plaintext_len() {
            let limit = self.max_plaintext_len().into();
            return Err(Error::MessageLength { part: MessagePart::Data, found: len as u128, limit });
        }
        let mut iv = [0; MAX_BLOCK_LEN];
        iv[..nonce.len()].copy_from_slice(nonce);
        let blocks = (len as u64 + ONE_TIME_KEY_LEN as u64).div_ceil(self.size.block_len() as u64);
        if self.is_small() {
            let first = u128::from_be_bytes(iv) >> (128 - 8 * nonce.len());
            if first + u128::from(blocks) > 1 << (8 * nonce.len()) {
                return Err(Error::LimitExceeded("the counter of this nonce wraps within the message"));
            }
        }
        Ok((Message { speck: &self.speck, iv, block_len: self.size.block_len() }, blocks))
    }

    /// Counts messages or blocks before they are sealed.
    fn count(&self, more: u64) -> Result<(), Error> {
        let limit = self.limit();
        let counted = self.sealed.fetch_update(Relaxed, Relaxed, |sealed| {
            sealed.checked_add(more).filter(|sealed| *sealed <= limit)
        });
        counted
            .map(drop)
            // The error is the count, which is not useful to the caller.
            .map_err(|_| {
                Error::LimitExceeded("the maximum number of messages or blocks is sealed; use another key")
            })
    }
}

/// The keystream of one message, which depends on the key and the nonce.
struct Message<'a> {
    speck: &'a Speck,
    iv: [u8; MAX_BLOCK_LEN],
    block_len: usize,
}

impl Message<'_> {
    /// Starts the authenticator and adds the associated data.
    fn mac(&self, aad: &[u8]) -> Result<Poly1305, Error> {
        let mut one_time_key = Zeroizing::new([0; ONE_TIME_KEY_LEN]);
        self.speck.xor_from(&self.iv[..self.block_len], 0, InOut::in_place(&mut *one_time_key))?;
        let mut mac = Poly1305::new(&*one_time_key)?;
        mac.update(aad).pad(aad.len() as u64);
        Ok(mac)
    }

    /// XORs `data` with the keystream, from byte `at` of the message on.
    fn xor(&self, at: usize, data: InOut<'_>) -> Result<(), Error> {
        self.speck.xor_from(&self.iv[..self.block_len], (ONE_TIME_KEY_LEN + at) as u64, data)
    }
}

debug_fields!(Aead; |it| size: it.size.name(), variant: it.variant());

#[cfg(test)]
mod test {
    use super::*;

    fn aead(name: &str) -> Aead {
        let size = SpeckSize::from_name(name).unwrap();
        let key: Vec<u8> = (0..size.key_len() as u8).collect();
        Aead::new(size, &key).or_else(|_| Aead::new_small_block(size, &key)).unwrap()
    }

    #[test]
    fn the_maximum_length_follows_from_the_block_size() {
        let longest = |name| aead(name).max_plaintext_len();
        assert_eq!(longest("speck128-256"), (1 << 36) - 32);
        assert_eq!(longest("speck64-128"), (8 << 32) - 32);
        assert_eq!(longest("speck32-64"), (4 << 16) - 32);
        assert_eq!([longest("speck48-72"), longest("speck96-96")], [(6 << 24) - 32, (12 << 48) - 32]);
    }

    // claim: message-speck
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

    // claim: message-speck
    #[test]
    fn small_blocks_are_counted() {
        let a = aead("speck32-64");
        // The limit is 2^16 blocks. A message has 8 for the one-time key and here 1 for the data.
        a.sealed.store((1 << 16) - 9, Relaxed);
        assert!(a.encrypt(&[0; 4], &[0; 5], b"").is_err());
        a.encrypt(&[0; 4], &[0; 4], b"").unwrap();
        assert!(a.encrypt(&[0; 4], b"", b"").is_err());
        // The counter may reach its maximum but not wrap.
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
