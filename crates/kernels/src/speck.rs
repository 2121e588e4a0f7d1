//! Speck (Beaulieu and others, "The Simon and Speck Families of Lightweight Block Ciphers", ePrint
//! 2013/404, section 4) in all ten sizes, for blocks and in counter mode from any offset.
//!
//! The cipher itself is in `body` for many blocks, and in `single` for one block and the key
//! schedule. In counter mode the counter is as wide as a block, and the keystream is `encrypt(iv)
//! || encrypt(iv + 1) || …`.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::cpu::Features;
use crate::error::{KeyError, MessageError, Part};
use crate::self_test::speck::{CUTS, KEY, KNOWN_ANSWERS, KnownAnswer, LEN, iv};
use crate::self_test::{digest, text};
use crate::tables::speck::{SPECK, SpeckFunctions};
use crate::variant::{Refusal, Selected, Variant, cipher, describe_key};
use crate::vector::pairs::{Bits16, Bits24, Bits32, Bits48, Bits64, Word, join, split};
use crate::vector::{load16, store16};
use crate::zero::wipe_dead_stack;
use alloc::boxed::Box;
use single::{Schedule, decrypt, encrypt};

pub(crate) mod body;
pub(crate) mod single;
mod size;

pub use crate::vector::pairs::ByteOrder;
pub use size::Size;

/// An expanded Speck key and the variant that computes with it.
///
/// The round keys are on the heap, so moving this value leaves no copy of them behind, and they are
/// wiped on drop.
///
/// ```
/// use kernels::{InOut, cpu::Features, speck::{ByteOrder, Size, Speck}};
///
/// let speck = Speck::new(Size::Speck128_256, &[7; 32], ByteOrder::Little, Features::detect())?;
/// let (iv, mut data) = ([1; 16], *b"attack at dawn");
/// speck.xor_at(&iv, 0, InOut::in_place(&mut data)).unwrap();
/// speck.xor_at(&iv, 10, InOut::in_place(&mut data[10..])).unwrap();
/// assert_eq!(&data[10..], b"dawn");
/// # Ok::<(), kernels::error::KeyError>(())
/// ```
pub struct Speck {
    schedule: Box<Schedule>,
    size: Size,
    order: ByteOrder,
    variant: Selected<SpeckFunctions>,
}

/// Maximum number of bytes for which the registers suffice, in variants that do not spill anyway.
const MAX_UNSPILLED_LEN: usize = 256;

cipher! {
    SPECK: SpeckFunctions;
    // Miri would take minutes for all of them, in every test. The last one has the fewest blocks.
    known_answers: KNOWN_ANSWERS[if cfg!(miri) { KNOWN_ANSWERS.len() - 1 } else { 0 }..];
    passes: passes;
    changed: |answer| {
        let (mut stream, mut blocks) = (answer, answer);
        stream.big.stream ^= 1;
        blocks.little.blocks ^= 1;
        [stream, blocks, KnownAnswer { big: answer.little, little: answer.big, ..answer }]
    };
}

describe_key! { Speck { size, order } }

