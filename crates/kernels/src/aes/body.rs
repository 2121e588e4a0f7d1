//! AES for every instruction set: the key schedule and counter mode (FIPS 197; SP 800-38A, section
//! 6.5).
#![forbid(unsafe_code)]

use super::two_rounds::{self, PERIOD, TwoRounds};
use crate::InOut;
use crate::error::KeyError;
use crate::vector::{Blocks, NUMBERS, Schedule, each_round, repeat, unroll};

/// The size of an AES key; it determines the number of rounds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeySize {
    Bits128,
    Bits192,
    Bits256,
}

impl KeySize {
    pub(crate) fn of(key: &[u8]) -> Result<Self, KeyError> {
        match key.len() {
            16 => Ok(Self::Bits128),
            24 => Ok(Self::Bits192),
            32 => Ok(Self::Bits256),
            other => Err(KeyError::InvalidLength(other)),
        }
    }

    /// Returns the number of rounds (FIPS 197, figure 4).
    pub(crate) fn rounds(self) -> usize {
        10 + 2 * self as usize
    }
}

/// Expands a key of 16, 24 or 32 bytes (FIPS 197, section 5.2).
#[inline(always)]
pub(crate) fn expand<B: Blocks>(b: B, key: &[u8], schedule: &mut Schedule) {
    let b = b.one();
    let (first, rest) = key.split_first_chunk().expect("16, 24 or 32 bytes");
    let first = b.zero_extend(first);
    if let Some(second) = rest.first_chunk() {
        expand_256(b, [first], [b.zero_extend(second)], schedule);
    } else if let Some(second) = rest.first_chunk() {
        expand_192(b, first, second, schedule);
    } else {
        expand_128(b, [first], schedule);
    }
}

/// Where `N` key schedules that are computed side by side store their round keys.
pub(crate) trait RoundKeys<B: Blocks, const N: usize> {
    fn put(&mut self, b: B, r: usize, key: [B::V; N]);
}

/// Stores the keys in lane 0.
impl<B: Blocks> RoundKeys<B, 1> for Schedule {
    #[inline(always)]
    fn put(&mut self, b: B, r: usize, [key]: [B::V; 1]) {
        self.0[r] = b.first_lane(key);
    }
}

/// Stores the keys in every lane.
impl<B: Blocks, const N: usize> RoundKeys<B, N> for [[B::V; N]; 15] {
    #[inline(always)]
    fn put(&mut self, _: B, r: usize, key: [B::V; N]) {
        self[r] = key;
    }
}

// The key schedule is computed in vectors, because moving a word to the S-box instruction and back
// takes twice as long.

/// Expands keys of 128 bits.
#[inline(always)]
pub(crate) fn expand_128<B: Blocks, const N: usize>(
    b: B,
    mut key: [B::V; N],
    keys: &mut impl RoundKeys<B, N>,
) {
    keys.put(b, 0, key);
    repeat!(B, i < 10 => {
        unroll!(n < N => {
            key[n] = b.xor(begin(b, key[n], i), b.sub_word(b.rot_word(b.column::<3>(key[n]))));
        });
        keys.put(b, i + 1, key);
    });
}

/// Expands keys of 256 bits: the first halves in `even`, the second ones in `odd`.
#[inline(always)]
pub(crate) fn expand_256<B: Blocks, const N: usize>(
    b: B,
    mut even: [B::V; N],
    mut odd: [B::V; N],
    keys: &mut impl RoundKeys<B, N>,
) {
    keys.put(b, 0, even);
    repeat!(B, i < 7 => {
        if i > 0 {
            unroll!(n < N => {
                odd[n] = b.xor(b.running_sum(odd[n]), b.sub_word(b.column::<3>(even[n])));
            });
        }
        keys.put(b, 2 * i + 1, odd);
        unroll!(n < N => {
            even[n] = b.xor(begin(b, even[n], i), b.sub_word(b.rot_word(b.column::<3>(odd[n]))));
        });
        keys.put(b, 2 * i + 2, even);
    });
}

/// Expands a key of 192 bits, six words at a time: four in `four`, and two in the first columns of
/// `rest`, whose other columns are ignored.
#[inline(always)]
fn expand_192<B: Blocks>(b: B, mut four: B::V, rest: &[u8; 8], schedule: &mut Schedule) {
    let mut block = [0; 16];
    block[..8].copy_from_slice(rest);
    let mut rest = b.zero_extend(&block);
    let keys = schedule.0.as_flattened_mut();
    keys[..16].copy_from_slice(&b.first_lane(four));
    repeat!(B, i < 8 => {
        if i > 0 {
            rest = b.xor(b.running_sum(rest), b.column::<3>(four));
        }
        keys[24 * i + 16..][..8].copy_from_slice(&b.first_lane(rest)[..8]);
        four = b.xor(begin(b, four, i), b.sub_word(b.rot_word(b.column::<1>(rest))));
        keys[24 * i + 24..][..16].copy_from_slice(&b.first_lane(four));
    });
}

