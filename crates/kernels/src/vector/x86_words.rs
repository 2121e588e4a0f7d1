//! The implementation of `Words` on x86-64, for AVX2 and AVX-512.

use super::Token;
use super::shuffles::rotated;
use super::words::Words;
use super::x86::{op, tokens};
use core::arch::x86_64::*;

tokens! {
    /// The token for 256-bit vectors in 16 registers.
    Avx2 "avx2" spills true stitches true;
    /// The token for 512-bit vectors with masks, in 32 registers.
    Avx512 "avx512f,avx512bw,avx512vl,bmi2" spills false;
}

/// Implements `Words<$word>` for a token with the instructions of these names.
macro_rules! words {
    (
        $token:ident $v:ident $load:ident $store:ident $xor:ident;
        $($word:ident $splat:ident $add:ident $sub:ident $left:ident $right:ident { $($rotate:tt)* })*
    ) => {
        $(
            impl Words<$word> for $token {
                const LANES: usize = size_of::<$v>() / size_of::<$word>();
                type V = $v;

                #[inline(always)]
                fn splat(self, x: $word) -> $v { op!($splat(x.cast_signed())) }
                #[inline(always)]
                fn load(self, from: &[u8]) -> $v {
                    let from: &[u8; size_of::<$v>()] = from.first_chunk().unwrap();
                    // SAFETY: reads exactly the array behind `from`; needs no alignment.
                    unsafe { $load(from.as_ptr().cast()) }
                }
                #[inline(always)]
                fn store(self, v: $v, to: &mut [u8]) {
                    let to: &mut [u8; size_of::<$v>()] = to.first_chunk_mut().unwrap();
                    // SAFETY: writes exactly the array behind `to`; needs no alignment.
                    unsafe { $store(to.as_mut_ptr().cast(), v) }
                }
                #[inline(always)]
                fn add(self, a: $v, b: $v) -> $v { op!($add(a, b)) }
                #[inline(always)]
                fn sub(self, a: $v, b: $v) -> $v { op!($sub(a, b)) }
                #[inline(always)]
                fn xor(self, a: $v, b: $v) -> $v { op!($xor(a, b)) }
                // LLVM sees that the count is a constant and makes it an immediate.
                #[inline(always)]
                fn shift_left<const N: i32>(self, v: $v) -> $v { op!($left(v, count(N))) }
                #[inline(always)]
                fn shift_right<const N: i32>(self, v: $v) -> $v { op!($right(v, count(N))) }
                $($rotate)*
            }
        )*
    };
}

/// Returns a shift count in the form of the shift instructions.
#[inline(always)]
fn count(bits: i32) -> __m128i {
    // SAFETY: the instruction is part of SSE2, and every x86-64 processor has it.
    unsafe { _mm_cvtsi32_si128(bits) }
}

/// Implements rotations without an instruction for them: by whole bytes with a shuffle, otherwise
/// with two shifts.
macro_rules! without_rotate {
    ($v:ident $word:ident $splat:ident $shuffle:ident $left:ident $right:ident $or:ident) => {
        #[inline(always)]
        fn rotate_left<const N: i32>(self, v: $v) -> $v {
            const BITS: i32 = $word::BITS as i32;
            if N % 8 == 0 {
                let order = const {
                    u128::from_le_bytes(rotated(size_of::<$word>(), size_of::<$word>(), N as usize / 8))
                };
                return op!($shuffle(v, $splat(block(order))));
            }
            op!($or($left(v, count(N)), $right(v, count(BITS - N))))
        }
    };
}

/// Implements rotations with an instruction.
macro_rules! with_rotate {
    ($v:ident $left:ident) => {
        #[inline(always)]
        fn rotate_left<const N: i32>(self, v: $v) -> $v {
            op!($left::<N>(v))
        }
    };
}

/// Returns a vector of 16 bytes, the lowest first.
#[inline(always)]
fn block(bytes: u128) -> __m128i {
    // SAFETY: the instruction is part of SSE2, and every x86-64 processor has it.
    unsafe { _mm_set_epi64x((bytes >> 64) as i64, bytes as i64) }
}

words! {
    Avx2 __m256i _mm256_loadu_si256 _mm256_storeu_si256 _mm256_xor_si256;
    u16 _mm256_set1_epi16 _mm256_add_epi16 _mm256_sub_epi16 _mm256_sll_epi16 _mm256_srl_epi16 {
        without_rotate! { __m256i u16 _mm256_broadcastsi128_si256 _mm256_shuffle_epi8 _mm256_sll_epi16 _mm256_srl_epi16 _mm256_or_si256 }
    }
    u32 _mm256_set1_epi32 _mm256_add_epi32 _mm256_sub_epi32 _mm256_sll_epi32 _mm256_srl_epi32 {
        without_rotate! { __m256i u32 _mm256_broadcastsi128_si256 _mm256_shuffle_epi8 _mm256_sll_epi32 _mm256_srl_epi32 _mm256_or_si256 }
    }
    u64 _mm256_set1_epi64x _mm256_add_epi64 _mm256_sub_epi64 _mm256_sll_epi64 _mm256_srl_epi64 {
        without_rotate! { __m256i u64 _mm256_broadcastsi128_si256 _mm256_shuffle_epi8 _mm256_sll_epi64 _mm256_srl_epi64 _mm256_or_si256 }
    }
}

words! {
    Avx512 __m512i _mm512_loadu_si512 _mm512_storeu_si512 _mm512_xor_si512;
    u16 _mm512_set1_epi16 _mm512_add_epi16 _mm512_sub_epi16 _mm512_sll_epi16 _mm512_srl_epi16 {
        without_rotate! { __m512i u16 _mm512_broadcast_i32x4 _mm512_shuffle_epi8 _mm512_sll_epi16 _mm512_srl_epi16 _mm512_or_si512 }
    }
    u32 _mm512_set1_epi32 _mm512_add_epi32 _mm512_sub_epi32 _mm512_sll_epi32 _mm512_srl_epi32 {
        with_rotate! { __m512i _mm512_rol_epi32 }
    }
    u64 _mm512_set1_epi64 _mm512_add_epi64 _mm512_sub_epi64 _mm512_sll_epi64 _mm512_srl_epi64 {
        with_rotate! { __m512i _mm512_rol_epi64 }
    }
}
