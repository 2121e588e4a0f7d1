//! Numbers modulo 2^130 - 5 in vectors, one in every lane, in limbs of either 44 or 26 bits.
#![forbid(unsafe_code)]

use super::scalar::Number;
use crate::vector::limbs::{Limbs, Limbs32, Limbs52};
use crate::vector::unroll;

/// How numbers lie in the vectors of `P`.
pub(crate) trait Radix<P: Limbs> {
    /// `LANES` numbers.
    type Numbers: Copy;
    /// Sums of products, with the carries still in them. There is room for products with four vectors of blocks, to
    /// the first of which a sum was added.
    type Sums: Copy;

    /// The same number in every lane.
    fn splat(p: P, number: Number) -> Self::Numbers;
    /// `a` where all bits of `mask` are set, `b` where those of `other` are.
    fn choose(p: P, mask: P::V, a: Self::Numbers, other: P::V, b: Self::Numbers) -> Self::Numbers;
    /// Stores numbers as [`Radix::add_products`] multiplies by them: their limbs, and then multiples of all but the
    /// first. In all, 40 words are enough.
    fn store(p: P, numbers: Self::Numbers, factors: &mut [u64]);

    /// `LANES` blocks, each with the bit 2^128.
    fn load(p: P, blocks: &[u8]) -> Self::Numbers;
    /// `h` (see [`super::State`]) in the lane of the first block, zero in the others.
    fn enter(p: P, h: [u64; 3]) -> Self::Numbers;
    /// The sum of all lanes; of a result of [`Radix::carry`].
    fn leave(p: P, numbers: Self::Numbers) -> [u64; 3];
    /// a + b.
    fn add(p: P, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers;
    /// No products yet.
    fn zero(p: P) -> Self::Sums;
    /// sums + numbers * factors, the words of which are vectors.
    fn add_products(p: P, sums: Self::Sums, numbers: Self::Numbers, factors: &[u64]) -> Self::Sums;
    /// The sums as numbers.
    fn carry(p: P, sums: Self::Sums) -> Self::Numbers;
}

/// Limbs of 44, 44 and 42 bits.
pub(crate) struct Radix44;

const M44: u64 = (1 << 44) - 1;
const M42: u64 = (1 << 42) - 1;

/// A product of two limbs is low + 2^52 high, and both are summed on their own.
///
/// Numbers have limbs below 2^44, 2^44 + 2^15, 2^43, and blocks below 2^44, 2^44, 2^41; so what is multiplied is below
/// 2^45.1, and so much below the 2^52 that the instruction reads. Factors are numbers, and times 20 below 2^48.5.
/// Twelve low parts are below 2^55.6, twelve high parts below 12·2^(45.1 + 48.5 - 52) < 2^45.3.
impl<P: Limbs52> Radix<P> for Radix44 {
    type Numbers = [P::V; 3];
    type Sums = [[P::V; 2]; 3];

    #[inline(always)]
    fn splat(p: P, Number(l): Number) -> Self::Numbers {
        [p.splat(l[0]), p.splat(l[1]), p.splat(l[2])]
    }

    #[inline(always)]
    fn choose(p: P, mask: P::V, a: Self::Numbers, other: P::V, mut b: Self::Numbers) -> Self::Numbers {
        unroll!(i < 3 => {
            b[i] = p.or(p.and(a[i], mask), p.and(b[i], other));
        });
        b
    }

    #[inline(always)]
    fn store(p: P, n: Self::Numbers, factors: &mut [u64]) {
        unroll!(i < 3 => {
            p.store_words(n[i], &mut factors[i * P::LANES..]);
            if i > 0 {
                // 2^132 = 4·2^130 = 20.
                let multiple = p.shl::<2>(p.add(n[i], p.shl::<2>(n[i])));
                p.store_words(multiple, &mut factors[(2 + i) * P::LANES..]);
            }
        });
    }

    #[inline(always)]
    fn load(p: P, blocks: &[u8]) -> Self::Numbers {
        let [low, high] = p.load(blocks);
        let mask = p.splat(M44);
        [
            p.and(low, mask),
            p.or_and(p.shr::<44>(low), p.shl::<20>(high), mask),
            p.or(p.shr::<24>(high), p.splat(1 << 40)),
        ]
    }

