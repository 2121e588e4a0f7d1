//! AES in counter mode, at any offset.

use crate::{Error, InOut, Misuse};
use std::fmt;

/// The keystream of AES-128, -192 or -256 in counter mode (NIST SP 800-38A section 6.5), 2^64 bytes of it.
///
/// The counter is the whole 16-byte `iv`, big-endian, and wraps modulo 2^128. Byte `p` of the stream belongs
/// to counter `iv + p / 16`. Safe to share between threads: nothing in it changes.
///
/// **No authentication.** Whoever flips a bit of the ciphertext flips that bit of the plaintext, and whoever
/// sees two texts under one keystream sees their difference.
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
    aes: providers::raw::Aes,
    iv: [u8; 16],
}

impl AesCtr {
    /// A keystream.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Misuse::NonceLength`], [`Error::SelfTest`].
    pub fn new(key: &[u8], iv: &[u8]) -> Result<Self, Error> {
        let iv = iv.try_into().map_err(|_| Misuse::NonceLength { got: iv.len(), want: 16 })?;
        Ok(Self { aes: providers::raw::aes(key)?, iv })
    }

    /// Which build computes it.
    pub fn variant(&self) -> &'static str {
        self.aes.variant()
    }

    /// What the three other calls come down to.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the data ends after 2^64 bytes of keystream.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<(), Error> {
        Ok(self.aes.xor_at(&self.iv, offset, data)?)
    }
}

three_calls!(AesCtr);
