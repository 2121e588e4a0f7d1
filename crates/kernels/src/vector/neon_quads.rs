//! `Quads` on aarch64, one in a vector.

use super::neon::op;
use super::neon_words::NeonWords;
use super::quads::Quads;
use super::words::Words;
use super::{load_block, opaque_ref, store_block};
use core::arch::aarch64::*;

/// Calls an operation on words and returns the result as pairs of words.
macro_rules! pairs {
    ($f:ident ($($a:expr),*)) => {{
        let words = op!($f($($a),*));
        op!(vreinterpretq_u64_u32(words))
    }};
}

/// Calls an operation on pairs of words and returns the result as words.
macro_rules! words {
    ($f:ident ($($a:expr),*)) => {{
        let pairs = op!($f($($a),*));
        op!(vreinterpretq_u32_u64(pairs))
    }};
}

impl Quads for NeonWords {
    #[inline(always)]
    fn splat_quad(self, quad: &[u8; 16]) -> uint32x4_t {
        Words::<u32>::load(self, quad)
    }
    #[inline(always)]
    fn rotate_lanes<const N: usize>(self, v: uint32x4_t) -> uint32x4_t {
        match N {
            1 => op!(vextq_u32::<1>(v, v)),
            2 => op!(vextq_u32::<2>(v, v)),
            _ => op!(vextq_u32::<3>(v, v)),
        }
    }
    #[inline(always)]
    fn transpose(self, [a, b, c, d]: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
        // First words 0 and 2, and words 1 and 3, of two quads are combined, and then pairs of
        // words.
        let (ab, ab_odd) = (pairs!(vtrn1q_u32(a, b)), pairs!(vtrn2q_u32(a, b)));
        let (cd, cd_odd) = (pairs!(vtrn1q_u32(c, d)), pairs!(vtrn2q_u32(c, d)));
        [
            words!(vtrn1q_u64(ab, cd)),
            words!(vtrn1q_u64(ab_odd, cd_odd)),
            words!(vtrn2q_u64(ab, cd)),
            words!(vtrn2q_u64(ab_odd, cd_odd)),
        ]
    }
    #[inline(always)]
    fn transpose_quads(self, v: [uint32x4_t; 4]) -> [uint32x4_t; 4] {
        v
    }
    #[inline(always)]
    fn load_part(self, from: &[u8]) -> uint32x4_t {
        Words::<u32>::load(self, &load_block(from, 0, 0).to_le_bytes())
    }
    #[inline(always)]
    fn store_part(self, v: uint32x4_t, to: &mut [u8]) {
        let mut block = [0; 16];
        Words::<u32>::store(self, v, &mut block);
        store_block(u128::from_le_bytes(block), to, 0, 0);
    }
    #[inline(always)]
    fn opaque_ref<T>(self, x: &T) -> &T {
        opaque_ref(x)
    }
}