/// The round constants: powers of x in GF(2^8), in every column. A key of 128 bits needs ten.
const ROUND_CONSTANTS: [[u8; 16]; 10] = {
    let mut constants = [[0; 16]; 10];
    let (mut i, mut x) = (0, 1u8);
    while i < 10 {
        let mut column = 0;
        while column < 4 {
            constants[i][4 * column] = x;
            column += 1;
        }
        x = (x << 1) ^ ((x >> 7) * 0x1b);
        i += 1;
    }
    constants
};

/// Computes the part of a schedule step that does not depend on the S-box: the running sums and the
/// round constant.
#[inline(always)]
fn begin<B: Blocks>(b: B, key: B::V, i: usize) -> B::V {
    b.xor(b.running_sum(key), b.splat(&ROUND_CONSTANTS[i]))
}

/// Encrypts one block (FIPS 197, section 5.1) and returns the result. `R` is the number of rounds.
#[inline(always)]
pub(crate) fn encrypt<B: Blocks, const R: usize>(b: B, keys: &B::Keys<'_>, block: [u8; 16]) -> [u8; 16] {
    let b = b.one();
    let mut s = b.aes_first(b.zero_extend(&block), keys);
    each_round!(R, b, r after 0 => { s = b.aes_round(s, keys, r); });
    b.first_lane(b.aes_last(s, keys, b.rounds::<R>(), b.splat(&[0; 16])))
}

/// XORs each whole block of `blocks` to `state` and encrypts the result. `R` is the number of
/// rounds.
///
/// Each block depends on the previous one, so only one is in flight.
#[inline(always)]
pub(crate) fn cbc_mac<B: Blocks, const R: usize>(
    b: B,
    schedule: &Schedule,
    state: &mut [u8; 16],
    blocks: &[u8],
) {
    let b = b.one();
    let mut keys = b.keys(schedule);
    let mut x = b.zero_extend(state);
    for block in blocks.as_chunks().0 {
        b.reread(&mut keys);
        let mut s = b.aes_first(b.xor(x, b.zero_extend(block)), &keys);
        each_round!(R, b, r after 0 => { s = b.aes_round(s, &keys, r); });
        x = b.aes_last(s, &keys, b.rounds::<R>(), b.splat(&[0; 16]));
    }
    *state = b.first_lane(x);
}

/// XORs the keystream into `data`, from byte `skip` of block `counter` on.
///
/// Only the low 64 bits of the counter are incremented; the caller cuts the data where they
/// overflow. `W` is the number of vectors in flight and `R` the number of rounds. Data is processed
/// in groups of `W` vectors, then in groups of 4, then in single vectors and a part of one.
#[inline(always)]
pub(crate) fn xor_blocks<B: Blocks, const W: usize, const R: usize>(
    b: B,
    schedule: &Schedule,
    mut counter: u128,
    mut skip: usize,
    mut data: InOut<'_>,
) {
    let mut keys = b.keys(schedule);
    let mut done = 0;
    while done < data.len() {
        b.reread(&mut keys);
        let left = data.len() - done;
        let n = if W > 1 && skip == 0 && left >= W * B::BYTES {
            let n = left - left % (W * B::BYTES);
            groups::<B, W, R>(b, &mut keys, counter, data.part(done, n));
            n
        } else if W > 4 && skip == 0 && left >= 4 * B::BYTES {
            groups::<B, 4, R>(b, &mut keys, counter, data.part(done, 4 * B::BYTES));
            4 * B::BYTES
        } else {
            let n = left.min(B::BYTES - skip);
            single::<B, R>(b, &keys, counter, skip, data.part(done, n));
            n
        };
        counter = add_to_low(counter, (skip + n) / 16);
        skip = 0;
        done += n;
    }
}

/// Adds `blocks` to the low 64 bits of `counter`, modulo 2^64.
#[inline(always)]
fn add_to_low(counter: u128, blocks: usize) -> u128 {
    counter >> 64 << 64 | u128::from((counter as u64).wrapping_add(blocks as u64))
}

