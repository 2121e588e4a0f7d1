//! XAES-256-GCM with a salt of 8 to 11 bytes, which Tink allows beside the 12 bytes of C2SP.
//!
//! The salt is the first half of the nonce. Tink puts zeros after a short one, so a message has the nonce
//! `salt || 12 bytes` and is sealed under `salt || zeros || 12 bytes`.

use providers::{AeadKey, AuthenticationError, InOut, MessageError, SealError, Threads};

/// Length of the nonce of AES-256-GCM, and of the salt in the nonce of XAES-256-GCM, in bytes.
const HALF: usize = 12;

pub(super) struct ShortSalt {
    key: Box<dyn AeadKey>,
    salt_len: usize,
}

impl ShortSalt {
    /// Wraps a key of XAES-256-GCM. `salt_len` is at most 12.
    pub(super) fn new(key: Box<dyn AeadKey>, salt_len: usize) -> Self {
        Self { key, salt_len }
    }

    pub(super) fn nonce_len(&self) -> usize {
        self.salt_len + HALF
    }

    /// Returns the nonce of the algorithm for a nonce of a message; `None` if its length differs.
    fn nonce(&self, short: &[u8]) -> Option<[u8; 2 * HALF]> {
        let (salt, rest) = short.split_at_checked(self.salt_len)?;
        let mut nonce = [0; 2 * HALF];
        nonce[..self.salt_len].copy_from_slice(salt);
        nonce[HALF..].copy_from_slice(<&[u8; HALF]>::try_from(rest).ok()?);
        Some(nonce)
    }

    fn sealing(&self, short: &[u8]) -> Result<[u8; 2 * HALF], SealError> {
        let error = MessageError::InvalidNonceLength { found: short.len(), expected: self.nonce_len() };
        self.nonce(short).ok_or(SealError::Message(error))
    }

    fn opening(&self, short: &[u8], data: &mut InOut<'_>) -> Result<[u8; 2 * HALF], AuthenticationError> {
        self.nonce(short).ok_or_else(|| {
            data.target().fill(0);
            AuthenticationError
        })
    }
}

impl AeadKey for ShortSalt {
    fn seal(&self, nonce: &[u8], aad: &[u8], data: InOut<'_>, tag: &mut [u8; 16]) -> Result<(), SealError> {
        self.key.seal(&self.sealing(nonce)?, aad, data, tag)
    }

    fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.key.open(&self.opening(nonce, &mut data)?, aad, data, tag)
    }

    fn seal_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), SealError> {
        self.key.seal_on(threads, &self.sealing(nonce)?, aad, data, tag)
    }

    fn open_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), AuthenticationError> {
        self.key.open_on(threads, &self.opening(nonce, &mut data)?, aad, data, tag)
    }
}
