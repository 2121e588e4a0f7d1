//! Poly1305 with plain integers: what every row does with few blocks, and the portable row with all.
#![forbid(unsafe_code)]

use crate::vector::load16;
use crate::zero::wipe;
use core::slice::from_mut;

/// A message under way: the sum so far and the key, which serves for one message only.
///
/// It lives where its owner puts it, and is wiped on drop.
pub(crate) struct State {
    sum: Sum,
    /// The point, clamped: both words below 2^60, the second divisible by 4.
    r: [u64; 2],
    /// What is added to the sum in the end.
    s: [u64; 2],
}

impl State {
    /// Nothing yet under the key `r || s` (RFC 8439, section 2.5).
    #[inline(always)]
    pub(crate) fn start(key: &[u8; 32]) -> Self {
        let [r0, r1, s0, s1] = words(key);
        Self {
            sum: Sum::of([0; 3]),
            r: [r0 & 0x0fff_fffc_0fff_ffff, r1 & 0x0fff_fffc_0fff_fffc],
            s: [s0, s1],
        }
    }

    /// The sum so far, in words of 64 bits. It is not all the way reduced: the third word is at most 4.
    #[inline(always)]
    pub(crate) fn sum(&self) -> [u64; 3] {
        self.sum.words()
    }

    /// Goes on from another sum, of which the third word is at most 4.
    #[inline(always)]
    pub(crate) fn go_on(&mut self, sum: [u64; 3]) {
        self.sum = Sum::of(sum);
    }

    /// The point in limbs.
    #[inline(always)]
    pub(crate) fn point(&self) -> Number {
        Number::of([self.r[0], self.r[1], 0])
    }

    /// Takes in whole blocks; what is left over of the last one is ignored.
    #[inline(always)]
    pub(crate) fn blocks(&mut self, blocks: &[u8]) {
        let mut sum = self.sum;
        for block in blocks.as_chunks::<16>().0 {
            sum = sum.step(self.r, u128::from_le_bytes(*block), 1);
        }
        self.sum = sum;
    }

    /// Takes in the end of a message, which is less than a block: a bit 1 comes after it (RFC 8439, section 2.5.1).
    #[inline(always)]
    pub(crate) fn end(&mut self, rest: &[u8]) {
        if !rest.is_empty() {
            self.sum = self.sum.step(self.r, load16(rest) | 1 << (8 * rest.len()), 0);
        }
    }

    /// Data as an AEAD takes it in: up to 15 zeros make the last block whole (RFC 8439, section 2.8).
    #[inline(always)]
    pub(crate) fn padded(&mut self, data: &[u8]) {
        let (blocks, rest) = data.as_chunks::<16>();
        self.blocks(blocks.as_flattened());
        if !rest.is_empty() {
            self.sum = self.sum.step(self.r, load16(rest), 1);
        }
    }

    /// The tag: the sum, reduced, plus `s` modulo 2^128.
    #[inline(always)]
    pub(crate) fn finish(&self) -> [u8; 16] {
        let [h0, h1, h2] = self.sum();
        // With h2 <= 4 the sum is below 5·2^128 < 2p. It is at least p if 5 more reach 2^130.
        let low = join([h0, h1]);
        let (reduced, carry) = low.overflowing_add(5);
        let above = ((h2 + u64::from(carry)) >> 2).wrapping_neg();
        let above = join([above; 2]);
        (low ^ (low ^ reduced) & above).wrapping_add(join(self.s)).to_le_bytes()
    }
}

impl Drop for State {
    fn drop(&mut self) {
        wipe(&mut self.sum.low);
        wipe(from_mut(&mut self.sum.over));
        wipe(from_mut(&mut self.sum.high));
        wipe(&mut self.r);
        wipe(&mut self.s);
    }
}

/// low + over + 2^128 high: a sum as a step leaves it.
///
/// Two additions, of the next block and of what comes back over the top, follow a step. The second takes longer to be
/// known, so they are done in this order.
#[derive(Clone, Copy)]
struct Sum {
    low: [u64; 2],
    over: u64,
    high: u64,
}

impl Sum {
    #[inline(always)]
    fn of([h0, h1, h2]: [u64; 3]) -> Self {
        Self { low: [h0, h1], over: 0, high: h2 }
    }

