//! Single rounds of AES whose round keys are data, as AEGIS is made of them.
#![forbid(unsafe_code)]

use super::{Token, unroll};

/// Vectors of `LANES` blocks of 128 bits.
pub(crate) trait Rounds: Token {
    /// Blocks per vector.
    const LANES: usize;
    /// Bytes per vector.
    const BYTES: usize = 16 * Self::LANES;

    /// `LANES` blocks, as bytes.
    type V: Copy;
    /// The vectors that fit into a register, of which this one is made.
    type Part: Rounds;
    /// How many of them.
    const PARTS: usize;

    /// For a part.
    fn part(self) -> Self::Part;
    /// Part `i`.
    fn cut(self, v: Self::V, i: usize) -> <Self::Part as Rounds>::V;
    /// `v` with this part `i`.
    fn join(self, v: Self::V, i: usize, part: <Self::Part as Rounds>::V) -> Self::V;

    /// The first `BYTES` bytes of `from`.
    fn load(self, from: &[u8]) -> Self::V;
    /// All bytes of `from`, at most `BYTES`, and zeros after them.
    fn load_part(self, from: &[u8]) -> Self::V;
    /// To the first `BYTES` bytes of `to`.
    fn store(self, v: Self::V, to: &mut [u8]);
    /// To all bytes of `to`, at most `BYTES`.
    fn store_part(self, v: Self::V, to: &mut [u8]);
    /// The same block in every lane.
    fn splat(self, block: &[u8; 16]) -> Self::V;
    /// The xor of all lanes.
    fn xor_lanes(self, v: Self::V) -> [u8; 16];

    /// a ^ b.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// a & b.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// One round of each state (FIPS 197, 5.1: SubBytes, ShiftRows, MixColumns, AddRoundKey) with the key
    /// beside it. All at once, because plain integers work on many blocks or waste most of their work.
    fn rounds<const N: usize>(self, states: [Self::V; N], keys: [Self::V; N]) -> [Self::V; N];
    /// Tells the compiler that all of these change here, so that it does not work ahead. Computes nothing.
    #[inline(always)]
    fn fence<const N: usize>(self, _words: &mut [Self::V; N]) {}
}

/// An instruction set's vectors of one, two and four blocks. Its token stands for all that they need.
pub(crate) trait Degrees: Token {
    /// Vectors of one block.
    type One: Rounds;
    /// Vectors of two blocks.
    type Two: Rounds;
    /// Vectors of four blocks.
    type Four: Rounds;
    /// The largest degree for which LLVM keeps eight words, and what a step makes of them, in registers. The
    /// states of larger ones lie on the stack.
    const REGISTER_DEGREE: usize;

    /// For one block.
    fn degree_1(self) -> Self::One;
    /// For two blocks.
    fn degree_2(self) -> Self::Two;
    /// For four blocks.
    fn degree_4(self) -> Self::Four;
}

/// For vectors that are one register, or as good as that.
macro_rules! whole {
    ($v:ty) => {
        type Part = Self;
        const PARTS: usize = 1;

        #[inline(always)]
        fn part(self) -> Self {
            self
        }
        #[inline(always)]
        fn cut(self, v: $v, _: usize) -> $v {
            v
        }
        #[inline(always)]
        fn join(self, _: $v, _: usize, part: $v) -> $v {
            part
        }
    };
}
pub(super) use whole;

/// Vectors of twice as many blocks as an instruction set has, made of two.
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
    fn cut(self, v: Self::V, i: usize) -> <B::Part as Rounds>::V {
        self.0.cut(v[i / B::PARTS], i % B::PARTS)
    }
    #[inline(always)]
    fn join(self, mut v: Self::V, i: usize, part: <B::Part as Rounds>::V) -> Self::V {
        v[i / B::PARTS] = self.0.join(v[i / B::PARTS], i % B::PARTS, part);
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
