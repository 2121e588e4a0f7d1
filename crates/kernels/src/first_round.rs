//! The first round of AES, made ahead for counters.
//!
//! While a big-endian counter changes in its last byte only, the first round changes in one column only, by something
//! that depends on that byte and the key. So 256 such sums, made once, stand for an addition, an exchange of bytes, key 0
//! and round 1. (Bernstein and Schwabe, "New AES software speed records", section 3, keep parts of the first rounds in
//! the same way.)
//!
//! The byte of the counter is the place that is read. It must be public: it is where a nonce of 96 bits puts the counter,
//! and not where the nonce is hashed.
#![forbid(unsafe_code)]

use crate::aes::NUMBERS;
use crate::ghash::{BigEndian, Order};
use crate::vector::{Products, Schedule};
use crate::zero::wipe;

/// The sums for all last bytes. Wiped on drop.
///
/// Two blocks of padding: AES-GCM's data begins at counter 2, which then is on a cache line.
#[repr(C, align(64))]
pub(crate) struct FirstRound([[u8; 16]; PADDING + 256]);

const PADDING: usize = 2;

impl FirstRound {
    pub(crate) const EMPTY: Self = Self([[0; 16]; PADDING + 256]);

    /// A vector of sums, from that for `byte` on.
    #[inline(always)]
    pub(crate) fn sums<B: Products>(&self, b: B, byte: usize) -> B::V {
        b.load(self.0[PADDING + byte..].as_flattened())
    }
}

impl Drop for FirstRound {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}

/// All sums, from the schedule.
#[inline(always)]
pub(crate) fn set_up<B: Products>(b: B, schedule: &Schedule, first_round: &mut FirstRound) {
    let keys = b.keys(schedule);
    let zero = b.splat(&[0; 16]);
    let none = b.aes_bytes(b.aes_round(b.aes_first(zero, &keys), &keys, 1));
    let mut counter = b.load(NUMBERS.as_flattened());
    for to in first_round.0[PADDING..].as_flattened_mut().chunks_exact_mut(B::BYTES) {
        let s = b.aes_round(b.aes_first(BigEndian::turn(b, counter), &keys), &keys, 1);
        b.store(b.xor(b.aes_bytes(s), none), to);
        counter = b.add32(counter, b.splat(&(B::LANES as u128).to_le_bytes()));
    }
}
