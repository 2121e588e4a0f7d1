//! The inverse cipher of AES (FIPS 197, section 5.3), for the modes that decrypt single blocks.
//!
//! Only encryption has instructions in [`crate::vector`], so each inverse step is made of its
//! forward step. The S-box is S(x) = A(1/x) with an affine map A of bits, so
//!
//! ```text
//! InvS(y) = 1/A⁻¹(y) = A⁻¹(S(A⁻¹(y)))
//! InvShiftRows = ShiftRows · ShiftRows · ShiftRows
//! InvMixColumns(x) = MixColumns(x ^ 4·(x ^ x rotated by two rows))
//! ```
//!
//! A and the two linear steps are computed in words. This takes a few times as long as encryption,
//! and is used for names of files and for wrapped keys.
#![forbid(unsafe_code)]

use crate::vector::{Blocks, Schedule};
use crate::zero::wipe;

/// The four columns of a state. Row 0 is the lowest byte.
type Columns = [u32; 4];

/// Decrypts each whole block of `blocks`, which was encrypted in `rounds` rounds.
#[inline(always)]
pub(crate) fn decrypt<B: Blocks>(b: B, schedule: &Schedule, rounds: usize, blocks: &mut [u8]) {
    let b = b.one();
    let empty = Schedule::EMPTY;
    let no_keys = b.keys(&empty);
    let zero = b.splat(&[0; 16]);
    for block in blocks.as_chunks_mut().0 {
        let mut s = add(*block, &schedule.0[rounds]);
        for round in (0..rounds).rev() {
            let image = bytes(columns(s).map(inverse_affine));
            // SubBytes and ShiftRows, since all round keys are zero.
            let s_box = b.aes_last(b.aes_first(b.zero_extend(&image), &no_keys), &no_keys, 1, zero);
            let x = shift_by_two(columns(b.first_lane(s_box))).map(inverse_affine);
            s = add(bytes(x), &schedule.0[round]);
            if round > 0 {
                s = bytes(columns(s).map(inverse_mix));
            }
        }
        *block = s;
        wipe(&mut s);
    }
}

#[inline(always)]
fn columns(block: [u8; 16]) -> Columns {
    let block = u128::from_le_bytes(block);
    [0, 32, 64, 96].map(|at| (block >> at) as u32)
}

#[inline(always)]
fn bytes(columns: Columns) -> [u8; 16] {
    let [a, b, c, d] = columns.map(u128::from);
    (a | b << 32 | c << 64 | d << 96).to_le_bytes()
}

#[inline(always)]
fn add(s: [u8; 16], key: &[u8; 16]) -> [u8; 16] {
    (u128::from_le_bytes(s) ^ u128::from_le_bytes(*key)).to_le_bytes()
}

/// Computes A⁻¹ on every byte: the sum of three rotations, and a constant.
#[inline(always)]
fn inverse_affine(x: u32) -> u32 {
    rotate_bytes::<1>(x) ^ rotate_bytes::<3>(x) ^ rotate_bytes::<6>(x) ^ 0x0505_0505
}

/// Rotates every byte left by `N` bits.
#[inline(always)]
fn rotate_bytes<const N: u32>(x: u32) -> u32 {
    let low = (0xff >> N) * 0x0101_0101;
    (x & low) << N | (x >> (8 - N)) & !(low << N)
}

/// Applies ShiftRows twice: the columns of rows 1 and 3 move by two.
#[inline(always)]
fn shift_by_two(x: Columns) -> Columns {
    core::array::from_fn(|i| x[i] & 0x00ff_00ff | x[(i + 2) % 4] & 0xff00_ff00)
}

#[inline(always)]
fn inverse_mix(x: u32) -> u32 {
    let x = x ^ double(double(x ^ x.rotate_right(16)));
    // MixColumns: 2·x + 3·next + the two after it.
    let next = x.rotate_right(8);
    double(x ^ next) ^ next ^ x.rotate_right(16) ^ x.rotate_right(24)
}

/// Multiplies every byte by x in GF(2^8).
#[inline(always)]
fn double(x: u32) -> u32 {
    ((x & 0x7f7f_7f7f) << 1) ^ (((x >> 7) & 0x0101_0101) * 0x1b)
}
