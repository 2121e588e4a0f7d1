//! The portable implementation of `Blocks` with plain integers: bit-sliced AES on sixteen blocks,
//! in constant time.
//!
//! A bit-sliced implementation keeps bit `k` of many bytes in one machine word and computes the
//! S-box as a circuit of Boolean operations on such words, so its time depends on no secret:
//!
//! ```text
//! s      = slice(blocks)                 // 8 planes of bits, 4 words each
//! s     ^= key[0]
//! for r in 1..rounds:
//!     s  = MixColumns(ShiftRows(SubBytes(s))) ^ key[r]
//! blocks = unslice(ShiftRows(SubBytes(s)) ^ key[rounds])
//! ```
//!
//! Here each row of the AES state has words of its own: word `[k][r]` holds bit `k` of all bytes in
//! row `r`, at bit `16·column + block`. With this layout ShiftRows is a rotation of words, and
//! MixColumns combines different words. The four rows pass through the S-box in parallel, and LLVM
//! compiles them to the vectors that the target always has. It takes 15 cycles per byte. A layout
//! with four blocks in one word took 38, since its ShiftRows cost as much as the S-box.
#![forbid(unsafe_code)]

use super::{AT_RUN_TIME, Blocks, Schedule, Token, load_block, store_block};
use crate::zero::wipe;

/// The token of the portable implementation, which needs no special instructions, with the number
/// of rounds of AES.
#[derive(Clone, Copy, Debug)]
pub struct Portable {
    rounds: usize,
}

pub(super) type V = [u128; 16];
type S = [[u64; 4]; 8];

/// Bit-sliced round keys. They are on the stack for the time of one call, and are wiped from memory
/// on drop. Copies in the frames of functions that are not inlined remain there (see `KNOWN` in
/// `tests/it/stack.rs`).
pub(crate) struct Sliced([S; 15]);

impl Drop for Sliced {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut().as_flattened_mut());
    }
}

impl Portable {
    /// Makes the token. It needs no processor features, so any function may call this.
    #[expect(clippy::new_without_default, reason = "tokens have no default")]
    pub fn new() -> Self {
        Self::with_rounds(14)
    }

    /// Makes the token for a key of AES with this number of rounds, at most 14.
    pub(crate) fn with_rounds(rounds: usize) -> Self {
        Self { rounds }
    }
}

impl Token for Portable {
    const LONG: bool = true;
}

// The long functions are not inlined. With all of them inline, the code is three times as large and
// takes minutes to compile, and only messages of 64 bytes become faster, by an eighth. The rounds
// are inlined, because they would take a sixth longer as calls.
impl Blocks for Portable {
    const LANES: usize = 16;
    type V = V;
    type S = S;
    type Keys<'a> = Sliced;
    type One = Self;

    fn one(self) -> Self {
        self
    }
    fn rounds<const R: usize>(self) -> usize {
        if R == AT_RUN_TIME { self.rounds } else { R }
    }
    fn load(self, from: &[u8]) -> V {
        self.load_part(&from[..Self::BYTES], 0)
    }
    #[inline(never)]
    fn load_part(self, from: &[u8], skip: usize) -> V {
        core::array::from_fn(|i| load_block(from, skip, i))
    }
    fn store(self, v: V, to: &mut [u8]) {
        self.store_part(v, &mut to[..Self::BYTES], 0);
    }
    #[inline(never)]
    fn store_part(self, v: V, to: &mut [u8], skip: usize) {
        for (i, block) in v.into_iter().enumerate() {
            store_block(block, to, skip, i);
        }
    }
    #[inline(never)]
    fn splat(self, block: &[u8; 16]) -> V {
        [u128::from_le_bytes(*block); 16]
    }
    fn zero_extend(self, block: &[u8; 16]) -> V {
        lane_0(u128::from_le_bytes(*block))
    }
    fn first_lane(self, v: V) -> [u8; 16] {
        v[0].to_le_bytes()
    }

