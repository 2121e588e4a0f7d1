//! Single rounds of AES with data as round keys, for AEGIS.
#![forbid(unsafe_code)]

use super::{Token, unroll};

/// Vectors of `LANES` blocks of 128 bits.
pub(crate) trait Rounds: Token {
    /// Number of blocks in a vector.
    const LANES: usize;
    /// Number of bytes in a vector.
    const BYTES: usize = 16 * Self::LANES;

    /// A vector of `LANES` blocks, as bytes.
    type V: Copy;
    /// The token for one part. A vector that is wider than a register consists of several parts.
    type Part: Rounds;
    /// Number of parts in a vector.
    const PARTS: usize;

    /// Returns the token for one part.
    fn part(self) -> Self::Part;
    /// Returns part `i` of `v`.
    fn get_part(self, v: Self::V, i: usize) -> <Self::Part as Rounds>::V;
    /// Returns `v` with part `i` replaced.
    fn set_part(self, v: Self::V, i: usize, part: <Self::Part as Rounds>::V) -> Self::V;

    /// Loads the first `BYTES` bytes of `from`.
    fn load(self, from: &[u8]) -> Self::V;
    /// Loads all bytes of `from`, at most `BYTES`, followed by zeros.
    fn load_part(self, from: &[u8]) -> Self::V;
    /// Stores `v` to the first `BYTES` bytes of `to`.
    fn store(self, v: Self::V, to: &mut [u8]);
    /// Fills `to`, of at most `BYTES` bytes, with the first bytes of `v`.
    fn store_part(self, v: Self::V, to: &mut [u8]);
    /// Copies `block` to every lane.
    fn splat(self, block: &[u8; 16]) -> Self::V;
    /// Returns the xor of all lanes.
    fn xor_lanes(self, v: Self::V) -> [u8; 16];

    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Applies one round (FIPS 197, 5.1: SubBytes, ShiftRows, MixColumns, AddRoundKey) to each
    /// state, with the key of the same index. It takes all states at once, because the
    /// bit-sliced portable implementation computes 16 blocks in the time of one.
    fn rounds<const N: usize>(self, states: [Self::V; N], keys: [Self::V; N]) -> [Self::V; N];
    /// Computes nothing, but the compiler must assume that all words change here, so it cannot move
    /// later computations before this scheduling fence.
    #[inline(always)]
    fn fence<const N: usize>(self, _words: &mut [Self::V; N]) {}
}

/// The vectors of one, two and four blocks of an instruction set.
pub(crate) trait Degrees: Token {
    /// The token for vectors of one block.
    type One: Rounds;
    /// The token for vectors of two blocks.
    type Two: Rounds;
    /// The token for vectors of four blocks.
    type Four: Rounds;
    /// The largest degree for which LLVM keeps the eight words before and after an update in
    /// registers. For a larger degree, the state is on the stack.
    const REGISTER_DEGREE: usize;

    fn degree_1(self) -> Self::One;
    fn degree_2(self) -> Self::Two;
    fn degree_4(self) -> Self::Four;
}

/// Implements the parts of [`Rounds`] for a vector that is its only part.
macro_rules! single_part {
    ($v:ty) => {
        type Part = Self;
        const PARTS: usize = 1;

        #[inline(always)]
        fn part(self) -> Self {
            self
        }
        #[inline(always)]
        fn get_part(self, v: $v, _: usize) -> $v {
            v
        }
        #[inline(always)]
        fn set_part(self, _: $v, _: usize, part: $v) -> $v {
            part
        }
    };
}
pub(super) use single_part;

/// Implements the part of [`Rounds`] that [`Blocks`](super::Blocks) has as well, for a vector of
/// one register.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! operations_of_blocks {
    ($v:ty) => {
        type V = $v;
        single_part! { $v }
        #[inline(always)]
        fn load(self, from: &[u8]) -> $v {
            Blocks::load(self, from)
        }
        #[inline(always)]
        fn load_part(self, from: &[u8]) -> $v {
            Blocks::load_part(self, from, 0)
        }
        #[inline(always)]
        fn store(self, v: $v, to: &mut [u8]) {
            Blocks::store(self, v, to);
        }
        #[inline(always)]
        fn store_part(self, v: $v, to: &mut [u8]) {
            Blocks::store_part(self, v, to, 0);
        }
        #[inline(always)]
        fn splat(self, block: &[u8; 16]) -> $v {
            Blocks::splat(self, block)
        }
        #[inline(always)]
        fn xor(self, a: $v, b: $v) -> $v {
            Blocks::xor(self, a, b)
        }
        #[inline(always)]
        fn fence<const N: usize>(self, words: &mut [$v; N]) {
            Blocks::fence(self, words);
        }
    };
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use operations_of_blocks;

