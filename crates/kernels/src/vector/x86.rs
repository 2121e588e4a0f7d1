//! `Blocks` on x86-64: AES-NI on one block, VAES on two or four.
//!
//! A token can only be made in a function that enables its features:
//!
//! ```
//! #[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl,bmi2")]
//! fn wrapper() {
//!     let _ = kernels::vector::x86::Vaes512::new();
//! }
//! ```
//!
//! In a function with other features the call is unsafe, and the wrappers in the tables of variants
//! contain no `unsafe` block:
//!
//! ```compile_fail,E0133
//! #[target_feature(enable = "vaes,aes,avx2")]
//! fn wrapper() {
//!     let _ = kernels::vector::x86::Vaes512::new();
//! }
//! ```

use super::{Blocks, Schedule, Token, load_block, opaque_ref, store_block};
use core::arch::asm;
use core::arch::x86_64::*;

/// Calls an intrinsic; the token in scope as `self` makes this safe.
macro_rules! op {
    ($f:ident $(::<$i:tt>)? ($($a:expr),*)) => {{
        // SAFETY: the instruction does not access memory, and the token `self` exists only where it
        // may run.
        unsafe { $f $(::<$i>)? ($($a),*) }
    }};
}

pub(super) use op;

/// Makes the compiler assume that these array elements are read and written here.
macro_rules! pin {
    ($reg:ident $(($s:ident $($i:literal)*))*) => {
        // SAFETY: the assembly is only a comment naming the operands.
        unsafe {
            asm!($($(concat!("/* {} is ", $i, " */"),)*)* $($(inout($reg) $s[$i],)*)*
                options(pure, nomem, nostack, preserves_flags))
        }
    };
}
pub(super) use pin;

