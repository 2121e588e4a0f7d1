//! Many messages of AES-GCM-SIV in one call.
#![forbid(unsafe_code)]

use super::GcmSiv;
use super::batch::{MESSAGES, SHORT};
use crate::batch;
use crate::error::{MessageError, OpenError};
use crate::gcm::batch::NONCE_LEN;
use crate::zero::wipe_dead_stack;

/// Largest size of the stack frame of a batch, in words of 64 bits. The keys of the messages are in
/// it.
const FRAME_WORDS: usize = 768;

fn together(run: usize) -> usize {
    run - run % MESSAGES
}

impl GcmSiv {
    /// Seals each of `plaintexts` under the nonce with its index, to `nonce || ciphertext || tag`
    /// in the destination with its index. All messages have the same associated data.
    ///
    /// # Errors
    /// Returns the error of [`Self::seal`] for the first message that has one, with its index.
    ///
    /// # Panics
    /// Panics if there is not one nonce and one destination of the right length for each message.
    pub fn seal_batch(
        &self,
        nonces: &[[u8; NONCE_LEN]],
        aad: &[u8],
        plaintexts: &[&[u8]],
        sealed: &mut [&mut [u8]],
    ) -> Result<(), (usize, MessageError)> {
        let is_short = |len| self.is_short(aad.len(), len);
        let short = |nonces: &[[u8; NONCE_LEN]], from: &[&[u8]], to: &mut [&mut [u8]]| {
            self.variant.seal_batch(self.size, &self.schedule, aad, nonces, from, to);
            wipe_dead_stack::<FRAME_WORDS>();
        };
        batch::seal(together, is_short, nonces, plaintexts, sealed, short, |nonce, data, tag| {
            self.seal(nonce, aad, data, tag)
        })
    }

    /// Opens each message `nonce || ciphertext || tag` of `sealed` to the destination with its
    /// index. All messages have the same associated data.
    ///
    /// # Errors
    /// Returns the error of [`Self::open`] for the first message that has one, with its index. The
    /// destinations from this one on are zero or unchanged.
    ///
    /// # Panics
    /// Panics if there is not one destination of the right length for each message.
    pub fn open_batch(
        &self,
        aad: &[u8],
        sealed: &[&[u8]],
        plaintexts: &mut [&mut [u8]],
    ) -> Result<(), (usize, OpenError)> {
        let is_short = |len| self.is_short(aad.len(), len);
        let short = |from: &[&[u8]], to: &mut [&mut [u8]], tags: &mut [[u8; 16]]| {
            self.variant.open_batch(self.size, &self.schedule, aad, from, to, tags);
            wipe_dead_stack::<FRAME_WORDS>();
        };
        batch::open(together, is_short, sealed, plaintexts, short, |nonce, data, tag| {
            self.open(nonce, aad, data, tag)
        })
    }

    /// Returns whether a message of this length is processed together with others. Blocks of
    /// associated data are hashed one after the other there, and portable messages gain nothing.
    fn is_short(&self, aad: usize, len: usize) -> bool {
        len.max(aad) <= SHORT && !self.variant.is_portable()
    }
}
