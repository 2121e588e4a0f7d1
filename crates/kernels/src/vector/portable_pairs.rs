//! The portable implementation of `Pairs` with plain integers.
#![forbid(unsafe_code)]

use super::inout::InOut;
use super::pairs::{Bits16, Bits24, Bits32, Bits48, Bits64, ByteOrder, Pairs, Word, join, split};
use super::portable::Portable;
use super::{load16, store16};

macro_rules! pairs {
    ($($bits:ident $lane:ident $lanes:literal;)*) => { $(
        impl Pairs<$bits> for Portable {
            type Words = Self;

            #[inline(always)]
            fn words(self) -> Self { self }
            #[inline(always)]
            fn block_indices(self) -> [$lane; $lanes] {
                let mut v = [0; $lanes];
                for i in 0..$lanes {
                    v[i] = i as $lane;
                }
                v
            }
            #[inline(always)]
            fn rotate_words<const N: i32, const M: i32>(self, mut v: [$lane; $lanes]) -> [$lane; $lanes] {
                for i in 0..$lanes {
                    v[i] = v[i] << N | v[i] << $bits::SPARE >> M;
                }
                v
            }
            #[inline(always)]
            fn reverse_words(self, mut v: [$lane; $lanes]) -> [$lane; $lanes] {
                for i in 0..$lanes {
                    v[i] = v[i].swap_bytes() >> $bits::SPARE;
                }
                v
            }
            #[inline(always)]
            fn load_blocks(self, order: ByteOrder, from: &[u8]) -> [[$lane; $lanes]; 2] {
                let (mut x, mut y) = ([0; $lanes], [0; $lanes]);
                let blocks = from.as_chunks::<{ 2 * $bits::BYTES }>().0;
                for i in 0..$lanes {
                    [x[i], y[i]] = split::<$bits>(order, &blocks[i]).map($bits::lane);
                }
                [x, y]
            }
            #[inline(always)]
            fn store_blocks(self, order: ByteOrder, [x, y]: [[$lane; $lanes]; 2], to: &mut [u8]) {
                let blocks = to.as_chunks_mut::<{ 2 * $bits::BYTES }>().0;
                for i in 0..$lanes {
                    store16(block::<$bits>(order, x[i].into(), y[i].into()), &mut blocks[i]);
                }
            }
            #[inline(always)]
            fn xor_blocks(self, order: ByteOrder, [x, y]: [[$lane; $lanes]; 2], mut data: InOut<'_>) {
                for i in 0..$lanes {
                    let mut part = data.part(2 * $bits::BYTES * i, 2 * $bits::BYTES);
                    let sum = load16(part.source()) ^ block::<$bits>(order, x[i].into(), y[i].into());
                    store16(sum, part.target());
                }
            }
        }
    )* };
}

pairs! {
    Bits16 u16 8;
    Bits24 u32 4;
    Bits32 u32 4;
    Bits48 u64 2;
    Bits64 u64 2;
}

/// Returns the block of two words. The bits above the words are ignored.
#[inline(always)]
fn block<W: Word>(order: ByteOrder, x: u64, y: u64) -> u128 {
    join::<W>(order, [x, y].map(|word| word & (!0 >> (64 - W::BITS))))
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::vector::words::Words;

    #[test]
    fn rotate_words_agrees_with_rotate_left_for_words_that_fill_a_lane() {
        let v = [0x0123_4567, 0x89ab_cdef, 3, !7];
        let rotated = Pairs::<Bits32>::rotate_words::<3, 29>(Portable::new(), v);
        assert_eq!(rotated, Words::<u32>::rotate_left::<3>(Portable::new(), v));
    }
}
