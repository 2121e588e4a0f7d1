//! AES: the key schedule, and counter mode at any offset.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::variant::{self, AES, AesFunctions, Picked, Refusal, Row};
use crate::vector::{Blocks, Schedule, unroll};
use core::fmt;

pub(crate) mod answers;

/// An AES key, expanded, and the row that computes with it.
///
/// The round keys live in one place on the heap, so moving this value leaves no copy of them behind, and they are
/// wiped when it is dropped.
pub struct Aes {
    schedule: Box<Schedule>,
    size: Size,
    row: Picked<AesFunctions>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Size {
    Bits128,
    Bits192,
    Bits256,
}

impl Size {
    pub(crate) fn of(key: &[u8]) -> Result<Self, KeyError> {
        Self::of_len(key.len())
    }

    /// The same by the bytes of a key.
    fn of_len(len: usize) -> Result<Self, KeyError> {
        match len {
            16 => Ok(Self::Bits128),
            24 => Ok(Self::Bits192),
            32 => Ok(Self::Bits256),
            other => Err(KeyError::InvalidLength(other)),
        }
    }
}

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(AES)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(AES, features)
}

impl Aes {
    /// Expands a key of 16, 24 or 32 bytes for the widest row that `features` allow and that passes its self-test.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::on(variant::pick(AES, features)?, key)
    }

    fn on(row: Picked<AesFunctions>, key: &[u8]) -> Result<Self, KeyError> {
        let size = Size::of(key)?;
        let mut schedule = Box::new(Schedule::EMPTY);
        row.expand(key, &mut schedule);
        Ok(Self { schedule, size, row })
    }

    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"`, `"neon-aes"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// One block.
    pub fn encrypt_block(&self, block: &[u8; 16]) -> [u8; 16] {
        let mut out = [0; 16];
        self.xor_from(u128::from_be_bytes(*block), 0, InOut::in_place(&mut out));
        out
    }

    /// XORs the keystream of the 128-bit big-endian counter that starts at `iv`, from byte `offset` on.
    ///
    /// The counter wraps modulo 2^128. The keystream has 2^64 bytes: nothing is written where `data` passes its end.
    #[inline]
    pub fn xor_at(&self, iv: &[u8; 16], offset: u64, mut data: InOut<'_>) -> Result<(), MessageError> {
        Part::Keystream.check_len(u128::from(offset) + data.len() as u128, 1 << 64)?;
        let counter = u128::from_be_bytes(*iv).wrapping_add(u128::from(offset / 16));
        let skip = (offset % 16) as usize;
        // Lanes count in 64 bits (see `xor_blocks`). A keystream has 2^60 blocks, so they overflow once at most.
        let room = ((1 << 64) - u128::from(counter as u64)) * 16 - skip as u128;
        let len = data.len();
        if len as u128 <= room {
            self.xor_from(counter, skip, data);
        } else {
            let room = room as usize;
            self.xor_from(counter, skip, data.part(0, room));
            self.xor_from((counter | u128::from(u64::MAX)).wrapping_add(1), 0, data.part(room, len - room));
        }
        Ok(())
    }

    #[inline]
    fn xor_from(&self, counter: u128, skip: usize, data: InOut<'_>) {
        match self.size {
            Size::Bits128 => self.row.xor_128(&self.schedule, counter, skip, data),
            Size::Bits192 => self.row.xor_192(&self.schedule, counter, skip, data),
            Size::Bits256 => self.row.xor_256(&self.schedule, counter, skip, data),
        }
    }
}

impl fmt::Debug for Aes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aes")
            .field("size", &self.size)
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

/// Whether a row computes what is known.
pub(crate) fn proof(row: Picked<AesFunctions>) -> bool {
    answers::ANSWERS.iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<AesFunctions>, answer: &answers::Answer) -> bool {
    use answers::{BLOCK, CUT, KEY, STREAM, TEXT};
    let Ok(aes) = Aes::on(row, &KEY[..answer.key]) else { return false };
    let mut stream = [0; STREAM];
    let (head, tail) = stream.split_at_mut(CUT);
    aes.xor_at(&BLOCK, 0, InOut::apart(&TEXT[..CUT], head)).is_ok()
        && aes.xor_at(&BLOCK, CUT as u64, InOut::apart(&TEXT[CUT..STREAM], tail)).is_ok()
        && answers::digest(&stream) == answer.stream
        && aes.encrypt_block(&BLOCK) == answer.block
}

