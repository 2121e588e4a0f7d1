//! `Limbs` on aarch64: four words in two registers, with products of 32 bits.

use super::Token;
use super::limbs::{Limbs, Limbs32};
use super::neon::op;
use core::arch::aarch64::*;
use core::arch::asm;

/// The token for NEON, with four words in two registers.
#[derive(Clone, Copy, Debug)]
pub struct NeonLimbs(());

impl NeonLimbs {
    /// Makes the token, in a function that enables the features of the instruction set.
    ///
    /// # Safety
    /// A caller that does not enable these features must know that the processor has them.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn new() -> Self {
        Self(())
    }
}

impl Token for NeonLimbs {
    // Every vector takes two registers, and the sums, blocks and factors need more than the 32 that
    // exist.
    const SPILLS: bool = true;
}

/// Words 0 and 1, and words 2 and 3.
type V = [uint64x2_t; 2];

impl Limbs for NeonLimbs {
    const LANES: usize = 4;
    const ORDER: [usize; 8] = [0, 1, 2, 3, 0, 0, 0, 0];
    type V = V;

    #[inline(always)]
    fn load_bytes(self, from: &[u8]) -> V {
        let from: &[u8; 32] = from.first_chunk().unwrap();
        // SAFETY: reads the 32 bytes of the array; needs no alignment.
        let [a, b] = unsafe { [vld1q_u8(from.as_ptr()), vld1q_u8(from.as_ptr().add(16))] };
        [op!(vreinterpretq_u64_u8(a)), op!(vreinterpretq_u64_u8(b))]
    }
    #[inline(always)]
    fn store_bytes(self, [a, b]: V, to: &mut [u8]) {
        let to: &mut [u8; 32] = to.first_chunk_mut().unwrap();
        let (a, b) = (op!(vreinterpretq_u8_u64(a)), op!(vreinterpretq_u8_u64(b)));
        // SAFETY: writes the 32 bytes of the array; needs no alignment.
        unsafe {
            vst1q_u8(to.as_mut_ptr(), a);
            vst1q_u8(to.as_mut_ptr().add(16), b);
        }
    }
    #[inline(always)]
    fn halves(self, [[a, b], [c, d]]: [V; 2]) -> [V; 2] {
        [[op!(vuzp1q_u64(a, b)), op!(vuzp1q_u64(c, d))], [op!(vuzp2q_u64(a, b)), op!(vuzp2q_u64(c, d))]]
    }
    #[inline(always)]
    fn load_words(self, from: &[u64]) -> V {
        let from: &[u64; 4] = from.first_chunk().unwrap();
        // SAFETY: reads the four words of the array; needs no more alignment than they have.
        unsafe { [vld1q_u64(from.as_ptr()), vld1q_u64(from.as_ptr().add(2))] }
    }
    #[inline(always)]
    fn store_words(self, v: V, to: &mut [u64]) {
        let to: &mut [u64; 4] = to.first_chunk_mut().unwrap();
        // SAFETY: writes the four words of the array; needs no more alignment than they have.
        unsafe {
            vst1q_u64(to.as_mut_ptr(), v[0]);
            vst1q_u64(to.as_mut_ptr().add(2), v[1]);
        }
    }
    #[inline(always)]
    fn splat(self, x: u64) -> V {
        let v = op!(vdupq_n_u64(x));
        [v, v]
    }
    #[inline(always)]
    fn zero_extend(self, x: u64) -> V {
        [op!(vcombine_u64(vcreate_u64(x), vcreate_u64(0))), op!(vdupq_n_u64(0))]
    }
    #[inline(always)]
    fn sum_lanes(self, v: V) -> u64 {
        op!(vaddvq_u64(vaddq_u64(v[0], v[1])))
    }

    #[inline(always)]
    fn add(self, a: V, b: V) -> V {
        [op!(vaddq_u64(a[0], b[0])), op!(vaddq_u64(a[1], b[1]))]
    }
    #[inline(always)]
    fn and(self, a: V, b: V) -> V {
        [op!(vandq_u64(a[0], b[0])), op!(vandq_u64(a[1], b[1]))]
    }
    #[inline(always)]
    fn or(self, a: V, b: V) -> V {
        [op!(vorrq_u64(a[0], b[0])), op!(vorrq_u64(a[1], b[1]))]
    }
    #[inline(always)]
    fn shl<const N: u32>(self, v: V) -> V {
        let count = op!(vdupq_n_s64(i64::from(N)));
        [op!(vshlq_u64(v[0], count)), op!(vshlq_u64(v[1], count))]
    }
    #[inline(always)]
    fn shr<const N: u32>(self, v: V) -> V {
        let count = op!(vdupq_n_s64(-i64::from(N)));
        [op!(vshlq_u64(v[0], count)), op!(vshlq_u64(v[1], count))]
    }
}

impl Limbs32 for NeonLimbs {
    type Narrow = uint32x4_t;

    #[inline(always)]
    fn narrow(self, v: V) -> uint32x4_t {
        op!(narrow(v))
    }
    #[inline(always)]
    fn splat_narrow(self, x: u32) -> uint32x4_t {
        op!(vdupq_n_u32(x))
    }
    #[inline(always)]
    fn product(self, a: uint32x4_t, b: uint32x4_t) -> V {
        [op!(vmull_u32(vget_low_u32(a), vget_low_u32(b))), op!(vmull_high_u32(a, b))]
    }
    #[inline(always)]
    fn add_product(self, sum: V, a: uint32x4_t, b: uint32x4_t) -> V {
        [op!(vmlal_u32(sum[0], vget_low_u32(a), vget_low_u32(b))), op!(vmlal_high_u32(sum[1], a, b))]
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn narrow(v: V) -> uint32x4_t {
    let mut half = vmovn_high_u64(vmovn_u64(v[0]), v[1]);
    // Where LLVM finds that the words are below 2^32, it removes the narrowing. It then multiplies
    // words of 64 bits, for which there is no vector instruction, so this hides the result from it.
    // SAFETY: the assembly has no instruction, only a comment that names the operand.
    unsafe { asm!("/* {:v} */", inout(vreg) half, options(pure, nomem, nostack, preserves_flags)) };
    half
}
