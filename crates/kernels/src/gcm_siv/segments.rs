//! AES-GCM-SIV for one message on several threads.
#![forbid(unsafe_code)]

use super::body::{MessageKeys, initial_counter};
use super::{GcmSiv, check_and_pad, clean_stack};
use crate::InOut;
use crate::ct;
use crate::error::{MessageError, OpenError};
use crate::ghash::ShortPowers;
use crate::segments::{Sum, Threads, process, segment_len};
use crate::zero::wipe;
use core::slice::from_mut;

impl GcmSiv {
    /// Encrypts like [`Self::seal`], to the same bytes, with segments of the message on several
    /// threads.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`] for the same reasons.
    pub fn seal_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let len = data.len();
        let Some(segment_len) = segment_len(threads, len) else {
            return self.seal(nonce, aad, data, tag);
        };
        let nonce = check_and_pad(nonce, aad, len)?;
        let (mut keys, mut hash) = (MessageKeys::EMPTY, 0);
        self.begin(nonce, aad, &mut keys, &mut hash);
        let keys = &keys;
        let hashed = |_, data: InOut<'_>, sum: &mut Sum| self.hash_segment(keys, data.source(), sum);
        self.combined(keys, threads, segment_len, data.part(0, len), hashed, &mut hash);
        self.variant.absorb(&keys.powers.0, &lengths(aad.len(), len).to_le_bytes(), &mut hash);
        self.variant.tag(self.size, keys, nonce, hash, tag);
        let counter = initial_counter(tag);
        let encrypted = |at: usize, mut data: InOut<'_>, _: &mut Sum| {
            self.variant.encrypt_segment(self.size, keys, advanced(counter, at / 16), &mut data);
            clean_stack(data.len());
        };
        process(threads, segment_len, data, encrypted, |_, _| ());
        wipe(from_mut(&mut hash));
        clean_stack(len);
        Ok(())
    }

    /// Decrypts like [`Self::open`], with segments of the message on several threads.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`]. After [`OpenError::AuthenticationFailed`] all of the
    /// destination is zero.
    pub fn open_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8; 12],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let len = data.len();
        let Some(segment_len) = segment_len(threads, len) else {
            return self.open(nonce, aad, data, tag);
        };
        let nonce = check_and_pad(nonce, aad, len)?;
        let (mut keys, mut hash) = (MessageKeys::EMPTY, 0);
        self.begin(nonce, aad, &mut keys, &mut hash);
        let keys = &keys;
        let counter = initial_counter(tag);
        let opened = |at: usize, data: InOut<'_>, sum: &mut Sum| {
            self.open_segment(keys, advanced(counter, at / 16), data, sum);
        };
        // The sum of a segment is multiplied by H, so the state before them and the lengths are
        // too.
        self.times_h(keys, &mut hash);
        self.combined(keys, threads, segment_len, data.part(0, len), opened, &mut hash);
        let mut last = lengths(aad.len(), len);
        self.times_h(keys, &mut last);
        hash ^= last;
        let mut expected_tag = [0; 16];
        self.variant.tag(self.size, keys, nonce, hash, &mut expected_tag);
        wipe(from_mut(&mut hash));
        clean_stack(len);
        ct::verified(&mut expected_tag, tag, data)
    }

    /// Derives the keys of a message, and hashes its associated data.
    fn begin(&self, nonce: u128, aad: &[u8], keys: &mut MessageKeys, hash: &mut u128) {
        self.variant.message_keys(self.size, &self.schedule, nonce, keys);
        self.variant.absorb(&keys.powers.0, aad, hash);
    }

    /// Calls `work` for each segment on several threads, and continues `hash` with their sums.
    fn combined(
        &self,
        keys: &MessageKeys,
        threads: &dyn Threads,
        segment_len: usize,
        data: InOut<'_>,
        work: impl Fn(usize, InOut<'_>, &mut Sum) + Sync,
        hash: &mut u128,
    ) {
        let (mut power, mut blocks) = (ShortPowers::EMPTY, 0);
        process(threads, segment_len, data, work, |len, sum| {
            if blocks != len.div_ceil(16) {
                blocks = len.div_ceil(16);
                power.set_power(&keys.key.short_powers, blocks, |by, value| self.multiply(by, value));
            }
            self.multiply(&power, hash);
            *hash ^= u128::from(sum[0]) | u128::from(sum[1]) << 64;
        });
    }

    /// Hashes a segment.
    fn hash_segment(&self, keys: &MessageKeys, data: &[u8], sum: &mut Sum) {
        let mut hash = 0;
        self.variant.absorb(&keys.powers.0, data, &mut hash);
        (sum[0], sum[1]) = (hash as u64, (hash >> 64) as u64);
        wipe(from_mut(&mut hash));
        clean_stack(data.len());
    }

    /// Decrypts a segment, and hashes it.
    fn open_segment(&self, keys: &MessageKeys, counter: u128, mut data: InOut<'_>, sum: &mut Sum) {
        let mut times_h = 0;
        self.variant.open_segment(self.size, keys, counter, &mut data, &mut times_h);
        (sum[0], sum[1]) = (times_h as u64, (times_h >> 64) as u64);
        wipe(from_mut(&mut times_h));
        clean_stack(data.len());
    }

    fn times_h(&self, keys: &MessageKeys, value: &mut u128) {
        self.multiply(&keys.key.short_powers, value);
    }

    /// Multiplies `value` by the first power in `by`: the hash of a block of zeros after `value`.
    fn multiply(&self, by: &ShortPowers, value: &mut u128) {
        self.variant.absorb_short(by, &[0; 16], value);
    }
}

/// Returns the block of lengths (RFC 8452, section 4).
fn lengths(aad: usize, data: usize) -> u128 {
    u128::from(8 * aad as u64) | u128::from(8 * data as u64) << 64
}

/// Returns the counter block that is `blocks` after `counter`. The first word wraps.
fn advanced(counter: u128, blocks: usize) -> u128 {
    counter >> 32 << 32 | u128::from((counter as u32).wrapping_add(blocks as u32))
}
