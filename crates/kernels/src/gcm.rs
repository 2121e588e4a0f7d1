//! AES-GCM (SP 800-38D): counter mode and GHASH in one pass.
#![forbid(unsafe_code)]

use crate::InOut;
use crate::aes::Size;
use crate::aes::answers::TEXT;
use crate::cpu::Features;
use crate::ct;
use crate::error::{KeyError, MessageError, OpenError, Part};
use crate::first_round::FirstRound;
use crate::ghash::{FEW, Few, Many};
use crate::variant::{self, GCM, GcmFunctions, Picked, Refusal, Row};
use crate::vector::Schedule;
use crate::zero::{wipe, wipe_dead_stack};
use core::fmt;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::OnceLock;

pub(crate) mod answers;
pub(crate) mod body;
mod stream;

pub use stream::Stream;

/// An AES-GCM key, and the row that computes with it.
///
/// Everything that comes from the key lives on the heap, so moving this value leaves no copy behind, and is wiped when
/// it is dropped.
pub struct Gcm {
    key: Box<Key>,
    /// Made when a message first needs them: they cost more than a short message does.
    many: OnceLock<Box<Lines>>,
    /// Made for a very long message, or for the second that is long: some keys see only one.
    first_round: OnceLock<Box<FirstRound>>,
    /// Whether the next long message is not the first.
    second: AtomicBool,
    size: Size,
    row: Picked<GcmFunctions>,
}

/// What a short message needs.
pub(crate) struct Key {
    pub(crate) schedule: Schedule,
    pub(crate) few: Few,
}

impl Key {
    pub(crate) const EMPTY: Self = Self { schedule: Schedule::EMPTY, few: Few::EMPTY };
}

/// Powers for the loops, on cache lines. Those of a short message are not: such memory takes longer to get.
#[repr(align(64))]
pub(crate) struct Lines(pub(crate) Many);

impl Lines {
    pub(crate) const EMPTY: Self = Self(Many::EMPTY);
}

/// The longest data: all counters but the two that never encrypt any.
const LONGEST: u128 = (1 << 36) - 32;
/// The longest of anything that is only hashed: its length in bits has 64 bits.
const LONGEST_HASHED: u128 = (1 << 61) - 1;
/// Bytes of data for which few powers are enough, beside the block of lengths.
const SHORT: usize = 64;
/// Bytes of data for which a first round, to be made ahead, would save something.
const LONG: usize = 4096;
/// Bytes of data for which it saves more than it takes to make it.
const VERY_LONG: usize = 1 << 16;

/// All rows that this build has, widest first. The last, `"portable"`, needs nothing.
pub fn variants() -> impl Iterator<Item = Row> {
    variant::rows(GCM)
}

/// Each of them with what speaks against using it. Proves those that nobody has used yet, as the iterator gets there.
pub fn check(features: Features) -> impl Iterator<Item = (Row, Result<(), Refusal>)> {
    variant::check(GCM, features)
}

impl Gcm {
    /// Sets up a key of 16, 24 or 32 bytes for the widest row that `features` allow and that passes its self-test.
    pub fn new(key: &[u8], features: Features) -> Result<Self, KeyError> {
        Self::on(variant::pick(GCM, features)?, key)
    }

    fn on(row: Picked<GcmFunctions>, key: &[u8]) -> Result<Self, KeyError> {
        let size = Size::of(key)?;
        let mut expanded = Box::new(Key::EMPTY);
        match size {
            Size::Bits128 => row.set_up_128(key, &mut expanded),
            Size::Bits192 => row.set_up_192(key, &mut expanded),
            Size::Bits256 => row.set_up_256(key, &mut expanded),
        }
        Ok(Self {
            key: expanded,
            many: OnceLock::new(),
            first_round: OnceLock::new(),
            second: AtomicBool::new(false),
            size,
            row,
        })
    }

