//! Vectors: the operations that ciphers need, on every instruction set.
//!
//! Each instruction set has a *token*, a value that can only be made inside a function that enables
//! its instructions. The operations are methods of tokens, grouped in traits by the kind of
//! algorithm that uses them. For example, `Blocks` serves AES, `Products` GHASH and POLYVAL,
//! `Rounds` AEGIS, `Words` the ciphers of additions, rotations and xors, and `Limbs` Poly1305.
//! Because an operation needs a token, code that calls one is safe.
//!
//! Intrinsics are unsafe to call, so the `unsafe` of all kernels is in this module.

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

/// The round keys of AES, in the same format for every variant. Keys past the last round are zero,
/// and all of them are wiped from memory on drop.
///
/// It is aligned to 16 bytes, which is sufficient for loading a round key. With a larger alignment
/// glibc needs 60 ns more to allocate it.
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

/// The integers 0, 1, 2, … as little-endian blocks, one for each block that is ever in flight: the
/// differences between the counters of a group.
pub(crate) const NUMBERS: [[u8; 16]; 32] = {
    let mut numbers = [[0; 16]; 32];
    let mut i = 0;
    while i < numbers.len() {
        numbers[i][0] = i as u8;
        i += 1;
    }
    numbers
};

/// The number of rounds of AES as a constant, for a token that has the number itself. So the
/// portable code exists once, with a loop over the rounds, and not once per key size. Its rounds
/// are so long that the loop costs nothing.
pub(crate) const AT_RUN_TIME: usize = 0;

/// A value that can only be made where the instructions of its instruction set may run.
pub(crate) trait Token: Copy {
    /// Whether the instruction set has so few registers that LLVM spills keys to the stack in short
    /// messages too.
    const SPILLS: bool = false;
    /// Whether the operations are so long that loops over rounds stay loops, and large functions
    /// are called. Everything else is inlined and written out.
    const LONG: bool = false;
    /// Whether ChaCha20 leaves the integer units idle long enough to compute Poly1305 there, with
    /// [`Steps`] between the rounds.
    const STITCHES: bool = false;
}

/// Work in the integer units, cut into steps that are computed between operations on vectors.
pub(crate) trait Steps {
    /// Returns whether at least `n` steps are left.
    fn has(&self, n: usize) -> bool;
    /// Computes a step, if one is left.
    fn step(&mut self);
}

/// No work.
impl Steps for () {
    #[inline(always)]
    fn has(&self, _: usize) -> bool {
        false
    }
    #[inline(always)]
    fn step(&mut self) {}
}

/// Operations of AES on vectors of `LANES` blocks of 128 bits.
pub(crate) trait Blocks: Token {
    /// Number of blocks in a vector.
    const LANES: usize;
    /// Number of bytes in a vector.
    const BYTES: usize = 16 * Self::LANES;

    /// A vector of `LANES` blocks, as bytes.
    type V: Copy;
    /// The states of AES for `LANES` blocks. The same type as `V` where the instruction set has
    /// AES.
    type S: Copy;
    /// The round keys in the form that the rounds use. A plain reference where the instruction set
    /// has AES.
    type Keys<'a>;
    /// The same instruction set with one block in a vector, which is less work for a single block.
    /// The portable implementation has only one width.
    type One: for<'a> Blocks<Keys<'a> = Self::Keys<'a>>;

    /// Returns the token for one block in a vector.
    fn one(self) -> Self::One;
    /// Returns the number of rounds: `R`, or the number in the token if `R` is [`AT_RUN_TIME`].
    #[inline(always)]
    fn rounds<const R: usize>(self) -> usize {
        R
    }

    // ---- loads and stores -------------------------------------------------------------------

    /// Loads the first `BYTES` bytes of `from`.
    fn load(self, from: &[u8]) -> Self::V;
    /// Loads all bytes of `from` to the vector, from its byte `skip` on, which is below 16. The
    /// other bytes are zero.
    fn load_part(self, from: &[u8], skip: usize) -> Self::V;
    /// Stores `v` to the first `BYTES` bytes of `to`.
    fn store(self, v: Self::V, to: &mut [u8]);
    /// Fills `to` with the bytes of `v`, beginning at byte `skip` of the vector. `skip` is below
    /// 16.
    fn store_part(self, v: Self::V, to: &mut [u8], skip: usize);
    /// Copies `block` to every lane.
    fn splat(self, block: &[u8; 16]) -> Self::V;
    /// Copies `block` to lane 0 and sets the other lanes to zero.
    fn zero_extend(self, block: &[u8; 16]) -> Self::V;
    /// Returns the block in lane 0 of a vector.
    fn first_lane(self, v: Self::V) -> [u8; 16];

