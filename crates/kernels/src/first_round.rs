//! The first round of AES, precomputed for counters.
//!
//! While only the last byte of a big-endian counter changes, only one column of the state after
//! round 1 changes, by a difference that depends on that byte and the key:
//!
//! ```text
//! Round1(counter with last byte c) = Round1(counter with last byte 0) XOR difference[c]
//! ```
//!
//! So a table of 256 differences replaces the addition, the byte swap, AddRoundKey with round key 0
//! and round 1 of each block. (Bernstein and Schwabe, "New AES software speed records", section 3,
//! cache parts of the first rounds in the same way.)
//!
//! The last byte of the counter is the index, so it must be public: it is with nonces of 96 bits,
//! not with hashed ones.
#![forbid(unsafe_code)]

use crate::ghash::{BigEndian, ByteOrder};
use crate::vector::{NUMBERS, Products, Schedule};
use crate::zero::wipe;

/// The differences for all last bytes. Wiped from memory on drop.
///
/// Two blocks of padding align the entry of counter 2, with which the data of AES-GCM begins, to a
/// cache line. After the last byte, the first two are repeated, so that vectors can be loaded where
/// the byte wraps.
#[repr(C, align(64))]
pub(crate) struct FirstRound([[u8; 16]; PADDING + 256 + PADDING]);

const PADDING: usize = 2;

impl FirstRound {
    pub(crate) const EMPTY: Self = Self([[0; 16]; PADDING + 256 + PADDING]);

    /// Loads a vector of differences, beginning with `byte`'s.
    #[inline(always)]
    pub(crate) fn differences<B: Products>(&self, b: B, byte: usize) -> B::V {
        b.load(self.0[PADDING + byte..].as_flattened())
    }
}

impl Drop for FirstRound {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// Computes all differences.
#[inline(always)]
pub(crate) fn set_up<B: Products>(b: B, schedule: &Schedule, first_round: &mut FirstRound) {
    let keys = b.keys(schedule);
    let zero = b.splat(&[0; 16]);
    let none = b.aes_bytes(b.aes_round(b.aes_first(zero, &keys), &keys, 1));
    let mut counter = b.load(NUMBERS.as_flattened());
    for to in first_round.0[PADDING..PADDING + 256].as_flattened_mut().chunks_exact_mut(B::BYTES) {
        let s = b.aes_round(b.aes_first(BigEndian::reverse_bytes(b, counter), &keys), &keys, 1);
        b.store(b.xor(b.aes_bytes(s), none), to);
        counter = b.add32(counter, b.splat(&(B::LANES as u128).to_le_bytes()));
    }
    first_round.0.copy_within(PADDING..2 * PADDING, PADDING + 256);
}