    #[inline(never)]
    fn xor(self, a: V, b: V) -> V {
        core::array::from_fn(|i| a[i] ^ b[i])
    }
    #[inline(never)]
    fn swap_bytes(self, v: V) -> V {
        v.map(u128::swap_bytes)
    }
    fn add64(self, a: V, b: V) -> V {
        let half = |a: u128, b: u128| u128::from((a as u64).wrapping_add(b as u64));
        core::array::from_fn(|i| half(a[i], b[i]) | half(a[i] >> 64, b[i] >> 64) << 64)
    }

    fn column<const I: usize>(self, v: V) -> V {
        lane_0(u128::from((v[0] >> (32 * I)) as u32) * EVERY_COLUMN)
    }
    fn rot_word(self, v: V) -> V {
        lane_0((v[0] >> 8 & (EVERY_COLUMN * 0x00ff_ffff)) | (v[0] << 24 & (EVERY_COLUMN * 0xff00_0000)))
    }
    #[inline(never)]
    fn sub_word(self, v: V) -> V {
        const EVERY_8TH: u32 = 0x0101_0101;
        let planes = s_box(core::array::from_fn(|k| u64::from(v[0] as u32 >> k & EVERY_8TH)));
        // The S-box complements some planes, so bits other than every 8th are not zero any more.
        let word = (0..8).fold(0, |word, k| word | (planes[k] as u32 & EVERY_8TH) << k);
        lane_0(u128::from(word) * EVERY_COLUMN)
    }
    fn running_sum(self, v: V) -> V {
        let v = v[0] ^ v[0] << 32;
        lane_0(v ^ v << 64)
    }
    #[inline(never)]
    fn keys(self, schedule: &Schedule) -> Sliced {
        let mut keys = Sliced([[[0; 4]; 8]; 15]);
        for (r, sliced) in keys.0.iter_mut().enumerate().take(self.rounds + 1) {
            slice_key(u128::from_le_bytes(*schedule.round(r)), sliced);
        }
        keys
    }
    fn aes_first(self, v: V, keys: &Sliced) -> S {
        let mut s = slice(&v);
        add(&mut s, &keys.0[0]);
        s
    }
    fn aes_round(self, mut s: S, keys: &Sliced, r: usize) -> S {
        sub_bytes(&mut s);
        mix_shifted_columns(&mut s);
        add(&mut s, &keys.0[r]);
        s
    }
    fn aes_bytes(self, s: S) -> V {
        unslice(&s)
    }
    fn aes_add(self, mut s: S, bytes: V) -> S {
        add(&mut s, &slice(&bytes));
        s
    }
    fn aes_last(self, mut s: S, keys: &Sliced, r: usize, data: V) -> V {
        sub_bytes(&mut s);
        shift_rows(&mut s);
        add(&mut s, &keys.0[r]);
        self.xor(unslice(&s), data)
    }
}

/// Applies one round without AddRoundKey.
pub(super) fn round(v: &V) -> V {
    let mut s = slice(v);
    sub_bytes(&mut s);
    mix_shifted_columns(&mut s);
    unslice(&s)
}

/// Applies the last round without AddRoundKey.
pub(super) fn last_round(v: &V) -> V {
    let mut s = slice(v);
    sub_bytes(&mut s);
    shift_rows(&mut s);
    unslice(&s)
}

/// The number 1 in each of the four columns.
const EVERY_COLUMN: u128 = 1 | 1 << 32 | 1 << 64 | 1 << 96;

/// Returns a vector with `block` in lane 0 and zeros in the others.
fn lane_0(block: u128) -> V {
    let mut v = [0; 16];
    v[0] = block;
    v
}

fn add(s: &mut S, key: &S) {
    for (s, key) in s.as_flattened_mut().iter_mut().zip(key.as_flattened()) {
        *s ^= key;
    }
}