    /// The row: `"vaes512"`, `"vaes256"`, `"aesni"`, `"neon-aes"` or `"portable"`.
    pub fn variant(&self) -> &'static str {
        self.row.name()
    }

    /// Encrypts `data` and makes the tag.
    ///
    /// A nonce of 12 bytes is used as it is, any other is hashed (SP 800-38D, 7.1).
    pub fn seal(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &mut [u8; 16],
    ) -> Result<(), MessageError> {
        let Text { first, hash, aad } = self.begin(nonce, aad, data.len())?;
        let (key, row) = (&self.key, self.row);
        let ahead = self.ahead(nonce, data.len());
        match (self.size, data.len() <= SHORT) {
            (Size::Bits128, true) => row.seal_short_128(key, first, hash, aad, &mut data, tag),
            (Size::Bits192, true) => row.seal_short_192(key, first, hash, aad, &mut data, tag),
            (Size::Bits256, true) => row.seal_short_256(key, first, hash, aad, &mut data, tag),
            (Size::Bits128, false) => row.seal_128(key, self.many(), first, hash, ahead, aad, &mut data, tag),
            (Size::Bits192, false) => row.seal_192(key, self.many(), first, hash, ahead, aad, &mut data, tag),
            (Size::Bits256, false) => row.seal_256(key, self.many(), first, hash, ahead, aad, &mut data, tag),
        }
        self.clean(data.len());
        Ok(())
    }

    /// Decrypts `data` if the tag is right.
    ///
    /// It decrypts in the same pass that checks, so a source that is also the destination is lost where it was forged.
    pub fn open(
        &self,
        nonce: &[u8],
        aad: &[u8],
        mut data: InOut<'_>,
        tag: &[u8; 16],
    ) -> Result<(), OpenError> {
        let Text { first, hash, aad } = self.begin(nonce, aad, data.len())?;
        let (key, row) = (&self.key, self.row);
        let len = data.len();
        let ahead = self.ahead(nonce, len);
        let mut right = [0; 16];
        match (self.size, len <= SHORT) {
            (Size::Bits128, true) => row.open_short_128(key, first, hash, aad, &mut data, &mut right),
            (Size::Bits192, true) => row.open_short_192(key, first, hash, aad, &mut data, &mut right),
            (Size::Bits256, true) => row.open_short_256(key, first, hash, aad, &mut data, &mut right),
            (Size::Bits128, false) => {
                row.open_128(key, self.many(), first, hash, ahead, aad, &mut data, &mut right)
            }
            (Size::Bits192, false) => {
                row.open_192(key, self.many(), first, hash, ahead, aad, &mut data, &mut right)
            }
            (Size::Bits256, false) => {
                row.open_256(key, self.many(), first, hash, ahead, aad, &mut data, &mut right)
            }
        }
        self.clean(len);
        if ct::equal(&right, tag) {
            return Ok(());
        }
        data.target().fill(0);
        // Whoever reads it from the stack could send the forgery again.
        wipe(&mut right);
        Err(OpenError::AuthenticationFailed)
    }

    /// What comes before the data.
    #[inline]
    fn begin(&self, nonce: &[u8], aad: &[u8], len: usize) -> Result<Text, MessageError> {
        Part::Data.check_len(len as u128, LONGEST)?;
        Part::AssociatedData.check_len(aad.len() as u128, LONGEST_HASHED)?;
        Part::Nonce.check_len(nonce.len() as u128, LONGEST_HASHED)?;
        let first = if let Ok(nonce) = <[u8; 12]>::try_from(nonce) {
            let mut block = [0; 16];
            block[..12].copy_from_slice(&nonce);
            block[15] = 1;
            u128::from_be_bytes(block)
        } else {
            let mut hash = 0;
            self.absorb(nonce, &mut hash);
            self.absorb(&(8 * nonce.len() as u128).to_be_bytes(), &mut hash);
            hash
        };
        let mut hash = 0;
        if !aad.is_empty() {
            self.absorb(aad, &mut hash);
        }
        Ok(Text { first, hash, aad: aad.len() as u64 })
    }

    /// After the row has computed, and from where it was called: what it may have parked on the stack.
    #[inline(always)]
    fn clean(&self, len: usize) {
        if len > SHORT || self.row.spills() {
            wipe_dead_stack::<128>();
        }
    }

    fn absorb(&self, bytes: &[u8], hash: &mut u128) {
        if bytes.len() <= 16 * FEW {
            self.row.absorb_few(&self.key.few, bytes, hash);
        } else {
            self.row.absorb(self.many(), bytes, hash);
        }
    }

    /// The first round, for long messages. With a hashed nonce the counter is secret, and where it stands too.
    #[inline]
    fn ahead(&self, nonce: &[u8], len: usize) -> Option<&FirstRound> {
        if len <= SHORT || nonce.len() != 12 {
            return None;
        }
        let worth = || len >= VERY_LONG || len >= LONG && self.second.swap(true, Relaxed);
        self.first_round.get().map(|made| &**made).or_else(|| worth().then(|| self.make_first_round()))
    }

    #[cold]
    fn make_first_round(&self) -> &FirstRound {
        self.first_round.get_or_init(|| {
            let mut first_round = Box::new(FirstRound::EMPTY);
            self.row.set_up_first_round(&self.key.schedule, &mut first_round);
            first_round
        })
    }

    #[inline]
    fn many(&self) -> &Many {
        let lines = self.many.get_or_init(|| {
            let mut lines = Box::new(Lines::EMPTY);
            self.row.set_up_many(&self.key.few, &mut lines.0);
            lines
        });
        &lines.0
    }
}

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gcm")
            .field("size", &self.size)
            .field("variant", &self.variant())
            .finish_non_exhaustive()
    }
}