/// The key schedule (FIPS 197, 5.2).
#[inline(always)]
pub(crate) fn expand<B: Blocks>(b: B, key: &[u8], schedule: &mut Schedule) {
    let b = b.one();
    let (first, rest) = key.split_first_chunk().expect("16, 24 or 32 bytes");
    let first = b.zero_extend(first);
    if let Some(second) = rest.first_chunk() {
        expand_256(b, first, b.zero_extend(second), schedule);
    } else if let Some(second) = rest.first_chunk() {
        expand_192(b, first, second, schedule);
    } else {
        expand_128(b, first, schedule);
    }
}

// Vectors, because a word that goes to the S-box and comes back takes twice as long as one that stays.

#[inline(always)]
pub(crate) fn expand_128<B: Blocks>(b: B, mut key: B::V, schedule: &mut Schedule) {
    schedule.0[0] = b.first_lane(key);
    unroll!(i < 10 => {
        key = b.xor(begin(b, key, i), b.sub_word(b.rot_word(b.column::<3>(key))));
        schedule.0[i + 1] = b.first_lane(key);
    });
}

#[inline(always)]
pub(crate) fn expand_256<B: Blocks>(b: B, mut even: B::V, mut odd: B::V, schedule: &mut Schedule) {
    schedule.0[0] = b.first_lane(even);
    unroll!(i < 7 => {
        if i > 0 {
            odd = b.xor(b.running_sum(odd), b.sub_word(b.column::<3>(even)));
        }
        schedule.0[2 * i + 1] = b.first_lane(odd);
        even = b.xor(begin(b, even, i), b.sub_word(b.rot_word(b.column::<3>(odd))));
        schedule.0[2 * i + 2] = b.first_lane(even);
    });
}

/// Six words a turn: four, and two in the first columns of `rest`, whose other columns nobody looks at.
#[inline(always)]
fn expand_192<B: Blocks>(b: B, mut four: B::V, rest: &[u8; 8], schedule: &mut Schedule) {
    let mut block = [0; 16];
    block[..8].copy_from_slice(rest);
    let mut rest = b.zero_extend(&block);
    let keys = schedule.0.as_flattened_mut();
    keys[..16].copy_from_slice(&b.first_lane(four));
    unroll!(i < 8 => {
        if i > 0 {
            rest = b.xor(b.running_sum(rest), b.column::<3>(four));
        }
        keys[24 * i + 16..][..8].copy_from_slice(&b.first_lane(rest)[..8]);
        four = b.xor(begin(b, four, i), b.sub_word(b.rot_word(b.column::<1>(rest))));
        keys[24 * i + 24..][..16].copy_from_slice(&b.first_lane(four));
    });
}

/// One, doubled in the field, in every column. A key of 128 bits needs ten.
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

/// What does not wait for the S-box: the sums, and the round constant.
#[inline(always)]
fn begin<B: Blocks>(b: B, key: B::V, i: usize) -> B::V {
    b.xor(b.running_sum(key), b.splat(&ROUND_CONSTANTS[i]))
}

/// One block. `R` is the number of rounds.
#[inline(always)]
pub(crate) fn encrypt<B: Blocks, const R: usize>(b: B, keys: &B::Keys<'_>, block: [u8; 16]) -> [u8; 16] {
    let b = b.one();
    let mut s = b.aes_first(b.zero_extend(&block), keys);
    unroll!(r < 14 => {
        if r > 0 && r < R {
            s = b.aes_round(s, keys, r);
        }
    });
    b.first_lane(b.aes_last(s, keys, R, b.splat(&[0; 16])))
}

