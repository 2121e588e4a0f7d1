//! Speck: single blocks, and counter mode at any offset.

use super::{ByteOrder, SpeckSize};
use crate::{Error, InOut, Misuse};
use providers::raw;
use std::fmt;

/// The block cipher Speck (Beaulieu and others, "The Simon and Speck Families of Lightweight Block Ciphers",
/// ePrint 2013/404).
///
/// In big-endian order blocks and keys are written as that paper prints them. The little-endian order of
/// NSA's implementation guide, Linux and Crypto++ is the reverse of all bytes of key and block.
///
/// **No mode**: equal blocks give equal blocks. **Prefer AES or ChaCha20**: they were looked at by more
/// people, and where the processor helps they are faster.
pub struct Speck {
    cipher: raw::Speck,
    size: SpeckSize,
}

/// The keystream of Speck in counter mode.
///
/// The counter is the whole block `iv`, **big-endian in both byte orders**, and wraps modulo its 2^bits. The
/// keystream ends where the counter would come back to its start, or at 2^64 bytes. Safe to share between
/// threads.
///
/// **No authentication**, and the same key must not serve [`super::Aead`]: that takes its one-time keys from
/// this very stream.
///
/// **Blocks of 32, 48 and 64 bits are small**: after 2^16, 2^24 or 2^32 of them under one key, whatever the
/// ivs, a keystream is told from chance. Nothing here counts them.
///
/// ```
/// use sealane::hazmat::{ByteOrder, SpeckCtr, SpeckSize};
///
/// let size = SpeckSize::from_name("speck128-256").unwrap();
/// let stream = SpeckCtr::new(size, &[7; 32], &[0; 16], ByteOrder::Big)?;
/// let whole = stream.xor_at(0, &[0; 1000])?;
/// assert_eq!(stream.xor_at(777, &[0; 10])?, whole[777..787]);
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct SpeckCtr {
    cipher: raw::Speck,
    iv: Vec<u8>,
}

impl Speck {
    /// The cipher with a key of [`SpeckSize::key_len`] bytes.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Error::SelfTest`].
    pub fn new(size: SpeckSize, key: &[u8], order: ByteOrder) -> Result<Self, Error> {
        Ok(Self { cipher: raw::speck(size, key, order)?, size })
    }

    /// Which build computes it.
    pub fn variant(&self) -> &'static str {
        self.cipher.variant()
    }

    /// The name of its size, like `"speck128-256"`.
    pub fn name(&self) -> &'static str {
        self.size.name()
    }

    /// Bytes of a block.
    pub fn block_len(&self) -> usize {
        self.size.block_len()
    }

    /// Encrypts each block of `data` by itself.
    ///
    /// # Errors
    /// [`Misuse::BlockLength`] where `data` is no whole number of blocks; nothing was written.
    pub fn encrypt_blocks(&self, data: InOut<'_>) -> Result<(), Error> {
        Ok(self.cipher.encrypt_blocks(data)?)
    }

    /// Decrypts each block of `data` by itself.
    ///
    /// # Errors
    /// As [`Self::encrypt_blocks`].
    pub fn decrypt_blocks(&self, data: InOut<'_>) -> Result<(), Error> {
        Ok(self.cipher.decrypt_blocks(data)?)
    }

    /// A keystream of this key.
    pub(super) fn xor_from(&self, iv: &[u8], offset: u64, data: InOut<'_>) -> Result<(), Error> {
        Ok(self.cipher.xor_at(iv, offset, data)?)
    }
}

impl SpeckCtr {
    /// A keystream: a key of [`SpeckSize::key_len`] bytes, an `iv` of [`SpeckSize::block_len`].
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Misuse::NonceLength`], [`Error::SelfTest`].
    pub fn new(size: SpeckSize, key: &[u8], iv: &[u8], order: ByteOrder) -> Result<Self, Error> {
        let Speck { cipher, .. } = Speck::new(size, key, order)?;
        if iv.len() != size.block_len() {
            return Err(Misuse::NonceLength { got: iv.len(), want: size.block_len() }.into());
        }
        Ok(Self { cipher, iv: iv.to_vec() })
    }

    /// Which build computes it.
    pub fn variant(&self) -> &'static str {
        self.cipher.variant()
    }

    /// What the three other calls come down to.
    ///
    /// # Errors
    /// [`Error::MessageLength`] past the end of the keystream.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<(), Error> {
        Ok(self.cipher.xor_at(&self.iv, offset, data)?)
    }
}

three_calls!(SpeckCtr);

impl fmt::Debug for Speck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speck")
            .field("size", &self.name())
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}