/// Returns the counter blocks of vector `i`, after AddRoundKey with round key 0. `base` has the
/// first counter, as a little-endian integer, in every lane.
///
/// If the counter of a group is a multiple of the group's blocks, one XOR can replace the addition,
/// the byte swap and the XOR. This was measured: it is no faster with 512-bit registers (Sapphire
/// Rapids) and a sixth slower with narrower ones, and every message needs some blocks before such a
/// counter.
#[inline(always)]
fn counters<B: Blocks>(b: B, keys: &B::Keys<'_>, base: B::V, i: usize) -> B::S {
    let number = b.load(&NUMBERS.as_flattened()[i * B::BYTES..]);
    b.aes_first(b.swap_bytes(b.add64(base, number)), keys)
}

/// Encrypts one vector or a part of it.
///
/// Consecutive calls do not depend on each other, so the processor overlaps them. Special code for
/// two or three vectors, or for a partial vector after others, was ten times as large and slower.
#[inline(always)]
fn single<B: Blocks, const R: usize>(
    b: B,
    keys: &B::Keys<'_>,
    counter: u128,
    skip: usize,
    mut data: InOut<'_>,
) {
    let mut s = counters(b, keys, b.splat(&counter.to_le_bytes()), 0);
    each_round!(R, b, r after 0 => { s = b.aes_round(s, keys, r); });
    if data.len() == B::BYTES {
        let x = b.load(data.source());
        b.store(b.aes_last(s, keys, b.rounds::<R>(), x), data.target());
    } else {
        let x = b.load_part(data.source(), skip);
        b.store_part(b.aes_last(s, keys, b.rounds::<R>(), x), data.target(), skip);
    }
}

/// Encrypts whole groups of `N` vectors, all in flight at once.
#[inline(always)]
fn groups<B: Blocks, const N: usize, const R: usize>(
    b: B,
    keys: &mut B::Keys<'_>,
    mut counter: u128,
    mut data: InOut<'_>,
) {
    let group = N * B::BYTES;
    let mut done = 0;
    while done < data.len() {
        // The compiler knows the length of `part`, and removes the bounds checks below.
        let part = data.part(done, group);
        b.reread(keys);
        let base = b.splat(&counter.to_le_bytes());
        let mut s = [counters(b, keys, base, 0); N];
        unroll!(i < N => {
            if i > 0 {
                s[i] = counters(b, keys, base, i);
            }
        });
        finish::<B, N, R, 0>(b, keys, s, part);
        counter = add_to_low(counter, N * B::LANES);
        done += group;
    }
}

/// Computes the rounds after round `DONE` for a group, and XORs the keystream into it.
#[inline(always)]
fn finish<B: Blocks, const N: usize, const R: usize, const DONE: usize>(
    b: B,
    keys: &B::Keys<'_>,
    mut s: [B::S; N],
    mut group: InOut<'_>,
) {
    each_round!(R, b, r after DONE => {
        unroll!(i < N => { s[i] = b.aes_round(s[i], keys, r); });
        // Without the fence LLVM may process the chains two at a time, as it does for Zen 5.
        b.fence(&mut s);
    });
    unroll!(i < N => {
        let x = b.load(&group.source()[i * B::BYTES..]);
        b.store(b.aes_last(s[i], keys, b.rounds::<R>(), x), &mut group.target()[i * B::BYTES..]);
    });
}

/// XORs the keystream into whole periods of 256 blocks of `data`, from block `counter` on, with two
/// rounds computed once for all periods. The last byte of `counter` is 0, and byte 10 is the same
/// in all counters of the data.
#[inline(always)]
pub(crate) fn xor_periods<B: Blocks, const W: usize, const R: usize>(
    b: B,
    schedule: &Schedule,
    mut counter: u128,
    two_rounds: &mut TwoRounds,
    mut data: InOut<'_>,
) {
    if W == 1 {
        // The portable variant converts each state from bytes; that takes longer than two rounds.
        return xor_blocks::<B, W, R>(b, schedule, counter, 0, data);
    }
    let mut keys = b.keys(schedule);
    let first = |counter: u128, keys: &B::Keys<'_>| {
        let same = b.swap_bytes(b.splat(&counter.to_le_bytes()));
        two_rounds::rounds(b, keys, b.aes_first(same, keys))
    };
    two_rounds.set_up(b, &keys, first(counter, &keys), |byte| {
        let s = counters(b, &keys, b.splat(&add_to_low(counter, byte).to_le_bytes()), 0);
        b.aes_round(s, &keys, 1)
    });
    let group = W * B::BYTES;
    let mut done = 0;
    while done < data.len() {
        let first = first(counter, &keys);
        for byte in (0..PERIOD).step_by(W * B::LANES) {
            // The compiler knows the length of `part`, as in `groups`.
            let part = data.part(done, group);
            b.reread(&mut keys);
            finish::<B, W, R, 2>(b, &keys, two_rounds.states(b, first, byte), part);
            done += group;
        }
        counter = add_to_low(counter, PERIOD);
    }
}
