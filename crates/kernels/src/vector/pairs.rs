//! Vectors for Speck: words of 16 to 64 bits, and blocks of two words.
//!
//! A pair of vectors holds as many blocks as a vector has lanes: one vector has their words x, the
//! other their words y. A word of 24 bits is in a lane of 32 bits, and a word of 48 bits in a lane
//! of 64. The bits of the lane above the word are undefined. They have no effect, because sums,
//! differences and xors never carry downwards, and rotations ignore them.

use super::inout::InOut;
use super::words::Words;
use super::{Token, load16};

/// The order of the bytes in blocks and keys of Speck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// The order in which the paper prints test vectors: x before y, the last word of the key
    /// first, every word big-endian.
    Big,
    /// All bytes of key and block reversed, as in the designers' implementation guide, Linux and
    /// Crypto++.
    Little,
}

/// The vector type of a token for one word size.
pub(crate) type V<B, W> = <<B as Pairs<W>>::Words as Words<<W as Word>::Lane>>::V;

/// A word size of Speck. A block has two words.
pub(crate) trait Word: Copy {
    /// The integer that holds a word.
    type Lane: Copy;
    /// Number of bits in a word.
    const BITS: u32;
    /// Position of this size among 16, 24, 32, 48 and 64 bits.
    const INDEX: usize = match Self::BITS {
        16 => 0,
        24 => 1,
        32 => 2,
        48 => 3,
        _ => 4,
    };
    /// Number of bytes in a word.
    const BYTES: usize = Self::BITS as usize / 8;
    /// Number of bytes in a lane.
    const LANE: usize = size_of::<Self::Lane>();
    /// Number of bits in a lane above the word.
    const SPARE: u32 = 8 * Self::LANE as u32 - Self::BITS;

    /// Returns the low bits of `x`.
    fn lane(x: u64) -> Self::Lane;
    /// Applies the round (section 4.1 of the paper) to one block and returns its words.
    fn round(x: u64, y: u64, k: u64) -> [u64; 2];
    /// Inverts the round on one block and returns its words.
    fn inverse_round(x: u64, y: u64, k: u64) -> [u64; 2];

    /// Rotates every word right by alpha.
    fn right_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
    /// Rotates every word left by alpha.
    fn left_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
    /// Rotates every word left by beta.
    fn left_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
    /// Rotates every word right by beta.
    fn right_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self>;
}

/// Operations on vectors of Speck words, and between them and blocks in memory.
pub(crate) trait Pairs<W: Word>: Token {
    /// The token for the operations on lanes.
    type Words: Words<W::Lane>;

    /// Number of blocks in a pair of vectors.
    const BLOCKS: usize = <Self::Words as Words<W::Lane>>::LANES;
    /// Number of bytes in these blocks.
    const PAIR_BYTES: usize = 2 * W::BYTES * Self::BLOCKS;