/// Defines tokens for operations without AES, with their features and [`Token::SPILLS`].
macro_rules! tokens {
    ($($(#[$doc:meta])* $name:ident $features:literal spills $spills:literal $(stitches $stitches:literal)?;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name(());

            impl $name {
                /// Makes the token, in a function that enables the features of the instruction set.
                ///
                /// # Safety
                /// A caller that does not enable these features must know that the processor has
                /// them.
                #[inline]
                #[target_feature(enable = $features)]
                pub fn new() -> Self { Self(()) }
            }

            impl Token for $name {
                const SPILLS: bool = $spills;
                $( const STITCHES: bool = $stitches; )?
            }
        )*
    };
}
pub(super) use tokens;

/// The token for AES on one block.
pub type Aesni = Xmm<false>;
/// The token for AES on two blocks.
pub type Vaes256 = Ymm<false>;
/// The token for AES on four blocks.
pub type Vaes512 = Zmm<false>;

/// The shuffle that reverses 16 bytes.
const SWAP: [u8; 16] = [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
/// The shuffle that rotates columns by a byte.
const ROTATE: [u8; 16] = [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12];

macro_rules! blocks {
    (
        $(#[$doc:meta])* $name:ident, $lanes:literal, $v:ident, $features:literal, $reg:ident, $fence:ident;
        $xor:ident $shuffle:ident $columns:ident $shift:ident $add:ident $round:ident $last:ident $load:ident $store:ident;
        $($own:tt)*
    ) => {
        $(#[$doc])*
        ///
        /// With `PRODUCTS`, the token also stands for the carry-less multiplication of these
        /// vectors.
        #[derive(Clone, Copy, Debug)]
        pub struct $name<const PRODUCTS: bool>(());

        impl $name<false> {
            /// Makes the token, in a function that enables the features of the instruction set.
            ///
            /// # Safety
            /// A caller that does not enable these features must know that the processor has them.
            #[inline]
            #[target_feature(enable = $features)]
            pub fn new() -> Self { Self(()) }
        }

        impl $name<true> {
            /// Makes the token for the constructor in `x86_products`, where the features are
            /// enabled.
            #[inline(always)]
            pub(super) fn new_unchecked() -> Self { Self(()) }
        }

        impl<const PRODUCTS: bool> Token for $name<PRODUCTS> {
            // With AVX-512 there are 32 registers.
            const SPILLS: bool = $lanes < 4;
        }

        impl<const PRODUCTS: bool> Blocks for $name<PRODUCTS> {
            const LANES: usize = $lanes;
            type V = $v;
            type S = $v;
            type Keys<'a> = &'a Schedule;
            type One = Xmm<PRODUCTS>;

            // The features of the narrow vectors are among those of the wider ones.
            #[inline(always)]
            fn one(self) -> Xmm<PRODUCTS> { Xmm(()) }
            #[inline(always)]
            fn load(self, from: &[u8]) -> $v {
                let from: &[u8; 16 * $lanes] = from.first_chunk().unwrap();
                // SAFETY: reads exactly the array behind `from`; needs no alignment.
                unsafe { $load(from.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(self, v: $v, to: &mut [u8]) {
                let to: &mut [u8; 16 * $lanes] = to.first_chunk_mut().unwrap();
                // SAFETY: writes exactly the array behind `to`; needs no alignment.
                unsafe { $store(to.as_mut_ptr().cast(), v) }
            }
            #[inline(always)]
            fn xor(self, a: $v, b: $v) -> $v { op!($xor(a, b)) }
            #[inline(always)]
            fn swap_bytes(self, v: $v) -> $v { op!($shuffle(v, self.splat(&SWAP))) }
            #[inline(always)]
            fn add64(self, a: $v, b: $v) -> $v { op!($add(a, b)) }

            #[inline(always)]
            fn column<const I: usize>(self, v: $v) -> $v {
                match I {
                    1 => op!($columns::<0x55>(v)),
                    _ => op!($columns::<0xff>(v)),
                }
            }
            #[inline(always)]
            fn rot_word(self, v: $v) -> $v { op!($shuffle(v, self.splat(&ROTATE))) }
            #[inline(always)]
            fn sub_word(self, v: $v) -> $v {
                // ShiftRows does not change four equal columns, so a last round with key zero is
                // SubBytes.
                op!($last(v, self.splat(&[0; 16])))
            }
            #[inline(always)]
            fn running_sum(self, v: $v) -> $v {
                let v = self.xor(v, op!($shift::<4>(v)));
                self.xor(v, op!($shift::<8>(v)))
            }
            #[inline(always)]
            fn keys(self, schedule: &Schedule) -> &Schedule { schedule }
            #[inline(always)]
            fn aes_first(self, v: $v, keys: &&Schedule) -> $v { self.xor(v, self.splat(keys.round(0))) }
            #[inline(always)]
            fn aes_round(self, s: $v, keys: &&Schedule, r: usize) -> $v { op!($round(s, self.splat(keys.round(r)))) }
            #[inline(always)]
            fn aes_bytes(self, s: $v) -> $v { s }
            #[inline(always)]
            fn aes_add(self, s: $v, bytes: $v) -> $v { self.xor(s, bytes) }
            #[inline(always)]
            fn aes_last(self, s: $v, keys: &&Schedule, r: usize, data: $v) -> $v {
                // The last step of AES is an xor, so XORing the data to the key in advance adds no
                // latency.
                op!($last(s, self.xor(data, self.splat(keys.round(r)))))
            }

            #[inline(always)]
            fn fence<const N: usize>(self, s: &mut [$v; N]) { op!($fence(s)) }

            $($own)*
        }

        #[inline]
        #[target_feature(enable = $features)]
        fn $fence<const N: usize>(s: &mut [$v; N]) {
            // The operands of `asm!` cannot be generic, so there is one arm for each length in use.
            match N {
                4 => pin!($reg (s 0 1 2 3)),
                5 => pin!($reg (s 0 1 2 3 4)),
                6 => pin!($reg (s 0 1 2 3 4 5)),
                8 => pin!($reg (s 0 1 2 3 4 5 6 7)),
                12 => pin!($reg (s 0 1 2 3 4 5 6 7 8 9 10 11)),
                _ => {}
            }
        }
    };
}

impl Vaes512 {
    /// Returns the token for two blocks; the token for four includes its features.
    #[inline(always)]
    pub(super) fn two(self) -> Vaes256 {
        Ymm(())
    }
}

/// Implements partial loads and stores for the variants without masks, which handle each block
/// separately.
macro_rules! parts_by_block {
    ($v:ident, $($i:literal)*) => {
        #[inline(always)]
        fn load_part(self, from: &[u8], skip: usize) -> $v {
            let blocks = [$(load_block(from, skip, $i).to_le_bytes()),*];
            self.load(blocks.as_flattened())
        }
        #[inline(always)]
        fn store_part(self, v: $v, to: &mut [u8], skip: usize) {
            let mut blocks = [$([$i; 16]),*];
            self.store(v, blocks.as_flattened_mut());
            $( store_block(u128::from_le_bytes(blocks[$i]), to, skip, $i); )*
        }
    };
}

/// Implements [`Blocks::reread`] for the variants with 16 registers.
macro_rules! reread_keys {
    () => {
        #[inline(always)]
        fn reread(self, keys: &mut &Schedule) {
            *keys = opaque_ref(keys);
        }
    };
}

blocks! {
    /// The token for AES-NI in its AVX encoding, with one block in a vector.
    Xmm, 1, __m128i, "aes,avx", xmm_reg, fence_x;
    _mm_xor_si128 _mm_shuffle_epi8 _mm_shuffle_epi32 _mm_bslli_si128 _mm_add_epi64 _mm_aesenc_si128 _mm_aesenclast_si128
    _mm_loadu_si128 _mm_storeu_si128;

    parts_by_block! { __m128i, 0 }
    reread_keys! {}
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> __m128i { self.load(block) }
    #[inline(always)]
    fn zero_extend(self, block: &[u8; 16]) -> __m128i { self.load(block) }
    #[inline(always)]
    fn first_lane(self, v: __m128i) -> [u8; 16] {
        let mut block = [0; 16];
        self.store(v, &mut block);
        block
    }
}

blocks! {
    /// The token for VAES on 256-bit registers without AVX-512, with two blocks in a vector.
    Ymm, 2, __m256i, "vaes,aes,avx2", ymm_reg, fence_y;
    _mm256_xor_si256 _mm256_shuffle_epi8 _mm256_shuffle_epi32 _mm256_bslli_epi128 _mm256_add_epi64
    _mm256_aesenc_epi128 _mm256_aesenclast_epi128 _mm256_loadu_si256 _mm256_storeu_si256;

    parts_by_block! { __m256i, 0 1 }
    reread_keys! {}
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> __m256i {
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        let one = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        op!(_mm256_broadcastsi128_si256(one))
    }
    #[inline(always)]
    fn zero_extend(self, block: &[u8; 16]) -> __m256i {
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        let one = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        op!(_mm256_zextsi128_si256(one))
    }
    #[inline(always)]
    fn first_lane(self, v: __m256i) -> [u8; 16] {
        let mut block = [0; 16];
        // SAFETY: writes the 16 bytes of the array; needs no alignment.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm256_castsi256_si128(v)) };
        block
    }
}

blocks! {
    /// The token for VAES on 512-bit registers, with four blocks in a vector.
    Zmm, 4, __m512i, "vaes,avx512f,avx512bw,avx512vl,bmi2", zmm_reg, fence_z;
    _mm512_xor_si512 _mm512_shuffle_epi8 _mm512_shuffle_epi32 _mm512_bslli_epi128 _mm512_add_epi64
    _mm512_aesenc_epi128 _mm512_aesenclast_epi128 _mm512_loadu_si512 _mm512_storeu_si512;

    #[inline(always)]
    fn load_part(self, from: &[u8], skip: usize) -> __m512i {
        let (mask, skip) = op!(mask(from.len(), skip));
        // SAFETY: bit `skip + i` of the mask is set only for `i < from.len()`, and its byte is
        // `from[i]`. Bytes whose bit is clear are not accessed.
        unsafe { _mm512_maskz_loadu_epi8(mask, from.as_ptr().wrapping_sub(skip).cast()) }
    }
    #[inline(always)]
    fn store_part(self, v: __m512i, to: &mut [u8], skip: usize) {
        let (mask, skip) = op!(mask(to.len(), skip));
        // SAFETY: the same bytes are accessed as in `load_part`.
        unsafe { _mm512_mask_storeu_epi8(to.as_mut_ptr().wrapping_sub(skip).cast(), mask, v) }
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> __m512i {
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        let one = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        op!(_mm512_broadcast_i32x4(one))
    }
    #[inline(always)]
    fn zero_extend(self, block: &[u8; 16]) -> __m512i {
        // SAFETY: reads the 16 bytes of the array; needs no alignment.
        let one = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        op!(_mm512_zextsi128_si512(one))
    }
    #[inline(always)]
    fn first_lane(self, v: __m512i) -> [u8; 16] {
        let mut block = [0; 16];
        // SAFETY: writes the 16 bytes of the array; needs no alignment.
        unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), _mm512_castsi512_si128(v)) };
        block
    }
}

/// Returns `skip % 16`, after a mask of `len` bits that begins there. Bits past the 64th are cut
/// off.
#[inline]
#[target_feature(enable = "bmi2")]
fn mask(len: usize, skip: usize) -> (u64, usize) {
    let skip = skip % 16;
    (_bzhi_u64(!0, len.min(64) as u32) << skip, skip)
}
