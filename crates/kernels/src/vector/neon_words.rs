//! The implementation of `Words` on aarch64 with NEON.

use super::Token;
use super::neon::op;
use super::shuffles::rotated;
use super::words::Words;
use core::arch::aarch64::*;

/// The token for 128-bit vectors in 32 registers.
#[derive(Clone, Copy, Debug)]
pub struct NeonWords(());

impl NeonWords {
    /// Makes the token, in a function that enables the features of the instruction set.
    ///
    /// # Safety
    /// A caller that does not enable this feature must know that the processor has it.
    #[inline]
    #[target_feature(enable = "neon")]
    pub fn new() -> Self {
        Self(())
    }
}

impl Token for NeonWords {}

/// Permutes the bytes of a vector of words.
macro_rules! shuffle {
    ($v:ident, $order:ident, $from:ident, $to:ident) => {
        // SAFETY: reads the 16 bytes of the array; bytes need no alignment. The token `self` allows
        // the rest.
        unsafe { $from(vqtbl1q_u8($to($v), vld1q_u8($order.as_ptr()))) }
    };
}

macro_rules! words {
    ($($word:ident $signed:ident $v:ident $splat:ident $counts:ident $add:ident $sub:ident $xor:ident $or:ident $shift:ident $from:ident $to:ident;)*) => {
        $(
            impl Words<$word> for NeonWords {
                const LANES: usize = size_of::<$v>() / size_of::<$word>();
                type V = $v;

                #[inline(always)]
                fn splat(self, x: $word) -> $v { op!($splat(x)) }
                #[inline(always)]
                fn load(self, from: &[u8]) -> $v {
                    let from: &[u8; 16] = from.first_chunk().unwrap();
                    // SAFETY: reads the 16 bytes of the array; bytes need no alignment. The token
                    // allows the rest.
                    unsafe { $from(vld1q_u8(from.as_ptr())) }
                }
                #[inline(always)]
                fn store(self, v: $v, to: &mut [u8]) {
                    let to: &mut [u8; 16] = to.first_chunk_mut().unwrap();
                    // SAFETY: writes the 16 bytes of the array; bytes need no alignment.
                    unsafe { vst1q_u8(to.as_mut_ptr(), $to(v)) }
                }
                #[inline(always)]
                fn add(self, a: $v, b: $v) -> $v { op!($add(a, b)) }
                #[inline(always)]
                fn sub(self, a: $v, b: $v) -> $v { op!($sub(a, b)) }
                #[inline(always)]
                fn xor(self, a: $v, b: $v) -> $v { op!($xor(a, b)) }
                // LLVM sees that the count is a constant and makes it an immediate. A negative
                // count shifts right.
                #[inline(always)]
                fn shift_left<const N: i32>(self, v: $v) -> $v { op!($shift(v, $counts(N as $signed))) }
                #[inline(always)]
                fn shift_right<const N: i32>(self, v: $v) -> $v { op!($shift(v, $counts(-N as $signed))) }
                #[inline(always)]
                fn rotate_left<const N: i32>(self, v: $v) -> $v {
                    const BITS: i32 = $word::BITS as i32;
                    if N % 8 == 0 {
                        let order = const { rotated(size_of::<$word>(), size_of::<$word>(), N as usize / 8) };
                        return shuffle!(v, order, $from, $to);
                    }
                    op!($or($shift(v, $counts(N as $signed)), $shift(v, $counts((N - BITS) as $signed))))
                }
            }
        )*
    };
}

words! {
    u16 i16 uint16x8_t vdupq_n_u16 vdupq_n_s16 vaddq_u16 vsubq_u16 veorq_u16 vorrq_u16 vshlq_u16
        vreinterpretq_u16_u8 vreinterpretq_u8_u16;
    u32 i32 uint32x4_t vdupq_n_u32 vdupq_n_s32 vaddq_u32 vsubq_u32 veorq_u32 vorrq_u32 vshlq_u32
        vreinterpretq_u32_u8 vreinterpretq_u8_u32;
    u64 i64 uint64x2_t vdupq_n_u64 vdupq_n_s64 vaddq_u64 vsubq_u64 veorq_u64 vorrq_u64 vshlq_u64
        vreinterpretq_u64_u8 vreinterpretq_u8_u64;
}
