//! Arithmetic modulo 2^130 - 5 on vectors, with one integer in every lane.
//!
//! An integer is a list of limbs, for example five limbs of 26 bits: l0 + 2^26 l1 + 2^52 l2 + 2^78
//! l3 + 2^104 l4. A product is computed as in school, limb by limb, and reduced with 2^130 = 5. The
//! size of the limbs depends on the multiplication of the instruction set: 44 bits for AVX-512
//! IFMA, which multiplies 52 bits by 52 bits, and 26 bits for a multiplication of 32 bits by 32
//! bits. The limbs are smaller than the operands of the multiplication, so carries are computed
//! only after the sum of many products.
#![forbid(unsafe_code)]

use super::scalar::Element;
use crate::vector::limbs::{Limbs, Limbs32, Limbs52};
use crate::vector::unroll;

/// A representation of integers modulo 2^130 - 5 in the vectors of `P`.
pub(crate) trait Radix<P: Limbs> {
    /// Number of words in a factor, as it is stored in the table of powers.
    const WORDS: usize;
    /// `LANES` integers.
    type Elements: Copy;
    /// Sums of products before the carries are computed. The products of up to 24 vectors of
    /// blocks, or 16 if `WORDS` is 9, cannot overflow, even if an accumulator was added to one
    /// of the vectors.
    type Sums: Copy;
    /// `LANES` integers in the form of the second operand of a multiplication.
    type Factors: Copy;

    /// Copies the integer `x` to every lane of the elements.
    fn splat(p: P, x: Element) -> Self::Elements;
    /// Returns `a` in the lanes where all bits of `mask` are set, and `b` where all bits of `other`
    /// are set.
    fn choose(p: P, mask: P::V, a: Self::Elements, other: P::V, b: Self::Elements) -> Self::Elements;
    /// Converts to the form of the second operand of a multiplication.
    fn factors(p: P, elements: Self::Elements) -> Self::Factors;
    /// Stores the factors of `elements`. Word `i` of all lanes is at `i * stride`.
    fn store_factors(p: P, elements: Self::Elements, to: &mut [u64], stride: usize);
    /// Loads factors that were stored with a stride of `LANES`.
    fn load_factors(p: P, from: &[u64]) -> Self::Factors;
    /// Copies the first of the stored factors to every lane.
    fn splat_factors(p: P, from: &[u64], stride: usize) -> Self::Factors;

    /// Converts `LANES` blocks (see [`Limbs::halves`]) and adds 2^128 to each.
    fn elements(p: P, halves: [P::V; 2]) -> Self::Elements;
    /// Returns `h` (see [`super::State::accumulator`]) in the lane of the first block, and zero in
    /// the others.
    fn insert_accumulator(p: P, h: [u64; 3]) -> Self::Elements;
    /// Returns the sum of all lanes of a result of [`Radix::carry`].
    fn sum_lanes(p: P, elements: Self::Elements) -> [u64; 3];
    fn add(p: P, a: Self::Elements, b: Self::Elements) -> Self::Elements;
    /// Returns empty sums.
    fn zero(p: P) -> Self::Sums;
    /// Returns sums + elements * factors, without carries.
    fn add_products(p: P, sums: Self::Sums, elements: Self::Elements, factors: Self::Factors) -> Self::Sums;
    /// Computes the carries of the sums and returns the result as elements.
    fn carry(p: P, sums: Self::Sums) -> Self::Elements;
}

/// The representation of an integer in limbs of 44, 44 and 42 bits.
pub(crate) struct Radix44;

const M44: u64 = (1 << 44) - 1;
const M42: u64 = (1 << 42) - 1;

/// Products are computed with Karatsuba's method: a0 b0, a1 b1, a2 b2 and three products of sums of
/// two limbs, since a1 b2 + a2 b1 = (a1 + a2)(b1 + b2) - a1 b1 - a2 b2. The subtractions are done
/// once for all vectors, in [`Radix::carry`]. The instruction returns a product as low + 2^52 high,
/// and both parts are summed separately.
///
/// Bounds: elements have limbs below 2^44, 2^44 + 2^12 and 2^43, and blocks have limbs below 2^44,
/// 2^44 and 2^41. The operands are their sums, below 2^45, 2^45.1 and 2^43.4. Sums of two limbs are
/// below 2^46.1, far below the 2^52 that the instruction reads. Factors are products, with limbs
/// below 2^44, 2^44 + 2^12 and 2^42, or r, which is smaller. Their sums of two limbs are below
/// 2^45.1. 24 low parts are below 2^56.6, and 24 high parts below 24·2^39.2 < 2^43.8.
impl<P: Limbs52> Radix<P> for Radix44 {
    const WORDS: usize = 6;
    type Elements = [P::V; 3];
    /// The products of limbs 1, 2, 1 + 2, 0, 0 + 1 and 2 + 0. The carries begin with the first
    /// three.
    type Sums = [[P::V; 2]; 6];
    type Factors = [P::V; 6];

