//! What Speck needs from an instruction set besides words: words of 24 and 48 bits, and blocks of two words.
//!
//! A pair of vectors holds as many blocks as a vector has lanes: their words x, and their words y. A word of 24 bits lies
//! in a lane of 32, one of 48 bits in a lane of 64, and what stands above it there is of no interest: sums, differences
//! and xors never carry it down, and rotations do not look at it.

use super::inout::InOut;
use super::words::Words;
use super::{Token, load16};

/// How the words of Speck become bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// As the paper prints them: x before y, the last word of the key first, every word big-endian.
    Big,
    /// All bytes of key and block in reverse: as in the designers' implementation guide, Linux and Crypto++.
    Little,
}

/// The vectors of a token for a size of word.
pub(crate) type V<B, W> = <<B as Pairs<W>>::Words as Words<<W as Word>::Lane>>::V;

/// A size of words.
pub(crate) trait Word: Copy {
    /// What it lies in.
    type Lane: Copy;
    const BITS: u32;
    /// Bytes of a word.
    const BYTES: usize = Self::BITS as usize / 8;
    /// Bytes of a lane.
    const LANE: usize = size_of::<Self::Lane>();
    /// Bits of a lane above the word.
    const SPARE: u32 = 8 * Self::LANE as u32 - Self::BITS;

    /// The low bits.
    fn lane(x: u64) -> Self::Lane;
    /// The round (4.1 of the paper) on one block: both words after it.
    fn round(x: u64, y: u64, k: u64) -> [u64; 2];
    /// The inverse of `round`.
    fn round_back(x: u64, y: u64, k: u64) -> [u64; 2];

    /// Rotates every word right by alpha.
    fn right_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
    /// Rotates every word left by alpha.
    fn left_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
    /// Rotates every word left by beta.
    fn left_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
    /// Rotates every word right by beta.
    fn right_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
}

/// Vectors of words of Speck, and blocks in memory.
pub(crate) trait Pairs<W: Word>: Token {
    /// The token of what is done to lanes.
    type Words: Words<W::Lane>;

    /// Blocks per pair.
    const BLOCKS: usize = <Self::Words as Words<W::Lane>>::LANES;
    /// Bytes per pair.
    const PAIR: usize = 2 * W::BYTES * Self::BLOCKS;

