//! AES-GCM for one message on several threads.
#![forbid(unsafe_code)]

use super::body::Preamble;
use super::key::Gcm;
use crate::InOut;
use crate::ct;
use crate::error::{MessageError, OpenError};
use crate::ghash::ShortPowers;
use crate::segments::{Sum, Threads, process, segment_len};
use crate::zero::{wipe, wipe_dead_stack};
use core::slice::from_mut;

impl Gcm {
    /// Encrypts like [`Self::seal`], to the same bytes, with segments of the message on several
    /// threads.
    ///
    /// # Errors
    /// Returns the errors of [`Self::seal`] for the same reasons.
    pub fn seal_on(
        &self,
        threads: &dyn Threads,
        nonce: &[u8],
        aad: &[u8],
        data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let Some(segment_len) = segment_len(threads, data.len()) else {
            return self.seal(nonce, aad, data, tag);
        };
        let preamble = self.begin(nonce, aad, data.len())?;
        let first_round = self.first_round(nonce.len(), data.len());
        self.in_segments(threads, segment_len, preamble, data, tag, |j0, data, tag| {
            let (key, powers) = (self.key(), self.bulk_powers());
            self.with_two_rounds(first_round, data.len(), |two| {
                self.variant.seal_long(self.size, key, powers, j0, 0, first_round, two, 0, data, tag);
            });
        });
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
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let len = data.len();
        let Some(segment_len) = segment_len(threads, len) else {
            return self.open(nonce, aad, data, tag);
        };
        let preamble = self.begin(nonce, aad, len)?;
        let first_round = self.first_round(nonce.len(), len);
        let mut expected_tag = [0; 16];
        self.in_segments(
            threads,
            segment_len,
            preamble,
            data.part(0, len),
            &mut expected_tag,
            |j0, data, tag| {
                let (key, powers) = (self.key(), self.bulk_powers());
                self.with_two_rounds(first_round, data.len(), |two| {
                    self.variant.open_long(self.size, key, powers, j0, 0, first_round, two, 0, data, tag);
                });
            },
        );
        ct::verified(&mut expected_tag, tag, data)
    }

    /// Seals or opens the segments with `work`, and computes the tag of the message.
    ///
    /// `work` processes a segment as a message of its own, without associated data; its J0 is the
    /// counter block before the segment. Removing the mask and the block of lengths from its tag
    /// leaves H times the segment's sum.
    fn in_segments(
        &self,
        threads: &dyn Threads,
        segment_len: usize,
        preamble: Preamble,
        data: InOut<'_>,
        tag: &mut [u8; 16],
        work: impl Fn(u128, &mut InOut<'_>, &mut [u8; 16]) + Sync,
    ) {
        let Preamble { j0, aad_hash, aad_len } = preamble;
        let len = data.len();
        let segment = |at: usize, mut data: InOut<'_>, sum: &mut Sum| {
            let j0 = advanced(j0, at / 16);
            let mut tag = [0; 16];
            work(j0, &mut data, &mut tag);
            self.apply_keystream(j0, InOut::in_place(&mut tag));
            self.clean_stack(data.len());
            let mut times_h = u128::from_be_bytes(tag) ^ self.lengths_times_h(0, data.len());
            (sum[0], sum[1]) = (times_h as u64, (times_h >> 64) as u64);
            wipe(from_mut(&mut times_h));
            wipe(&mut tag);
        };
        let mut power = ShortPowers::EMPTY;
        let mut blocks = 0;
        let mut hash = aad_hash;
        self.absorb(&[0; 16], &mut hash);
        process(threads, segment_len, data, segment, |len, sum| {
            if blocks != len.div_ceil(16) {
                blocks = len.div_ceil(16);
                power.set_power(&self.key().short_powers, blocks, |by, value| self.multiply(by, value));
            }
            self.multiply(&power, &mut hash);
            hash ^= u128::from(sum[0]) | u128::from(sum[1]) << 64;
        });
        hash ^= self.lengths_times_h(aad_len, len);
        *tag = hash.to_be_bytes();
        self.apply_keystream(j0, InOut::in_place(tag));
        wipe(from_mut(&mut hash));
        wipe_dead_stack::<144>();
    }

    /// Returns the product of H and the last block of a message, with the lengths of its parts in
    /// bytes.
    fn lengths_times_h(&self, aad_len: u64, len: usize) -> u128 {
        let mut hash = u128::from(8 * len as u64) | u128::from(8 * aad_len) << 64;
        self.absorb(&[0; 16], &mut hash);
        hash
    }

    /// Multiplies `value` by the first power in `by`: the hash of a block of zeros after `value`.
    fn multiply(&self, by: &ShortPowers, value: &mut u128) {
        self.variant.absorb_short(by, &[0; 16], value);
    }
}

/// Returns the counter block that is `blocks` after `j0`. The last word wraps, as in inc32.
fn advanced(j0: u128, blocks: usize) -> u128 {
    j0 >> 32 << 32 | u128::from((j0 as u32).wrapping_add(blocks as u32))
}
