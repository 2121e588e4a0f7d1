//! What a cipher made of additions, rotations and xors needs from an instruction set.

use super::Token;

/// Vectors of `LANES` words `T`: `u16`, `u32` or `u64`, all modulo 2^bits. In memory they are little-endian.
pub(crate) trait Words<T>: Token {
    /// Words per vector.
    const LANES: usize;
    /// Bytes per vector.
    const BYTES: usize = Self::LANES * size_of::<T>();

    /// `LANES` words.
    type V: Copy;

    /// The same word in every lane.
    fn splat(self, x: T) -> Self::V;
    /// The first `BYTES` bytes of `from`.
    fn load(self, from: &[u8]) -> Self::V;
    /// To the first `BYTES` bytes of `to`.
    fn store(self, v: Self::V, to: &mut [u8]);
    /// a + b.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a - b.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// a ^ b.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Shifts every word left by `N` bits; zeros come in.
    fn shift_left<const N: i32>(self, v: Self::V) -> Self::V;
    /// Shifts every word right by `N` bits; zeros come in.
    fn shift_right<const N: i32>(self, v: Self::V) -> Self::V;
    /// Rotates every word left by `N` bits.
    fn rotate_left<const N: i32>(self, v: Self::V) -> Self::V;
}
