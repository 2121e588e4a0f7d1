//! What arithmetic on long numbers needs: 64-bit words side by side, each with a limb of another number.

use super::Token;

/// Vectors of `LANES` words of 64 bits.
pub(crate) trait Limbs: Token {
    /// Words per vector.
    const LANES: usize;
    /// Which of the blocks that [`Limbs::load`] reads each lane gets. The first is in lane 0.
    const ORDER: [usize; 8];

    /// `LANES` words.
    type V: Copy;

    // ---- words in and out -------------------------------------------------------------------

    /// The low and the high halves of `LANES` blocks of 128 bits, which are little-endian integers.
    fn load(self, from: &[u8]) -> [Self::V; 2];
    /// The first `LANES` words of `from`.
    fn words(self, from: &[u64]) -> Self::V;
    /// To the first `LANES` words of `to`.
    fn store_words(self, v: Self::V, to: &mut [u64]);
    /// The same word in every lane.
    fn splat(self, x: u64) -> Self::V;
    /// `x` in lane 0, zero in the others.
    fn zero_extend(self, x: u64) -> Self::V;
    /// The sum of all lanes modulo 2^64.
    fn sum(self, v: Self::V) -> u64;

    // ---- arithmetic -------------------------------------------------------------------------

    /// a + b, each modulo 2^64.
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    /// a & b.
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// a | b.
    fn or(self, a: Self::V, b: Self::V) -> Self::V;
    /// (a | b) & c.
    #[inline(always)]
    fn or_and(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.and(self.or(a, b), c)
    }
    /// Every word times 2^N. `N` is below 64.
    fn shl<const N: u32>(self, v: Self::V) -> Self::V;
    /// Every word divided by 2^N. `N` is below 64.
    fn shr<const N: u32>(self, v: Self::V) -> Self::V;
}

/// With products of 52 bits by 52.
pub(crate) trait Limbs52: Limbs {
    /// a - b, each modulo 2^64.
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    /// Every word, which has a sign, divided by 2^N and rounded down. `N` is below 64.
    fn shr_signed<const N: u32>(self, v: Self::V) -> Self::V;
    /// Every word times 20, modulo 2^64.
    fn times_20(self, v: Self::V) -> Self::V;
    /// `sum` + the low 52 bits of the product of the low 52 bits of `a` and `b`.
    fn add_low(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// `sum` + the high 52 bits of that product.
    fn add_high(self, sum: Self::V, a: Self::V, b: Self::V) -> Self::V;
}

/// With products of 32 bits by 32.
pub(crate) trait Limbs32: Limbs {
    /// `LANES` words below 2^32 in the form that is multiplied.
    type Half: Copy;

    /// Words below 2^32.
    fn half(self, v: Self::V) -> Self::Half;
    /// The same word in every lane.
    fn splat_half(self, x: u32) -> Self::Half;
    /// a * b.
    fn product(self, a: Self::Half, b: Self::Half) -> Self::V;
    /// sum + a * b.
    fn add_product(self, sum: Self::V, a: Self::Half, b: Self::Half) -> Self::V;
}