// Not inlined, because inlining it into every round only made the code larger.
#[inline(never)]
fn sub_bytes(s: &mut S) {
    for r in 0..4 {
        let row = s_box([s[0][r], s[1][r], s[2][r], s[3][r], s[4][r], s[5][r], s[6][r], s[7][r]]);
        for (plane, row) in s.iter_mut().zip(row) {
            plane[r] = row;
        }
    }
}

/// Rotates row `r` left by `r` columns of 16 bits.
#[inline(always)]
fn shift_rows(s: &mut S) {
    for [_, a, b, c] in s {
        (*a, *b, *c) = (a.rotate_right(16), b.rotate_right(32), c.rotate_right(48));
    }
}

/// Computes ShiftRows and MixColumns. With p(r) = a(r) + a(r+1), row r becomes 2p(r) + a(r+1) +
/// p(r+2).
#[inline(never)]
fn mix_shifted_columns(s: &mut S) {
    shift_rows(s);
    let pairs = s.map(|[a, b, c, d]| [a ^ b, b ^ c, c ^ d, d ^ a]);
    for (k, plane) in s.iter_mut().enumerate() {
        let [a, b, c, d] = *plane;
        let next = [b, c, d, a];
        for r in 0..4 {
            // Doubling shifts every bit up by one. The highest bit is added at bits 0, 1, 3 and 4,
            // since x^8 = x^4 + x^3 + x + 1.
            let carry = if matches!(k, 0 | 1 | 3 | 4) { pairs[7][r] } else { 0 };
            let double = if k > 0 { pairs[k - 1][r] } else { 0 } ^ carry;
            plane[r] = double ^ next[r] ^ pairs[k][(r + 2) % 4];
        }
    }
}

/// Returns the four bytes of row `r` of a state, 16 bits apart.
#[inline(always)]
fn gather_row(block: u128, r: usize) -> u64 {
    let two = |half: u64| {
        let x = half >> (8 * r) & 0x0000_00ff_0000_00ff;
        (x | x >> 16) & 0x00ff_00ff
    };
    two(block as u64) | two((block >> 64) as u64) << 32
}

/// The inverse of [`gather_row`] for row 0. Bytes between the row's are ignored.
#[inline(always)]
fn scatter_row(row: u64) -> u128 {
    let two = |x: u64| {
        let x = x & 0x00ff_00ff;
        (x | x << 16) & 0x0000_00ff_0000_00ff
    };
    u128::from(two(row)) | u128::from(two(row >> 32)) << 64
}

/// Transposes the 8 by 8 matrix of bits at every byte position of the eight words. It is its own
/// inverse.
#[inline(always)]
fn transpose(q: &mut [u64; 8]) {
    #[inline(always)]
    fn exchange(q: &mut [u64; 8], i: usize, j: usize, mask: u64, by: u32) {
        let t = (q[i] >> by ^ q[j]) & mask;
        q[j] ^= t;
        q[i] ^= t << by;
    }
    for i in [0, 2, 4, 6] {
        exchange(q, i, i + 1, 0x5555_5555_5555_5555, 1);
    }
    for i in [0, 1, 4, 5] {
        exchange(q, i, i + 2, 0x3333_3333_3333_3333, 2);
    }
    for i in [0, 1, 2, 3] {
        exchange(q, i, i + 4, 0x0f0f_0f0f_0f0f_0f0f, 4);
    }
}

#[inline(never)]
fn slice(v: &V) -> S {
    let mut s = [[0; 4]; 8];
    for r in 0..4 {
        // The bytes of block j alternate with those of block j + 8, so that the transposed bits are
        // in the order of the blocks.
        let mut q = core::array::from_fn(|j| gather_row(v[j], r) | gather_row(v[j + 8], r) << 8);
        transpose(&mut q);
        for (plane, q) in s.iter_mut().zip(q) {
            plane[r] = q;
        }
    }
    s
}

