//! The implementation of `Rounds` on aarch64, with the AES instructions.

use super::neon::Neon;
use super::rounds::{Degrees, Pair, Rounds, single_part};
use super::{Blocks, unroll};
use core::arch::aarch64::*;

impl Rounds for Neon {
    const LANES: usize = 1;
    type V = uint8x16_t;
    single_part! { uint8x16_t }

    #[inline(always)]
    fn load(self, from: &[u8]) -> uint8x16_t {
        Blocks::load(self, from)
    }
    #[inline(always)]
    fn load_part(self, from: &[u8]) -> uint8x16_t {
        Blocks::load_part(self, from, 0)
    }
    #[inline(always)]
    fn store(self, v: uint8x16_t, to: &mut [u8]) {
        Blocks::store(self, v, to);
    }
    #[inline(always)]
    fn store_part(self, v: uint8x16_t, to: &mut [u8]) {
        Blocks::store_part(self, v, to, 0);
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> uint8x16_t {
        Blocks::splat(self, block)
    }
    #[inline(always)]
    fn xor_lanes(self, v: uint8x16_t) -> [u8; 16] {
        self.first_lane(v)
    }

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        Blocks::xor(self, a, b)
    }
    #[inline(always)]
    fn and(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        // SAFETY: the helper does not access memory, and the token `self` exists only where its instructions may run.
        unsafe { and(a, b) }
    }
    #[inline(always)]
    fn rounds<const N: usize>(self, mut states: [uint8x16_t; N], keys: [uint8x16_t; N]) -> [uint8x16_t; N] {
        unroll!(i < N => {
            // SAFETY: as in `and`.
            states[i] = unsafe { round(states[i], keys[i]) };
        });
        states
    }
    #[inline(always)]
    fn fence<const N: usize>(self, words: &mut [uint8x16_t; N]) {
        Blocks::fence(self, words);
    }
}

impl Degrees for Neon {
    type One = Self;
    type Two = Pair<Self>;
    type Four = Pair<Pair<Self>>;
    // There are 32 registers.
    const REGISTER_DEGREE: usize = 2;

    #[inline(always)]
    fn degree_1(self) -> Self {
        self
    }
    #[inline(always)]
    fn degree_2(self) -> Pair<Self> {
        Pair(self)
    }
    #[inline(always)]
    fn degree_4(self) -> Pair<Pair<Self>> {
        Pair(Pair(self))
    }
}

/// One round of AES. `AESE` adds its key before the substitution, so the round key is XORed separately.
#[inline]
#[target_feature(enable = "neon,aes")]
fn round(s: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaesmcq_u8(vaeseq_u8(s, vdupq_n_u8(0))), key)
}

#[inline]
#[target_feature(enable = "neon")]
fn and(a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
    vandq_u8(a, b)
}
