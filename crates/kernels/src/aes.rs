//! AES in counter mode (SP 800-38A, section 6.5), at any byte of the keystream, single blocks (FIPS 197), and CBC-MAC.
//!
//! ```text
//! keystream block i = AES(key, iv + i mod 2^128)        out = data XOR keystream
//! ```
//!
//! Counter blocks are 128-bit big-endian integers. Vectors add in lanes of 64 bits, so a piece of data is cut where the
//! low half of the counter overflows.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::self_test::aes::{BLOCK, CUT, KEY, KNOWN_ANSWERS, KnownAnswer, MACED, STREAM};
use crate::self_test::{TEXT, digest};
use crate::variant::aes::{AES, AesFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::vector::Schedule;

pub(crate) mod body;

use body::KeySize;

/// An expanded AES key and the variant that computes with it.
///
/// The round keys live in one place on the heap, so that moving this value leaves no copy of them behind, and they are
/// wiped on drop.
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
    /// Expands a key of 16, 24 or 32 bytes for the widest variant that `features` allow and that passes its self-test.
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
        self.xor_from(u128::from_be_bytes(*block), 0, InOut::in_place(&mut out));
        out
    }

    /// Computes CBC-MAC: XORs each whole block of `blocks` to `state` and encrypts the result. A partial block at the end is
    /// ignored.
    #[inline]
    pub(crate) fn cbc_mac(&self, state: &mut [u8; 16], blocks: &[u8]) {
        self.variant.cbc_mac(self.size, &self.schedule, state, blocks);
    }

    /// XORs the keystream into `data`, from byte `offset` of the keystream on.
    ///
    /// Block 0 of the keystream is the encryption of `iv`; the counter is big-endian and wraps modulo 2^128.
    ///
    /// # Errors
    /// Returns [`MessageError::TooLong`] and writes nothing if `data` ends after the 2^64 bytes of the keystream.
    #[inline]
    pub fn xor_at(&self, iv: &[u8; 16], offset: u64, mut data: InOut<'_>) -> Result<(), MessageError> {
        Part::Keystream.check_len(u128::from(offset) + data.len() as u128, 1 << 64)?;
        let counter = u128::from_be_bytes(*iv).wrapping_add(u128::from(offset / 16));
        let skip = (offset % 16) as usize;
        // Lanes count in 64 bits (see `xor_blocks`). A keystream has 2^60 blocks, so they overflow at most once.
        let before_overflow = ((1 << 64) - u128::from(counter as u64)) * 16 - skip as u128;
        let len = data.len();
        if len as u128 <= before_overflow {
            self.xor_from(counter, skip, data);
        } else {
            let cut = before_overflow as usize;
            self.xor_from(counter, skip, data.part(0, cut));
            self.xor_from((counter | u128::from(u64::MAX)).wrapping_add(1), 0, data.part(cut, len - cut));
        }
        Ok(())
    }

    #[inline]
    fn xor_from(&self, counter: u128, skip: usize, data: InOut<'_>) {
        self.variant.xor(self.size, &self.schedule, counter, skip, data);
    }
}

/// Returns whether a keystream, of which the second piece begins inside a block, and a block have the known values.
fn passes(variant: Selected<AesFunctions>, answer: &KnownAnswer) -> bool {
    let Ok(aes) = Aes::with_variant(variant, &KEY[..answer.key_len]) else { return false };
    let mut stream = [0; STREAM];
    let (head, tail) = stream.split_at_mut(CUT);
    aes.xor_at(&BLOCK, 0, InOut::apart(&TEXT[..CUT], head)).is_ok()
        && aes.xor_at(&BLOCK, CUT as u64, InOut::apart(&TEXT[CUT..STREAM], tail)).is_ok()
        && digest(&stream) == answer.stream
        && aes.encrypt_block(&BLOCK) == answer.block
        && {
            let mut mac = [0; 16];
            aes.cbc_mac(&mut mac, &TEXT[..MACED]);
            mac == answer.mac
        }
}
