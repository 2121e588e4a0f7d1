//! AES in counter mode, at any offset.

use super::keystream::xor_on_threads;
use crate::prelude::*;

/// The keystream of AES-128, AES-192 or AES-256 in counter mode (NIST SP 800-38A, section 6.5), up
/// to 2^64 bytes.
///
/// The counter block is the whole 16-byte `iv`, a big-endian number that wraps modulo 2^128. Byte
/// `p` of the stream comes from counter `iv + p / 16`. The value is immutable and can be shared
/// between threads.
///
/// **There is no authentication.** A changed bit of the ciphertext changes the same bit of the
/// plaintext, and two texts under one keystream reveal their XOR.
///
/// ```
/// let ctr = sealane::hazmat::AesCtr::new(&[7; 32], &[0; 16])?;
/// let mut data = *b"anywhere in the stream";
/// ctr.xor_in_place(1_000_003, &mut data)?;
/// ctr.xor_in_place(1_000_003, &mut data)?;
/// assert_eq!(&data, b"anywhere in the stream");
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct AesCtr {
    aes: raw::Aes,
    iv: [u8; 16],
}

impl AesCtr {
    /// Creates a keystream from a key of 16, 24 or 32 bytes and an initial counter block of 16
    /// bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`] or [`Misuse::NonceLength`] for other lengths, and
    /// [`Error::SelfTest`] or [`Error::Environment`] if no kernel works.
    pub fn new(key: &[u8], iv: &[u8]) -> Result<Self> {
        let iv = iv.try_into().map_err(|_| Misuse::NonceLength { got: iv.len(), want: 16 })?;
        Ok(Self { aes: raw::aes(key)?, iv })
    }

    /// Returns the variant in use, such as `"vaes512"`.
    pub fn variant(&self) -> &'static str {
        self.aes.variant()
    }

    /// XORs `data` with the keystream from byte `offset` on.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if the data ends after 2^64 bytes of keystream.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<()> {
        self.xor_under(&self.iv, offset, data)
    }

    /// XORs `data` with the keystream of another initial counter block than in [`Self::new`], from
    /// byte `offset` on. One expanded key then serves many keystreams, such as the sectors of a
    /// disk.
    ///
    /// Every 16 bytes of keystream advance the counter by one, so keystreams with nearby initial
    /// counter blocks overlap, and data under the same part reveals its XOR. Number the keystreams
    /// in the first half of the block and leave the second half to the counter:
    ///
    /// ```
    /// use sealane::{InOut, hazmat::AesCtr};
    ///
    /// let (key, sector) = ([7; 16], (42u128 << 64).to_be_bytes());
    /// let mut data = *b"sector 42";
    /// AesCtr::new(&key, &[0; 16])?.xor_under(&sector, 0, InOut::in_place(&mut data))?;
    /// assert_eq!(AesCtr::new(&key, &sector)?.xor_at(0, &data)?, b"sector 42");
    /// # Ok::<(), sealane::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns the errors of [`Self::xor`].
    pub fn xor_under(&self, iv: &[u8; 16], offset: u64, data: InOut<'_>) -> Result<()> {
        xor_on_threads(offset, data, |offset, data| self.aes.xor_at(iv, offset, data))
    }
}

keystream_calls!(AesCtr);