    /// As words, of which the third is at most 4.
    #[inline(always)]
    fn words(self) -> [u64; 3] {
        let (low, carry) = join(self.low).overflowing_add(u128::from(self.over));
        [low as u64, (low >> 64) as u64, self.high + u64::from(carry)]
    }

    /// (self + m + 2^128 top) r.
    ///
    /// `high` is at most 3 after a step, and 4 at first. With two carries and `top` h2 is at most 6, so h2 r0 is below
    /// 6·2^60; what d1 carries is below 2^62, so that d2 is below 10·2^60 and d2 + d2 / 4 below 2^64. The sums for the
    /// lower words are below 2^126.
    #[inline(always)]
    fn step(self, [r0, r1]: [u64; 2], m: u128, top: u64) -> Self {
        // 2^128 r1 = 5/4 r1, since 4 divides r1.
        let s1 = r1 + (r1 >> 2);
        let (low, first) = join(self.low).overflowing_add(m);
        let (low, second) = low.overflowing_add(u128::from(self.over));
        let (h0, h1) = (low as u64, (low >> 64) as u64);
        let h2 = (self.high + top + u64::from(first)) + u64::from(second);

        let d0 = wide(h0, r0) + wide(h1, s1);
        let d1 = wide(h0, r1) + wide(h1, r0) + u128::from(h2 * s1) + (d0 >> 64);
        let d2 = h2 * r0 + (d1 >> 64) as u64;

        // What is above 2^130 comes back times 5: 4 d2' + d2', where d2' = d2 / 4.
        Self { low: [d0 as u64, d1 as u64], over: (d2 & !3) + (d2 >> 2), high: d2 & 3 }
    }
}

/// Four little-endian words.
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

/// Two words as one.
#[inline(always)]
fn join([low, high]: [u64; 2]) -> u128 {
    u128::from(low) | u128::from(high) << 64
}

#[inline(always)]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

const M44: u64 = (1 << 44) - 1;
const M42: u64 = (1 << 42) - 1;

/// A number modulo 2^130 - 5 in limbs of 44, 44 and 42 bits: the form in which powers are made.
///
/// The first is below 2^44, the second below 2^44 + 2^10, the third below 2^42 (or, of a sum, 2^43).
#[derive(Clone, Copy)]
pub(crate) struct Number(pub(crate) [u64; 3]);

impl Number {
    pub(crate) const ONE: Self = Self([1, 0, 0]);

    /// Words of 64 bits in limbs. The third word is at most 4.
    #[inline(always)]
    pub(crate) fn of([h0, h1, h2]: [u64; 3]) -> Self {
        Self([h0 & M44, (h0 >> 44 | h1 << 20) & M44, h1 >> 24 | h2 << 40])
    }

    /// The product.
    ///
    /// Limbs are below 2^44.1, so a column of three products, two of them times 20, is below 41·2^88.2 < 2^94, and what
    /// it carries below 2^52; five times the last carry is below 2^53.
    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        let (Self([a0, a1, a2]), Self([b0, b1, b2])) = (self, other);
        // 2^132 = 4·2^130 = 20.
        let (s1, s2) = (20 * b1, 20 * b2);
        let d0 = wide(a0, b0) + wide(a1, s2) + wide(a2, s1);
        let d1 = wide(a0, b1) + wide(a1, b0) + wide(a2, s2) + (d0 >> 44);
        let d2 = wide(a0, b2) + wide(a1, b1) + wide(a2, b0) + (d1 >> 44);
        let l0 = (d0 as u64 & M44) + 5 * (d2 >> 42) as u64;
        Self([l0 & M44, (d1 as u64 & M44) + (l0 >> 44), d2 as u64 & M42])
    }

    /// Limbs below 2^52 as words of 64 bits, of which the third is at most 4.
    #[inline(always)]
    pub(crate) fn words(self) -> [u64; 3] {
        let Self([l0, l1, l2]) = self;
        let l1 = l1 + (l0 >> 44);
        let l2 = l2 + (l1 >> 44);
        let low = u128::from((l0 & M44) + 5 * (l2 >> 42)) + (u128::from(l1 & M44) << 44);
        let (low, carry) = low.overflowing_add(u128::from(l2 & M42) << 88);
        [low as u64, (low >> 64) as u64, ((l2 & M42) >> 40) + u64::from(carry)]
    }
}