    #[inline(always)]
    fn splat(p: P, Element(l): Element) -> Self::Elements {
        [p.splat(l[0]), p.splat(l[1]), p.splat(l[2])]
    }

    #[inline(always)]
    fn choose(p: P, mask: P::V, a: Self::Elements, other: P::V, mut b: Self::Elements) -> Self::Elements {
        unroll!(i < 3 => {
            b[i] = p.or(p.and(a[i], mask), p.and(b[i], other));
        });
        b
    }

    #[inline(always)]
    fn factors(p: P, [l0, l1, l2]: Self::Elements) -> Self::Factors {
        [l1, l2, p.add(l1, l2), l0, p.add(l0, l1), p.add(l2, l0)]
    }

    #[inline(always)]
    fn store_factors(p: P, elements: Self::Elements, to: &mut [u64], stride: usize) {
        let factors = Self::factors(p, elements);
        unroll!(i < 6 => {
            p.store_words(factors[i], &mut to[i * stride..]);
        });
    }

    #[inline(always)]
    fn load_factors(p: P, from: &[u64]) -> Self::Factors {
        let mut factors = [p.splat(0); 6];
        unroll!(i < 6 => {
            factors[i] = p.load_words(&from[i * P::LANES..]);
        });
        factors
    }

    #[inline(always)]
    fn splat_factors(p: P, from: &[u64], stride: usize) -> Self::Factors {
        // A single bounds check for all words.
        let from = &from[..=5 * stride];
        let mut factors = [p.splat(0); 6];
        unroll!(i < 6 => {
            factors[i] = p.splat(from[i * stride]);
        });
        factors
    }

    #[inline(always)]
    fn elements(p: P, [low, high]: [P::V; 2]) -> Self::Elements {
        let mask = p.splat(M44);
        [
            p.and(low, mask),
            p.or_and(p.shr::<44>(low), p.shl::<20>(high), mask),
            p.or(p.shr::<24>(high), p.splat(1 << 40)),
        ]
    }

    #[inline(always)]
    fn insert_accumulator(p: P, h: [u64; 3]) -> Self::Elements {
        let Element(l) = Element::from_words(h);
        [p.zero_extend(l[0]), p.zero_extend(l[1]), p.zero_extend(l[2])]
    }

    #[inline(always)]
    fn sum_lanes(p: P, n: Self::Elements) -> [u64; 3] {
        // The sums of eight lanes are below 2^48.
        Element([p.sum_lanes(n[0]), p.sum_lanes(n[1]), p.sum_lanes(n[2])]).to_words()
    }

    #[inline(always)]
    fn add(p: P, a: Self::Elements, b: Self::Elements) -> Self::Elements {
        [p.add(a[0], b[0]), p.add(a[1], b[1]), p.add(a[2], b[2])]
    }

    #[inline(always)]
    fn zero(p: P) -> Self::Sums {
        [[p.splat(0); 2]; 6]
    }

    #[inline(always)]
    fn add_products(p: P, mut sums: Self::Sums, n: Self::Elements, factors: Self::Factors) -> Self::Sums {
        let n = Self::factors(p, n);
        unroll!(i < 6 => {
            sums[i][0] = p.add_low(sums[i][0], n[i], factors[i]);
            sums[i][1] = p.add_high(sums[i][1], n[i], factors[i]);
        });
        sums
    }

