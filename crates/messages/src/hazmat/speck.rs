//! Speck: single blocks, and the keystream of counter mode at any offset.

use super::keystream::xor_on_threads;
use super::{ByteOrder, SpeckSize};
use crate::prelude::*;

/// The block cipher Speck (Beaulieu and others, "The Simon and Speck Families of Lightweight Block
/// Ciphers", ePrint 2013/404).
///
/// In big-endian order, blocks and keys are written as printed in the paper. The little-endian
/// order of the NSA implementation guide, Linux and Crypto++ reverses all bytes of key and block.
///
/// **This is not a mode of operation**: equal plaintext blocks give equal ciphertext blocks.
/// **Prefer AES or ChaCha20**: they are better analyzed, and faster with instructions for them.
///
/// ```
/// use sealane::InOut;
/// use sealane::hazmat::{ByteOrder, Speck, SpeckSize};
///
/// let speck = Speck::new(SpeckSize::from_name("speck64-128").unwrap(), &[7; 16], ByteOrder::Big)?;
/// let mut blocks = *b"two blocks of 64";
/// speck.encrypt_blocks(InOut::in_place(&mut blocks))?;
/// speck.decrypt_blocks(InOut::in_place(&mut blocks))?;
/// assert_eq!(&blocks, b"two blocks of 64");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Speck {
    cipher: raw::Speck,
    size: SpeckSize,
}

/// The keystream of Speck in counter mode.
///
/// The counter is the whole block `iv`, **big-endian in both byte orders**, and wraps modulo
/// 2^(bits of a block). The keystream ends where the counter would return to its start, or at 2^64
/// bytes. The value is immutable and can be shared between threads.
///
/// **There is no authentication.** Do not use the key of a [`super::Aead`]: it takes its one-time
/// keys from the same keystream.
///
/// **Blocks of 32, 48 and 64 bits are small.** After 2^16, 2^24 or 2^32 blocks under one key, with
/// any IVs, a keystream can be distinguished from random bytes. We do not count blocks here.
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
    /// Expands a key of [`SpeckSize::key_len`] bytes to the round keys of the cipher.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] for other lengths, and [`Error::SelfTest`] or
    /// [`Error::Environment`] if no kernel works.
    pub fn new(size: SpeckSize, key: &[u8], order: ByteOrder) -> Result<Self> {
        Ok(Self { cipher: raw::speck(size, key, order)?, size })
    }

    /// Returns the variant in use, such as `"avx512"`.
    pub fn variant(&self) -> &'static str {
        self.cipher.variant()
    }

    /// Returns the name of the block and key size, such as `"speck128-256"`.
    pub fn name(&self) -> &'static str {
        self.size.name()
    }

    /// Returns the length of a block in bytes.
    pub fn block_len(&self) -> usize {
        self.size.block_len()
    }

    /// Encrypts each block of `data` separately: equal blocks give equal results.
    ///
    /// # Errors
    /// Returns [`Misuse::BlockLength`](base::Misuse::BlockLength) if `data` is not a whole number
    /// of blocks, and writes nothing.
    pub fn encrypt_blocks(&self, data: InOut<'_>) -> Result<()> {
        Ok(self.cipher.encrypt_blocks(data)?)
    }

    /// Decrypts each block of `data` separately; the inverse of [`Self::encrypt_blocks`].
    ///
    /// # Errors
    /// Returns the errors of [`Self::encrypt_blocks`].
    pub fn decrypt_blocks(&self, data: InOut<'_>) -> Result<()> {
        Ok(self.cipher.decrypt_blocks(data)?)
    }
}

impl SpeckCtr {
    /// Creates a keystream from a key of [`SpeckSize::key_len`] bytes and an `iv` of
    /// [`SpeckSize::block_len`] bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::NonceLength`] for an `iv` of another length, and the errors of
    /// [`Speck::new`].
    pub fn new(size: SpeckSize, key: &[u8], iv: &[u8], order: ByteOrder) -> Result<Self> {
        let Speck { cipher, .. } = Speck::new(size, key, order)?;
        if iv.len() != size.block_len() {
            return Err(Misuse::NonceLength { got: iv.len(), want: size.block_len() }.into());
        }
        Ok(Self { cipher, iv: iv.to_vec() })
    }

    /// Returns the variant in use, such as `"avx512"`.
    pub fn variant(&self) -> &'static str {
        self.cipher.variant()
    }

    /// XORs `data` with the keystream from byte `offset` on.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if the data ends after the keystream.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<()> {
        xor_on_threads(offset, data, |offset, data| self.cipher.xor_at(&self.iv, offset, data))
    }
}

keystream_calls!(SpeckCtr);

debug_fields!(Speck; |it| size: it.name(), variant: it.variant());
