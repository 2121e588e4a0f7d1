//! Poly1305 (RFC 8439, section 2.5) with 64-bit integers. All variants use it for short messages,
//! and the portable variant for messages of any length.
//!
//! ```text
//! r = key[0..16] & 0x0ffffffc_0ffffffc_0ffffffc_0fffffff
//! s = key[16..32]
//! h = 0
//! for block in message, 16 bytes each, the last one possibly shorter:
//!     h = (h + block + 2^(8 * len(block))) * r mod 2^130 - 5
//! tag = (h + s) mod 2^128
//! ```
//!
//! The departure is that `h` is neither fully reduced nor in one piece between two blocks, see
//! [`Accumulator`].
#![forbid(unsafe_code)]

use crate::vector::{Steps, load16};
use crate::zero::wipe;
use core::slice::from_mut;

/// The state of a message: the accumulator and the key, which must not be used for another message;
/// both are wiped from memory on drop.
pub(crate) struct State {
    h: Accumulator,
    /// The clamped `r`. Both words are below 2^60, and the second is divisible by 4.
    r: [u64; 2],
    s: [u64; 2],
}

impl State {
    pub(crate) const EMPTY: Self =
        Self { h: Accumulator { low: [0; 2], over: 0, high: 0 }, r: [0; 2], s: [0; 2] };

    /// Begins a message under the key `r || s`.
    #[inline(always)]
    pub(crate) fn start(key: &[u8; 32]) -> Self {
        let mut state = Self::EMPTY;
        state.set(key);
        state
    }

    /// Begins a message in place, in a state that is [`State::EMPTY`]. This leaves no copy of the
    /// key elsewhere.
    #[inline(always)]
    pub(crate) fn set(&mut self, key: &[u8; 32]) {
        let [r0, r1, s0, s1] = words(key);
        self.r = [r0 & 0x0fff_fffc_0fff_ffff, r1 & 0x0fff_fffc_0fff_fffc];
        self.s = [s0, s1];
    }

    /// Returns `h` in words of 64 bits, which is not fully reduced, but the third word is at most
    /// 4.
    #[inline(always)]
    pub(crate) fn accumulator(&self) -> [u64; 3] {
        self.h.words()
    }

    /// Replaces the accumulator `h`. Its third word must be at most 4.
    #[inline(always)]
    pub(crate) fn set_accumulator(&mut self, h: [u64; 3]) {
        self.h = Accumulator::from_words(h);
    }

    /// Returns the clamped `r`, converted from words to limbs.
    #[inline(always)]
    pub(crate) fn r(&self) -> Element {
        Element::from_words([self.r[0], self.r[1], 0])
    }

    /// Returns `r` to the power `n`, by squaring and multiplying. The exponent is public, and at
    /// least 1.
    pub(crate) fn power_of_r(&self, n: usize) -> Element {
        let r = self.r();
        (0..n.ilog2()).rev().fold(r, |power, bit| {
            let square = power.mul(power);
            if n >> bit & 1 == 1 { square.mul(r) } else { square }
        })
    }

    /// Begins in an empty state with the `r` of `whole`, to absorb some of its blocks. No tag can
    /// be computed from it.
    #[inline(always)]
    pub(crate) fn begin_part(&mut self, whole: &Self) {
        self.r = whole.r;
    }

    /// Absorbs a segment of `len` bytes, padded with zeros to whole blocks. `sum` is the
    /// accumulator of the segment alone. `power` is the last number of blocks, with `r` to its
    /// power, because most segments have the same length.
    pub(crate) fn absorb_segment(&mut self, power: &mut (usize, Element), len: usize, sum: [u64; 3]) {
        let blocks = len.div_ceil(16);
        if power.0 != blocks {
            *power = (blocks, self.power_of_r(blocks));
        }
        self.absorb_sum(power.1, sum);
    }

