//! `Quads` on x86-64, two or four in a vector.

use super::quads::Quads;
use super::shuffles::rotated;
use super::words::Words;
use super::x86::op;
use super::x86_words::{Avx2, Avx512};
use super::{load_block, opaque_ref, store_block};
use core::arch::asm;
use core::arch::x86_64::*;

/// A shuffle for both halves of a vector, aligned so that it can be an operand in memory.
#[repr(C, align(32))]
struct Both([[u8; 16]; 2]);

/// The shuffle that rotates words left by one byte.
static BYTE: Both = Both([rotated(4, 4, 1); 2]);
/// The shuffle that rotates words left by two bytes.
static TWO_BYTES: Both = Both([rotated(4, 4, 2); 2]);

/// Implements [`Quads`] for a token with the instructions of these names.
macro_rules! quads {
    ($token:ident $v:ident $splat:ident $rotate:ident $low:ident $high:ident $low_pair:ident $high_pair:ident; $($own:tt)*) => {
        impl Quads for $token {
            #[inline(always)]
            fn splat_quad(self, quad: &[u8; 16]) -> $v {
                // SAFETY: reads the 16 bytes of the array; needs no alignment.
                let one = unsafe { _mm_loadu_si128(quad.as_ptr().cast()) };
                op!($splat(one))
            }
            #[inline(always)]
            fn rotate_lanes<const N: usize>(self, v: $v) -> $v {
                match N {
                    1 => op!($rotate::<0b00_11_10_01>(v)),
                    2 => op!($rotate::<0b01_00_11_10>(v)),
                    _ => op!($rotate::<0b10_01_00_11>(v)),
                }
            }
            #[inline(always)]
            fn transpose(self, [a, b, c, d]: [$v; 4]) -> [$v; 4] {
                let (ab, cd) = (op!($low(a, b)), op!($low(c, d)));
                let (ab_high, cd_high) = (op!($high(a, b)), op!($high(c, d)));
                [
                    op!($low_pair(ab, cd)),
                    op!($high_pair(ab, cd)),
                    op!($low_pair(ab_high, cd_high)),
                    op!($high_pair(ab_high, cd_high)),
                ]
            }
            #[inline(always)]
            fn opaque_ref<T>(self, x: &T) -> &T {
                opaque_ref(x)
            }
            $($own)*
        }
    };
}

quads! {
    Avx2 __m256i _mm256_broadcastsi128_si256 _mm256_shuffle_epi32
    _mm256_unpacklo_epi32 _mm256_unpackhi_epi32 _mm256_unpacklo_epi64 _mm256_unpackhi_epi64;

    /// Hides the shuffle from LLVM, which would replace it with two other shuffles.
    #[inline(always)]
    fn rotate<const N: i32>(self, v: __m256i) -> __m256i {
        match N {
            8 => op!(_mm256_shuffle_epi8(v, both(self, &BYTE))),
            16 => op!(_mm256_shuffle_epi8(v, both(self, &TWO_BYTES))),
            _ => Words::<u32>::rotate_left::<N>(self, v),
        }
    }
    #[inline(always)]
    fn fence(self, [mut a, mut b]: [__m256i; 2]) -> [__m256i; 2] {
        op!(fence(&mut a, &mut b));
        [a, b]
    }
    #[inline(always)]
    fn park(self, v: __m256i, to: &mut __m256i) {
        // SAFETY: writes the vector behind the reference. The write is volatile so that the vector
        // leaves its register.
        unsafe { core::ptr::write_volatile(to, v) }
    }
    #[inline(always)]
    fn unpark(self, from: &__m256i) -> __m256i {
        // SAFETY: reads the vector behind the reference.
        unsafe { core::ptr::read_volatile(from) }
    }
    #[inline(always)]
    fn transpose_quads(self, [a, b, c, d]: [__m256i; 4]) -> [__m256i; 4] {
        [
            op!(_mm256_permute2x128_si256::<0x20>(a, b)),
            op!(_mm256_permute2x128_si256::<0x20>(c, d)),
            op!(_mm256_permute2x128_si256::<0x31>(a, b)),
            op!(_mm256_permute2x128_si256::<0x31>(c, d)),
        ]
    }
    #[inline(always)]
    fn load_part(self, from: &[u8]) -> __m256i {
        let blocks = [load_block(from, 0, 0).to_le_bytes(), load_block(from, 0, 1).to_le_bytes()];
        Words::<u32>::load(self, blocks.as_flattened())
    }
    #[inline(always)]
    fn store_part(self, v: __m256i, to: &mut [u8]) {
        let mut blocks = [[0; 16]; 2];
        Words::<u32>::store(self, v, blocks.as_flattened_mut());
        store_block(u128::from_le_bytes(blocks[0]), to, 0, 0);
        store_block(u128::from_le_bytes(blocks[1]), to, 0, 1);
    }
}

quads! {
    Avx512 __m512i _mm512_broadcast_i32x4 _mm512_shuffle_epi32
    _mm512_unpacklo_epi32 _mm512_unpackhi_epi32 _mm512_unpacklo_epi64 _mm512_unpackhi_epi64;

    #[inline(always)]
    fn transpose_quads(self, [a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
        let (ab, cd) = (op!(_mm512_shuffle_i32x4::<0x44>(a, b)), op!(_mm512_shuffle_i32x4::<0x44>(c, d)));
        let (ab_high, cd_high) =
            (op!(_mm512_shuffle_i32x4::<0xee>(a, b)), op!(_mm512_shuffle_i32x4::<0xee>(c, d)));
        [
            op!(_mm512_shuffle_i32x4::<0x88>(ab, cd)),
            op!(_mm512_shuffle_i32x4::<0xdd>(ab, cd)),
            op!(_mm512_shuffle_i32x4::<0x88>(ab_high, cd_high)),
            op!(_mm512_shuffle_i32x4::<0xdd>(ab_high, cd_high)),
        ]
    }
    #[inline(always)]
    fn load_part(self, from: &[u8]) -> __m512i {
        let mask = op!(low_bits(from.len()));
        // SAFETY: bit `i` of the mask is set only for `i < from.len()`, and its byte is `from[i]`.
        // Bytes whose bit is clear are not accessed.
        unsafe { _mm512_maskz_loadu_epi8(mask, from.as_ptr().cast()) }
    }
    #[inline(always)]
    fn store_part(self, v: __m512i, to: &mut [u8]) {
        let mask = op!(low_bits(to.len()));
        // SAFETY: the same bytes are accessed as in `load_part`.
        unsafe { _mm512_mask_storeu_epi8(to.as_mut_ptr().cast(), mask, v) }
    }
}

/// Loads a shuffle for [`Quads::rotate`].
#[inline(always)]
fn both(token: Avx2, shuffle: &Both) -> __m256i {
    Words::<u32>::load(token, token.opaque_ref(shuffle).0.as_flattened())
}

/// Does the work of [`Quads::fence`].
#[inline]
#[target_feature(enable = "avx2")]
fn fence(a: &mut __m256i, b: &mut __m256i) {
    // SAFETY: the assembly is only a comment naming the operands.
    unsafe { asm!("/* {} {} */", inout(ymm_reg) * a, inout(ymm_reg) * b, options(nostack, preserves_flags)) }
}

/// Returns a mask of the low `n` bits, at most 64.
#[inline]
#[target_feature(enable = "bmi2")]
fn low_bits(n: usize) -> u64 {
    _bzhi_u64(!0, n.min(64) as u32)
}
