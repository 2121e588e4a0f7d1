//! Speck (Beaulieu and others, "The Simon and Speck Families of Lightweight Block Ciphers", ePrint 2013/404), all ten
//! sizes: blocks, and counter mode at any offset.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::answers::digest;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::variant::{self, Picked, Refusal, Row, SPECK, SpeckFunctions};
use crate::vector::pairs::{Bits16, Bits24, Bits32, Bits48, Bits64, Word, join, split};
use crate::vector::{load16, store16};
use crate::zero::wipe_dead_stack;
use core::fmt;
use single::{Schedule, decrypt, encrypt};

pub(crate) mod answers;
pub(crate) mod body;
pub(crate) mod single;
mod size;

pub use crate::vector::pairs::ByteOrder;
pub use size::Size;

/// A Speck key, expanded, and the row that computes with it.
///
/// The round keys live in one place on the heap, so moving this value leaves no copy of them behind, and they are
/// wiped when it is dropped.
pub struct Speck {
    schedule: Box<Schedule>,
    size: Size,
    order: ByteOrder,
    row: Picked<SpeckFunctions>,
}

/// Bytes for which there are enough registers, in rows that do not park.
const MAX_UNSPILLED_LEN: usize = 256;

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(SPECK)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(SPECK, features)
}

/// Calls a generic method for the words of a size.
macro_rules! by_word {
    ($self:ident.$method:ident $(::<$flag:literal>)? ($($arg:expr),*)) => {
        match $self.size.word_bits() {
            16 => $self.$method::<Bits16 $(, $flag)?>($($arg),*),
            24 => $self.$method::<Bits24 $(, $flag)?>($($arg),*),
            32 => $self.$method::<Bits32 $(, $flag)?>($($arg),*),
            48 => $self.$method::<Bits48 $(, $flag)?>($($arg),*),
            _ => $self.$method::<Bits64 $(, $flag)?>($($arg),*),
        }
    };
}

impl Speck {
    /// Expands a key of [`Size::key_len`] bytes for the widest row that `features` allow and that passes its self-test.
    pub fn new(size: Size, key: &[u8], order: ByteOrder, features: Features) -> Result<Self, KeyError> {
        Self::on(variant::pick(SPECK, features)?, size, key, order)
    }

    fn on(row: Picked<SpeckFunctions>, size: Size, key: &[u8], order: ByteOrder) -> Result<Self, KeyError> {
        if key.len() != size.key_len() {
            return Err(KeyError::InvalidLength(key.len()));
        }
        let mut schedule = Box::new(Schedule::EMPTY);
        let rounds = size.rounds();
        match size {
            Size::Speck32_64 => schedule.expand::<Bits16, 4>(order, key, rounds),
            Size::Speck48_72 => schedule.expand::<Bits24, 3>(order, key, rounds),
            Size::Speck48_96 => schedule.expand::<Bits24, 4>(order, key, rounds),
            Size::Speck64_96 => schedule.expand::<Bits32, 3>(order, key, rounds),
            Size::Speck64_128 => schedule.expand::<Bits32, 4>(order, key, rounds),
            Size::Speck96_96 => schedule.expand::<Bits48, 2>(order, key, rounds),
            Size::Speck96_144 => schedule.expand::<Bits48, 3>(order, key, rounds),
            Size::Speck128_128 => schedule.expand::<Bits64, 2>(order, key, rounds),
            Size::Speck128_192 => schedule.expand::<Bits64, 3>(order, key, rounds),
            Size::Speck128_256 => schedule.expand::<Bits64, 4>(order, key, rounds),
        }
        wipe_dead_stack::<32>();
        Ok(Self { schedule, size, order, row })
    }

    /// The row: `"avx512"`, `"avx2"`, `"neon"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// The size of blocks and key.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Encrypts each block, of which there may be any number, by itself (ECB).
    ///
    /// Whoever sees two equal blocks knows that they are equal: this is a part to make modes of.
    pub fn encrypt_blocks(&self, data: InOut<'_>) -> Result<(), MessageError> {
        by_word!(self.each_block::<false>(data))
    }

    /// [`Speck::encrypt_blocks`] undone.
    pub fn decrypt_blocks(&self, data: InOut<'_>) -> Result<(), MessageError> {
        by_word!(self.each_block::<true>(data))
    }

    /// XORs the keystream of the big-endian counter that is as wide as a block and starts at `iv`, from byte `offset` on.
    ///
    /// The counter wraps modulo 2^(bits of a block). It is big-endian in either order of bytes. The keystream has 2^64
    /// bytes, or with blocks of 32 or 48 bits as many blocks as have a counter, after which it would repeat.
    pub fn xor_at(&self, iv: &[u8], offset: u64, data: InOut<'_>) -> Result<(), MessageError> {
        by_word!(self.xor(iv, offset, data))
    }

    #[inline(always)]
    fn keys(&self) -> &[u64] {
        self.schedule.keys(self.size.rounds())
    }

    #[inline(always)]
    fn each_block<W: Word, const BACK: bool>(&self, mut data: InOut<'_>) -> Result<(), MessageError> {
        let (row, keys, order, block, len) = (self.row, self.keys(), self.order, 2 * W::BYTES, data.len());
        if !len.is_multiple_of(block) {
            return Err(MessageError::PartialBlock { found: len, block_len: block });
        }
        if len == block {
            let words = split::<W>(order, data.source());
            let words = if BACK { decrypt::<W>(keys, words) } else { encrypt::<W>(keys, words) };
            store16(join::<W>(order, words), data.target());
            return Ok(());
        }
        match (W::BITS, BACK) {
            (16, false) => row.encrypt_16(keys, order, data),
            (24, false) => row.encrypt_24(keys, order, data),
            (32, false) => row.encrypt_32(keys, order, data),
            (48, false) => row.encrypt_48(keys, order, data),
            (_, false) => row.encrypt_64(keys, order, data),
            (16, true) => row.decrypt_16(keys, order, data),
            (24, true) => row.decrypt_24(keys, order, data),
            (32, true) => row.decrypt_32(keys, order, data),
            (48, true) => row.decrypt_48(keys, order, data),
            (_, true) => row.decrypt_64(keys, order, data),
        }
        clean(row, len);
        Ok(())
    }