    /// Absorbs blocks. `sum` is their accumulator when absorption begins with zero, and `power` is
    /// `r` to the power of their number.
    ///
    /// Bounds: the third words of the product and of `sum` are at most 4, so `high` is at most 9,
    /// and five times its upper bits at most 10. The third word of the result is at most 4
    /// again.
    pub(crate) fn absorb_sum(&mut self, power: Element, sum: [u64; 3]) {
        let [h0, h1, h2] = Element::from_words(self.accumulator()).mul(power).to_words();
        let (low, carry) = join([h0, h1]).overflowing_add(join([sum[0], sum[1]]));
        let high = h2 + sum[2] + u64::from(carry);
        // 2^130 = 5 modulo 2^130 - 5.
        let (low, carry) = low.overflowing_add(u128::from(5 * (high >> 2)));
        self.set_accumulator([low as u64, (low >> 64) as u64, (high & 3) + u64::from(carry)]);
    }

    /// Absorbs the whole blocks of 16 bytes; the bytes after the last whole block are ignored.
    #[inline(always)]
    pub(crate) fn blocks(&mut self, blocks: &[u8]) {
        self.integers(blocks.as_chunks::<16>().0.iter().map(|block| u128::from_le_bytes(*block)));
    }

    /// Absorbs whole blocks as the integers that they represent.
    #[inline(always)]
    pub(crate) fn integers(&mut self, blocks: impl Iterator<Item = u128>) {
        // `h` is not updated in memory, because each block would wait for the store of the last
        // one.
        let (mut h, r) = (self.h, self.r);
        for block in blocks {
            h = h.step(r, block, 1);
        }
        self.h = h;
    }

    /// Begins to absorb whole blocks, one in each step. The state changes in [`State::absorbed`].
    #[inline(always)]
    pub(crate) fn absorb<'a>(&self, blocks: &'a [u8]) -> Blocks<'a> {
        Blocks { h: self.h, r: self.r, left: blocks.as_chunks().0 }
    }

    /// Ends [`State::absorb`], and absorbs the blocks that are left.
    #[inline(always)]
    pub(crate) fn absorbed(&mut self, blocks: Blocks<'_>) {
        self.h = blocks.h;
        self.blocks(blocks.left.as_flattened());
    }

    /// Absorbs the end of a message, which is shorter than a block and followed by a bit 1 (RFC
    /// 8439, section 2.5.1).
    #[inline(always)]
    pub(crate) fn end(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.h = self.h.step(self.r, load16(rest) | 1 << (8 * rest.len()), 0);
        }
    }

    /// Absorbs data as the AEAD does, padded with zeros to whole blocks (RFC 8439, section 2.8).
    #[inline(always)]
    pub(crate) fn padded(&mut self, data: &[u8]) {
        let (blocks, rest) = data.as_chunks::<16>();
        self.blocks(blocks.as_flattened());
        if !rest.is_empty() {
            self.h = self.h.step(self.r, load16(rest), 1);
        }
    }

    /// Returns the tag: `h`, fully reduced, plus `s` modulo 2^128.
    #[inline(always)]
    pub(crate) fn finish(&self) -> [u8; 16] {
        let [h0, h1, h2] = self.accumulator();
        // With h2 <= 4, h is below 5·2^128 < 2p. It is at least p if h + 5 is at least 2^130.
        let low = join([h0, h1]);
        let (reduced, carry) = low.overflowing_add(5);
        let above = ((h2 + u64::from(carry)) >> 2).wrapping_neg();
        let above = join([above; 2]);
        (low ^ (low ^ reduced) & above).wrapping_add(join(self.s)).to_le_bytes()
    }
}

/// Whole blocks that are absorbed one after another, between other work.
pub(crate) struct Blocks<'a> {
    h: Accumulator,
    r: [u64; 2],
    left: &'a [[u8; 16]],
}