    /// A column is low + 2^52 high. Each part may be negative, but the column is not, and neither
    /// are the carries.
    ///
    /// Bounds: the smallest low part, 20 times that of a1 b2 + a2 b1, is above -20·2·2^56.6 >
    /// -2^62. The largest low parts are below 21·2^56.6 < 2^61. High parts are between -2^49.2
    /// and 2^48.2. Columns are below 24·2^92.7, 24·2^90.9 and 24·2^89.7, so the carries are
    /// below 2^53.3, 2^51.6 and 2^52.4. Five times the last carry is below 2^54.8; less
    /// than 2^10.8 of it is carried to the second limb.
    #[inline(always)]
    fn carry(p: P, sums: Self::Sums) -> Self::Elements {
        let (m44, m42) = (p.splat(M44), p.splat(M42));
        let mut columns = [[p.splat(0); 3]; 2];
        unroll!(i < 2 => {
            let [p11, p22, p12, p00, p01, p20] =
                [sums[0][i], sums[1][i], sums[2][i], sums[3][i], sums[4][i], sums[5][i]];
            // 2^132 = 4·2^130 = 20 modulo 2^130 - 5.
            columns[i] = [
                p.add(p00, p.times_20(p.sub(p12, p.add(p11, p22)))),
                p.add(p.sub(p01, p.add(p00, p11)), p.times_20(p22)),
                p.sub(p.add(p20, p11), p.add(p00, p22)),
            ];
        });
        let [[low0, low1, low2], [high0, high1, high2]] = columns;
        let carry = p.add(p.shr_signed::<44>(low0), p.shl::<8>(high0));
        let low1 = p.add(low1, carry);
        let carry = p.add(p.shr_signed::<44>(low1), p.shl::<8>(high1));
        let low2 = p.add(low2, carry);
        let carry = p.add(p.shr_signed::<42>(low2), p.shl::<10>(high2));
        let l0 = p.add(p.and(low0, m44), p.add(carry, p.shl::<2>(carry)));
        [p.and(l0, m44), p.add(p.and(low1, m44), p.shr::<44>(l0)), p.and(low2, m42)]
    }
}

/// The representation of an integer in five limbs of 26 bits.
pub(crate) struct Radix26;

const M26: u64 = (1 << 26) - 1;

/// Factors are the five limbs, and five times each limb but the first, for the products above
/// 2^130, since 2^130 = 5.
///
/// Bounds: elements have limbs below 2^26 + 2^12, so an element plus a block is below 2^27.1.
/// Factors are elements, and five times their limbs are below 2^28.4, so all operands fit in 32
/// bits. A column of five products, four of them with multiples of 5, is below 21·2^53.1 < 2^57.5,
/// and 16 columns are below 2^61.5.
impl<P: Limbs32> Radix<P> for Radix26 {
    const WORDS: usize = 9;
    type Elements = [P::V; 5];
    type Sums = [P::V; 5];
    type Factors = [P::Narrow; 9];

