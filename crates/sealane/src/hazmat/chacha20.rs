//! ChaCha20 and XChaCha20, at any offset.

use super::{key_of_32, nonce_of};
use crate::{Error, InOut, Misuse};
use providers::raw;
use std::fmt;

/// The keystream of ChaCha20 (RFC 8439 section 2.4): 2^32 blocks of 64 bytes for a nonce of 12 bytes.
///
/// Byte 0 of the stream is the first of block `counter`. Safe to share between threads: nothing in it
/// changes.
///
/// **No authentication.** Whoever flips a bit of the ciphertext flips that bit of the plaintext, and whoever
/// sees two texts under one keystream sees their difference.
///
/// ```
/// let stream = sealane::hazmat::ChaCha20::new(&[7; 32], &[0; 12], 1)?;
/// let whole = stream.xor_at(0, &[0; 1000])?;
/// assert_eq!(stream.xor_at(777, &[0; 10])?, whole[777..787]);
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct ChaCha20 {
    cipher: raw::ChaCha20,
    nonce: [u8; 12],
    counter: u32,
}

/// The keystream of XChaCha20 (draft-irtf-cfrg-xchacha-03): ChaCha20 with a nonce of 24 bytes, which may be
/// random.
///
/// Everything else is as with [`ChaCha20`].
pub struct XChaCha20(pub(super) ChaCha20);

impl ChaCha20 {
    /// A keystream from a key of 32 bytes and a nonce of 12.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Misuse::NonceLength`], [`Error::SelfTest`].
    pub fn new(key: &[u8], nonce: &[u8], counter: u32) -> Result<Self, Error> {
        let (key, nonce) = (key_of_32(key)?, nonce_of(nonce)?);
        Ok(Self { cipher: raw::chacha20(key)?, nonce, counter })
    }

    /// Which build computes it.
    pub fn variant(&self) -> &'static str {
        self.cipher.variant()
    }

    /// What the three other calls come down to.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the data needs block 2^32 or a later one.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<(), Error> {
        Ok(self.cipher.xor_at(&self.nonce, self.counter, offset, data)?)
    }
}

impl XChaCha20 {
    /// A keystream from a key of 32 bytes and a nonce of 24.
    ///
    /// # Errors
    /// [`Misuse::KeyLength`], [`Misuse::NonceLength`], [`Error::SelfTest`].
    pub fn new(key: &[u8], nonce: &[u8], counter: u32) -> Result<Self, Error> {
        let (key, long) = (key_of_32(key)?, nonce_of::<24>(nonce)?);
        let (for_key, rest) = long.split_first_chunk().expect("24 bytes");
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(rest);
        Ok(Self(ChaCha20 { cipher: raw::xchacha20(key)?.subkey(for_key), nonce, counter }))
    }

    /// Which build computes it.
    pub fn variant(&self) -> &'static str {
        self.0.variant()
    }

    /// What the three other calls come down to.
    ///
    /// # Errors
    /// [`Error::MessageLength`] if the data needs block 2^32 or a later one.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<(), Error> {
        self.0.xor(offset, data)
    }
}

three_calls!(ChaCha20);
three_calls!(XChaCha20);
