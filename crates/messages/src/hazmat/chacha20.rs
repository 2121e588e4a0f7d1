//! ChaCha20 and XChaCha20, at any offset.

use super::keystream::xor_on_threads;
use super::{key_array, nonce_array};
use crate::prelude::*;

/// The keystream of ChaCha20 (RFC 8439, section 2.4): 2^32 blocks of 64 bytes per 12-byte nonce.
///
/// Byte 0 of the stream is the first byte of block `counter`. The value is immutable and can be
/// shared between threads.
///
/// **There is no authentication.** A changed bit of the ciphertext changes the same bit of the
/// plaintext, and two texts under one keystream reveal their XOR.
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

/// The keystream of XChaCha20 (draft-irtf-cfrg-xchacha-03): ChaCha20 with a 24-byte nonce, long
/// enough to be random.
///
/// Apart from the nonce, it behaves like [`ChaCha20`].
///
/// ```
/// let stream = sealane::hazmat::XChaCha20::new(&[7; 32], &[0; 24], 0)?;
/// let whole = stream.xor_at(0, &[0; 1000])?;
/// assert_eq!(stream.xor_at(777, &[0; 10])?, whole[777..787]);
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct XChaCha20(pub(super) ChaCha20);

impl ChaCha20 {
    /// Creates a keystream from a key of 32 bytes and a nonce of 12 bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`](base::Misuse::KeyLength) or
    /// [`Misuse::NonceLength`](base::Misuse::NonceLength) for other lengths, and
    /// [`Error::SelfTest`] or [`Error::Environment`] if no kernel works.
    pub fn new(key: &[u8], nonce: &[u8], counter: u32) -> Result<Self> {
        let (key, nonce) = (key_array(key)?, nonce_array(nonce)?);
        Ok(Self { cipher: raw::chacha20(key)?, nonce, counter })
    }

    /// Returns the variant in use, such as `"avx512"`.
    pub fn variant(&self) -> &'static str {
        self.cipher.variant()
    }

    /// XORs `data` with the keystream from byte `offset` on.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if the data needs block 2^32 or a later one.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<()> {
        xor_on_threads(offset, data, |offset, data| {
            self.cipher.xor_at(&self.nonce, self.counter, offset, data)
        })
    }
}

impl XChaCha20 {
    /// Creates a keystream from a key of 32 bytes and a nonce of 24 bytes.
    ///
    /// # Errors
    /// Returns the errors of [`ChaCha20::new`].
    pub fn new(key: &[u8], nonce: &[u8], counter: u32) -> Result<Self> {
        let (key, nonce_24) = (key_array(key)?, nonce_array::<24>(nonce)?);
        let (hchacha_input, rest) = nonce_24.split_first_chunk().expect("24 bytes");
        let mut nonce = [0; 12];
        nonce[4..].copy_from_slice(rest);
        Ok(Self(ChaCha20 { cipher: raw::xchacha20(key)?.subkey(hchacha_input), nonce, counter }))
    }

    /// Returns the variant in use, such as `"avx512"`.
    pub fn variant(&self) -> &'static str {
        self.0.variant()
    }

    /// XORs `data` with the keystream from byte `offset` on.
    ///
    /// # Errors
    /// Returns [`Error::MessageLength`] if the data needs block 2^32 or a later one.
    pub fn xor(&self, offset: u64, data: InOut<'_>) -> Result<()> {
        self.0.xor(offset, data)
    }
}

keystream_calls!(ChaCha20);
keystream_calls!(XChaCha20);
