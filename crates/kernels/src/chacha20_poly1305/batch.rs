//! Many messages of ChaCha20-Poly1305 in one call.
#![forbid(unsafe_code)]

use super::{ChaCha20Poly1305, LONG};
use crate::batch;
use crate::chacha20::SPILLED_WORDS;
use crate::chacha20::batch::{Blocks, SHORT, SHORT_PORTABLE};
use crate::error::{MessageError, OpenError};
use crate::zero::wipe_dead_stack;

/// Largest size of the stack frame of a batch, in words of 64 bits.
const FRAME_WORDS: usize = SPILLED_WORDS + 160;
/// Number of messages from which on a run takes less time together than one by one, on AVX-512 and
/// AVX2 (Zen 4).
const LEAST: usize = 4;

fn together(run: usize) -> usize {
    if run < LEAST { 0 } else { run }
}

impl ChaCha20Poly1305 {
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
        nonces: &[[u8; 12]],
        aad: &[u8],
        plaintexts: &[&[u8]],
        sealed: &mut [&mut [u8]],
    ) -> Result<(), (usize, MessageError)> {
        let is_short = |len| self.is_short(aad.len(), len);
        let short = |nonces: &[[u8; 12]], from: &[&[u8]], to: &mut [&mut [u8]]| {
            let mut blocks = Blocks::EMPTY;
            self.variants.stream.seal_batch(&self.key, &mut blocks, aad, nonces, from, to);
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
            let mut blocks = Blocks::EMPTY;
            self.variants.stream.open_batch(&self.key, &mut blocks, aad, from, to, tags);
            wipe_dead_stack::<FRAME_WORDS>();
        };
        batch::open(together, is_short, sealed, plaintexts, short, |nonce, data, tag| {
            self.open(nonce, aad, data, tag)
        })
    }

    /// Returns whether a message of this length is processed together with others. The tags of long
    /// associated data are faster with powers.
    #[inline(always)]
    fn is_short(&self, aad: usize, len: usize) -> bool {
        let short = if self.variants.stream.is_portable() { SHORT_PORTABLE } else { SHORT };
        len <= short && aad < LONG
    }
}
