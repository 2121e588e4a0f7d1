//! AES in counter mode (SP 800-38A, section 6.5), at any byte of the keystream, single blocks (FIPS
//! 197), and CBC-MAC.
//!
//! ```text
//! keystream block i = AES(key, iv + i mod 2^128)        out = data XOR keystream
//! ```
//!
//! Counter blocks are 128-bit big-endian integers. Vectors add in lanes of 64 bits, so a piece of
//! data is cut where the low half of the counter overflows.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::self_test::aes::{BLOCK, CUT, KEY, KNOWN_ANSWERS, KnownAnswer, MACED, STREAM};
use crate::self_test::{TEXT, digest};
use crate::tables::aes::{AES, AesFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::vector::Schedule;
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;

pub(crate) mod body;
pub(crate) mod inverse;
pub(crate) mod two_rounds;

use body::KeySize;
use two_rounds::{COUNTERS, PERIOD, TwoRounds};

/// Length of the data in bytes from which on two rounds computed once save more time than their
/// table takes (measured, `lab/record/ctr-zen4-2026-11-23.md`).
const LONG: usize = 64 << 10;

/// An expanded AES key and the variant that computes with it.
///
/// The round keys live in one place on the heap, so that moving this value leaves no copy of them
/// behind, and they are wiped on drop.
///
/// ```
/// use kernels::{InOut, aes::Aes, cpu::Features};
///
/// let key = Aes::new(&[7; 32], Features::detect())?;
/// let (counter_block, mut data) = ([1; 16], *b"attack at dawn");
/// key.xor_at(&counter_block, 0, InOut::in_place(&mut data)).unwrap();
/// key.xor_at(&counter_block, 10, InOut::in_place(&mut data[10..])).unwrap();
/// assert_eq!(&data[10..], b"dawn");
/// # Ok::<(), kernels::error::KeyError>(())
/// ```
pub struct Aes {
    schedule: Box<Schedule>,
    size: KeySize,
    variant: Selected<AesFunctions>,
}

cipher! {
    AES: AesFunctions;
    known_answers: KNOWN_ANSWERS;
    passes: passes;
    changed: |answer| [
        KnownAnswer { stream: answer.stream ^ 1, ..answer },
        KnownAnswer { block: [0; 16], ..answer },
        KnownAnswer { mac: [0; 16], ..answer },
        KnownAnswer { key_len: 40 - answer.key_len.min(24), ..answer },
    ];
}

describe_key! { Aes { size } }

impl Aes {
    /// Expands a key of 16, 24 or 32 bytes for the widest variant that `features` allow and that
    /// passes its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::with_variant(select(features)?, key)
    }

    fn with_variant(variant: Selected<AesFunctions>, key: &[u8]) -> Result<Self, KeyError> {
        let size = KeySize::of(key)?;
        let mut schedule = Box::new(Schedule::EMPTY);
        variant.expand(key, &mut schedule);
        Ok(Self { schedule, size, variant })
    }

    /// Encrypts one block (FIPS 197, section 5.1) and returns the result.
    pub fn encrypt_block(&self, block: &[u8; 16]) -> [u8; 16] {
        let mut out = [0; 16];
        self.xor_short(u128::from_be_bytes(*block), 0, InOut::in_place(&mut out));
        out
    }

    /// Decrypts each whole block of `blocks` by itself (FIPS 197, section 5.3). A partial block at
    /// the end is ignored.
    ///
    /// Equal blocks have equal ciphertexts, so this is only for implementing modes of operation.
    pub fn decrypt_blocks(&self, blocks: &mut [u8]) {
        self.variant.decrypt(&self.schedule, self.size.rounds(), blocks);
        wipe_dead_stack::<96>();
    }

    /// Computes CBC-MAC: XORs each whole block of `blocks` to `state` and encrypts the result. A
    /// partial block at the end is ignored.
    #[inline]
    pub(crate) fn cbc_mac(&self, state: &mut [u8; 16], blocks: &[u8]) {
        self.variant.cbc_mac(self.size, &self.schedule, state, blocks);
    }

    /// XORs the keystream into `data`, from byte `offset` of the keystream on.
    ///
    /// Block 0 of the keystream is the encryption of `iv`; the counter is big-endian and wraps
    /// modulo 2^128.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if `data` ends after the 2^64 bytes of
    /// the keystream.
    #[inline]
    pub fn xor_at(&self, iv: &[u8; 16], offset: u64, data: InOut<'_>) -> Result<(), MessageError> {
        Part::Keystream.check_len(u128::from(offset) + data.len() as u128, 1 << 64)?;
        let counter = u128::from_be_bytes(*iv).wrapping_add(u128::from(offset / 16));
        let skip = (offset % 16) as usize;
        if data.len() < LONG && counter as u64 <= u64::MAX - LONG as u64 {
            self.xor_short(counter, skip, data);
        } else {
            self.xor_parts(counter, skip, data);
        }
        Ok(())
    }

    /// XORs the keystream into `data`, from byte `skip` of block `counter` on. The low half of the
    /// counter does not overflow.
    #[inline]
    fn xor_short(&self, counter: u128, skip: usize, data: InOut<'_>) {
        self.variant.xor(self.size, &self.schedule, counter, skip, data);
    }

    /// XORs the keystream into data of any length, which is cut where the low half of the counter
    /// overflows.
    #[cold]
    fn xor_parts(&self, counter: u128, skip: usize, mut data: InOut<'_>) {
        // Lanes count in 64 bits (see `xor_blocks`). A keystream has 2^60 blocks, so they overflow
        // at most once.
        let before_overflow = ((1 << 64) - u128::from(counter as u64)) * 16 - skip as u128;
        let len = data.len();
        let cut = before_overflow.min(len as u128) as usize;
        self.xor_long(counter, skip, data.part(0, cut));
        self.xor_long((counter | u128::from(u64::MAX)).wrapping_add(1), 0, data.part(cut, len - cut));
    }

    /// XORs the keystream into `data`, as [`Self::xor_short`] does, with a table for the whole
    /// periods of the last byte of the counter in long data.
    fn xor_long(&self, mut counter: u128, mut skip: usize, mut data: InOut<'_>) {
        let period = 16 * PERIOD;
        let mut done = 0;
        while data.len() - done >= LONG {
            let head = (16 * (counter as usize % PERIOD) + skip).wrapping_neg() % period;
            self.xor_short(counter, skip, data.part(done, head));
            counter = counter.wrapping_add((skip + head) as u128 / 16);
            (skip, done) = (0, done + head);
            let left = data.len() - done;
            let of_table = 16 * u128::from(COUNTERS - counter as u64 % COUNTERS);
            let len = of_table.min((left - left % period) as u128) as usize;
            let part = data.part(done, len);
            TwoRounds::with(|two_rounds| {
                self.variant.xor_periods(self.size, &self.schedule, counter, two_rounds, part);
            });
            counter = counter.wrapping_add(len as u128 / 16);
            done += len;
        }
        let left = data.len() - done;
        self.xor_short(counter, skip, data.part(done, left));
    }
}

