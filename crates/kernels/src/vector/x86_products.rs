//! `Products` on x86-64, with the vectors of the module `x86`.

use super::x86::{Xmm, Ymm, Zmm, op, pin};
use super::{Blocks, Products, opaque_ref};
use core::arch::asm;
use core::arch::x86_64::*;

/// The token for AES and carry-less products on one block.
pub type AesniProducts = Xmm<true>;
/// The token for AES and carry-less products on two blocks.
pub type Vaes256Products = Ymm<true>;
/// The token for AES and carry-less products on four blocks.
pub type Vaes512Products = Zmm<true>;

/// x^63 + x^62 + x^57 in both halves.
const FIELD: [u8; 16] = [0, 0, 0, 0, 0, 0, 0, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0xc2];

macro_rules! products {
    (
        $name:ident, $v:ident, $features:literal, $reg:ident, $fence:ident;
        $and:ident $join:ident $add:ident $shuffle:ident $round:ident $last:ident $clmul:ident;
        $($own:tt)*
    ) => {
        impl $name<true> {
            /// Makes the token, in a function that enables the features of the instruction set.
            ///
            /// # Safety
            /// A caller that does not enable these features must know that the processor has them.
            #[inline]
            #[target_feature(enable = $features)]
            pub fn new() -> Self { Self::new_unchecked() }
        }

        impl Products for $name<true> {
            #[inline(always)]
            fn and(self, a: $v, b: $v) -> $v { op!($and(a, b)) }
            #[inline(always)]
            fn low_halves(self, a: $v, b: $v) -> $v { op!($join(a, b)) }
            #[inline(always)]
            fn aes_round_with(self, v: $v, key: $v) -> $v { op!($round(v, key)) }
            #[inline(always)]
            fn aes_last_with(self, v: $v, key: $v) -> $v { op!($last(v, key)) }
            #[inline(always)]
            fn add32(self, a: $v, b: $v) -> $v { op!($add(a, b)) }
            #[inline(always)]
            fn swap_halves(self, v: $v) -> $v { op!($shuffle::<0x4e>(v)) }
            #[inline(always)]
            fn clmul_low(self, a: $v, b: $v) -> $v { op!($clmul::<0x00>(a, b)) }
            #[inline(always)]
            fn clmul_high(self, a: $v, b: $v) -> $v { op!($clmul::<0x11>(a, b)) }
            #[inline(always)]
            fn clmul_field(self, v: $v) -> $v { op!($clmul::<0x00>(v, self.splat(&FIELD))) }

            #[inline(always)]
            fn fence_with_sums<const N: usize>(self, s: &mut [$v; N], sums: &mut [$v; 3]) { op!($fence(s, sums)) }

            #[inline(always)]
            fn opaque_ref<T>(self, x: &T) -> &T {
                opaque_ref(x)
            }

            $($own)*
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn $fence<const N: usize>(s: &mut [$v; N], sums: &mut [$v; 3]) {
            if N == 8 {
                pin!($reg (s 0 1 2 3 4 5 6 7) (sums 0 1 2));
            }
        }
    };
}

products! {
    Xmm, __m128i, "aes,pclmulqdq,avx", xmm_reg, fence_x;
    _mm_and_si128 _mm_unpacklo_epi64 _mm_add_epi32 _mm_shuffle_epi32 _mm_aesenc_si128 _mm_aesenclast_si128 _mm_clmulepi64_si128;

    #[inline(always)]
    fn truncate(self, v: __m128i, n: usize) -> __m128i { op!(_mm_and_si128(v, self.load(&PREFIX_MASK[32 - n.min(16)..]))) }
    #[inline(always)]
    fn xor_lanes(self, v: __m128i) -> __m128i { v }
    #[inline(always)]
    fn alternate<const N: usize>(self, a: __m128i, _: __m128i) -> __m128i { a }
    #[inline(always)]
    fn swap_lanes<const N: usize>(self, v: __m128i) -> __m128i { v }
}

products! {
    Ymm, __m256i, "vaes,vpclmulqdq,aes,pclmulqdq,avx2", ymm_reg, fence_y;
    _mm256_and_si256 _mm256_unpacklo_epi64 _mm256_add_epi32 _mm256_shuffle_epi32 _mm256_aesenc_epi128 _mm256_aesenclast_epi128
    _mm256_clmulepi64_epi128;

    #[inline(always)]
    fn truncate(self, v: __m256i, n: usize) -> __m256i { op!(_mm256_and_si256(v, self.load(&PREFIX_MASK[32 - n.min(32)..]))) }
    #[inline(always)]
    fn xor_lanes(self, v: __m256i) -> __m256i {
        let high = op!(_mm256_extracti128_si256::<1>(v));
        let sum = op!(_mm_xor_si128(high, _mm256_castsi256_si128(v)));
        op!(_mm256_zextsi128_si256(sum))
    }
    #[inline(always)]
    fn alternate<const N: usize>(self, a: __m256i, b: __m256i) -> __m256i { op!(_mm256_blend_epi32::<0xf0>(a, b)) }
    #[inline(always)]
    fn swap_lanes<const N: usize>(self, v: __m256i) -> __m256i { op!(_mm256_permute2x128_si256::<0x01>(v, v)) }
}

products! {
    Zmm, __m512i, "vaes,vpclmulqdq,avx512f,avx512bw,avx512vl,bmi2", zmm_reg, fence_z;
    _mm512_and_si512 _mm512_unpacklo_epi64 _mm512_add_epi32 _mm512_shuffle_epi32 _mm512_aesenc_epi128 _mm512_aesenclast_epi128
    _mm512_clmulepi64_epi128;

    #[inline(always)]
    fn xor3(self, a: __m512i, b: __m512i, c: __m512i) -> __m512i { op!(_mm512_ternarylogic_epi64::<0x96>(a, b, c)) }
    #[inline(always)]
    fn truncate(self, v: __m512i, n: usize) -> __m512i {
        op!(_mm512_maskz_mov_epi8(_bzhi_u64(!0, n.min(64) as u32), v))
    }
    #[inline(always)]
    fn xor_lanes(self, v: __m512i) -> __m512i {
        let v = op!(_mm256_xor_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64::<1>(v)));
        let v = op!(_mm_xor_si128(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v)));
        op!(_mm512_zextsi128_si512(v))
    }
    #[inline(always)]
    fn alternate<const N: usize>(self, a: __m512i, b: __m512i) -> __m512i {
        op!(_mm512_mask_blend_epi64(if N == 1 { 0b1100_1100 } else { 0b1111_0000 }, a, b))
    }
    #[inline(always)]
    fn swap_lanes<const N: usize>(self, v: __m512i) -> __m512i {
        match N {
            1 => op!(_mm512_shuffle_i64x2::<0b10_11_00_01>(v, v)),
            _ => op!(_mm512_shuffle_i64x2::<0b01_00_11_10>(v, v)),
        }
    }
}

/// 32 bytes of ones and 32 of zeros. Any mask of the first bytes of a vector is a slice of them.
static PREFIX_MASK: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut i = 0;
    while i < 32 {
        bytes[i] = 0xff;
        i += 1;
    }
    bytes
};
