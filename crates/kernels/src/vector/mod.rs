//! The unsafe room: what ciphers need from an instruction set.
//!
//! Each instruction set has a *token*, a value that exists only where its instructions may run. The vocabularies,
//! `Blocks` for AES, `Rounds` for AEGIS and `Words` for what adds, rotates and xors, are made of methods of tokens, so
//! whoever can name an operation may perform it.

use crate::zero::wipe;

pub(crate) mod inout;
pub(crate) mod limbs;
#[cfg(target_arch = "aarch64")]
pub mod neon;
#[cfg(target_arch = "aarch64")]
pub mod neon_limbs;
#[cfg(target_arch = "aarch64")]
mod neon_pairs;
#[cfg(target_arch = "aarch64")]
mod neon_quads;
#[cfg(target_arch = "aarch64")]
mod neon_rounds;
#[cfg(target_arch = "aarch64")]
pub mod neon_words;
pub(crate) mod pairs;
pub mod portable;
mod portable_pairs;
mod portable_products;
mod portable_quads;
mod portable_rounds;
mod portable_words;
pub(crate) mod quads;
pub(crate) mod rounds;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod shuffles;
pub(crate) mod words;
#[cfg(target_arch = "x86_64")]
pub mod x86;
#[cfg(target_arch = "x86_64")]
pub mod x86_limbs;
#[cfg(target_arch = "x86_64")]
pub mod x86_pairs;
#[cfg(target_arch = "x86_64")]
pub mod x86_products;
#[cfg(target_arch = "x86_64")]
mod x86_quads;
#[cfg(target_arch = "x86_64")]
mod x86_rounds;
#[cfg(target_arch = "x86_64")]
pub mod x86_words;

/// Round keys of AES, the same for every row; those past the last round are zero. Wiped on drop.
///
/// Aligned no further than a block: that is all that a round key needs, and glibc takes 60 ns more for a larger one.
#[repr(C, align(16))]
pub(crate) struct Schedule(pub(crate) [[u8; 16]; 15]);

impl Schedule {
    pub(crate) const EMPTY: Self = Self([[0; 16]; 15]);