#[inline(never)]
fn unslice(s: &S) -> V {
    let mut v = [0; 16];
    for r in 0..4 {
        let mut q = s.map(|plane| plane[r]);
        transpose(&mut q);
        let (low, high) = v.split_at_mut(8);
        for ((low, high), q) in low.iter_mut().zip(high).zip(q) {
            *low |= scatter_row(q) << (8 * r);
            *high |= scatter_row(q >> 8) << (8 * r);
        }
    }
    v
}

/// Computes [`slice`] of sixteen equal blocks in less time.
#[inline(always)]
fn slice_key(key: u128, sliced: &mut S) {
    for r in 0..4 {
        let row = gather_row(key, r);
        for (k, plane) in sliced.iter_mut().enumerate() {
            // There is one bit in each column, and the product copies it for all sixteen blocks.
            plane[r] = (row >> k & 0x0001_0001_0001_0001) * 0xffff;
        }
    }
}

/// Computes the S-box with the circuit of Boyar and Peralta ("A new combinational logic
/// minimization technique with applications to cryptology", 2010): a linear layer, the inversion
/// and another linear layer, 115 gates in all.
#[inline(always)]
fn s_box([x7, x6, x5, x4, x3, x2, x1, x0]: [u64; 8]) -> [u64; 8] {
    let y14 = x3 ^ x5;
    let y13 = x0 ^ x6;
    let y9 = x0 ^ x3;
    let y8 = x0 ^ x5;
    let t0 = x1 ^ x2;
    let y1 = t0 ^ x7;
    let y4 = y1 ^ x3;
    let y12 = y13 ^ y14;
    let y2 = y1 ^ x0;
    let y5 = y1 ^ x6;
    let y3 = y5 ^ y8;
    let t1 = x4 ^ y12;
    let y15 = t1 ^ x5;
    let y20 = t1 ^ x1;
    let y6 = y15 ^ x7;
    let y10 = y15 ^ t0;
    let y11 = y20 ^ y9;
    let y7 = x7 ^ y11;
    let y17 = y10 ^ y11;
    let y19 = y10 ^ y8;
    let y16 = t0 ^ y11;
    let y21 = y13 ^ y16;
    let y18 = x0 ^ y16;

    let t2 = y12 & y15;
    let t3 = y3 & y6;
    let t4 = t3 ^ t2;
    let t5 = y4 & x7;
    let t6 = t5 ^ t2;
    let t7 = y13 & y16;
    let t8 = y5 & y1;
    let t9 = t8 ^ t7;
    let t10 = y2 & y7;
    let t11 = t10 ^ t7;
    let t12 = y9 & y11;
    let t13 = y14 & y17;
    let t14 = t13 ^ t12;
    let t15 = y8 & y10;
    let t16 = t15 ^ t12;
    let t17 = t4 ^ t14;
    let t18 = t6 ^ t16;
    let t19 = t9 ^ t14;
    let t20 = t11 ^ t16;
    let t21 = t17 ^ y20;
    let t22 = t18 ^ y19;
    let t23 = t19 ^ y21;
    let t24 = t20 ^ y18;
    let t25 = t21 ^ t22;
    let t26 = t21 & t23;
    let t27 = t24 ^ t26;
    let t28 = t25 & t27;
    let t29 = t28 ^ t22;
    let t30 = t23 ^ t24;
    let t31 = t22 ^ t26;
    let t32 = t31 & t30;
    let t33 = t32 ^ t24;
    let t34 = t23 ^ t33;
    let t35 = t27 ^ t33;
    let t36 = t24 & t35;
    let t37 = t36 ^ t34;
    let t38 = t27 ^ t36;
    let t39 = t29 & t38;
    let t40 = t25 ^ t39;
    let t41 = t40 ^ t37;
    let t42 = t29 ^ t33;
    let t43 = t29 ^ t40;
    let t44 = t33 ^ t37;
    let t45 = t42 ^ t41;
    let z0 = t44 & y15;
    let z1 = t37 & y6;
    let z2 = t33 & x7;
    let z3 = t43 & y16;
    let z4 = t40 & y1;
    let z5 = t29 & y7;
    let z6 = t42 & y11;
    let z7 = t45 & y17;
    let z8 = t41 & y10;
    let z9 = t44 & y12;
    let z10 = t37 & y3;
    let z11 = t33 & y4;
    let z12 = t43 & y13;
    let z13 = t40 & y5;
    let z14 = t29 & y2;
    let z15 = t42 & y9;
    let z16 = t45 & y14;
    let z17 = t41 & y8;

    let t46 = z15 ^ z16;
    let t47 = z10 ^ z11;
    let t48 = z5 ^ z13;
    let t49 = z9 ^ z10;
    let t50 = z2 ^ z12;
    let t51 = z2 ^ z5;
    let t52 = z7 ^ z8;
    let t53 = z0 ^ z3;
    let t54 = z6 ^ z7;
    let t55 = z16 ^ z17;
    let t56 = z12 ^ t48;
    let t57 = t50 ^ t53;
    let t58 = z4 ^ t46;
    let t59 = z3 ^ t54;
    let t60 = t46 ^ t57;
    let t61 = z14 ^ t57;
    let t62 = t52 ^ t58;
    let t63 = t49 ^ t58;
    let t64 = z4 ^ t59;
    let t65 = t61 ^ t62;
    let t66 = z1 ^ t63;
    let s0 = t59 ^ t63;
    let s6 = t56 ^ !t62;
    let s7 = t48 ^ !t60;
    let t67 = t64 ^ t65;
    let s3 = t53 ^ t66;
    let s4 = t51 ^ t66;
    let s5 = t47 ^ t65;
    let s1 = t64 ^ !s3;
    let s2 = t55 ^ !t67;
    [s7, s6, s5, s4, s3, s2, s1, s0]
}