    #[inline(always)]
    fn splat(p: P, Element([l0, l1, l2]): Element) -> Self::Elements {
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
    fn choose(p: P, mask: P::V, a: Self::Elements, other: P::V, mut b: Self::Elements) -> Self::Elements {
        unroll!(i < 5 => {
            b[i] = p.or(p.and(a[i], mask), p.and(b[i], other));
        });
        b
    }

    #[inline(always)]
    fn factors(p: P, elements: Self::Elements) -> Self::Factors {
        let words = multiples(p, elements);
        let mut factors = [p.narrow(words[0]); 9];
        unroll!(i < 9 => {
            factors[i] = p.narrow(words[i]);
        });
        factors
    }

    #[inline(always)]
    fn store_factors(p: P, elements: Self::Elements, to: &mut [u64], stride: usize) {
        let words = multiples(p, elements);
        unroll!(i < 9 => {
            p.store_words(words[i], &mut to[i * stride..]);
        });
    }

    #[inline(always)]
    fn load_factors(p: P, from: &[u64]) -> Self::Factors {
        let mut factors = [p.splat_narrow(0); 9];
        unroll!(i < 9 => {
            factors[i] = p.narrow(p.load_words(&from[i * P::LANES..]));
        });
        factors
    }

    #[inline(always)]
    fn splat_factors(p: P, from: &[u64], stride: usize) -> Self::Factors {
        let from = &from[..=8 * stride];
        let mut factors = [p.splat_narrow(0); 9];
        unroll!(i < 9 => {
            factors[i] = p.splat_narrow(from[i * stride] as u32);
        });
        factors
    }

    #[inline(always)]
    fn elements(p: P, [low, high]: [P::V; 2]) -> Self::Elements {
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
    fn insert_accumulator(p: P, [h0, h1, h2]: [u64; 3]) -> Self::Elements {
        [
            p.zero_extend(h0 & M26),
            p.zero_extend(h0 >> 26 & M26),
            p.zero_extend((h0 >> 52 | h1 << 12) & M26),
            p.zero_extend(h1 >> 14 & M26),
            p.zero_extend(h1 >> 40 | h2 << 24),
        ]
    }

    #[inline(always)]
    fn sum_lanes(p: P, n: Self::Elements) -> [u64; 3] {
        // The sums of four lanes are below 2^29. They are joined to two limbs of 52 bits and a
        // rest, below 2^56, and then split into limbs of 44 bits.
        let a = p.sum_lanes(n[0]) + (p.sum_lanes(n[1]) << 26);
        let b = p.sum_lanes(n[2]) + (p.sum_lanes(n[3]) << 26);
        let low = u128::from(a) + (u128::from(b) << 52);
        let l2 = (low >> 88) as u64 + (p.sum_lanes(n[4]) << 16);
        Element([low as u64 & M44, (low >> 44) as u64 & M44, l2]).to_words()
    }

    #[inline(always)]
    fn add(p: P, a: Self::Elements, b: Self::Elements) -> Self::Elements {
        [p.add(a[0], b[0]), p.add(a[1], b[1]), p.add(a[2], b[2]), p.add(a[3], b[3]), p.add(a[4], b[4])]
    }

    #[inline(always)]
    fn zero(p: P) -> Self::Sums {
        [p.splat(0); 5]
    }

    #[inline(always)]
    fn add_products(p: P, mut sums: Self::Sums, n: Self::Elements, factors: Self::Factors) -> Self::Sums {
        let n = [p.narrow(n[0]), p.narrow(n[1]), p.narrow(n[2]), p.narrow(n[3]), p.narrow(n[4])];
        macro_rules! add {
            ($($word:literal: $($to:literal = $a:literal),*;)*) => {
                $( $( sums[$to] = p.add_product(sums[$to], n[$a], factors[$word]); )* )*
            };
        }
        // In the order of the words of the factors, so that each is loaded once. Word 4 + i is five
        // times limb i.
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

    /// Computes two chains of carries in parallel. Carries are below 2^35.6. Five times the
    /// carry of the last limb is below 2^38, and less than 2^12 of it is carried to the second
    /// limb; less than 2^9.7 is carried from the fourth to the fifth.
    #[inline(always)]
    fn carry(p: P, mut d: Self::Sums) -> Self::Elements {
        let mask = p.splat(M26);
        macro_rules! carry {
            ($($from:literal to $to:literal;)*) => {
                $(
                    let carry = p.shr::<26>(d[$from]);
                    d[$from] = p.and(d[$from], mask);
                    // 2^130 = 5 modulo 2^130 - 5.
                    let carry = if $to == 0 { p.add(carry, p.shl::<2>(carry)) } else { carry };
                    d[$to] = p.add(d[$to], carry);
                )*
            };
        }
        carry! { 0 to 1; 3 to 4; 1 to 2; 4 to 0; 2 to 3; 0 to 1; 3 to 4; }
        d
    }
}

/// Returns the words of factors: the limbs, and five times each limb but the first.
#[inline(always)]
fn multiples<P: Limbs>(p: P, n: [P::V; 5]) -> [P::V; 9] {
    let mut words = [n[0]; 9];
    unroll!(i < 5 => {
        words[i] = n[i];
        if i > 0 {
            words[4 + i] = p.add(n[i], p.shl::<2>(n[i]));
        }
    });
    words
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::vector::Token;

    /// A token with one lane that panics if an operand of a multiplication exceeds 52 bits, or a
    /// sum 63 bits and a sign.
    #[derive(Clone, Copy)]
    struct Strict;

    impl Token for Strict {}

    impl Limbs for Strict {
        const LANES: usize = 1;
        const ORDER: [usize; 8] = [0; 8];
        type V = i64;

        fn load_bytes(self, from: &[u8]) -> i64 {
            i64::from_le_bytes(*from.first_chunk().unwrap())
        }
        fn store_bytes(self, v: i64, to: &mut [u8]) {
            to[..8].copy_from_slice(&v.to_le_bytes());
        }
        fn halves(self, blocks: [i64; 2]) -> [i64; 2] {
            blocks
        }
        fn load_words(self, from: &[u64]) -> i64 {
            from[0] as i64
        }
        fn store_words(self, v: i64, to: &mut [u64]) {
            to[0] = v as u64;
        }
        fn splat(self, x: u64) -> i64 {
            x as i64
        }
        fn zero_extend(self, x: u64) -> i64 {
            x as i64
        }
        fn sum_lanes(self, v: i64) -> u64 {
            v as u64
        }
        fn add(self, a: i64, b: i64) -> i64 {
            a.checked_add(b).expect("no overflow")
        }
        fn and(self, a: i64, b: i64) -> i64 {
            a & b
        }
        fn or(self, a: i64, b: i64) -> i64 {
            a | b
        }
        fn shl<const N: u32>(self, v: i64) -> i64 {
            v << N
        }
        fn shr<const N: u32>(self, v: i64) -> i64 {
            (v as u64 >> N) as i64
        }
    }

    impl Limbs52 for Strict {
        fn sub(self, a: i64, b: i64) -> i64 {
            a.checked_sub(b).expect("no overflow")
        }
        fn shr_signed<const N: u32>(self, v: i64) -> i64 {
            v >> N
        }
        fn times_20(self, v: i64) -> i64 {
            v.checked_mul(20).expect("no overflow")
        }
        fn add_low(self, sum: i64, a: i64, b: i64) -> i64 {
            self.add(sum, (product(a, b) & ((1 << 52) - 1)) as i64)
        }
        fn add_high(self, sum: i64, a: i64, b: i64) -> i64 {
            self.add(sum, (product(a, b) >> 52) as i64)
        }
    }

    fn product(a: i64, b: i64) -> u128 {
        let bits = 0..1 << 52;
        assert!(bits.contains(&a) && bits.contains(&b));
        a as u128 * b as u128
    }

    /// Returns the sum of products of limbs, with carries in 128 bits.
    fn reference_sum(pairs: &[([i64; 3], [i64; 3])]) -> [u64; 3] {
        let mut d = [0u128; 3];
        for (a, b) in pairs {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                d[(i + j) % 3] += a[i] as u128 * b[j] as u128 * if i + j < 3 { 1 } else { 20 };
            }
        }
        d[1] += d[0] >> 44;
        d[2] += d[1] >> 44;
        let l0 = (d[0] as u64 & M44) + 5 * (d[2] >> 42) as u64;
        [l0 & M44, (d[1] as u64 & M44) + (l0 >> 44), d[2] as u64 & M42]
    }

    /// Tests the bounds above with the largest and the smallest limbs in every combination.
    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn sums_of_24_products_of_44_bits_do_not_overflow() {
        const NUMBER: [i64; 3] = [(2 << 44) - 1, (2 << 44) + (1 << 12) - 1, (1 << 43) + (1 << 41) - 1];
        const FACTOR: [i64; 3] = [(1 << 44) - 1, (1 << 44) + (1 << 12) - 1, (1 << 42) - 1];
        let pick = |limbs: [i64; 3], bits: u32, least: i64| {
            [0, 1, 2].map(|i| if bits >> i & 1 == 1 { limbs[i] } else { least })
        };
        // The low part of a product is largest when it ends in ones, so limbs near powers of two
        // are tested too.
        for (a, b, least) in (0..8).flat_map(|a| (0..8).flat_map(move |b| [0, 1, 3].map(|l| (a, b, l)))) {
            for odd in [0, 1, 0x0fff, 0x3ff_ffff] {
                let n = pick(NUMBER, a, least).map(|limb| (limb - odd).max(0));
                let f = pick(FACTOR, b, least);
                let mut sums = <Radix44 as Radix<Strict>>::zero(Strict);
                let mut pairs = Vec::new();
                for i in 0..24 {
                    // Every third factor has the other limbs, so that the differences are not zero.
                    let (n, f) = if i % 3 == 2 { (n, pick(FACTOR, !b, least)) } else { (n, f) };
                    sums = Radix44::add_products(Strict, sums, n, Radix44::factors(Strict, f));
                    pairs.push((n, f));
                    let carried = <Radix44 as Radix<Strict>>::carry(Strict, sums);
                    assert_eq!(carried.map(|limb| limb as u64), reference_sum(&pairs));
                    assert!(
                        carried[0] < 1 << 44 && carried[1] < (1 << 44) + (1 << 12) && carried[2] < 1 << 42
                    );
                }
            }
        }
        // The largest low parts of 24 products of 52 bits, more than any factors can reach.
        let max = [24 * ((1 << 52) - 1), 24 << 44];
        for bits in 0..64 {
            let sums = [0, 1, 2, 3, 4, 5].map(|i| if bits >> i & 1 == 1 { max } else { [0; 2] });
            <Radix44 as Radix<Strict>>::carry(Strict, sums);
        }
    }
}