    #[inline(always)]
    fn enter(p: P, h: [u64; 3]) -> Self::Numbers {
        let Number(l) = Number::of(h);
        [p.only(l[0]), p.only(l[1]), p.only(l[2])]
    }

    #[inline(always)]
    fn leave(p: P, n: Self::Numbers) -> [u64; 3] {
        // Eight lanes: below 2^48.
        Number([p.sum(n[0]), p.sum(n[1]), p.sum(n[2])]).words()
    }

    #[inline(always)]
    fn add(p: P, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers {
        [p.add(a[0], b[0]), p.add(a[1], b[1]), p.add(a[2], b[2])]
    }

    #[inline(always)]
    fn zero(p: P) -> Self::Sums {
        [[p.splat(0); 2]; 3]
    }

    #[inline(always)]
    fn add_products(p: P, mut sums: Self::Sums, n: Self::Numbers, factors: &[u64]) -> Self::Sums {
        macro_rules! add {
            ($($to:literal = $a:literal * $b:literal;)*) => {
                $(
                    let word = p.words(&factors[$b * P::LANES..]);
                    sums[$to][0] = p.add_low(sums[$to][0], n[$a], word);
                    sums[$to][1] = p.add_high(sums[$to][1], n[$a], word);
                )*
            };
        }
        // The first limbs last, since those of a sum are.
        add! {
            0 = 2 * 3; 1 = 2 * 4; 2 = 2 * 0;
            0 = 1 * 4; 1 = 1 * 0; 2 = 1 * 1;
            0 = 0 * 0; 1 = 0 * 1; 2 = 0 * 2;
        }
        sums
    }

    /// The carries are below 2^53.4; five times that of the last limb is below 2^55.8, of which 2^11.8 go on.
    #[inline(always)]
    fn carry(p: P, sums: Self::Sums) -> Self::Numbers {
        let (m44, m42) = (p.splat(M44), p.splat(M42));
        let [[low0, high0], [low1, high1], [low2, high2]] = sums;
        let carry = p.add(p.shr::<44>(low0), p.shl::<8>(high0));
        let low1 = p.add(low1, carry);
        let carry = p.add(p.shr::<44>(low1), p.shl::<8>(high1));
        let low2 = p.add(low2, carry);
        let carry = p.add(p.shr::<42>(low2), p.shl::<10>(high2));
        let l0 = p.add(p.and(low0, m44), p.add(carry, p.shl::<2>(carry)));
        [p.and(l0, m44), p.add(p.and(low1, m44), p.shr::<44>(l0)), p.and(low2, m42)]
    }
}

/// Five limbs of 26 bits.
pub(crate) struct Radix26;

const M26: u64 = (1 << 26) - 1;

/// Numbers have limbs below 2^26 + 2^12, so what is multiplied is below 2^27.1. Factors are numbers, and times 5
/// below 2^28.4: all fit in 32 bits. A column of five products, four of them with such multiples, is below
/// 21·2^53.1 < 2^57.5, and four columns are below 2^59.5.
impl<P: Limbs32> Radix<P> for Radix26 {
    type Numbers = [P::V; 5];
    type Sums = [P::V; 5];

    #[inline(always)]
    fn splat(p: P, Number([l0, l1, l2]): Number) -> Self::Numbers {
        let (l1, l2) = (l1 & M44, l2 + (l1 >> 44));
        [
            p.splat(l0 & M26),
            p.splat((l0 >> 26 | l1 << 18) & M26),
            p.splat(l1 >> 8 & M26),
            p.splat((l1 >> 34 | l2 << 10) & M26),
            p.splat(l2 >> 16),
        ]
    }

    #[inline(always)]
    fn choose(p: P, mask: P::V, a: Self::Numbers, other: P::V, mut b: Self::Numbers) -> Self::Numbers {
        unroll!(i < 5 => {
            b[i] = p.or(p.and(a[i], mask), p.and(b[i], other));
        });
        b
    }

    #[inline(always)]
    fn store(p: P, n: Self::Numbers, factors: &mut [u64]) {
        unroll!(i < 5 => {
            p.store_half(p.half(n[i]), &mut factors[i * P::LANES..]);
            if i > 0 {
                let multiple = p.add(n[i], p.shl::<2>(n[i]));
                p.store_half(p.half(multiple), &mut factors[(4 + i) * P::LANES..]);
            }
        });
    }