#[cfg(test)]
mod test {
    use super::*;

    /// Computes the S-box from its definition (FIPS 197, 5.1.1), with the inverse as a power in the
    /// field.
    fn reference_s_box(x: u8) -> u8 {
        let times = |mut a: u8, b: u8| {
            (0..8).fold(0, |sum, i| {
                let term = if b >> i & 1 == 1 { a } else { 0 };
                a = a << 1 ^ if a >> 7 == 1 { 0x1b } else { 0 };
                sum ^ term
            })
        };
        let inverse = (1..254).fold(x, |y, _| times(y, x));
        (1..5).fold(inverse ^ 0x63, |y, i| y ^ inverse.rotate_left(i))
    }

    #[test]
    fn s_box_equals_its_definition() {
        // Miri is too slow for all 256 bytes.
        for x in (0..=255u8).step_by(if cfg!(miri) { 51 } else { 1 }) {
            let mut s = slice(&[u128::from_le_bytes([x; 16]); 16]);
            sub_bytes(&mut s);
            assert_eq!(unslice(&s), [u128::from_le_bytes([reference_s_box(x); 16]); 16]);
            let word = [x, !x, 0, x ^ 0x5a];
            let (b, columns) = (Portable::new(), [word; 4]);
            let v = b.sub_word(b.zero_extend(columns.as_flattened().first_chunk().unwrap()));
            assert_eq!(b.first_lane(v).as_chunks().0, [word.map(reference_s_box); 4]);
        }
    }

    #[test]
    fn slicing_round_trips_and_agrees_with_slice_key() {
        let v: V = core::array::from_fn(|i| {
            0x0123_4567_89ab_cdef_0011_2233_4455_6677u128.rotate_left(11 * i as u32)
        });
        assert_eq!(unslice(&slice(&v)), v);
        let mut key = [[0; 4]; 8];
        slice_key(v[3], &mut key);
        assert_eq!(key, slice(&[v[3]; 16]));
    }
}
