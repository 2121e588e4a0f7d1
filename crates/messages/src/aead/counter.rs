//! Counts what a key object of a block cipher in counter mode encrypts, under random nonces and the
//! caller's.

use base::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Block length in bytes from which on we count messages. With smaller blocks, we count blocks.
const LARGE_BLOCK_LEN: usize = 16;

/// The count of one key object.
pub(crate) struct Counter {
    block_len: usize,
    /// Bytes of keystream before the data.
    before: usize,
    /// Messages, or blocks if they are small.
    sealed: AtomicU64,
}

impl Counter {
    /// Starts a count for blocks of `block_len` bytes and messages with `before` bytes of keystream
    /// before the data.
    pub(crate) fn new(block_len: usize, before: usize) -> Self {
        Self { block_len, before, sealed: AtomicU64::new(0) }
    }

    /// Returns the maximum number of messages, or of blocks if they are small.
    fn limit(&self) -> u64 {
        1 << if self.is_small() { 4 * self.block_len } else { 32 }
    }

    fn is_small(&self) -> bool {
        self.block_len < LARGE_BLOCK_LEN
    }

    /// Returns the maximum plaintext length in bytes.
    pub(crate) fn max_plaintext_len(&self) -> u64 {
        self.limit() * self.block_len as u64 - self.before as u64
    }

    fn blocks(&self, len: usize) -> u64 {
        (len as u64 + self.before as u64).div_ceil(self.block_len as u64)
    }

    /// Checks that the counter does not wrap in a message of `len` bytes. With small blocks, the
    /// nonce is the first counter.
    pub(super) fn check_nonce(&self, nonce: &[u8], len: usize) -> Result<()> {
        if self.is_small() {
            let first = nonce.iter().fold(0, |first, byte| first << 8 | u128::from(*byte));
            if first + u128::from(self.blocks(len)) > 1 << (8 * nonce.len()) {
                return Err(Error::LimitExceeded("the counter of this nonce wraps within the message"));
            }
        }
        Ok(())
    }

    /// Counts a message of `len` bytes before it is encrypted under the caller's nonce.
    pub(super) fn count_message(&self, nonce: &[u8], len: usize) -> Result<()> {
        self.check_nonce(nonce, len)?;
        self.count(if self.is_small() { self.blocks(len) } else { 1 })
    }

    /// Counts messages or blocks before they are encrypted.
    pub(super) fn count(&self, more: u64) -> Result<()> {
        let limit = self.limit();
        let counted = self.sealed.fetch_update(Relaxed, Relaxed, |sealed| {
            sealed.checked_add(more).filter(|sealed| *sealed <= limit)
        });
        // The error is the count; callers cannot use it.
        counted.map(drop).map_err(|_| {
            Error::LimitExceeded("the maximum number of messages or blocks is sealed; use another key")
        })
    }
}
