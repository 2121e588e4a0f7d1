//! What ChaCha20 needs from an instruction set besides [`Words`]: vectors of *quads*, which are four words, 128 bits.

use super::words::Words;

/// Vectors of quads.
pub(crate) trait Quads: Words<u32> {
    /// The same quad in every lane.
    fn repeat(self, quad: &[u8; 16]) -> Self::V;
    /// In every quad, word `i` becomes what word `i + N` modulo 4 was. `N` is 1, 2 or 3.
    fn rotate_lanes<const N: usize>(self, v: Self::V) -> Self::V;
    /// In every lane, word `i` of quad `j` becomes word `j` of quad `i`.
    fn transpose(self, v: [Self::V; 4]) -> [Self::V; 4];
    /// The quads of lane 0, then those of lane 1, and so on.
    fn weave(self, v: [Self::V; 4]) -> [Self::V; 4];

    /// Rotates every word left by `N` bits: 16, 12, 8 or 7.
    #[inline(always)]
    fn rotate<const N: i32>(self, v: Self::V) -> Self::V {
        self.rotate_left::<N>(v)
    }

    /// All bytes of `from`, fewer than a vector has; zero after them.
    fn load_part(self, from: &[u8]) -> Self::V;
    /// To all bytes of `to`, fewer than a vector has.
    fn store_part(self, v: Self::V, to: &mut [u8]);

    /// The same reference, but the compiler does not know that it is.
    ///
    /// What is behind it is then loaded where it is used, not once ahead of a loop and spilled to the stack.
    #[inline(always)]
    fn opaque_ref<T>(self, x: &T) -> &T {
        x
    }
}