/// Implements [`Degrees`] for a token, with its register degree, and the type and value of the
/// token for each degree.
macro_rules! degrees {
    ($token:ty, $register:literal; |$it:pat_param| $one:ty = $a:expr, $two:ty = $b:expr, $four:ty = $c:expr) => {
        impl Degrees for $token {
            type One = $one;
            type Two = $two;
            type Four = $four;
            const REGISTER_DEGREE: usize = $register;

            #[inline(always)]
            fn degree_1(self) -> $one {
                let $it = self;
                $a
            }
            #[inline(always)]
            fn degree_2(self) -> $two {
                let $it = self;
                $b
            }
            #[inline(always)]
            fn degree_4(self) -> $four {
                let $it = self;
                $c
            }
        }
    };
}
pub(super) use degrees;

/// Vectors of twice as many blocks as `B`'s, each made of two of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair<B>(pub(super) B);

impl<B: Token> Token for Pair<B> {}

impl<B: Rounds> Rounds for Pair<B> {
    const LANES: usize = 2 * B::LANES;
    type V = [B::V; 2];
    type Part = B::Part;
    const PARTS: usize = 2 * B::PARTS;

    #[inline(always)]
    fn part(self) -> B::Part {
        self.0.part()
    }
    #[inline(always)]
    fn get_part(self, v: Self::V, i: usize) -> <B::Part as Rounds>::V {
        self.0.get_part(v[i / B::PARTS], i % B::PARTS)
    }
    #[inline(always)]
    fn set_part(self, mut v: Self::V, i: usize, part: <B::Part as Rounds>::V) -> Self::V {
        v[i / B::PARTS] = self.0.set_part(v[i / B::PARTS], i % B::PARTS, part);
        v
    }
    #[inline(always)]
    fn load(self, from: &[u8]) -> Self::V {
        [self.0.load(from), self.0.load(&from[B::BYTES..])]
    }
    #[inline(always)]
    fn load_part(self, from: &[u8]) -> Self::V {
        let (low, high) = from.split_at(from.len().min(B::BYTES));
        [self.0.load_part(low), self.0.load_part(high)]
    }
    #[inline(always)]
    fn store(self, v: Self::V, to: &mut [u8]) {
        self.0.store(v[0], to);
        self.0.store(v[1], &mut to[B::BYTES..]);
    }
    #[inline(always)]
    fn store_part(self, v: Self::V, to: &mut [u8]) {
        let (low, high) = to.split_at_mut(to.len().min(B::BYTES));
        self.0.store_part(v[0], low);
        self.0.store_part(v[1], high);
    }
    #[inline(always)]
    fn splat(self, block: &[u8; 16]) -> Self::V {
        [self.0.splat(block); 2]
    }
    #[inline(always)]
    fn xor_lanes(self, v: Self::V) -> [u8; 16] {
        self.0.xor_lanes(self.0.xor(v[0], v[1]))
    }

    #[inline(always)]
    fn xor(self, a: Self::V, b: Self::V) -> Self::V {
        [self.0.xor(a[0], b[0]), self.0.xor(a[1], b[1])]
    }
    #[inline(always)]
    fn and(self, a: Self::V, b: Self::V) -> Self::V {
        [self.0.and(a[0], b[0]), self.0.and(a[1], b[1])]
    }
    #[inline(always)]
    fn rounds<const N: usize>(self, states: [Self::V; N], keys: [Self::V; N]) -> [Self::V; N] {
        let mut out = states;
        unroll!(h < 2 => {
            let (mut half, mut half_keys) = ([states[0][h]; N], [keys[0][h]; N]);
            unroll!(i < N => {
                (half[i], half_keys[i]) = (states[i][h], keys[i][h]);
            });
            half = self.0.rounds(half, half_keys);
            unroll!(i < N => {
                out[i][h] = half[i];
            });
        });
        out
    }
}
