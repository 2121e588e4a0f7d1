//! The implementation of `Rounds` on aarch64, with the AES instructions.

use super::neon::{Neon, op};
use super::rounds::{Degrees, Pair, Rounds, degrees, operations_of_blocks, single_part};
use super::{Blocks, unroll};
use core::arch::aarch64::*;

impl Rounds for Neon {
    const LANES: usize = 1;
    operations_of_blocks! { uint8x16_t }

    #[inline(always)]
    fn xor_lanes(self, v: uint8x16_t) -> [u8; 16] {
        self.first_lane(v)
    }
    #[inline(always)]
    fn and(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        op!(vandq_u8(a, b))
    }
    #[inline(always)]
    fn rounds<const N: usize>(self, mut states: [uint8x16_t; N], keys: [uint8x16_t; N]) -> [uint8x16_t; N] {
        unroll!(i < N => {
            states[i] = op!(round(states[i], keys[i]));
        });
        states
    }
}

// There are 32 registers.
degrees! { Neon, 2; |it| Self = it, Pair<Self> = Pair(it), Pair<Pair<Self>> = Pair(Pair(it)) }

#[inline]
#[target_feature(enable = "neon,aes")]
fn round(s: uint8x16_t, key: uint8x16_t) -> uint8x16_t {
    veorq_u8(vaesmcq_u8(vaeseq_u8(s, vdupq_n_u8(0))), key)
}
