//! How fast AES could be here: rounds on registers alone, nothing loaded and nothing stored between them.
//!
//! It encrypts nothing that anybody wants. Whoever measures a row puts it beside this, to see how much of what the
//! processor's AES instructions can do becomes keystream.
#![forbid(unsafe_code)]

use super::{NUMBERS, Size};
use crate::cpu::Features;
use crate::error::KeyError;
use crate::variant::{self, AES, AesFunctions, Picked};
use crate::vector::{Blocks, Schedule, unroll};
use core::fmt;
use core::hint::black_box;

/// The rounds of AES-CTR with a key of one length, on one row.
pub struct Bound {
    row: Picked<AesFunctions>,
    size: Size,
    schedule: Schedule,
    /// Bytes in flight.
    flight: usize,
}

/// Blocks in flight, after their rounds.
pub(crate) struct Flight {
    blocks: [[u8; 16]; NUMBERS.len()],
    /// Bytes of them that there are.
    len: usize,
}

impl Flight {
    const NONE: Self = Self { blocks: [[0; 16]; NUMBERS.len()], len: 0 };
}

/// All round keys are one, since fifteen and what is in flight find no room in 16 registers.
const ROUND_KEY: [u8; 16] =
    [0x5a, 0x13, 0xc8, 0x77, 0x04, 0xee, 0x91, 0x2b, 0xd6, 0x3f, 0x68, 0xa0, 0x1d, 0xb2, 0x49, 0xf5];

impl Bound {
    /// On the widest row that `features` allow and that passes its self-test. `None` where that is the portable one:
    /// no instructions for AES bound it.
    ///
    /// # Errors
    /// [`KeyError::InvalidLength`] unless `key_len` is 16, 24 or 32 bytes; [`KeyError::SelfTestFailed`] where no row passes.
    pub fn new(key_len: usize, features: Features) -> Result<Option<Self>, KeyError> {
        let (row, size) = (variant::pick(AES, features)?, Size::of_len(key_len)?);
        Ok((!row.needs().is_empty()).then(|| Self::on(row, size)))
    }

    fn on(row: Picked<AesFunctions>, size: Size) -> Self {
        let mut bound = Self { row, size, schedule: Schedule([ROUND_KEY; 15]), flight: 0 };
        bound.flight = bound.rounds(1).len;
        bound
    }

    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"` or `"neon-aes"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// As many rounds as `bytes` bytes of keystream take; the time of this call is the bound.
    ///
    /// What is rounded up are rounds and not blocks, and there is one at least.
    pub fn run(&self, bytes: u64) {
        let all = u128::from(bytes) * self.size.rounds() as u128;
        let rounds = all.div_ceil(self.flight as u128).max(1);
        black_box(self.rounds(usize::try_from(rounds).unwrap_or(usize::MAX)));
    }

    fn rounds(&self, rounds: usize) -> Flight {
        let mut flight = Flight::NONE;
        self.row.bound(&self.schedule, rounds, &mut flight);
        flight
    }
}

impl fmt::Debug for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bound")
            .field("size", &self.size)
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

/// The first of [`NUMBERS`], encrypted by AES of so many rounds, all with the first key. `N` vectors are in flight.
///
/// More than those of a message, which begins the next ones while the last of these are under way.
#[inline(always)]
pub(crate) fn bound<B: Blocks, const N: usize>(
    b: B,
    schedule: &Schedule,
    rounds: usize,
    flight: &mut Flight,
) {
    let keys = b.keys(schedule);
    let numbers = NUMBERS.as_flattened();
    let mut s = [b.aes_first(b.load(numbers), &keys); N];
    unroll!(i < N => {
        s[i] = b.aes_first(b.load(&numbers[i * B::BYTES..]), &keys);
    });
    for _ in 1..rounds {
        unroll!(i < N => { s[i] = b.aes_round(s[i], &keys, 1); });
        // Keeps the chains side by side, and the compiler from knowing what comes of them.
        b.fence(&mut s);
    }
    let blocks = flight.blocks.as_flattened_mut();
    unroll!(i < N => {
        b.store(b.aes_last(s[i], &keys, 1, b.splat(&[0; 16])), &mut blocks[i * B::BYTES..]);
    });
    flight.len = N * B::BYTES;
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::aes::{Aes, variants};

    /// What is timed is AES: with all round keys equal, each row makes of its blocks what it makes of them as a cipher.
    #[test]
    fn its_rounds_are_those_of_the_cipher() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            for size in [Size::Bits128, Size::Bits192, Size::Bits256] {
                let row = variant::pick(AES, Features::detect().only(row.needs)).unwrap();
                let aes = Aes { schedule: Box::new(Schedule([ROUND_KEY; 15])), size, row };
                let bound = Bound::on(row, size);
                let flight = bound.rounds(size.rounds());
                let blocks = flight.len / 16;
                assert_eq!((flight.len % 16, bound.flight), (0, flight.len), "{}", row.name());
                assert!((12..=NUMBERS.len()).contains(&blocks), "{}: {blocks}", row.name());
                for (i, (number, block)) in NUMBERS.iter().zip(&flight.blocks[..blocks]).enumerate() {
                    assert_eq!(*block, aes.encrypt_block(number), "{} {size:?} block {i}", row.name());
                }
            }
        }
    }

    #[test]
    fn only_instructions_have_one() {
        assert!(Bound::new(16, Features::NONE).unwrap().is_none());
        assert_eq!(Bound::new(17, Features::detect()).unwrap_err(), KeyError::InvalidLength(17));
        for row in variants().filter(|row| row.check(Features::detect()).is_ok() && !row.needs.is_empty()) {
            let bound = Bound::new(32, Features::detect().only(row.needs)).unwrap().unwrap();
            assert_eq!(bound.variant(), row.name);
            bound.run(0);
            bound.run(1 << 12);
        }
    }
}
