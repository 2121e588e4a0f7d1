//! The first two rounds of AES, computed once for the counters of long data.
//!
//! Round 1 moves the last byte of a big-endian counter to the first column of the state, together
//! with bytes 0, 5 and 10. While these three stay the same, no byte of the state after round 1
//! depends on both the last byte and another one that changes. Round 2 is an XOR of functions of
//! single bytes, so:
//!
//! ```text
//! Round2(Round1(counter with last byte c)) = Round2(Round1(counter with last byte 0)) XOR difference[c]
//! ```
//!
//! The differences depend on the key and on bytes 0, 5 and 10 of the counter. A table of them
//! replaces the addition, the byte swap, AddRoundKey with round key 0 and two rounds of each block.
//! (`first_round.rs` precomputes one round, whose differences depend on the key only.)
#![forbid(unsafe_code)]

use crate::vector::{Blocks, unroll};
use crate::zero::wipe;

/// Number of blocks after which the last byte of the counter is the same again.
pub(crate) const PERIOD: usize = 256;
/// The number of counters with one table: they differ in their low 40 bits, bytes 11 to 15.
pub(crate) const COUNTERS: u64 = 1 << 40;

/// The differences for all last bytes. Wiped from memory on drop.
///
/// A period begins with last byte 0 in counter mode, and with 2 in AES-GCM, whose data begins
/// there.
#[repr(C, align(64))]
pub(crate) struct TwoRounds([[u8; 16]; PERIOD]);

impl TwoRounds {
    /// Calls `run` with a table on the stack, in a frame of its own, so that other calls have a
    /// small one.
    #[inline(never)]
    pub(crate) fn with<T>(run: impl FnOnce(&mut Self) -> T) -> T {
        run(&mut Self([[0; 16]; PERIOD]))
    }

    /// Computes the differences. `after_round_1` returns the states after round 1 of the vector at
    /// this block of a period, and `first` is the state after round 2 of a vector of counters
    /// with last byte 0.
    #[inline(always)]
    pub(crate) fn set_up<B: Blocks>(
        &mut self,
        b: B,
        keys: &B::Keys<'_>,
        first: B::S,
        after_round_1: impl Fn(usize) -> B::S,
    ) {
        let first = b.aes_bytes(first);
        for block in (0..PERIOD).step_by(B::LANES) {
            let s = b.aes_round(after_round_1(block), keys, 2);
            b.store(b.xor(b.aes_bytes(s), first), self.0[block..].as_flattened_mut());
        }
    }

    /// Returns the states after round 2 of `N` vectors, from this block of a period on. `first` is
    /// the state of the counter with last byte 0.
    #[inline(always)]
    pub(crate) fn states<B: Blocks, const N: usize>(&self, b: B, first: B::S, block: usize) -> [B::S; N] {
        let differences = &self.0[block..][..N * B::LANES];
        let mut s = [first; N];
        unroll!(i < N => {
            s[i] = b.aes_add(first, b.load(differences[i * B::LANES..].as_flattened()));
        });
        s
    }
}

/// Computes rounds 1 and 2.
#[inline(always)]
pub(crate) fn rounds<B: Blocks>(b: B, keys: &B::Keys<'_>, s: B::S) -> B::S {
    b.aes_round(b.aes_round(s, keys, 1), keys, 2)
}

impl Drop for TwoRounds {
    fn drop(&mut self) {
        wipe(self.0.as_flattened_mut());
    }
}
