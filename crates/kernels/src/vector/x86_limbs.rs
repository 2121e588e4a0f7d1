//! `Limbs` on x86-64: eight words with AVX-512 IFMA's products, or four with AVX2's.

use super::Token;
use super::limbs::{Limbs, Limbs32, Limbs52};
use super::x86::{op, tokens};
use core::arch::asm;
use core::arch::x86_64::*;

tokens! {
    /// The token for AVX-512 IFMA, with eight words in a vector.
    Ifma512 "avx512f,avx512ifma" spills false;
    /// The token for AVX2, with four words in a vector.
    Avx2Limbs "avx2" spills true;
}

/// Implements [`Limbs`] for a token with the instructions of these names.
macro_rules! limbs {
    (
        $name:ident, $lanes:literal, $order:expr, $v:ident;
        $load:ident $store:ident $low:ident $high:ident $splat:ident $zext:ident $add:ident $and:ident $or:ident
        $shl:ident $shr:ident;
        $($own:tt)*
    ) => {
        impl Limbs for $name {
            const LANES: usize = $lanes;
            const ORDER: [usize; 8] = $order;
            type V = $v;

            #[inline(always)]
            fn load_bytes(self, from: &[u8]) -> $v {
                let from: &[u8; 8 * $lanes] = from.first_chunk().unwrap();
                // SAFETY: reads the array behind `from`; needs no alignment.
                unsafe { $load(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store_bytes(self, v: $v, to: &mut [u8]) {
                let to: &mut [u8; 8 * $lanes] = to.first_chunk_mut().unwrap();
                // SAFETY: writes the array behind `to`; needs no alignment.
                unsafe { $store(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn halves(self, [a, b]: [$v; 2]) -> [$v; 2] {
                [op!($low(a, b)), op!($high(a, b))]
            }
            #[inline(always)]
            fn load_words(self, from: &[u64]) -> $v {
                let from: &[u64; $lanes] = from.first_chunk().unwrap();
                // SAFETY: reads exactly the array behind `from`; needs no alignment.
                unsafe { $load(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store_words(self, v: $v, to: &mut [u64]) {
                let to: &mut [u64; $lanes] = to.first_chunk_mut().unwrap();
                // SAFETY: writes exactly the array behind `to`; needs no alignment.
                unsafe { $store(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn splat(self, x: u64) -> $v { op!($splat(x as i64)) }
            #[inline(always)]
            fn zero_extend(self, x: u64) -> $v { op!($zext(_mm_cvtsi64_si128(x as i64))) }

            #[inline(always)]
            fn add(self, a: $v, b: $v) -> $v { op!($add(a, b)) }
            #[inline(always)]
            fn and(self, a: $v, b: $v) -> $v { op!($and(a, b)) }
            #[inline(always)]
            fn or(self, a: $v, b: $v) -> $v { op!($or(a, b)) }
            #[inline(always)]
            fn shl<const N: u32>(self, v: $v) -> $v { op!($shl(v, self.splat(u64::from(N)))) }
            #[inline(always)]
            fn shr<const N: u32>(self, v: $v) -> $v { op!($shr(v, self.splat(u64::from(N)))) }

            $($own)*
        }
    };
}

limbs! {
    Ifma512, 8, [0, 4, 1, 5, 2, 6, 3, 7], __m512i;
    _mm512_loadu_si512 _mm512_storeu_si512 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64 _mm512_set1_epi64
    _mm512_zextsi128_si512 _mm512_add_epi64 _mm512_and_si512 _mm512_or_si512 _mm512_sllv_epi64 _mm512_srlv_epi64;

    #[inline(always)]
    fn sum_lanes(self, v: __m512i) -> u64 {
        let v = op!(_mm256_add_epi64(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v)));
        op!(sum4(v))
    }
    #[inline(always)]
    fn or_and(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        op!(_mm512_ternarylogic_epi64::<0xa8>(a, b, c))
    }
}

limbs! {
    Avx2Limbs, 4, [0, 2, 1, 3, 0, 0, 0, 0], __m256i;
    _mm256_loadu_si256 _mm256_storeu_si256 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64 _mm256_set1_epi64x
    _mm256_zextsi128_si256 _mm256_add_epi64 _mm256_and_si256 _mm256_or_si256 _mm256_sllv_epi64 _mm256_srlv_epi64;

    #[inline(always)]
    fn sum_lanes(self, v: __m256i) -> u64 { op!(sum4(v)) }
}

/// Returns the sum of four words.
#[inline]
#[target_feature(enable = "avx2")]
fn sum4(v: __m256i) -> u64 {
    let v = _mm_add_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    _mm_cvtsi128_si64(_mm_add_epi64(v, _mm_unpackhi_epi64(v, v))) as u64
}

/// Multiplies by 20 with shifts and a sum, and hides from LLVM that they belong together. Otherwise
/// LLVM replaces them by a 64-bit multiplication, which takes several instructions, since AVX-512F
/// has none for it.
#[inline]
#[target_feature(enable = "avx512f")]
fn times_20(v: __m512i) -> __m512i {
    let mut four = _mm512_slli_epi64::<2>(v);
    // SAFETY: the assembly is only a comment naming the operand.
    unsafe { asm!("/* {} */", inout(zmm_reg) four, options(pure, nomem, nostack, preserves_flags)) };
    _mm512_add_epi64(four, _mm512_slli_epi64::<2>(four))
}

impl Limbs52 for Ifma512 {
    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        op!(_mm512_sub_epi64(a, b))
    }
    #[inline(always)]
    fn shr_signed<const N: u32>(self, v: __m512i) -> __m512i {
        op!(_mm512_srav_epi64(v, self.splat(u64::from(N))))
    }
    #[inline(always)]
    fn times_20(self, v: __m512i) -> __m512i {
        op!(times_20(v))
    }
    #[inline(always)]
    fn add_low(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        op!(_mm512_madd52lo_epu64(sum, a, b))
    }
    #[inline(always)]
    fn add_high(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        op!(_mm512_madd52hi_epu64(sum, a, b))
    }
}

impl Limbs32 for Avx2Limbs {
    type Narrow = __m256i;

    #[inline(always)]
    fn narrow(self, v: __m256i) -> __m256i {
        v
    }
    #[inline(always)]
    fn splat_narrow(self, x: u32) -> __m256i {
        // A splat of 64-bit words would cost one instruction more, because LLVM would clear their
        // upper halves.
        op!(_mm256_set1_epi32(x as i32))
    }
    #[inline(always)]
    fn product(self, a: __m256i, b: __m256i) -> __m256i {
        op!(_mm256_mul_epu32(a, b))
    }
    #[inline(always)]
    fn add_product(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        self.add(sum, self.product(a, b))
    }
}