    // ---- bits and counters ------------------------------------------------------------------

    fn xor(self, a: Self::V, b: Self::V) -> Self::V;
    /// Reverses the bytes of every block.
    fn swap_bytes(self, v: Self::V) -> Self::V;
    /// Adds little-endian 64-bit words, modulo 2^64.
    fn add64(self, a: Self::V, b: Self::V) -> Self::V;

    // ---- the key schedule of AES: four columns of 32 bits in lane 0 -------------------------

    /// Copies column `I` (1 or 3) to all columns.
    fn column<const I: usize>(self, v: Self::V) -> Self::V;
    /// Applies RotWord (FIPS 197, 5.2) to every column.
    fn rot_word(self, v: Self::V) -> Self::V;
    /// Applies SubWord (FIPS 197, 5.2) to every column, in constant time. All columns must be
    /// equal.
    fn sub_word(self, v: Self::V) -> Self::V;
    /// XORs to every column all columns before it.
    fn running_sum(self, v: Self::V) -> Self::V;

    // ---- AES --------------------------------------------------------------------------------

    /// Converts the round keys to the form that the rounds use.
    fn keys(self, schedule: &Schedule) -> Self::Keys<'_>;
    /// Makes the compiler load the keys from memory again, once in each iteration of a loop.
    ///
    /// With 16 registers LLVM would load all round keys before the loop and spill them to the
    /// stack, where they would stay after the call. With 32 registers the keys fit, and this
    /// does nothing.
    #[inline(always)]
    fn reread(self, _keys: &mut Self::Keys<'_>) {}
    /// Computes the AddRoundKey before the first round, with round key 0. On Arm, round 1 does
    /// this.
    fn aes_first(self, v: Self::V, keys: &Self::Keys<'_>) -> Self::S;
    /// Computes round `r`, counted from 1. The parameter is the number of the round and not its
    /// key, because Arm adds key `r - 1` in this round and x86 key `r`.
    fn aes_round(self, s: Self::S, keys: &Self::Keys<'_>, r: usize) -> Self::S;
    /// Converts states of AES to vectors of bytes.
    fn aes_bytes(self, s: Self::S) -> Self::V;
    /// XORs vectors of bytes to states of AES.
    fn aes_add(self, s: Self::S, bytes: Self::V) -> Self::S;
    /// Computes the last round, followed by an xor with `data`.
    fn aes_last(self, s: Self::S, keys: &Self::Keys<'_>, r: usize, data: Self::V) -> Self::V;

    // ---- scheduling -------------------------------------------------------------------------

    /// Computes nothing, but the compiler must assume that all states change here, so it keeps the
    /// order of the code before and after this scheduling fence.
    #[inline(always)]
    fn fence<const N: usize>(self, _states: &mut [Self::S; N]) {}
}

/// Operations of GHASH and of GCM's counters on the vectors of [`Blocks`].
///
/// A block holds a field element in the bit order of POLYVAL (RFC 8452, section 3): its first bit
/// is the coefficient of x^0.
pub(crate) trait Products: Blocks {
    // ---- bytes ------------------------------------------------------------------------------

    /// Sets all bytes after the first `n` to zero.
    fn truncate(self, v: Self::V, n: usize) -> Self::V;
    /// Exchanges the 64-bit halves of every block.
    fn swap_halves(self, v: Self::V) -> Self::V;
    /// Joins the low 64-bit halves of the blocks: `a`'s, then `b`'s.
    fn low_halves(self, a: Self::V, b: Self::V) -> Self::V;
    /// Returns the xor of all lanes in lane 0, and zero in the others.
    fn xor_lanes(self, v: Self::V) -> Self::V;
    /// Takes `N` lanes from `a`, the next `N` from `b`, and so on. Each lane stays at its index.
    /// `N` is a power of two below `LANES`.
    fn alternate<const N: usize>(self, a: Self::V, b: Self::V) -> Self::V;
    /// Exchanges lanes 0 to `N - 1` and the `N` lanes after them, and so on. `N` is a power of two
    /// below `LANES`.
    fn swap_lanes<const N: usize>(self, v: Self::V) -> Self::V;

    // ---- bits and counters ------------------------------------------------------------------

    #[inline(always)]
    fn xor3(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        self.xor(self.xor(a, b), c)
    }
    fn and(self, a: Self::V, b: Self::V) -> Self::V;
    /// Adds little-endian 32-bit words, modulo 2^32.
    fn add32(self, a: Self::V, b: Self::V) -> Self::V;

    // ---- AES with round keys of its own in each lane ----------------------------------------

    /// Computes a round of AES with this round key.
    fn aes_round_with(self, v: Self::V, key: Self::V) -> Self::V;
    /// Computes the last round of AES with this round key.
    fn aes_last_with(self, v: Self::V, key: Self::V) -> Self::V;

    // ---- polynomials over GF(2) -------------------------------------------------------------

    /// Multiplies the low halves of the lanes.
    fn clmul_low(self, a: Self::V, b: Self::V) -> Self::V;
    /// Multiplies the high halves of the lanes.
    fn clmul_high(self, a: Self::V, b: Self::V) -> Self::V;
    /// Multiplies the low halves by x^63 + x^62 + x^57, the constant of the reduction.
    fn clmul_field(self, v: Self::V) -> Self::V;

    // ---- scheduling -------------------------------------------------------------------------

    /// [`Blocks::fence`] for loops that hash between the rounds of AES: `_sums` are fenced too.
    #[inline(always)]
    fn fence_with_sums<const N: usize>(self, _states: &mut [Self::S; N], _sums: &mut [Self::V; 3]) {}
    /// Returns `x`, but the compiler cannot see that it is the same reference.
    ///
    /// The data behind the reference is then loaded where it is used. Otherwise the compiler would
    /// load it before a loop and spill it to the stack.
    #[inline(always)]
    fn opaque_ref<T>(self, x: &T) -> &T {
        x
    }
}

/// Expands to `body` for `i` = 0, 1, … below a constant of at most 16.
///
/// The loop is written out before LLVM sees it, so an array that it indexes is always split into
/// registers. With `for`, a third of the speed is lost. A closure does not inherit the target
/// features, and all of it is lost.
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

/// Does the same as [`unroll`], or is a loop if the operations of `B` are [`Token::LONG`].
macro_rules! repeat {
    ($B:ident, $i:ident < $n:literal => $body:block) => {
        if $B::LONG {
            for $i in 0..$n $body
        } else {
            unroll!($i < $n => $body);
        }
    };
}
pub(crate) use repeat;

/// Expands to `body` for each round `r` of AES after `done`, except the last one: as a loop if the
/// number of rounds `R` is [`AT_RUN_TIME`], and otherwise as [`unroll`] does.
macro_rules! each_round {
    ($R:ident, $b:ident, $r:ident after $done:expr => $body:block) => {
        if $R == crate::vector::AT_RUN_TIME {
            for $r in $done + 1..$b.rounds::<$R>() $body
        } else {
            unroll!($r < 14 => {
                if $r > $done && $r < $R $body
            });
        }
    };
}
pub(crate) use each_round;

/// Returns `x`, but the compiler cannot see that it is the same reference, see
/// [`Products::opaque_ref`].
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(always)]
fn opaque_ref<T>(x: &T) -> &T {
    let mut p: *const T = x;
    #[expect(
        clippy::pointers_in_nomem_asm_block,
        reason = "the pointer is an operand, the memory is not accessed"
    )]
    // SAFETY: there is no instruction, so `p` is the same reference after it; the memory is not
    // accessed.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) p, options(pure, nomem, nostack, preserves_flags));
        &*p
    }
}

/// Returns block `i` of a vector as a little-endian integer. `from` holds the bytes of the vector
/// from byte `skip` on.
#[inline(always)]
fn load_block(from: &[u8], skip: usize, i: usize) -> u128 {
    let x = load16(&from[block_range(from.len(), skip, i)]);
    if i == 0 { x << (8 * skip) } else { x }
}

/// Stores block `i` of a vector to the bytes [`load_block`] would load it from.
#[inline(always)]
fn store_block(x: u128, to: &mut [u8], skip: usize, i: usize) {
    let range = block_range(to.len(), skip, i);
    store16(if i == 0 { x >> (8 * skip) } else { x }, &mut to[range]);
}

/// Returns which of `len` bytes belong to block `i` of a vector, if the first of them is byte
/// `skip` of the vector.
#[inline(always)]
fn block_range(len: usize, skip: usize, i: usize) -> core::ops::Range<usize> {
    (16 * i).saturating_sub(skip).min(len)..(16 * (i + 1) - skip).min(len)
}

/// Returns up to 16 bytes as a little-endian integer. Overlapping loads replace a loop over bytes.
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

/// Fills `to`, of at most 16 bytes, with the low bytes of `x`.
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
    fn partial_blocks_round_trip() {
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