impl Steps for Blocks<'_> {
    #[inline(always)]
    fn has(&self, n: usize) -> bool {
        self.left.len() >= n
    }
    #[inline(always)]
    fn step(&mut self) {
        if let Some((block, left)) = self.left.split_first() {
            self.h = self.h.step(self.r, u128::from_le_bytes(*block), 1);
            self.left = left;
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        wipe(&mut self.h.low);
        wipe(from_mut(&mut self.h.over));
        wipe(from_mut(&mut self.h.high));
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

/// The accumulator after a step, h = low + over + 2^128 high.
///
/// `over` is the part that the reduction modulo 2^130 - 5 adds again at the bottom. A step ends in
/// two additions, of the next block and of `over`. The latter is known later, so the addition of
/// `over` is left to the next step, which adds its block first.
#[derive(Clone, Copy)]
struct Accumulator {
    low: [u64; 2],
    over: u64,
    high: u64,
}

impl Accumulator {
    #[inline(always)]
    fn from_words([h0, h1, h2]: [u64; 3]) -> Self {
        Self { low: [h0, h1], over: 0, high: h2 }
    }

    /// Returns the words; the third is at most 4.
    #[inline(always)]
    fn words(self) -> [u64; 3] {
        let (low, carry) = join(self.low).overflowing_add(u128::from(self.over));
        [low as u64, (low >> 64) as u64, self.high + u64::from(carry)]
    }

    /// Returns (h + m + 2^128 top) r.
    ///
    /// Bounds: `high` is at most 3 after a step, and at most 4 at first. With two carries and
    /// `top`, h2 is at most 6, so h2 r0 is below 6·2^60. The carry of d1 is below 2^62, so d2
    /// is below 10·2^60 and d2 + d2 / 4 below 2^64. The sums for the lower words are below
    /// 2^126.
    #[inline(always)]
    fn step(self, [r0, r1]: [u64; 2], m: u128, top: u64) -> Self {
        // 2^128 r1 = 5/4 r1 modulo 2^130 - 5, since 4 divides r1.
        let s1 = r1 + (r1 >> 2);
        let (low, first) = join(self.low).overflowing_add(m);
        let (low, second) = low.overflowing_add(u128::from(self.over));
        let (h0, h1) = (low as u64, (low >> 64) as u64);
        let h2 = (self.high + top + u64::from(first)) + u64::from(second);

        let d0 = wide(h0, r0) + wide(h1, s1);
        let d1 = wide(h0, r1) + wide(h1, r0) + u128::from(h2 * s1) + (d0 >> 64);
        let d2 = h2 * r0 + (d1 >> 64) as u64;

        // 2^130 = 5, so the part above it is added again five times: 4 d2' + d2', where d2' = d2 /
        // 4.
        Self { low: [d0 as u64, d1 as u64], over: (d2 & !3) + (d2 >> 2), high: d2 & 3 }
    }
}

/// Returns the four little-endian words of a key.
#[inline(always)]
fn words(key: &[u8; 32]) -> [u64; 4] {
    let words = key.as_chunks().0;
    [
        u64::from_le_bytes(words[0]),
        u64::from_le_bytes(words[1]),
        u64::from_le_bytes(words[2]),
        u64::from_le_bytes(words[3]),
    ]
}

/// Returns two words as one integer of 128 bits, the low word first.
#[inline(always)]
fn join([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

/// Returns the product of two words of 64 bits with all its 128 bits.
#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

const M44: u64 = (1 << 44) - 1;
const M42: u64 = (1 << 42) - 1;

/// An integer modulo 2^130 - 5 in limbs of 44, 44 and 42 bits. The powers of `r` are computed in
/// this form.
///
/// The first limb is below 2^44, the second below 2^44 + 2^10, and the third below 2^42, or below
/// 2^43 for a sum.
#[derive(Clone, Copy)]
pub(crate) struct Element(pub(crate) [u64; 3]);

impl Element {
    pub(crate) const ONE: Self = Self([1, 0, 0]);

    /// Converts words of 64 bits to limbs, where the third word must be at most 4.
    #[inline(always)]
    pub(crate) fn from_words([h0, h1, h2]: [u64; 3]) -> Self {
        Self([h0 & M44, (h0 >> 44 | h1 << 20) & M44, h1 >> 24 | h2 << 40])
    }

    /// Returns the product of two integers modulo 2^130 - 5, not fully reduced.
    ///
    /// Bounds: limbs are below 2^44.1, so a column of three products, two of them times 20, is
    /// below 41·2^88.2 < 2^94. Its carry is below 2^52, and five times the last carry is below
    /// 2^53.
    #[inline(always)]
    pub(crate) fn mul(self, other: Self) -> Self {
        let (Self([a0, a1, a2]), Self([b0, b1, b2])) = (self, other);
        // 2^132 = 4·2^130 = 20 modulo 2^130 - 5.
        let (s1, s2) = (20 * b1, 20 * b2);
        let d0 = wide(a0, b0) + wide(a1, s2) + wide(a2, s1);
        let d1 = wide(a0, b1) + wide(a1, b0) + wide(a2, s2) + (d0 >> 44);
        let d2 = wide(a0, b2) + wide(a1, b1) + wide(a2, b0) + (d1 >> 44);
        let l0 = (d0 as u64 & M44) + 5 * (d2 >> 42) as u64;
        Self([l0 & M44, (d1 as u64 & M44) + (l0 >> 44), d2 as u64 & M42])
    }

    /// Converts limbs below 2^52 to 64-bit words; the third is at most 4.
    #[inline(always)]
    pub(crate) fn to_words(self) -> [u64; 3] {
        let Self([l0, l1, l2]) = self;
        let l1 = l1 + (l0 >> 44);
        let l2 = l2 + (l1 >> 44);
        let low = u128::from((l0 & M44) + 5 * (l2 >> 42)) + (u128::from(l1 & M44) << 44);
        let (low, carry) = low.overflowing_add(u128::from(l2 & M42) << 88);
        [low as u64, (low >> 64) as u64, ((l2 & M42) >> 40) + u64::from(carry)]
    }
}

#[cfg(test)]
mod test {
    use super::*;

    /// Few messages have a carry out of the addition that a step leaves to the next one, so it is
    /// compared with the same accumulator in words, which leaves nothing to add.
    #[test]
    fn carries_of_the_addition_that_was_left() {
        let r = [0x0fff_fffc_0fff_ffff, 0x0fff_fffc_0fff_fffc];
        for low in [[u64::MAX; 2], [u64::MAX - 3, u64::MAX], [0, u64::MAX], [7, 9]] {
            for (over, high) in [(0, 3), (4, 0), (5, 3), (1 << 62, 2)] {
                for m in [0, 1, u128::MAX - 4, u128::MAX] {
                    let left = Accumulator { low, over, high };
                    let [left, whole] = [left, Accumulator::from_words(left.words())]
                        .map(|h| State { h: h.step(r, m, 1), r, s: [0; 2] }.finish());
                    assert_eq!(left, whole, "{low:x?} {over:x} {high} {m:x}");
                }
            }
        }
    }

    /// The accumulator is 2^130 - 1 and the sum is 2^128, and 2^130 is 5, so together they are
    /// 2^128 + 4: the words that 5 is added to carry into the third one.
    #[test]
    fn carry_of_a_combined_sum() {
        let mut state = State::EMPTY;
        state.set_accumulator([u64::MAX, u64::MAX, 3]);
        state.absorb_sum(Element::ONE, [0, 0, 1]);
        assert_eq!(state.accumulator(), [4, 0, 1]);
    }

    /// The limbs are 2^88 - 1 and 2^130 + (2^40 - 1) 2^88, and 2^130 is 5, so their sum is 2^128 +
    /// 4.
    #[test]
    fn carry_into_the_third_word() {
        assert_eq!(Element([M44, M44, 1 << 42 | ((1 << 40) - 1)]).to_words(), [4, 0, 1]);
    }

    #[test]
    fn padded_appends_zeros() {
        let key = [0x9b; 32];
        for len in 0..70 {
            let mut data = vec![0xee; len];
            let mut padded = State::start(&key);
            padded.padded(&data);
            data.resize(len.next_multiple_of(16), 0);
            let mut whole = State::start(&key);
            whole.blocks(&data);
            assert_eq!(padded.finish(), whole.finish(), "{len}");
        }
    }
}