/// Returns whether a keystream and a block have the known values. The second piece of the keystream
/// begins inside a block.
fn passes(variant: Selected<AesFunctions>, answer: &KnownAnswer) -> bool {
    let Ok(aes) = Aes::with_variant(variant, &KEY[..answer.key_len]) else { return false };
    let mut stream = [0; STREAM];
    let (head, tail) = stream.split_at_mut(CUT);
    aes.xor_at(&BLOCK, 0, InOut::apart(&TEXT[..CUT], head)).is_ok()
        && aes.xor_at(&BLOCK, CUT as u64, InOut::apart(&TEXT[CUT..STREAM], tail)).is_ok()
        && digest(&stream) == answer.stream
        && aes.encrypt_block(&BLOCK) == answer.block
        && {
            let mut blocks = [answer.block; 2];
            aes.decrypt_blocks(blocks.as_flattened_mut());
            blocks == [BLOCK; 2]
        }
        && {
            let mut mac = [0; 16];
            aes.cbc_mac(&mut mac, &TEXT[..MACED]);
            mac == answer.mac
        }
        && periods_agree(&aes)
}

/// Returns whether two periods of the keystream are the same with and without a table of two
/// rounds.
fn periods_agree(aes: &Aes) -> bool {
    let counter = u128::from_be_bytes(BLOCK) / PERIOD as u128 * PERIOD as u128;
    let [mut plain, mut ahead] = [[0; 2 * 16 * PERIOD]; 2];
    aes.xor_short(counter, 0, InOut::in_place(&mut plain));
    TwoRounds::with(|two_rounds| {
        let data = InOut::in_place(&mut ahead);
        aes.variant.xor_periods(aes.size, &aes.schedule, counter, two_rounds, data);
    });
    plain == ahead
}
