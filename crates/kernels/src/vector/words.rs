//! Vectors of words, for ciphers made of additions, rotations and xors such as ChaCha20 and Speck.

use super::Token;

/// Vectors of `LANES` words of type `T`: `u16`, `u32` or `u64`. They are little-endian in memory,
/// and all arithmetic wraps.
pub(crate) trait Words<T>: Token {
    /// Number of words in a vector.
    const LANES: usize;
    /// Number of bytes in a vector.
    const BYTES: usize = Self::LANES * size_of::<T>();

    type V: Copy;

    /// Copies `x` to every lane.
    fn splat(self, x: T) -> Self::V;
    /// Loads the first `BYTES` bytes of `from`.
    fn load(self, from: &[u8]) -> Self::V;
    /// Stores `v` to the first `BYTES` bytes of `to`.
    fn store(self, v: Self::V, to: &mut [u8]);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Shifts every word left by `N` bits.
    fn shift_left<const N: i32>(self, v: Self::V) -> Self::V;
    /// Shifts every word right by `N` bits and fills with zeros.
    fn shift_right<const N: i32>(self, v: Self::V) -> Self::V;
    /// Rotates every word left by `N` bits.
    fn rotate_left<const N: i32>(self, v: Self::V) -> Self::V;
}