/// XORs keystream into `data`: block `counter` from byte `skip` on, then the blocks after it.
///
/// Only the low 64 bits of the counter grow; the caller cuts where they overflow. `W` vectors are in flight, and `R`
/// is the number of rounds.
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
            many::<B, W, R>(b, &mut keys, counter, data.part(done, n));
            n
        } else if W > 4 && skip == 0 && left >= 4 * B::BYTES {
            many::<B, 4, R>(b, &mut keys, counter, data.part(done, 4 * B::BYTES));
            4 * B::BYTES
        } else {
            let n = left.min(B::BYTES - skip);
            one::<B, R>(b, &keys, counter, skip, data.part(done, n));
            n
        };
        counter = grow(counter, (skip + n) / 16);
        skip = 0;
        done += n;
    }
}

/// `counter` plus `blocks`, in the low 64 bits only.
#[inline(always)]
fn grow(counter: u128, blocks: usize) -> u128 {
    counter >> 64 << 64 | u128::from((counter as u64).wrapping_add(blocks as u64))
}

/// Little-endian blocks 0, 1, 2, … for as many as are ever in flight.
pub(crate) const NUMBERS: [[u8; 16]; 48] = {
    let mut numbers = [[0; 16]; 48];
    let mut i = 0;
    while i < numbers.len() {
        numbers[i][0] = i as u8;
        i += 1;
    }
    numbers
};

/// The counter blocks of vector `i`, after key 0. `base` is the first counter, little-endian, in every lane.
///
/// One xor instead of sum, byte swap and xor is possible where the counter begins at a multiple of all that is in
/// flight. It was tried: no faster on 512-bit registers (Sapphire Rapids), a sixth slower on narrower ones, and
/// every message had to walk to such a counter first.
#[inline(always)]
fn counters<B: Blocks>(b: B, keys: &B::Keys<'_>, base: B::V, i: usize) -> B::S {
    let number = b.load(&NUMBERS.as_flattened()[i * B::BYTES..]);
    b.aes_first(b.swap_bytes(b.add64(base, number)), keys)
}

/// One vector or a part of it.
///
/// Several in a row do not wait for each other: the processor overlaps them. So there is no code for two or three
/// vectors, nor for partial ones among others; it was ten times as large and slower.
#[inline(always)]
fn one<B: Blocks, const R: usize>(b: B, keys: &B::Keys<'_>, counter: u128, skip: usize, mut data: InOut<'_>) {
    let mut s = counters(b, keys, b.splat(&counter.to_le_bytes()), 0);
    unroll!(r < 14 => {
        if r > 0 && r < R {
            s = b.aes_round(s, keys, r);
        }
    });
    if data.len() == B::BYTES {
        let x = b.load(data.source());
        b.store(b.aes_last(s, keys, R, x), data.target());
    } else {
        let x = b.load_part(data.source(), skip);
        b.store_part(b.aes_last(s, keys, R, x), data.target(), skip);
    }
}

/// Whole groups of `N` vectors.
#[inline(always)]
fn many<B: Blocks, const N: usize, const R: usize>(
    b: B,
    keys: &mut B::Keys<'_>,
    mut counter: u128,
    mut data: InOut<'_>,
) {
    let group = N * B::BYTES;
    let mut done = 0;
    while done < data.len() {
        // Of a length that the compiler knows, so that nothing below is checked.
        let mut part = data.part(done, group);
        b.reread(keys);
        let base = b.splat(&counter.to_le_bytes());
        let mut s = [counters(b, keys, base, 0); N];
        unroll!(i < N => {
            if i > 0 {
                s[i] = counters(b, keys, base, i);
            }
        });
        unroll!(r < 14 => {
            if r > 0 && r < R {
                unroll!(i < N => { s[i] = b.aes_round(s[i], keys, r); });
                // Else LLVM may run the chains two at a time, as it does on Zen 5.
                b.fence(&mut s);
            }
        });
        unroll!(i < N => {
            let x = b.load(&part.source()[i * B::BYTES..]);
            b.store(b.aes_last(s[i], keys, R, x), &mut part.target()[i * B::BYTES..]);
        });
        counter = grow(counter, N * B::LANES);
        done += group;
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(AES, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                assert!(computes(picked, &answer), "{} {}", row.name, answer.key);
                assert!(!computes(picked, &answers::Answer { stream: answer.stream ^ 1, ..answer }));
                assert!(!computes(picked, &answers::Answer { block: [0; 16], ..answer }));
                assert!(!computes(picked, &answers::Answer { key: 40 - answer.key.min(24), ..answer }));
            }
        }
    }
}
