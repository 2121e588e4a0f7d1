//! Vectors of 64-bit words for arithmetic on long numbers. Each lane holds a limb of a different
//! number.

use super::Token;

/// Vectors of `LANES` words of 64 bits.
pub(crate) trait Limbs: Token {
    /// Number of words in a vector.
    const LANES: usize;
    /// For each lane, the index of the block that [`Limbs::halves`] puts there. Block 0 is in lane
    /// 0.
    const ORDER: [usize; 8];

    type V: Copy;

    // ---- loads and stores -------------------------------------------------------------------

    /// Loads the first `8 * LANES` bytes of `from`.
    fn load_bytes(self, from: &[u8]) -> Self::V;
    /// Stores the bytes of `v` to the first `8 * LANES` bytes of `to`.
    fn store_bytes(self, v: Self::V, to: &mut [u8]);
    /// Splits `LANES` blocks of 128 bits, which are little-endian integers, into their low and
    /// their high halves.
    fn halves(self, blocks: [Self::V; 2]) -> [Self::V; 2];
    /// Loads the first `LANES` words of `from`.
    fn load_words(self, from: &[u64]) -> Self::V;
    /// Stores `v` to the first `LANES` words of `to`.
    fn store_words(self, v: Self::V, to: &mut [u64]);
    /// Copies `x` to every lane.
    fn splat(self, x: u64) -> Self::V;
    /// Copies `x` to lane 0 and sets the other lanes to zero.
    fn zero_extend(self, x: u64) -> Self::V;
    /// Returns the sum of all lanes modulo 2^64.
    fn sum_lanes(self, v: Self::V) -> u64;

    // ---- arithmetic -------------------------------------------------------------------------

    /// Returns a + b modulo 2^64.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns (a | b) & c.
    #[inline(always)]
    fn or_and(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.and(self.or(a, b), c)
    }
    /// Shifts every word left by `N` bits. `N` is below 64.
    fn shl<const N: u32>(self, v: Self::V) -> Self::V;
    /// Shifts every word right by `N` bits and fills with zeros. `N` is below 64.
    fn shr<const N: u32>(self, v: Self::V) -> Self::V;
}

/// Instruction sets that multiply 52 bits by 52 bits.
pub(crate) trait Limbs52: Limbs {
    /// Returns a - b modulo 2^64.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Divides every signed word by 2^N and rounds down. `N` is below 64.
    fn shr_signed<const N: u32>(self, v: Self::V) -> Self::V;
    /// Multiplies every word by 20, modulo 2^64.
    fn times_20(self, v: Self::V) -> Self::V;
    /// Returns `sum` plus the low 52 bits of the product of the low 52 bits of `a` and `b`.
    fn add_low(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Returns `sum` plus the high 52 bits of the same product.
    fn add_high(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
}

/// Instruction sets that multiply 32 bits by 32 bits.
pub(crate) trait Limbs32: Limbs {
    /// `LANES` words below 2^32 in the form that the multiplication takes.
    type Narrow: Copy;

    /// Converts words below 2^32.
    fn narrow(self, v: Self::V) -> Self::Narrow;
    /// Copies `x` to every lane.
    fn splat_narrow(self, x: u32) -> Self::Narrow;
    fn product(self, a: Self::Narrow, b: Self::Narrow) -> Self::V;
    fn add_product(self, sum: Self::V, a: Self::Narrow, b: Self::Narrow) -> Self::V;
}