    /// Returns the token for the operations on lanes.
    fn words(self) -> Self::Words;
    /// Returns, in every lane, the index in memory of the block that the lane belongs to: 0 to
    /// `BLOCKS - 1`.
    fn block_indices(self) -> V<Self, W>;
    /// Rotates every word left by `N` bits. `M` is the number of bits in a lane minus `N`, since
    /// Rust cannot subtract const generics here.
    fn rotate_words<const N: i32, const M: i32>(self, v: V<Self, W>) -> V<Self, W>;
    /// Reverses the bytes of every word.
    fn reverse_words(self, v: V<Self, W>) -> V<Self, W>;
    /// Loads the words x and y of the blocks in the first `PAIR_BYTES` bytes of `from`.
    fn load_blocks(self, order: ByteOrder, from: &[u8]) -> [V<Self, W>; 2];
    /// Stores `blocks` to the first `PAIR_BYTES` bytes of `to`.
    fn store_blocks(self, order: ByteOrder, blocks: [V<Self, W>; 2], to: &mut [u8]);
    /// XORs `blocks` to `PAIR_BYTES` bytes of data.
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
                let x = rotated!($bits $lane $right_alpha x).wrapping_add(y as $lane) & (!0 >> Self::SPARE) ^ k as $lane;
                [u64::from(x), u64::from(rotated!($bits $lane $left_beta y) ^ x)]
            }
            #[inline(always)]
            fn inverse_round(x: u64, y: u64, k: u64) -> [u64; 2] {
                let y = rotated!($bits $lane $right_beta (x ^ y));
                let x = (x ^ k) as $lane;
                let x = u64::from(x.wrapping_sub(y) & (!0 >> Self::SPARE));
                [u64::from(rotated!($bits $lane $left_alpha x)), u64::from(y)]
            }

            #[inline(always)]
            fn right_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { rotate!(b $right_alpha v) }
            #[inline(always)]
            fn left_alpha<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { rotate!(b $left_alpha v) }
            #[inline(always)]
            fn left_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { rotate!(b $left_beta v) }
            #[inline(always)]
            fn right_beta<B: Pairs<Self>>(b: B, v: V<B, Self>) -> V<B, Self> { rotate!(b $right_beta v) }
        }
    )* };
}

/// Rotates the words of a vector.
macro_rules! rotate {
    ($b:ident [$n:literal $m:literal] $v:ident) => {
        $b.rotate_words::<$n, $m>($v)
    };
}

/// Rotates one word that is in the low bits of an integer.
macro_rules! rotated {
    ($bits:literal $lane:ident [$n:literal $m:literal] $x:expr) => {{
        let x = $x as $lane;
        (x << $n | x >> ($bits - $n)) & (!0 >> Self::SPARE)
    }};
}

sizes! {
    /// 16-bit words, with alpha 7 and beta 2. Larger words have 8 and 3.
    Bits16 16 u16 [9 7] [7 9] [2 14] [14 2];
    /// Words of 24 bits.
    Bits24 24 u32 [16 16] [8 24] [3 29] [21 11];
    /// Words of 32 bits.
    Bits32 32 u32 [24 8] [8 24] [3 29] [29 3];
    /// Words of 48 bits.
    Bits48 48 u64 [40 24] [8 56] [3 61] [45 19];
    /// Words of 64 bits.
    Bits64 64 u64 [56 8] [8 56] [3 61] [61 3];
}

/// Returns the word in the first bytes.
#[inline(always)]
pub(crate) fn word<W: Word>(order: ByteOrder, bytes: &[u8]) -> u64 {
    let x = load16(&bytes[..W::BYTES]) as u64;
    match order {
        ByteOrder::Big => x.swap_bytes() >> (64 - W::BITS),
        ByteOrder::Little => x,
    }
}

/// Returns the words x and y of a block.
#[inline(always)]
pub(crate) fn split<W: Word>(order: ByteOrder, block: &[u8]) -> [u64; 2] {
    let [first, second] = [&block[..W::BYTES], &block[W::BYTES..]].map(|bytes| word::<W>(order, bytes));
    match order {
        ByteOrder::Big => [first, second],
        ByteOrder::Little => [second, first],
    }
}

/// Returns the block with the words x and y, followed by zeros.
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

    fn check_inverse_round<W: Word>() {
        let mut state = [0x0123_4567_89ab_cdef & (!0 >> (64 - W::BITS)), 0x1f];
        for k in [0, 1, !0 >> (64 - W::BITS), 0xabcd] {
            let next = W::round(state[0], state[1], k);
            assert!(next.iter().all(|word| word >> (W::BITS - 1) <= 1));
            assert_eq!(W::inverse_round(next[0], next[1], k), state);
            state = next;
        }
    }

    #[test]
    fn inverse_round_inverts_round() {
        check_inverse_round::<Bits16>();
        check_inverse_round::<Bits24>();
        check_inverse_round::<Bits32>();
        check_inverse_round::<Bits48>();
        check_inverse_round::<Bits64>();
    }
}