/// Calls a generic method with the word type of the size.
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
    /// Expands a key of [`Size::key_len`] bytes for the widest variant that `features` allow and
    /// that passes its self-test.
    ///
    /// # Errors
    /// Returns [`KeyError::InvalidLength`] for any other length, and [`KeyError::SelfTestFailed`]
    /// if no variant passes.
    pub fn new(size: Size, key: &[u8], order: ByteOrder, features: Features) -> Result<Self, KeyError> {
        Self::with_variant(select(features)?, size, key, order)
    }

    fn with_variant(
        variant: Selected<SpeckFunctions>,
        size: Size,
        key: &[u8],
        order: ByteOrder,
    ) -> Result<Self, KeyError> {
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
        Ok(Self { schedule, size, order, variant })
    }

    /// Returns the size of blocks and key.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Encrypts each block by itself (ECB). There may be any number of blocks.
    ///
    /// Equal blocks of plaintext have equal ciphertexts, so this is only for implementing modes of
    /// operation.
    ///
    /// # Errors
    /// Returns [`MessageError::PartialBlock`] and writes nothing if the length is not a multiple of
    /// the block length.
    pub fn encrypt_blocks(&self, data: InOut<'_>) -> Result<(), MessageError> {
        by_word!(self.each_block::<false>(data))
    }

    /// Decrypts each block by itself, the inverse of [`Speck::encrypt_blocks`].
    ///
    /// # Errors
    /// Returns [`MessageError::PartialBlock`] and writes nothing if the length is not a multiple of
    /// the block length.
    pub fn decrypt_blocks(&self, data: InOut<'_>) -> Result<(), MessageError> {
        by_word!(self.each_block::<true>(data))
    }

    /// XORs the keystream to `data`, from byte `offset` on. The counter is as wide as a block and
    /// begins at `iv`.
    ///
    /// The counter is big-endian in both byte orders, and wraps. The keystream has 2^64 bytes. With
    /// blocks of 32 or 48 bits it ends earlier, after 2^32 or 2^48 blocks, because it would
    /// repeat then.
    ///
    /// # Errors
    /// Returns [`MessageError::InvalidNonceLength`] if `iv` does not have the length of a block,
    /// and [`MessageError::TooLong`] if the data end after the keystream. In both cases nothing
    /// is written.
    pub fn xor_at(&self, iv: &[u8], offset: u64, data: InOut<'_>) -> Result<(), MessageError> {
        by_word!(self.xor(iv, offset, data))
    }

    #[inline(always)]
    fn keys(&self) -> &[u64] {
        self.schedule.keys(self.size.rounds())
    }

    #[inline(always)]
    fn each_block<W: Word, const DECRYPT: bool>(&self, mut data: InOut<'_>) -> Result<(), MessageError> {
        let (variant, keys, order, block, len) =
            (self.variant, self.keys(), self.order, 2 * W::BYTES, data.len());
        if !len.is_multiple_of(block) {
            return Err(MessageError::PartialBlock { found: len, block_len: block });
        }
        if len == block {
            let words = split::<W>(order, data.source());
            let words = if DECRYPT { decrypt::<W>(keys, words) } else { encrypt::<W>(keys, words) };
            store16(join::<W>(order, words), data.target());
            return Ok(());
        }
        if DECRYPT {
            variant.decrypt(W::INDEX, keys, order, data);
        } else {
            variant.encrypt(W::INDEX, keys, order, data);
        }
        clean(variant, len);
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
        // Lanes only count in the low word, so the data are split where it overflows.
        let (mut done, mut skip) = (0, skip);
        while done < len {
            let low = counter & (!0 >> (128 - W::BITS));
            let until_overflow = ((1 << W::BITS) - low) * block as u128 - skip as u128;
            let now = until_overflow.min((len - done) as u128) as usize;
            self.xor_from::<W>(counter, skip, data.part(done, now));
            done += now;
            skip = 0;
            counter = counter.wrapping_sub(low).wrapping_add(1 << W::BITS) & (!0 >> (128 - 2 * W::BITS));
        }
        Ok(())
    }

    /// XORs the keystream to data within a block, faster than a vector.
    #[inline(always)]
    fn xor_block<W: Word>(&self, counter: u128, skip: usize, mut data: InOut<'_>) {
        let counter = (counter << (128 - 2 * W::BITS)).to_be_bytes();
        let block = encrypt::<W>(self.keys(), split::<W>(self.order, &counter[..2 * W::BYTES]));
        let sum = load16(data.source()) ^ join::<W>(self.order, block) >> (8 * skip);
        store16(sum, data.target());
    }

    /// XORs the keystream to data where the counter's low word does not overflow.
    #[inline(always)]
    fn xor_from<W: Word>(&self, counter: u128, skip: usize, data: InOut<'_>) {
        let (variant, keys, order, len) = (self.variant, self.keys(), self.order, data.len());
        let (high, low) = ((counter >> W::BITS) as u64, counter as u64 & (!0 >> (64 - W::BITS)));
        variant.xor(W::INDEX, keys, order, high, low, skip, data);
        clean(variant, len);
    }
}

/// Wipes what a variant may have spilled to the stack. It is called from where the variant was
/// called.
#[inline(always)]
fn clean(variant: Selected<SpeckFunctions>, len: usize) {
    if variant.spills() || len > MAX_UNSPILLED_LEN {
        wipe_dead_stack::<160>();
    }
}

/// Returns whether, in both byte orders, a keystream in pieces and blocks that are encrypted out of
/// place have the known values, and the blocks decrypt in place.
fn passes(variant: Selected<SpeckFunctions>, answer: &KnownAnswer) -> bool {
    let Some(size) = Size::from_name(answer.size) else { return false };
    let orders = [(ByteOrder::Big, answer.big), (ByteOrder::Little, answer.little)];
    orders.into_iter().all(|(order, digests)| {
        let Ok(speck) = Speck::with_variant(variant, size, &KEY[..size.key_len()], order) else {
            return false;
        };
        let (plain, iv) = (text(LEN), iv(size.block_len()));
        let iv = &iv[..size.block_len()];
        let (mut stream, mut blocks) = ([0; LEN], [0; LEN]);
        stream.copy_from_slice(plain);
        CUTS.windows(2)
            .all(|cut| speck.xor_at(iv, cut[0] as u64, InOut::in_place(&mut stream[cut[0]..cut[1]])).is_ok())
            && digest(&stream) == digests.stream
            && speck.encrypt_blocks(InOut::apart(plain, &mut blocks)).is_ok()
            && digest(&blocks) == digests.blocks
            && speck.decrypt_blocks(InOut::in_place(&mut blocks)).is_ok()
            && blocks == plain
    })
}