    #[inline(always)]
    fn round(&self, r: usize) -> &[u8; 16] {
        &self.0[r]
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// A value that exists only where the instructions that it stands for may run.
pub(crate) trait Token: Copy {
    /// Whether there are so few registers that LLVM spills keys on the stack in short messages too.
    const SPILLS: bool = false;
}

/// Vectors of `LANES` blocks of 128 bits.
pub(crate) trait Blocks: Token {
    /// Blocks per vector.
    const LANES: usize;
    /// Bytes per vector.
    const BYTES: usize = 16 * Self::LANES;

    /// `LANES` blocks, as bytes.
    type V: Copy;
    /// `LANES` blocks on their way through AES. The same as `V` where AES is an instruction.
    type S: Copy;
    /// Round keys in the form that the rounds want; a plain reference where AES is an instruction.
    type Keys<'a>;
    /// The same instruction set with one block per vector: less work where only one is wanted. (Plain integers have only
    /// the width that they have.)
    type One: for<'a> Blocks<Keys<'a> = Self::Keys<'a>>;

    /// For one block.
    fn one(self) -> Self::One;

    // ---- bytes in and out -------------------------------------------------------------------

    /// The first `BYTES` bytes of `from`.
    fn load(self, from: &[u8]) -> Self::V;
    /// All bytes of `from`, from byte `skip` of the vector on; the others are zero. `skip` is below 16.
    fn load_part(self, from: &[u8], skip: usize) -> Self::V;
    /// To the first `BYTES` bytes of `to`.
    fn store(self, v: Self::V, to: &mut [u8]);
    /// To all bytes of `to`, from byte `skip` of the vector on. `skip` is below 16.
    fn store_part(self, v: Self::V, to: &mut [u8], skip: usize);
    /// The same block in every lane.
    fn splat(self, block: &[u8; 16]) -> Self::V;
    /// `block` in lane 0, zero in the others.
    fn zero_extend(self, block: &[u8; 16]) -> Self::V;
    /// Lane 0.
    fn first_lane(self, v: Self::V) -> [u8; 16];

    // ---- bits and counters ------------------------------------------------------------------

    /// a ^ b.
    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Reverses the bytes of every block.
    fn swap_bytes(self, v: Self::V) -> Self::V;
    /// Sums of little-endian 64-bit words, each modulo 2^64.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;

    // ---- the key schedule of AES: four columns of 32 bits in lane 0 -------------------------

    /// Column `I`, 1 or 3, in all columns.
    fn column<const I: usize>(self, v: Self::V) -> Self::V;
    /// RotWord on every column.
    fn rot_word(self, v: Self::V) -> Self::V;
    /// SubWord on every column, in constant time. All columns are equal.
    fn sub_word(self, v: Self::V) -> Self::V;
    /// To every column, the sum of those before it.
    fn running_sum(self, v: Self::V) -> Self::V;

    // ---- AES --------------------------------------------------------------------------------

    /// The round keys for this instruction set.
    fn keys(self, schedule: &Schedule) -> Self::Keys<'_>;
    /// Has the keys read from memory again in this turn of a loop.
    ///
    /// Where there are 16 registers, LLVM else loads all round keys ahead of the loop and spills them on the stack,
    /// where they stay after the call. With 32 registers they fit, and this does nothing.
    #[inline(always)]
    fn reread(self, _keys: &mut Self::Keys<'_>) {}
    /// Before the rounds: key 0.
    fn aes_first(self, v: Self::V, keys: &Self::Keys<'_>) -> Self::S;
    /// Round `r`, 1 and up. It takes the number and not the key because Arm adds key `r - 1` and x86 key `r`.
    fn aes_round(self, s: Self::S, keys: &Self::Keys<'_>, r: usize) -> Self::S;
    /// A state as bytes.
    fn aes_bytes(self, s: Self::S) -> Self::V;
    /// A state plus another one, which is given as bytes.
    fn aes_add(self, s: Self::S, bytes: Self::V) -> Self::S;
    /// The last round, and then xor `data`.
    fn aes_last(self, s: Self::S, keys: &Self::Keys<'_>, r: usize, data: Self::V) -> Self::V;

    // ---- scheduling -------------------------------------------------------------------------

    /// Tells the compiler that all of these change here, so that it keeps the order of what is written around it.
    /// Computes nothing.
    #[inline(always)]
    fn fence<const N: usize>(self, _states: &mut [Self::S; N]) {}
}

/// What GHASH and the counters of GCM need besides.
///
/// A field element is a block: its first bit is that of x^0, in the order of POLYVAL.
pub(crate) trait Products: Blocks {
    // ---- bytes ------------------------------------------------------------------------------

    /// The first `n` bytes of `v`, zero after them.
    fn truncate(self, v: Self::V, n: usize) -> Self::V;
    /// Exchanges the 64-bit halves of every block.
    fn swap_halves(self, v: Self::V) -> Self::V;
    /// The xor of all lanes in lane 0, zero in the others.
    fn xor_lanes(self, v: Self::V) -> Self::V;
    /// `N` lanes of `a`, then `N` of `b`, and so on; each lane stays where it is. `N` is a power of two below `LANES`.
    fn alternate<const N: usize>(self, a: Self::V, b: Self::V) -> Self::V;

    // ---- bits and counters ------------------------------------------------------------------

    /// a ^ b ^ c.
    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }
    /// Sums of little-endian 32-bit words, each modulo 2^32.
    fn add32(self, a: Self::V, b: Self::V) -> Self::V;

    // ---- polynomials over GF(2) -------------------------------------------------------------

    /// Products of the low halves.
    fn clmul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Products of the high halves.
    fn clmul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// Products of the low halves and x^63 + x^62 + x^57, with which one reduces.
    fn clmul_field(self, v: Self::V) -> Self::V;

    // ---- scheduling -------------------------------------------------------------------------

    /// [`Blocks::fence`] where hashing goes on beside AES.
    #[inline(always)]
    fn fence_with_sums<const N: usize>(self, _states: &mut [Self::S; N], _sums: &mut [Self::V; 3]) {}
    /// The same reference, but the compiler does not know that it is.
    ///
    /// What is behind it is then loaded where it is used, not once ahead of a loop and spilled to the stack.
    #[inline(always)]
    fn opaque_ref<T>(self, x: &T) -> &T {
        x
    }
}

/// Expands to `body` for `i` = 0, 1, … below a constant of at most 16.
///
/// The loop is written out before LLVM sees it, so an array that it indexes is always split into registers. With
/// `for` it costs a third of the speed; a closure loses the target features and costs all of it.
macro_rules! unroll {
    ($i:ident < $n:expr => $body:block) => {
        unroll!(@ $i, $n, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $i:ident, $n:expr, $body:block, $($k:literal)*) => {
        $(
            #[allow(clippy::absurd_extreme_comparisons, clippy::out_of_bounds_indexing)]
            if $k < $n {
                #[allow(non_upper_case_globals)]
                const $i: usize = $k;
                $body
            }
        )*
    };
}
pub(crate) use unroll;

/// Block `i` of a vector, of which `from` are the bytes from `skip` on, as a little-endian integer.
#[inline(always)]
fn load_block(from: &[u8], skip: usize, i: usize) -> u128 {
    let x = load16(&from[share(from.len(), skip, i)]);
    if i == 0 { x << (8 * skip) } else { x }
}

/// The counterpart of [`load_block`].
#[inline(always)]
fn store_block(x: u128, to: &mut [u8], skip: usize, i: usize) {
    let share = share(to.len(), skip, i);
    store16(if i == 0 { x >> (8 * skip) } else { x }, &mut to[share]);
}

/// Which of `len` bytes, the first of which is byte `skip` of a vector, lie in block `i`.
#[inline(always)]
fn share(len: usize, skip: usize, i: usize) -> core::ops::Range<usize> {
    (16 * i).saturating_sub(skip).min(len)..(16 * (i + 1) - skip).min(len)
}

/// Up to 16 bytes as a little-endian integer; the rest is zero. Overlapping loads, so no byte by byte.
#[inline(always)]
pub(crate) fn load16(from: &[u8]) -> u128 {
    let n = from.len();
    if let Some(all) = from.first_chunk() {
        u128::from_le_bytes(*all)
    } else if let (Some(a), Some(b)) = (from.first_chunk(), from.last_chunk()) {
        u128::from(u64::from_le_bytes(*a)) | u128::from(u64::from_le_bytes(*b)) << (8 * (n - 8))
    } else if let (Some(a), Some(b)) = (from.first_chunk(), from.last_chunk()) {
        u128::from(u32::from_le_bytes(*a)) | u128::from(u32::from_le_bytes(*b)) << (8 * (n - 4))
    } else if n > 0 {
        u128::from(from[0])
            | u128::from(from[n / 2]) << (8 * (n / 2))
            | u128::from(from[n - 1]) << (8 * (n - 1))
    } else {
        0
    }
}

/// The first bytes of `x`, at most 16.
#[inline(always)]
pub(crate) fn store16(x: u128, to: &mut [u8]) {
    let n = to.len();
    if let Some(all) = to.first_chunk_mut() {
        *all = x.to_le_bytes();
    } else if n >= 8 {
        *to.first_chunk_mut().unwrap() = (x as u64).to_le_bytes();
        *to.last_chunk_mut().unwrap() = ((x >> (8 * (n - 8))) as u64).to_le_bytes();
    } else if n >= 4 {
        *to.first_chunk_mut().unwrap() = (x as u32).to_le_bytes();
        *to.last_chunk_mut().unwrap() = ((x >> (8 * (n - 4))) as u32).to_le_bytes();
    } else if n > 0 {
        to[0] = x as u8;
        to[n / 2] = (x >> (8 * (n / 2))) as u8;
        to[n - 1] = (x >> (8 * (n - 1))) as u8;
    }
}

#[cfg(test)]
mod test {
    use super::{load_block, store_block};

    #[test]
    fn parts_of_a_vector() {
        let bytes: [u8; 64] = core::array::from_fn(|i| i as u8 + 1);
        for skip in 0..16 {
            for n in 0..=64 - skip {
                let mut want = [0; 64];
                want[skip..skip + n].copy_from_slice(&bytes[..n]);
                let mut back = [0; 64];
                for i in 0..4 {
                    let x = load_block(&bytes[..n], skip, i);
                    assert_eq!(x.to_le_bytes(), want[16 * i..][..16], "skip {skip} n {n} block {i}");
                    store_block(x, &mut back[..n], skip, i);
                }
                assert_eq!(back[..n], bytes[..n]);
            }
        }
    }
}