    /// What is done to lanes.
    fn words(self) -> Self::Words;
    /// In every lane, the number of the block that it belongs to: of 0, 1, …, `BLOCKS - 1`.
    fn numbers(self) -> V<Self, W>;
    /// Rotates every word left by `N` bits. `M` is what `N` lacks to the bits of a lane. (Rust cannot subtract here.)
    fn rotate_words<const N: i32, const M: i32>(self, v: V<Self, W>) -> V<Self, W>;
    /// Reverses the bytes of every word.
    fn reverse_words(self, v: V<Self, W>) -> V<Self, W>;
    /// x and y of the blocks in the first `PAIR` bytes of `from`.
    fn load_blocks(self, order: ByteOrder, from: &[u8]) -> [V<Self, W>; 2];
    /// Blocks to the first `PAIR` bytes of `to`.
    fn store_blocks(self, order: ByteOrder, blocks: [V<Self, W>; 2], to: &mut [u8]);
    /// XORs blocks to `PAIR` bytes.
    fn xor_blocks(self, order: ByteOrder, blocks: [V<Self, W>; 2], data: InOut<'_>);
}

macro_rules! sizes {
    ($($(#[$doc:meta])* $name:ident $bits:literal $lane:ident $right_alpha:tt $left_alpha:tt $left_beta:tt $right_beta:tt;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $name;

        impl Word for $name {
            type Lane = $lane;
            const BITS: u32 = $bits;

            #[inline(always)]
            fn lane(x: u64) -> $lane { x as $lane }
            #[inline(always)]
            fn round(x: u64, y: u64, k: u64) -> [u64; 2] {
                let x = turned!($bits $lane $right_alpha x).wrapping_add(y as $lane) & (!0 >> Self::SPARE) ^ k as $lane;
                [u64::from(x), u64::from(turned!($bits $lane $left_beta y) ^ x)]
            }
            #[inline(always)]
            fn round_back(x: u64, y: u64, k: u64) -> [u64; 2] {
                let y = turned!($bits $lane $right_beta (x ^ y));
                let x = (x ^ k) as $lane;
                let x = u64::from(x.wrapping_sub(y) & (!0 >> Self::SPARE));
                [u64::from(turned!($bits $lane $left_alpha x)), u64::from(y)]
            }

            #[inline(always)]
            fn right_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { turn!(b $right_alpha v) }
            #[inline(always)]
            fn left_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { turn!(b $left_alpha v) }
            #[inline(always)]
            fn left_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { turn!(b $left_beta v) }
            #[inline(always)]
            fn right_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { turn!(b $right_beta v) }
        }
    )* };
}

/// A vector of words, rotated.
macro_rules! turn {
    ($b:ident [$n:literal $m:literal] $v:ident) => {
        $b.rotate_words::<$n, $m>($v)
    };
}

/// One word, rotated.
macro_rules! turned {
    ($bits:literal $lane:ident [$n:literal $m:literal] $x:expr) => {{
        let x = $x as $lane;
        (x << $n | x >> ($bits - $n)) & (!0 >> Self::SPARE)
    }};
}

sizes! {
    /// 16 bits; alpha is 7 and beta 2. Of the others they are 8 and 3.
    Bits16 16 u16 [9 7] [7 9] [2 14] [14 2];
    /// 24 bits.
    Bits24 24 u32 [16 16] [8 24] [3 29] [21 11];
    /// 32 bits.
    Bits32 32 u32 [24 8] [8 24] [3 29] [29 3];
    /// 48 bits.
    Bits48 48 u64 [40 24] [8 56] [3 61] [45 19];
    /// 64 bits.
    Bits64 64 u64 [56 8] [8 56] [3 61] [61 3];
}

/// The first bytes as a word.
#[inline(always)]
pub(crate) fn word<W: Word>(order: ByteOrder, bytes: &[u8]) -> u64 {
    let x = load16(&bytes[..W::BYTES]) as u64;
    match order {
        ByteOrder::Big => x.swap_bytes() >> (64 - W::BITS),
        ByteOrder::Little => x,
    }
}

/// x and y of a block.
#[inline(always)]
pub(crate) fn split<W: Word>(order: ByteOrder, block: &[u8]) -> [u64; 2] {
    let [first, second] = [&block[..W::BYTES], &block[W::BYTES..]].map(|bytes| word::<W>(order, bytes));
    match order {
        ByteOrder::Big => [first, second],
        ByteOrder::Little => [second, first],
    }
}

/// The block of x and y, and zeros after it.
#[inline(always)]
pub(crate) fn join<W: Word>(order: ByteOrder, [x, y]: [u64; 2]) -> u128 {
    let number = u128::from(x) << W::BITS | u128::from(y);
    match order {
        ByteOrder::Big => number.swap_bytes() >> (128 - 2 * W::BITS),
        ByteOrder::Little => number,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn undoes<W: Word>() {
        let mut state = [0x0123_4567_89ab_cdef & (!0 >> (64 - W::BITS)), 0x1f];
        for k in [0, 1, !0 >> (64 - W::BITS), 0xabcd] {
            let next = W::round(state[0], state[1], k);
            assert!(next.iter().all(|word| word >> (W::BITS - 1) <= 1));
            assert_eq!(W::round_back(next[0], next[1], k), state);
            state = next;
        }
    }

    #[test]
    fn back_is_the_inverse() {
        undoes::<Bits16>();
        undoes::<Bits24>();
        undoes::<Bits32>();
        undoes::<Bits48>();
        undoes::<Bits64>();
    }
}
