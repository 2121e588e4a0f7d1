//! Vectors of *quads* for ChaCha20. A quad is a row of its state: four words, 128 bits.

use super::words::Words;

/// Operations on the quads of a vector of words.
pub(crate) trait Quads: Words<u32> {
    /// Copies `quad` to every quad of the vector.
    fn splat_quad(self, quad: &[u8; 16]) -> Self::V;
    /// Rotates the words of every quad: word `i` becomes the former word `i + N` modulo 4. `N` is
    /// 1, 2 or 3.
    fn rotate_lanes<const N: usize>(self, v: Self::V) -> Self::V;
    /// Transposes the 4 by 4 matrices of words: word `i` of a quad of `v[j]` becomes word `j` of
    /// that quad of `v[i]`.
    fn transpose(self, v: [Self::V; 4]) -> [Self::V; 4];
    /// Transposes the matrix of quads: returns the first quads of all four vectors, then the second
    /// ones, and so on.
    fn transpose_quads(self, v: [Self::V; 4]) -> [Self::V; 4];

    /// Rotates every word left by `N` bits: 16, 12, 8 or 7.
    #[inline(always)]
    fn rotate<const N: i32>(self, v: Self::V) -> Self::V {
        self.rotate_left::<N>(v)
    }

    /// Returns `pair`, but the compiler must assume that both vectors and all memory change here.
    /// So it keeps the order of the code before and after this scheduling fence, and loads the
    /// constants of [`Quads::rotate`] again at each use, which takes no register.
    #[inline(always)]
    fn fence(self, pair: [Self::V; 2]) -> [Self::V; 2] {
        pair
    }
    /// Stores a vector for which there is no register.
    #[inline(always)]
    fn park(self, v: Self::V, to: &mut Self::V) {
        *to = v;
    }
    /// Loads a vector that was parked.
    #[inline(always)]
    fn unpark(self, from: &Self::V) -> Self::V {
        *from
    }

    /// Loads all bytes of `from`, fewer than a vector has, followed by zeros.
    fn load_part(self, from: &[u8]) -> Self::V;
    /// Fills `to`, shorter than a vector, with the first bytes of `v`.
    fn store_part(self, v: Self::V, to: &mut [u8]);

    /// Returns `x`, but the compiler cannot see that it is the same reference.
    ///
    /// The data behind the reference is then loaded where it is used. Otherwise the compiler would
    /// load it before a loop and spill it to the stack.
    #[inline(always)]
    fn opaque_ref<T>(self, x: &T) -> &T {
        x
    }
}