    #[inline(always)]
    fn load(p: P, blocks: &[u8]) -> Self::Numbers {
        let [low, high] = p.load(blocks);
        let mask = p.splat(M26);
        [
            p.and(low, mask),
            p.and(p.shr::<26>(low), mask),
            p.or_and(p.shr::<52>(low), p.shl::<12>(high), mask),
            p.and(p.shr::<14>(high), mask),
            p.or(p.shr::<40>(high), p.splat(1 << 24)),
        ]
    }

    #[inline(always)]
    fn enter(p: P, [h0, h1, h2]: [u64; 3]) -> Self::Numbers {
        [
            p.only(h0 & M26),
            p.only(h0 >> 26 & M26),
            p.only((h0 >> 52 | h1 << 12) & M26),
            p.only(h1 >> 14 & M26),
            p.only(h1 >> 40 | h2 << 24),
        ]
    }

    #[inline(always)]
    fn leave(p: P, n: Self::Numbers) -> [u64; 3] {
        // Four lanes: below 2^29. In limbs of 52 bits and what is above, below 2^56; then of 44.
        let a = p.sum(n[0]) + (p.sum(n[1]) << 26);
        let b = p.sum(n[2]) + (p.sum(n[3]) << 26);
        let low = u128::from(a) + (u128::from(b) << 52);
        let l2 = (low >> 88) as u64 + (p.sum(n[4]) << 16);
        Number([low as u64 & M44, (low >> 44) as u64 & M44, l2]).words()
    }

    #[inline(always)]
    fn add(p: P, a: Self::Numbers, b: Self::Numbers) -> Self::Numbers {
        [p.add(a[0], b[0]), p.add(a[1], b[1]), p.add(a[2], b[2]), p.add(a[3], b[3]), p.add(a[4], b[4])]
    }

    #[inline(always)]
    fn zero(p: P) -> Self::Sums {
        [p.splat(0); 5]
    }

    #[inline(always)]
    fn add_products(p: P, mut sums: Self::Sums, n: Self::Numbers, factors: &[u64]) -> Self::Sums {
        let n = [p.half(n[0]), p.half(n[1]), p.half(n[2]), p.half(n[3]), p.half(n[4])];
        macro_rules! add {
            ($($word:literal: $($to:literal = $a:literal),*;)*) => {
                $(
                    let word = p.load_half(&factors[$word * P::LANES..]);
                    $( sums[$to] = p.add_product(sums[$to], n[$a], word); )*
                )*
            };
        }
        // Word by word, so that each is loaded once. 4 + i is five times limb i.
        add! {
            0: 0 = 0, 1 = 1, 2 = 2, 3 = 3, 4 = 4;
            1: 1 = 0, 2 = 1, 3 = 2, 4 = 3;
            5: 0 = 4;
            2: 2 = 0, 3 = 1, 4 = 2;
            6: 0 = 3, 1 = 4;
            3: 3 = 0, 4 = 1;
            7: 0 = 2, 1 = 3, 2 = 4;
            4: 4 = 0;
            8: 0 = 1, 1 = 2, 2 = 3, 3 = 4;
        }
        sums
    }

    /// Two chains side by side. Carries are below 2^33.6; five times that of the last limb is below 2^36, of which 2^10
    /// go on, and 2^7.7 from the fourth limb.
    #[inline(always)]
    fn carry(p: P, mut d: Self::Sums) -> Self::Numbers {
        let mask = p.splat(M26);
        macro_rules! carry {
            ($($from:literal to $to:literal;)*) => {
                $(
                    let carry = p.shr::<26>(d[$from]);
                    d[$from] = p.and(d[$from], mask);
                    // 2^130 = 5.
                    let carry = if $to == 0 { p.add(carry, p.shl::<2>(carry)) } else { carry };
                    d[$to] = p.add(d[$to], carry);
                )*
            };
        }
        carry! { 0 to 1; 3 to 4; 1 to 2; 4 to 0; 2 to 3; 0 to 1; 3 to 4; }
        d
    }
}
