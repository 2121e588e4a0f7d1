//! The portable implementation of `Products`: carry-less products from integer products, in
//! constant time.
//!
//! Each factor is split into four numbers. Each has every fourth bit of the factor, at the same
//! positions. The three zero bits between two of these bits hold the carries of an integer product,
//! and masks remove them afterwards:
//!
//! ```text
//! x[i] = a & (0x1111…1111 << i)              y[i] = b & (0x1111…1111 << i)
//! z    = XOR over i of ((XOR over j of x[j] * y[(i - j) mod 4]) & (0x1111…1111 << i))
//! ```
#![forbid(unsafe_code)]

use super::portable::{Portable, V, last_round, round};
use super::{Blocks, Products};

impl Products for Portable {
    #[inline(never)]
    fn truncate(self, v: V, n: usize) -> V {
        core::array::from_fn(|i| match n.saturating_sub(16 * i) {
            left @ 0..16 => v[i] & ((1 << (8 * left)) - 1),
            _ => v[i],
        })
    }
    #[inline(never)]
    fn swap_halves(self, v: V) -> V {
        v.map(|x| x.rotate_left(64))
    }
    #[inline(never)]
    fn xor_lanes(self, v: V) -> V {
        let mut sum = [0; 16];
        sum[0] = v.into_iter().fold(0, |sum, x| sum ^ x);
        sum
    }
    #[inline(never)]
    fn alternate<const N: usize>(self, a: V, b: V) -> V {
        core::array::from_fn(|i| if i & N == 0 { a[i] } else { b[i] })
    }
    #[inline(never)]
    fn swap_lanes<const N: usize>(self, v: V) -> V {
        core::array::from_fn(|i| v[i ^ N])
    }

    fn low_halves(self, a: V, b: V) -> V {
        core::array::from_fn(|i| u128::from(a[i] as u64) | b[i] << 64)
    }
    fn and(self, a: V, b: V) -> V {
        core::array::from_fn(|i| a[i] & b[i])
    }
    fn aes_round_with(self, v: V, key: V) -> V {
        self.xor(round(&v), key)
    }
    fn aes_last_with(self, v: V, key: V) -> V {
        self.xor(last_round(&v), key)
    }
    #[inline(never)]
    fn add32(self, a: V, b: V) -> V {
        let word = |x: u128, k: u32| (x >> k) as u32;
        core::array::from_fn(|i| {
            [0, 32, 64, 96]
                .into_iter()
                .fold(0, |sum, k| sum | u128::from(word(a[i], k).wrapping_add(word(b[i], k))) << k)
        })
    }

    #[inline(never)]
    fn clmul_low(self, a: V, b: V) -> V {
        core::array::from_fn(|i| clmul(a[i] as u64, b[i] as u64))
    }
    #[inline(never)]
    fn clmul_high(self, a: V, b: V) -> V {
        core::array::from_fn(|i| clmul((a[i] >> 64) as u64, (b[i] >> 64) as u64))
    }
    #[inline(never)]
    fn clmul_field(self, v: V) -> V {
        v.map(|x| {
            let x = u128::from(x as u64);
            x << 63 ^ x << 62 ^ x << 57
        })
    }
}

/// Returns the product over GF(2) of two polynomials of 64 bits.
///
/// Four bits can count 15 products of bits at one position, but there could be 16. So the top
/// nibble of `a` is multiplied separately.
#[inline(always)]
fn clmul(a: u64, b: u64) -> u128 {
    const EVERY_4TH: u128 = 0x1111_1111_1111_1111_1111_1111_1111_1111;
    let every_4th = EVERY_4TH as u64;
    let x: [u64; 4] = core::array::from_fn(|i| a & (every_4th << i) & (!0 >> 4));
    let y: [u64; 4] = core::array::from_fn(|i| b & (every_4th << i));
    let mut z = 0;
    for i in 0..4 {
        let sum = (0..4).fold(0, |sum, j| sum ^ (u128::from(x[j]) * u128::from(y[(4 + i - j) % 4])));
        z ^= sum & (EVERY_4TH << i);
    }
    for i in 60..64 {
        z ^= u128::from(b & 0u64.wrapping_sub(a >> i & 1)) << i;
    }
    z
}

#[cfg(test)]
mod test {
    use super::clmul;

    fn reference_clmul(a: u64, b: u64) -> u128 {
        (0..64).filter(|i| a >> i & 1 == 1).fold(0, |sum, i| sum ^ u128::from(b) << i)
    }

    #[test]
    fn clmul_equals_its_definition() {
        assert_eq!(clmul(!0, !0), reference_clmul(!0, !0));
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for i in 0..if cfg!(miri) { 50 } else { 20_000 } {
            let (a, b) = (x, x.rotate_left(i % 64).wrapping_mul(0xd134_2543_de82_ef95));
            assert_eq!(clmul(a, b), reference_clmul(a, b), "{a:x} {b:x}");
            assert_eq!(clmul(!0, b), reference_clmul(!0, b), "{b:x}");
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
    }
}
