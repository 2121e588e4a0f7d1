//! The one-time authenticator Poly1305.

use super::{ChaCha20, key_array, tag_array};
use crate::prelude::*;
use base::ForkGuard;
use base::parallel::FreeThreads;

/// The one-time authenticator Poly1305 (RFC 8439, section 2.5).
///
/// **Use a key for one message only.** The tags of two messages under one key are enough to forge a
/// third. So a forked child gets no tag: its parent may finish the message differently.
///
/// ```
/// use sealane::hazmat::Poly1305;
///
/// let mut mac = Poly1305::new(&[7; 32])?;
/// mac.update(b"Cryptographic Forum ").update(b"Research Group");
/// let tag = mac.finalize()?;
///
/// let mut other = Poly1305::new(&[7; 32])?;
/// other.update(b"Cryptographic Forum Research Group");
/// other.verify(&tag)?;
/// # Ok::<(), sealane::Error>(())
/// ```
pub struct Poly1305 {
    mac: raw::Poly1305,
    guard: ForkGuard,
}

impl Poly1305 {
    /// Starts a tag with a one-time key of 32 bytes.
    ///
    /// # Errors
    /// Returns [`Misuse::KeyLength`](base::Misuse::KeyLength) for other lengths, and
    /// [`Error::SelfTest`] or [`Error::Environment`] if no kernel works.
    pub fn new(key: &[u8]) -> Result<Self> {
        Ok(Self { mac: raw::poly1305(key_array(key)?)?, guard: ForkGuard::new()? })
    }

    /// Starts a tag with the one-time key of ChaCha20: the first 32 bytes of its block 0 (RFC 8439,
    /// section 2.6).
    ///
    /// # Errors
    /// Returns the errors of [`ChaCha20::new`].
    pub fn from_chacha20(key: &[u8], nonce: &[u8]) -> Result<Self> {
        let mut once = Zeroizing::new([0; 32]);
        ChaCha20::new(key, nonce, 0)?.xor_in_place(0, &mut *once)?;
        Self::new(&*once)
    }

    /// Returns the variant in use, such as `"avx512ifma"`.
    pub fn variant(&self) -> &'static str {
        self.mac.variant()
    }

    /// Adds `data`, of any length, to the message. Free threads absorb long data.
    pub fn update(&mut self, data: &[u8]) -> &mut Self {
        match FreeThreads::for_message(data.len(), None) {
            Some(threads) => self.mac.update_on(&threads, data),
            None => self.mac.update(data),
        }
        self
    }

    /// Returns the tag of all data added.
    ///
    /// # Errors
    /// Returns [`Misuse::Forked`](base::Misuse::Forked) in a forked child.
    pub fn finalize(self) -> Result<[u8; 16]> {
        self.guard.check()?;
        Ok(self.mac.finalize())
    }

    /// Compares the tag with `tag` in constant time.
    ///
    /// # Errors
    /// Returns [`Error::Authentication`] if they differ, and
    /// [`Misuse::TagLength`](base::Misuse::TagLength).
    pub fn verify(self, tag: &[u8]) -> Result<()> {
        let tag = tag_array(tag)?;
        if raw::equal(&self.mac.finalize(), tag) { Ok(()) } else { Err(Error::Authentication) }
    }

    /// Pads with zeros to a multiple of 16 bytes after `len` bytes (RFC 8439, section 2.8).
    pub(super) fn pad(&mut self, len: u64) {
        self.update(&[0; 15][..(len.wrapping_neg() % 16) as usize]);
    }

    /// Pads the data, adds both lengths and returns the AEAD's tag.
    pub(super) fn finalize_aead(mut self, aad: u64, data: u64) -> [u8; 16] {
        self.pad(data);
        self.update(&aad.to_le_bytes()).update(&data.to_le_bytes());
        self.mac.finalize()
    }
}

debug_fields!(Poly1305; |it| variant: it.variant());
