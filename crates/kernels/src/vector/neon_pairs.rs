//! `Pairs` on aarch64: the words and blocks of Speck.

use super::inout::InOut;
use super::neon::op;
use super::neon_words::NeonWords;
use super::pairs::{Bits16, Bits24, Bits32, Bits48, Bits64, ByteOrder, Pairs, Word};
use super::shuffles::{Shuffle, halves, rotated, swapped};
use super::words::Words;
use super::{load16, store16};
use core::arch::aarch64::*;

/// Loads `len` bytes (12 or 16), followed by zeros.
#[inline(always)]
fn load_halves(len: usize, from: &[u8]) -> [u8; 16] {
    load16(&from[..len]).to_le_bytes()
}

impl NeonWords {
    #[inline(always)]
    fn bytes(self, bytes: &[u8; 16]) -> uint8x16_t {
        // SAFETY: reads the 16 bytes of the array; bytes need no alignment. The token allows the
        // rest.
        unsafe { vld1q_u8(bytes.as_ptr()) }
    }
    #[inline(always)]
    fn shuffle(self, v: uint8x16_t, shuffle: &Shuffle) -> uint8x16_t {
        op!(vqtbl1q_u8(v, self.bytes(shuffle)))
    }
    /// Stores the first `len` bytes (12 or 16).
    #[inline(always)]
    fn store_halves(self, len: usize, v: uint8x16_t, to: &mut [u8]) {
        let mut bytes = [0; 16];
        // SAFETY: writes the 16 bytes of the array; bytes need no alignment. The token allows the
        // rest.
        unsafe { vst1q_u8(bytes.as_mut_ptr(), v) };
        store16(u128::from_le_bytes(bytes), &mut to[..len]);
    }
    /// Returns a vector of the lower halves of `a` and `b`, and one of the upper halves.
    #[inline(always)]
    fn zip(self, a: uint8x16_t, b: uint8x16_t) -> [uint8x16_t; 2] {
        let (a, b) = (op!(vreinterpretq_u64_u8(a)), op!(vreinterpretq_u64_u8(b)));
        let [low, high] = [op!(vzip1q_u64(a, b)), op!(vzip2q_u64(a, b))];
        [op!(vreinterpretq_u8_u64(low)), op!(vreinterpretq_u8_u64(high))]
    }
}

macro_rules! pairs {
    ($($bits:ident $lane:ident $v:ident $from:ident $to:ident;)*) => { $(
        impl Pairs<$bits> for NeonWords {
            type Words = Self;

            #[inline(always)]
            fn words(self) -> Self { self }
            #[inline(always)]
            fn block_indices(self) -> $v {
                const INDICES: [u8; 16] = {
                    let mut bytes = [0; 16];
                    let mut i = 0;
                    while i < 16 {
                        bytes[i] = (i / $bits::LANE) as u8;
                        i += $bits::LANE;
                    }
                    bytes
                };
                Words::<$lane>::load(self, &INDICES)
            }
            #[inline(always)]
            fn rotate_words<const N: i32, const M: i32>(self, v: $v) -> $v {
                if $bits::SPARE == 0 {
                    Words::<$lane>::rotate_left::<N>(self, v)
                } else if N % 8 == 0 {
                    let shuffle = const { &rotated($bits::BYTES, $bits::LANE, N as usize / 8) };
                    let bytes = op!($to(v));
                    op!($from(self.shuffle(bytes, shuffle)))
                } else {
                    const SPARE: i32 = $bits::SPARE as i32;
                    let high = Words::<$lane>::shift_left::<SPARE>(self, v);
                    let high = Words::<$lane>::shift_right::<M>(self, high);
                    Words::<$lane>::xor(self, Words::<$lane>::shift_left::<N>(self, v), high)
                }
            }
            #[inline(always)]
            fn reverse_words(self, v: $v) -> $v {
                const SWAPPED: Shuffle = swapped($bits::BYTES, $bits::LANE);
                let bytes = op!($to(v));
                op!($from(self.shuffle(bytes, &SWAPPED)))
            }
            #[inline(always)]
            fn load_blocks(self, order: ByteOrder, from: &[u8]) -> [$v; 2] {
                let (half, shuffle) = (<Self as Pairs<$bits>>::PAIR_BYTES / 2, &halves::<$bits>(order).to_words);
                let a = self.shuffle(self.bytes(&load_halves(half, from)), shuffle);
                let b = self.shuffle(self.bytes(&load_halves(half, &from[half..])), shuffle);
                let [x, y] = self.zip(a, b);
                [op!($from(x)), op!($from(y))]
            }
            #[inline(always)]
            fn store_blocks(self, order: ByteOrder, [x, y]: [$v; 2], to: &mut [u8]) {
                let (half, shuffle) = (<Self as Pairs<$bits>>::PAIR_BYTES / 2, &halves::<$bits>(order).to_blocks);
                let [a, b] = self.zip(op!($to(x)), op!($to(y)));
                self.store_halves(half, self.shuffle(a, shuffle), to);
                self.store_halves(half, self.shuffle(b, shuffle), &mut to[half..]);
            }
            #[inline(always)]
            fn xor_blocks(self, order: ByteOrder, [x, y]: [$v; 2], mut data: InOut<'_>) {
                let (half, shuffle) = (<Self as Pairs<$bits>>::PAIR_BYTES / 2, &halves::<$bits>(order).to_blocks);
                let [a, b] = self.zip(op!($to(x)), op!($to(y)));
                let c = self.bytes(&load_halves(half, data.source()));
                let d = self.bytes(&load_halves(half, &data.source()[half..]));
                self.store_halves(half, op!(veorq_u8(self.shuffle(a, shuffle), c)), data.target());
                self.store_halves(half, op!(veorq_u8(self.shuffle(b, shuffle), d)), &mut data.target()[half..]);
            }
        }
    )* };
}

pairs! {
    Bits16 u16 uint16x8_t vreinterpretq_u16_u8 vreinterpretq_u8_u16;
    Bits24 u32 uint32x4_t vreinterpretq_u32_u8 vreinterpretq_u8_u32;
    Bits32 u32 uint32x4_t vreinterpretq_u32_u8 vreinterpretq_u8_u32;
    Bits48 u64 uint64x2_t vreinterpretq_u64_u8 vreinterpretq_u8_u64;
    Bits64 u64 uint64x2_t vreinterpretq_u64_u8 vreinterpretq_u8_u64;
}