    #[inline(always)]
    fn xor<W: Word>(&self, iv: &[u8], offset: u64, mut data: InOut<'_>) -> Result<(), MessageError> {
        let (block, len) = (2 * W::BYTES, data.len());
        if iv.len() != block {
            return Err(MessageError::InvalidNonceLength { found: iv.len(), expected: block });
        }
        let end = if W::BITS < 32 { (block as u128) << (2 * W::BITS) } else { 1 << 64 };
        Part::Keystream.check_len(u128::from(offset) + len as u128, end)?;
        let skip = (offset % block as u64) as usize;
        let iv = load16(iv).swap_bytes() >> (128 - 2 * W::BITS);
        let mut counter = iv.wrapping_add(u128::from(offset / block as u64)) & (!0 >> (128 - 2 * W::BITS));
        if skip + len <= block {
            self.xor_block::<W>(counter, skip, data);
            return Ok(());
        }
        // Lanes count in the low word, so the data is cut where that overflows.
        let (mut done, mut skip) = (0, skip);
        while done < len {
            let low = counter & (!0 >> (128 - W::BITS));
            let room = ((1 << W::BITS) - low) * block as u128 - skip as u128;
            let now = room.min((len - done) as u128) as usize;
            self.xor_from::<W>(counter, skip, data.part(done, now));
            done += now;
            skip = 0;
            counter = counter.wrapping_sub(low).wrapping_add(1 << W::BITS) & (!0 >> (128 - 2 * W::BITS));
        }
        Ok(())
    }

    /// No more than one block: done before a vector would be.
    #[inline(always)]
    fn xor_block<W: Word>(&self, counter: u128, skip: usize, mut data: InOut<'_>) {
        let counter = (counter << (128 - 2 * W::BITS)).to_be_bytes();
        let block = encrypt::<W>(self.keys(), split::<W>(self.order, &counter[..2 * W::BYTES]));
        let sum = load16(data.source()) ^ join::<W>(self.order, block) >> (8 * skip);
        store16(sum, data.target());
    }

    /// Data in which the low word of the counter does not overflow.
    #[inline(always)]
    fn xor_from<W: Word>(&self, counter: u128, skip: usize, data: InOut<'_>) {
        let (row, keys, order, len) = (self.row, self.keys(), self.order, data.len());
        let (high, low) = ((counter >> W::BITS) as u64, counter as u64 & (!0 >> (64 - W::BITS)));
        match W::BITS {
            16 => row.xor_16(keys, order, high, low, skip, data),
            24 => row.xor_24(keys, order, high, low, skip, data),
            32 => row.xor_32(keys, order, high, low, skip, data),
            48 => row.xor_48(keys, order, high, low, skip, data),
            _ => row.xor_64(keys, order, high, low, skip, data),
        }
        clean(row, len);
    }
}

/// After the row has computed, and from where it was called: what it may have parked on the stack.
#[inline(always)]
fn clean(row: Picked<SpeckFunctions>, len: usize) {
    if row.spills() || len > MAX_UNSPILLED_LEN {
        wipe_dead_stack::<160>();
    }
}

impl fmt::Debug for Speck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Speck")
            .field("size", &self.size)
            .field("order", &self.order)
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

/// Whether a row computes what is known.
pub(crate) fn proof(row: Picked<SpeckFunctions>) -> bool {
    // Miri would take minutes for all of them, in every test. The last has the fewest blocks.
    let from = if cfg!(miri) { answers::ANSWERS.len() - 1 } else { 0 };
    answers::ANSWERS[from..].iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<SpeckFunctions>, answer: &answers::Answer) -> bool {
    let orders = [(ByteOrder::Big, answer.big), (ByteOrder::Little, answer.little)];
    orders.into_iter().all(|(order, digests)| {
        let Ok(speck) = Speck::on(row, answer.size, &answers::KEY[..answer.size.key_len()], order) else {
            return false;
        };
        let text = &answers::TEXT;
        let iv = &answers::first(answer.size.block_len())[..answer.size.block_len()];
        let (mut stream, mut blocks) = (*text, [0; answers::TEXT.len()]);
        answers::CUTS
            .windows(2)
            .all(|cut| speck.xor_at(iv, cut[0] as u64, InOut::in_place(&mut stream[cut[0]..cut[1]])).is_ok())
            && digest(&stream) == digests.stream
            && speck.encrypt_blocks(InOut::apart(text, &mut blocks)).is_ok()
            && digest(&blocks) == digests.blocks
            && speck.decrypt_blocks(InOut::in_place(&mut blocks)).is_ok()
            && blocks == *text
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(SPECK, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                let answers::Answer { big, little, .. } = answer;
                assert!(computes(picked, &answer), "{} {}", row.name, answer.size.name());
                for other in [
                    answers::Answer { big: answers::Digests { stream: big.stream ^ 1, ..big }, ..answer },
                    answers::Answer {
                        little: answers::Digests { blocks: little.blocks ^ 1, ..little },
                        ..answer
                    },
                    answers::Answer { big: little, little: big, ..answer },
                ] {
                    assert!(!computes(picked, &other), "{} {}", row.name, answer.size.name());
                }
            }
        }
    }
}