/// A message up to its data.
#[derive(Clone, Copy)]
pub(crate) struct Text {
    /// The counter block that masks the tag, as an integer. The data's counters follow.
    first: u128,
    /// GHASH of the additional data.
    hash: u128,
    /// Bytes of additional data.
    aad: u64,
}

/// Whether a row computes what is known, sealing apart and opening in place.
pub(crate) fn proof(row: Picked<GcmFunctions>) -> bool {
    answers::ANSWERS.iter().all(|answer| computes(row, answer))
}

fn computes(row: Picked<GcmFunctions>, answer: &answers::Answer) -> bool {
    use answers::{KEY, NONCE};
    let Ok(gcm) = Gcm::on(row, &KEY[..answer.key]) else { return false };
    if answer.ahead {
        gcm.make_first_round();
    }
    let (mut data, mut tag) = ([0; TEXT.len()], [0; 16]);
    let data = &mut data[..answer.plain.len()];
    gcm.seal(&NONCE, answer.aad, InOut::apart(answer.plain, data), &mut tag).is_ok()
        && u128::from_be_bytes(tag) == answer.tag
        && in_pieces(&gcm, answer) == Some(answer.tag)
        && gcm.open(&NONCE, answer.aad, InOut::in_place(data), &tag).is_ok()
        && data == answer.plain
}

/// The tag of a message that is cut in a block.
fn in_pieces(gcm: &Gcm, answer: &answers::Answer) -> Option<u128> {
    let mut data = [0; TEXT.len()];
    let mut data = InOut::apart(answer.plain, &mut data[..answer.plain.len()]);
    let (cut, len) = (data.len() / 3, data.len());
    let mut stream = Stream::begin(gcm, &answers::NONCE).ok()?;
    stream.aad(answer.aad).ok()?;
    stream.encrypt(data.part(0, cut)).ok()?;
    stream.encrypt(data.part(cut, len - cut)).ok()?;
    Some(u128::from_be_bytes(stream.finish()))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "large")]
    fn a_changed_answer_is_a_wrong_one() {
        for row in variants().filter(|row| row.check(Features::detect()).is_ok()) {
            let picked = variant::pick(GCM, Features::detect().only(row.needs)).unwrap();
            assert_eq!(picked.name(), row.name);
            for answer in answers::ANSWERS {
                assert!(computes(picked, &answer), "{} {}", row.name, answer.key);
                assert!(!computes(picked, &answers::Answer { tag: answer.tag ^ 1, ..answer }));
                assert!(!computes(picked, &answers::Answer { aad: &[], ..answer }));
                assert!(!computes(picked, &answers::Answer { plain: &answer.plain[1..], ..answer }));
            }
        }
    }
}
